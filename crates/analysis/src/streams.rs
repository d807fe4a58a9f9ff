//! Rates of streams of chunks by length. The rate is that of the mean time of the repetitions, as
//! in MLE NVMe Streamer's sweep; idle time separates them, so its interval is that of independent
//! values. A *cliff* is a length from which on the rate stays at least [`FALL_SHARE`] below that of
//! shorter streams: a cache that held the shorter ones was full. Its size lies between the last
//! length before the fall and the first after it. [`crate::attribution`] has causes of a fall
//! within one stream.

use std::collections::BTreeMap;

use assay_stats::confidence::{self, Estimate, LEVEL};
use assay_stats::mean;
use assay_store::model::{CellPlan, CellResult};
use assay_units::{MIB, Op};

/// Far more than repetitions differ, far less than a full cache costs.
pub const FALL_SHARE: f64 = 0.2;
/// Fall that continues a cliff: past the size of a cache the mean approaches the lower rate slowly.
pub const GOES_ON_SHARE: f64 = 0.1;
/// A continuous stream holds the peak's rate with this share of it.
pub const HOLDS_SHARE: f64 = 0.9;

/// All repetitions of one stream on one drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    pub op: Op,
    pub length_bytes: u64,
    pub chunk_bytes: u64,
    pub repeats: u32,
    /// Rate from the mean time.
    pub mib_per_s: f64,
    /// 95 % interval; `None` of a single repetition.
    pub interval_mib_per_s: Option<(f64, f64)>,
    /// Mean time from the first submission to the last completion.
    pub mean_ns: f64,
    pub errors: u64,
}

/// The rate falls for good.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cliff {
    /// The longest stream before the fall.
    pub before_bytes: u64,
    /// The shortest stream after the fall.
    pub after_bytes: u64,
    /// Best rate of the lengths up to `before_bytes`.
    pub from_mib_per_s: f64,
    /// Rate where it stops falling.
    pub to_mib_per_s: f64,
}

/// Repetitions together, writes first and then by length. Cells in which nothing completed do not
/// count.
pub fn streams<'a>(cells: impl IntoIterator<Item = (&'a CellPlan, &'a CellResult)>) -> Vec<Stream> {
    // Times in seconds, and errors; writes before reads.
    let mut groups: BTreeMap<(bool, u64, u64), (Vec<f64>, u64)> = BTreeMap::new();
    for (plan, result) in cells {
        let reads = result.read.bytes > result.write.bytes;
        let bytes = result.read.bytes.max(result.write.bytes);
        let time_s = result.elapsed.as_secs_f64();
        if bytes == 0 || time_s <= 0.0 {
            continue;
        }
        let key = (reads, plan.workload.span_bytes, plan.workload.bs_bytes);
        let (times_s, errors) = groups.entry(key).or_default();
        // A stream cut short by errors is extrapolated to its full length.
        let whole = plan.workload.span_bytes as f64 / bytes as f64;
        times_s.push(time_s * whole);
        *errors += result.errors();
    }
    let streams = groups.into_iter();
    streams
        .map(|((reads, length_bytes, chunk_bytes), (times_s, errors))| {
            let mean_s = mean(&times_s);
            let mib = length_bytes as f64 / MIB as f64;
            let estimate = confidence::independent(&times_s, LEVEL);
            // The rate falls as the time rises: the ends change places.
            let ends = |e: Estimate| (e.low > 0.0).then(|| (mib / e.high, mib / e.low));
            Stream {
                op: if reads { Op::Read } else { Op::Write },
                length_bytes,
                chunk_bytes,
                repeats: times_s.len() as u32,
                mib_per_s: mib / mean_s,
                interval_mib_per_s: estimate.and_then(ends),
                mean_ns: mean_s * 1e9,
                errors,
            }
        })
        .collect()
}

pub fn peak(streams: &[Stream], op: Op) -> Option<&Stream> {
    let own = streams.iter().filter(|s| s.op == op);
    own.max_by(|a, b| a.mib_per_s.total_cmp(&b.mib_per_s))
}

/// The shortest length first.
pub fn cliffs(streams: &[Stream], op: Op) -> Vec<Cliff> {
    let own: Vec<&Stream> = streams.iter().filter(|s| s.op == op).collect();
    let mut cliffs: Vec<Cliff> = Vec::new();
    let mut level: f64 = 0.0;
    let mut falling = false;
    for (i, pair) in own.windows(2).enumerate() {
        let (shorter, longer) = (pair[0], pair[1]);
        level = level.max(shorter.mib_per_s);
        if falling && longer.mib_per_s < (1.0 - GOES_ON_SHARE) * shorter.mib_per_s {
            if let Some(cliff) = cliffs.last_mut() {
                cliff.to_mib_per_s = longer.mib_per_s;
            }
            level = longer.mib_per_s;
            continue;
        }
        falling = false;
        let low = |s: &&Stream| s.mib_per_s <= (1.0 - FALL_SHARE) * level;
        if own[i + 1..].iter().all(low) {
            cliffs.push(Cliff {
                before_bytes: shorter.length_bytes,
                after_bytes: longer.length_bytes,
                from_mib_per_s: level,
                to_mib_per_s: longer.mib_per_s,
            });
            level = longer.mib_per_s;
            falling = true;
        }
    }
    cliffs
}

pub fn holds(peak_mib_per_s: f64, continuous_mib_per_s: f64) -> bool {
    continuous_mib_per_s >= HOLDS_SHARE * peak_mib_per_s
}

#[cfg(test)]
#[path = "../tests/unit/streams.rs"]
mod tests;
