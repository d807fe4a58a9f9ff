//! The figures of a cell with their confidence intervals.
//!
//! # Mechanism
//! Results are ratios of sums: I/Os and bytes over time, latency over I/Os. [`assay_stats::confidence::ratio`] estimates their error from the
//! contributions of the intervals, so the means here equal those of the results. Intervals in which nothing completed count as zero.
//!
//! A percentile of merged histograms has no such decomposition. [`Estimates::p99_ns`] is the mean of the intervals' 99th percentiles, which differs
//! from the result's p99 (as a rule it is a little lower).

use assay_stats::confidence::{self, Estimate, LEVEL};
use assay_store::read::CellDrive;
use assay_store::series::{IntervalSample, OpCounts};
use assay_units::MIB;

/// Fewest latencies of an interval with a 99th percentile.
pub const P99_SAMPLES: u64 = 100;

/// A cell's figures on one drive; each `None` where the series is too short (fewer than ten intervals) or has no such figure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimates {
    /// Operations per second, reads and writes together.
    pub iops: Option<Estimate>,
    /// MiB (2^20 bytes) per second, reads and writes together.
    pub mib_per_s: Option<Estimate>,
    /// Mean latency of the operation there was more of, nanoseconds.
    pub latency_mean_ns: Option<Estimate>,
    /// Mean over the seconds of their 99th percentile latency, same operation, nanoseconds.
    pub p99_ns: Option<Estimate>,
}

/// Of one cell.
pub fn of(drive: &CellDrive) -> Estimates {
    of_several([drive])
}

/// Of several cells that are repetitions of each other on one drive (rounds), one after the other.
pub fn of_several<'a>(drives: impl IntoIterator<Item = &'a CellDrive>) -> Estimates {
    let drives = drives.into_iter();
    let samples: Vec<IntervalSample> = drives.flat_map(CellDrive::measured_intervals).collect();
    let ios = |of: fn(&IntervalSample) -> u64| samples.iter().map(of).sum::<u64>();
    // The result's rule: the latency of the operation that moved more, of reads when even.
    let op: fn(&IntervalSample) -> &OpCounts = if ios(|s| s.write.ios) > ios(|s| s.read.ios) {
        |s| &s.write
    } else {
        |s| &s.read
    };
    let ratio = |of: &dyn Fn(&IntervalSample) -> (f64, f64)| {
        let parts: Vec<(f64, f64)> = samples.iter().map(of).collect();
        confidence::ratio(&parts, LEVEL)
    };
    let enough = |counts: &&OpCounts| counts.latencies >= P99_SAMPLES;
    let counted = samples.iter().map(op).filter(enough);
    let percentiles: Vec<f64> = counted.map(|counts| counts.p99_ns as f64).collect();
    let most = percentiles.len() * 2 > samples.len();
    Estimates {
        iops: ratio(&|s| ((s.read.ios + s.write.ios) as f64, s.elapsed_s())),
        mib_per_s: ratio(&|s| {
            let bytes = s.read.bytes + s.write.bytes;
            (bytes as f64 / MIB as f64, s.elapsed_s())
        }),
        latency_mean_ns: ratio(&|s| (op(s).latency_sum_ns, op(s).latencies as f64)),
        p99_ns: confidence::mean(&percentiles, LEVEL).filter(|_| most),
    }
}

#[cfg(test)]
#[path = "../tests/unit/estimate.rs"]
mod tests;
