//! The figures of a result that tables and charts can show.

use assay_stats::LatencySummary;
use assay_store::model::CellResult;

/// Name of a latency, its value in nanoseconds, and the samples below which it is only the maximum.
pub type Latency = (&'static str, fn(&LatencySummary) -> f64, u64);

/// A percentile; not a number where it is not known.
pub fn known(percentile_ns: u64) -> f64 {
    match percentile_ns {
        0 => f64::NAN,
        ns => ns as f64,
    }
}

/// The latencies of a summary.
pub const LATENCIES: [Latency; 10] = [
    ("mean", |l| l.mean, 1),
    ("std dev", |l| l.stddev, 1),
    ("min", |l| l.min as f64, 1),
    ("p50", |l| known(l.p50), 1),
    ("p90", |l| known(l.p90), 10),
    ("p99", |l| known(l.p99), 100),
    ("p99.9", |l| known(l.p99_9), 1_000),
    ("p99.99", |l| known(l.p99_99), 10_000),
    ("p99.999", |l| known(l.p99_999), 100_000),
    ("max", |l| known(l.max), 1),
];

/// One figure of a result.
#[derive(Clone, Copy, Debug)]
pub struct ResultMetric {
    /// Name of its button; also its key in the page.
    pub label: &'static str,
    /// Title of a heading or axis, with the unit.
    pub title: &'static str,
    pub unit: &'static str,
    /// Over rounds the maximum counts, not the mean.
    pub largest: bool,
    source: Source,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Rate(fn(&CellResult) -> f64),
    /// In nanoseconds, and the samples it needs.
    Latency(fn(&LatencySummary) -> f64, u64),
}

impl ResultMetric {
    pub const BANDWIDTH: ResultMetric = ResultMetric {
        label: "Bandwidth",
        title: "bandwidth, MiB/s",
        unit: "MiB/s",
        largest: false,
        source: Source::Rate(CellResult::mib_per_s),
    };
    pub const IOPS: ResultMetric = ResultMetric {
        label: "IOPS",
        title: "operations per second",
        unit: "IOPS",
        source: Source::Rate(CellResult::iops),
        ..ResultMetric::BANDWIDTH
    };
    pub const MEAN: ResultMetric =
        ResultMetric::latency("Mean latency", "mean latency, \u{b5}s", |l| l.mean, 1);
    pub const P99: ResultMetric = ResultMetric::latency(
        "p99 latency",
        "99th percentile latency, \u{b5}s",
        |l| known(l.p99),
        1,
    );

    /// All that tables and charts offer, in their order.
    const OFFERED: [ResultMetric; 7] = [
        ResultMetric::BANDWIDTH,
        ResultMetric::IOPS,
        ResultMetric::MEAN,
        ResultMetric::latency("Median", "median latency, \u{b5}s", |l| known(l.p50), 1),
        ResultMetric::P99,
        ResultMetric::latency(
            "p99.99",
            "99.99th percentile latency, \u{b5}s",
            |l| known(l.p99_99),
            10_000,
        ),
        ResultMetric::p99_999(100_000),
    ];

    /// All that are tracked over rounds, in the order they are offered.
    pub const OF_ROUNDS: [ResultMetric; 5] = [
        ResultMetric::IOPS,
        ResultMetric { label: "Throughput", title: "throughput, MiB/s", ..ResultMetric::BANDWIDTH },
        ResultMetric::MEAN,
        ResultMetric::p99_999(1),
        ResultMetric {
            largest: true,
            ..ResultMetric::latency("Max latency", "maximum latency, \u{b5}s", |l| known(l.max), 1)
        },
    ];

    const fn latency(
        label: &'static str,
        title: &'static str,
        of: fn(&LatencySummary) -> f64,
        needed: u64,
    ) -> ResultMetric {
        ResultMetric {
            label,
            title,
            unit: "\u{b5}s",
            largest: false,
            source: Source::Latency(of, needed),
        }
    }

    const fn p99_999(needed: u64) -> ResultMetric {
        let title = "99.999th percentile latency, \u{b5}s";
        ResultMetric::latency("p99.999", title, |l| known(l.p99_999), needed)
    }

    /// The basic metrics, and those others that at least one of the results has.
    pub fn offered<'r>(results: impl Iterator<Item = &'r CellResult> + Clone) -> Vec<ResultMetric> {
        let mut offered = ResultMetric::OFFERED.to_vec();
        offered.retain(|m| {
            let basic = ["Bandwidth", "IOPS", "Mean latency", "p99 latency"].contains(&m.label);
            basic || results.clone().any(|r| m.value(r).is_some())
        });
        offered
    }

    /// True for latencies, which reads and writes have separately and where less is better.
    pub fn is_latency(self) -> bool {
        matches!(self.source, Source::Latency(..))
    }

    /// The figure in the metric's unit; `None` where too little completed.
    pub fn value(self, result: &CellResult) -> Option<f64> {
        match self.source {
            Source::Rate(of) => Some(of(result)),
            Source::Latency(..) => self.of_latency(result.latency()),
        }
    }

    /// The figure of a distribution, microseconds; `None` for rates, and where too little
    /// completed.
    pub fn of_latency(self, latency: &LatencySummary) -> Option<f64> {
        match self.source {
            Source::Latency(of, needed) if latency.samples >= needed => {
                Some(of(latency) / 1e3).filter(|us| !us.is_nan())
            }
            _ => None,
        }
    }
}
