//! The figures a table or chart can show of a result.

use assay_stats::LatencySummary;
use assay_store::model::CellResult;

/// One figure of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
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

/// Samples that a percentile needs to be one of its own and not the maximum.
fn needed(metric: Metric) -> u64 {
    match metric {
        Metric::P9999 => 10_000,
        Metric::P99999 => 100_000,
        _ => 1,
    }
}

impl Metric {
    /// All, in the order they are offered.
    pub const ALL: [Metric; 7] = [
        Metric::Bandwidth,
        Metric::Iops,
        Metric::Mean,
        Metric::Median,
        Metric::P99,
        Metric::P9999,
        Metric::P99999,
    ];

    /// Those that at least one of the results has.
    pub fn offered<'r>(results: impl Iterator<Item = &'r CellResult> + Clone) -> Vec<Metric> {
        let mut offered = Metric::ALL.to_vec();
        offered.retain(|m| {
            matches!(
                m,
                Metric::Bandwidth | Metric::Iops | Metric::Mean | Metric::P99
            ) || results.clone().any(|r| m.of(r).is_some())
        });
        offered
    }

    /// Short name of a button, also its key in the page.
    pub fn label(self) -> &'static str {
        match self {
            Metric::Bandwidth => "Bandwidth",
            Metric::Iops => "IOPS",
            Metric::Mean => "Mean latency",
            Metric::Median => "Median",
            Metric::P99 => "p99 latency",
            Metric::P9999 => "p99.99",
            Metric::P99999 => "p99.999",
        }
    }

    /// What a heading or an axis says.
    pub fn title(self) -> &'static str {
        match self {
            Metric::Bandwidth => "bandwidth, MiB/s",
            Metric::Iops => "operations per second",
            Metric::Mean => "mean latency, \u{b5}s",
            Metric::Median => "median latency, \u{b5}s",
            Metric::P99 => "99th percentile latency, \u{b5}s",
            Metric::P9999 => "99.99th percentile latency, \u{b5}s",
            Metric::P99999 => "99.999th percentile latency, \u{b5}s",
        }
    }

    /// Unit alone.
    pub fn unit(self) -> &'static str {
        match self {
            Metric::Bandwidth => "MiB/s",
            Metric::Iops => "IOPS",
            _ => "\u{b5}s",
        }
    }

    /// Is more better?
    pub fn more_is_better(self) -> bool {
        matches!(self, Metric::Bandwidth | Metric::Iops)
    }

    /// The figure in the metric's unit; `None` where too little completed for it to be one.
    pub fn of(self, result: &CellResult) -> Option<f64> {
        match self {
            Metric::Bandwidth => Some(result.mib_per_s()),
            Metric::Iops => Some(result.iops()),
            _ => self.of_latency(result.latency()),
        }
    }

    /// Is it about single operations, so that reads and writes have one each?
    pub fn is_latency(self) -> bool {
        !matches!(self, Metric::Bandwidth | Metric::Iops)
    }

    /// The figure of a distribution, microseconds; `None` for rates, and where too little completed.
    pub fn of_latency(self, latency: &LatencySummary) -> Option<f64> {
        let micros = |ns: f64| (latency.samples >= needed(self)).then_some(ns / 1e3);
        match self {
            Metric::Bandwidth | Metric::Iops => None,
            Metric::Mean => micros(latency.mean),
            Metric::Median => micros(latency.p50 as f64),
            Metric::P99 => micros(latency.p99 as f64),
            Metric::P9999 => micros(latency.p99_99 as f64),
            Metric::P99999 => micros(latency.p99_999 as f64),
        }
    }
}
