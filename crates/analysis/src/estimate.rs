//! The figures of a cell with their confidence intervals. Results are ratios of sums: I/Os and
//! bytes over time, latency over I/Os. [`assay_stats::confidence::ratio`] estimates their error
//! from the contributions of the intervals, so the means here equal those of the results. Intervals
//! in which nothing completed count as zero. A percentile of merged histograms has no such
//! decomposition, and has no interval within a run (docs/statistics.md, "Comparison"). A figure
//! without an interval says why ([`Missing`]).

use std::fmt;

use assay_stats::confidence::{self, Estimate, LEVEL, NoInterval};
use assay_store::read::CellDrive;
use assay_store::series::{IntervalSample, OpCounts};
use assay_units::{MIB, median};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Missing {
    pub reason: NoInterval,
    /// Length of the intervals of the series.
    pub step_s: f64,
}

impl Missing {
    pub const UNMEASURED: Missing = Missing { reason: NoInterval::NoValues, step_s: 1.0 };
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason.text(self.step_s))
    }
}

/// Or why there is none.
pub type MeanEstimate = Result<Estimate, Missing>;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimates {
    /// Reads and writes together.
    pub iops: MeanEstimate,
    /// Reads and writes together.
    pub mib_per_s: MeanEstimate,
    /// Latency of the operation there was more of.
    pub latency_mean_ns: MeanEstimate,
}

impl Default for Estimates {
    fn default() -> Estimates {
        Estimates {
            iops: Err(Missing::UNMEASURED),
            mib_per_s: Err(Missing::UNMEASURED),
            latency_mean_ns: Err(Missing::UNMEASURED),
        }
    }
}

/// Values follow each other in steps of `step_s`.
pub fn of_series(values: &[f64], step_s: f64) -> MeanEstimate {
    confidence::mean(values, LEVEL).map_err(|reason| Missing { reason, step_s })
}

pub fn estimate_cell(drive: &CellDrive) -> Estimates {
    of_several([drive])
}

/// The cells are repetitions of each other on one drive (rounds), one after the other.
pub fn of_several<'a>(drives: impl IntoIterator<Item = &'a CellDrive>) -> Estimates {
    let drives = drives.into_iter();
    let samples: Vec<IntervalSample> = drives.flat_map(CellDrive::measured_intervals).collect();
    let ios = |of: fn(&IntervalSample) -> u64| samples.iter().map(of).sum::<u64>();
    // As in results: the latency of the operation that moved more, of reads when even.
    let op: fn(&IntervalSample) -> &OpCounts =
        if ios(|s| s.write.ios) > ios(|s| s.read.ios) { |s| &s.write } else { |s| &s.read };
    of_operation(&samples, op)
}

/// As [`of_several`], with the latencies of writes or of reads.
pub fn of_several_with<'a>(
    drives: impl IntoIterator<Item = &'a CellDrive>,
    writes: bool,
) -> Estimates {
    let drives = drives.into_iter();
    let samples: Vec<IntervalSample> = drives.flat_map(CellDrive::measured_intervals).collect();
    match writes {
        true => of_operation(&samples, |s| &s.write),
        false => of_operation(&samples, |s| &s.read),
    }
}

fn of_operation(samples: &[IntervalSample], op: fn(&IntervalSample) -> &OpCounts) -> Estimates {
    let step_s = step_s(samples);
    let ratio = |of: &dyn Fn(&IntervalSample) -> (f64, f64)| {
        let parts: Vec<(f64, f64)> = samples.iter().map(of).collect();
        confidence::ratio(&parts, LEVEL).map_err(|reason| Missing { reason, step_s })
    };
    Estimates {
        iops: ratio(&|s| ((s.read.ios + s.write.ios) as f64, s.elapsed_s())),
        mib_per_s: ratio(&|s| {
            let bytes = s.read.bytes + s.write.bytes;
            (bytes as f64 / MIB as f64, s.elapsed_s())
        }),
        latency_mean_ns: ratio(&|s| (op(s).latency_sum_ns, op(s).latencies as f64)),
    }
}

/// Usual length of intervals, to a hundredth.
pub fn step_s(samples: &[IntervalSample]) -> f64 {
    let usual = median(samples.iter().map(IntervalSample::elapsed_s)).unwrap_or(1.0);
    (usual * 100.0).round() / 100.0
}

#[cfg(test)]
#[path = "../tests/unit/estimate.rs"]
mod tests;
