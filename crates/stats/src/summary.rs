//! Latency and rate summaries, computed from histograms.

use assay_units::{Nanos, rate};
use serde::{Deserialize, Serialize};

use crate::{ErrorCauses, Histogram, OpInterval};

/// (JSON key, parts per million).
pub const PERCENTILES: [(&str, u32); 8] = [
    ("p50", 500_000),
    ("p90", 900_000),
    ("p95", 950_000),
    ("p99", 990_000),
    ("p99_9", 999_000),
    ("p99_99", 999_900),
    ("p99_999", 999_990),
    ("p99_9999", 999_999),
];

/// In nanoseconds; percentiles to three significant digits, never understated. One that needs more
/// samples than there are equals the maximum. One that is not known, because another program
/// measured and did not print it, is 0, which no I/O takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
    pub samples: u64,
    pub mean: f64,
    pub min: u64,
    pub max: u64,
    pub stddev: f64,
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub p50: u64,
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub p90: u64,
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub p95: u64,
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub p99: u64,
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub p99_9: u64,
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub p99_99: u64,
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub p99_999: u64,
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub p99_9999: u64,
    /// Latencies beyond the histogram's range (over 73 minutes); they are in samples, mean and max.
    pub overflow: u64,
}

impl LatencySummary {
    pub fn new(histogram: &Histogram) -> LatencySummary {
        let [p50, p90, p95, p99, p99_9, p99_99, p99_999, p99_9999] =
            histogram.percentiles(PERCENTILES.map(|(_, share)| share)).map(|ns| ns.0);
        LatencySummary {
            samples: histogram.count(),
            mean: histogram.mean_ns(),
            min: histogram.min().0,
            max: histogram.max().0,
            stddev: histogram.stddev_ns(),
            p50,
            p90,
            p95,
            p99,
            p99_9,
            p99_99,
            p99_999,
            p99_9999,
            overflow: histogram.overflow(),
        }
    }

    pub fn percentile(&self, key: &str) -> Option<Nanos> {
        let index = PERCENTILES.iter().position(|(known, _)| *known == key)?;
        let middle = [self.p50, self.p90, self.p95, self.p99];
        let tail = [self.p99_9, self.p99_99, self.p99_999, self.p99_9999];
        let value = middle.into_iter().chain(tail).nth(index);
        value.filter(|ns| !is_unknown(ns)).map(Nanos)
    }

    /// By its name in [`PERCENTILES`]; `None` where there is no such name.
    pub fn percentile_mut(&mut self, key: &str) -> Option<&mut u64> {
        Some(match key {
            "p50" => &mut self.p50,
            "p90" => &mut self.p90,
            "p95" => &mut self.p95,
            "p99" => &mut self.p99,
            "p99_9" => &mut self.p99_9,
            "p99_99" => &mut self.p99_99,
            "p99_999" => &mut self.p99_999,
            "p99_9999" => &mut self.p99_9999,
            _ => return None,
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_unknown(percentile_ns: &u64) -> bool {
    *percentile_ns == 0
}

/// One operation's result over a measured span.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpSummary {
    /// Completed without error.
    pub ios: u64,
    pub bytes: u64,
    /// Failed or short.
    pub errors: u64,
    /// Errors by reason (`{"ENODATA": 3}`).
    #[serde(skip_serializing_if = "ErrorCauses::is_empty", default)]
    pub causes: ErrorCauses,
    pub iops: f64,
    /// 2^20 bytes per second.
    pub mib_per_s: f64,
    /// From the intended start (open loop) or the submission (closed loop).
    pub latency_ns: LatencySummary,
    /// From the submission, in open-loop jobs: includes the queueing in the drive.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub service_ns: Option<LatencySummary>,
}

impl OpSummary {
    pub fn is_unused(&self) -> bool {
        self.ios == 0 && self.errors == 0
    }

    pub fn new(counts: &OpInterval, elapsed: Nanos) -> OpSummary {
        OpSummary {
            ios: counts.ios,
            bytes: counts.bytes,
            errors: counts.errors,
            causes: counts.causes.clone(),
            iops: rate::per_second(counts.ios, elapsed),
            mib_per_s: rate::mib_per_second(counts.bytes, elapsed),
            latency_ns: LatencySummary::new(&counts.latency),
            service_ns: counts.service.as_ref().map(LatencySummary::new),
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/summary.rs"]
mod tests;
