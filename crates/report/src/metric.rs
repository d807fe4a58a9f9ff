//! The figures of a result that tables and charts can show.

use assay_stats::LatencySummary;
use assay_store::model::CellResult;

/// One figure of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultMetric {
    /// MiB per second.
    Bandwidth,
    /// Operations per second.
    Iops,
    /// Mean latency.
    Mean,
    /// Median latency.
    Median,
    /// 99th percentile latency.
    P99,
    /// 99.99th percentile latency.
    P9999,
    /// 99.999th percentile latency.
    P99999,
}

use ResultMetric::{Bandwidth, Iops, Mean, Median, P99, P9999, P99999};

impl ResultMetric {
    /// All, in the order they are offered.
    pub const ALL: [ResultMetric; 7] = [Bandwidth, Iops, Mean, Median, P99, P9999, P99999];

    /// Name of its button, title of its axis, unit, and the samples below which a percentile is only the maximum.
    fn properties(self) -> (&'static str, &'static str, &'static str, u64) {
        match self {
            Bandwidth => ("Bandwidth", "bandwidth, MiB/s", "MiB/s", 0),
            Iops => ("IOPS", "operations per second", "IOPS", 0),
            Mean => ("Mean latency", "mean latency, \u{b5}s", "\u{b5}s", 1),
            Median => ("Median", "median latency, \u{b5}s", "\u{b5}s", 1),
            P99 => (
                "p99 latency",
                "99th percentile latency, \u{b5}s",
                "\u{b5}s",
                1,
            ),
            P9999 => (
                "p99.99",
                "99.99th percentile latency, \u{b5}s",
                "\u{b5}s",
                10_000,
            ),
            P99999 => (
                "p99.999",
                "99.999th percentile latency, \u{b5}s",
                "\u{b5}s",
                100_000,
            ),
        }
    }

    /// The basic metrics, and those others that at least one of the results has.
    pub fn offered<'r>(results: impl Iterator<Item = &'r CellResult> + Clone) -> Vec<ResultMetric> {
        let mut offered = ResultMetric::ALL.to_vec();
        offered.retain(|m| {
            matches!(m, Bandwidth | Iops | Mean | P99) || results.clone().any(|r| m.of(r).is_some())
        });
        offered
    }

    /// Name of its button; also its key in the page.
    pub fn label(self) -> &'static str {
        self.properties().0
    }

    /// Title of a heading or axis, with the unit.
    pub fn title(self) -> &'static str {
        self.properties().1
    }

    /// The unit.
    pub fn unit(self) -> &'static str {
        self.properties().2
    }

    /// True for latencies, which reads and writes have separately and where less is better.
    pub fn is_latency(self) -> bool {
        !matches!(self, Bandwidth | Iops)
    }

    /// The figure in the metric's unit; `None` where too little completed.
    pub fn of(self, result: &CellResult) -> Option<f64> {
        match self {
            Bandwidth => Some(result.mib_per_s()),
            Iops => Some(result.iops()),
            _ => self.of_latency(result.latency()),
        }
    }

    /// The figure of a distribution, microseconds; `None` for rates, and where too little completed.
    pub fn of_latency(self, latency: &LatencySummary) -> Option<f64> {
        let ns = match self {
            Bandwidth | Iops => return None,
            Mean => latency.mean,
            Median => latency.p50 as f64,
            P99 => latency.p99 as f64,
            P9999 => latency.p99_99 as f64,
            P99999 => latency.p99_999 as f64,
        };
        (latency.samples >= self.properties().3).then_some(ns / 1e3)
    }
}
