//! The figures a table or chart can show of a result.

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
    /// 99th percentile latency.
    P99,
}

impl Metric {
    /// All, in the order they are offered.
    pub const ALL: [Metric; 4] = [Metric::Bandwidth, Metric::Iops, Metric::Mean, Metric::P99];

    /// Short name of a button, also its key in the page.
    pub fn label(self) -> &'static str {
        match self {
            Metric::Bandwidth => "Bandwidth",
            Metric::Iops => "IOPS",
            Metric::Mean => "Mean latency",
            Metric::P99 => "p99 latency",
        }
    }

    /// What a heading or an axis says.
    pub fn title(self) -> &'static str {
        match self {
            Metric::Bandwidth => "bandwidth, MiB/s",
            Metric::Iops => "operations per second",
            Metric::Mean => "mean latency, \u{b5}s",
            Metric::P99 => "99th percentile latency, \u{b5}s",
        }
    }

    /// Unit alone.
    pub fn unit(self) -> &'static str {
        match self {
            Metric::Bandwidth => "MiB/s",
            Metric::Iops => "IOPS",
            Metric::Mean | Metric::P99 => "\u{b5}s",
        }
    }

    /// Is more better?
    pub fn more_is_better(self) -> bool {
        matches!(self, Metric::Bandwidth | Metric::Iops)
    }

    /// The figure in the metric's unit; `None` where nothing completed, so that there is no latency.
    pub fn of(self, result: &CellResult) -> Option<f64> {
        match self {
            Metric::Bandwidth => Some(result.mib_per_s()),
            Metric::Iops => Some(result.iops()),
            Metric::Mean if result.latency().samples > 0 => Some(result.latency().mean / 1e3),
            Metric::P99 if result.latency().samples > 0 => Some(result.latency().p99 as f64 / 1e3),
            Metric::Mean | Metric::P99 => None,
        }
    }
}
