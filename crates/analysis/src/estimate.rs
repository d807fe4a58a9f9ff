//! The figures of a cell with their confidence intervals.
//!
//! # Mechanism
//! An interval's counts say what each second contributed to the sums that a result is made of: I/Os and bytes over time, latency over I/Os. So
//! the means here are those of the results, and [`assay_stats::confidence::ratio`] finds their error from the seconds. Seconds in which nothing
//! completed count as what they were, zero.
//!
//! A percentile of merged histograms has no such decomposition. [`Estimates::p99_ns`] is the mean of the seconds' own 99th percentiles, which is another
//! figure than the result's p99 (as a rule a little lower) and is named so wherever it is shown.

use assay_stats::confidence::{self, Estimate, LEVEL};
use assay_store::read::CellDrive;
use assay_units::{MIB, Op};

/// Latencies in a second from which its 99th percentile is one of its own.
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

/// What one second contributed.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    elapsed_s: f64,
    ios: [f64; 2],
    bytes: f64,
    latency_ns: [f64; 2],
    latencies: [u64; 2],
    p99_ns: [f64; 2],
}

/// Of one cell.
pub fn of(drive: &CellDrive) -> Estimates {
    of_several([drive])
}

/// Of several cells that are repetitions of each other on one drive (rounds), one after the other.
pub fn of_several<'a>(drives: impl IntoIterator<Item = &'a CellDrive>) -> Estimates {
    let parts: Vec<Part> = drives.into_iter().flat_map(parts).collect();
    let total = |op: usize| parts.iter().map(|p| p.ios[op]).sum::<f64>();
    // As the result does: the latency of the operation that moved more, of reads when even.
    let op = usize::from(total(1) > total(0));
    let ratio = |of: &dyn Fn(&Part) -> (f64, f64)| {
        let parts: Vec<(f64, f64)> = parts.iter().map(of).collect();
        confidence::ratio(&parts, LEVEL)
    };
    let percentiles: Vec<f64> = parts
        .iter()
        .filter(|p| p.latencies[op] >= P99_SAMPLES)
        .map(|p| p.p99_ns[op])
        .collect();
    let most = percentiles.len() * 2 > parts.len();
    Estimates {
        iops: ratio(&|p| (p.ios[0] + p.ios[1], p.elapsed_s)),
        mib_per_s: ratio(&|p| (p.bytes / MIB as f64, p.elapsed_s)),
        latency_mean_ns: ratio(&|p| (p.latency_ns[op], p.latencies[op] as f64)),
        p99_ns: most
            .then(|| confidence::mean(&percentiles, LEVEL))
            .flatten(),
    }
}

/// The intervals after the ramp, in order, with those in which nothing completed.
fn parts(drive: &CellDrive) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut last: Option<(u32, assay_units::Nanos)> = None;
    for point in drive.series.iter().filter(|p| !p.ramp) {
        let op = match point.op {
            Op::Read => 0,
            Op::Write => 1,
            _ => continue,
        };
        if last.is_none_or(|(index, _)| index != point.index) {
            if let Some((index, end)) = last {
                silence(
                    &mut parts,
                    point.index.saturating_sub(index.saturating_add(1)),
                    (point.start - end).as_secs_f64(),
                );
            }
            parts.push(Part {
                elapsed_s: point.elapsed().as_secs_f64(),
                ..Part::default()
            });
        }
        last = Some((point.index, point.end));
        if let Some(part) = parts.last_mut() {
            part.elapsed_s = part.elapsed_s.max(point.elapsed().as_secs_f64());
            part.ios[op] += point.ios as f64;
            part.bytes += point.bytes as f64;
            part.latencies[op] += point.latency.samples;
            part.latency_ns[op] += point.latency.mean * point.latency.samples as f64;
            part.p99_ns[op] = part.p99_ns[op].max(point.latency.p99 as f64);
        }
    }
    // What was in flight at the end completes a moment later: no second of its own.
    let longest = parts.iter().map(|p| p.elapsed_s).fold(0.0, f64::max);
    if parts.len() > 1
        && let Some(stump) = parts.pop_if(|p| p.elapsed_s * 2.0 < longest)
        && let Some(part) = parts.last_mut()
    {
        part.elapsed_s += stump.elapsed_s;
        part.bytes += stump.bytes;
        for op in 0..2 {
            part.ios[op] += stump.ios[op];
            part.latencies[op] += stump.latencies[op];
            part.latency_ns[op] += stump.latency_ns[op];
        }
    }
    // A drive that fell silent before the end.
    let seen: f64 = parts.iter().map(|p| p.elapsed_s).sum();
    if let Some(result) = &drive.result
        && longest > 0.0
    {
        let rest = result.elapsed.as_secs_f64() - seen;
        silence(
            &mut parts,
            (rest / longest).round().clamp(0.0, 1e6) as u32,
            rest,
        );
    }
    parts
}

/// A span in which nothing completed, cut into intervals.
fn silence(parts: &mut Vec<Part>, intervals: u32, elapsed_s: f64) {
    if intervals > 0 && elapsed_s > 0.0 {
        let each = Part {
            elapsed_s: elapsed_s / f64::from(intervals),
            ..Part::default()
        };
        parts.extend(std::iter::repeat_n(each, intervals as usize));
    }
}

#[cfg(test)]
#[path = "../tests/unit/estimate.rs"]
mod tests;
