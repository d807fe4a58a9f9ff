//! Interval series: what a drive completed in each interval of a cell. The one series behind reports, analysis and verdicts.
//!
//! # Short intervals
//! Intervals are equally long, with two exceptions: the first measured one where the ramp ends inside an interval, and the
//! last one, in which the I/Os that were in flight at the end complete. The rate of such a short interval rests on few
//! completions and would set minimum, maximum, spread and change points; without it the series would no longer add up to the
//! result. So a measured interval shorter than half of the longest one is not a sample of its own ([`is_short`]): its counts
//! and its time are added to the interval before it, or to the one after it where it is the first.

use assay_stats::LatencySummary;
use assay_units::{Nanos, Op, rate};

use crate::read::CellDrive;

pub mod silent;

/// One operation in one interval, as it is exported.
#[derive(Clone, Debug, PartialEq)]
pub struct OpSample {
    /// Interval index.
    pub index: u32,
    /// Part of the ramp.
    pub ramp: bool,
    /// Since the cell's start.
    pub start: Nanos,
    /// Since the cell's start.
    pub end: Nanos,
    /// Operation.
    pub op: Op,
    /// Completed.
    pub ios: u64,
    /// Bytes.
    pub bytes: u64,
    /// Failed or short.
    pub errors: u64,
    /// Latency figures.
    pub latency: LatencySummary,
}

impl OpSample {
    /// Length of the interval.
    pub fn elapsed(&self) -> Nanos {
        self.end - self.start
    }

    /// Completions per second.
    pub fn iops(&self) -> f64 {
        rate::per_second(self.ios, self.elapsed())
    }

    /// MiB per second.
    pub fn mib_per_s(&self) -> f64 {
        rate::mib_per_second(self.bytes, self.elapsed())
    }
}

/// Counts of one sort of operation in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OpCounts {
    /// Completed.
    pub ios: u64,
    /// Bytes.
    pub bytes: u64,
    /// Failed or short.
    pub errors: u64,
    /// Latencies recorded.
    pub latencies: u64,
    /// Their sum, nanoseconds.
    pub latency_sum_ns: f64,
    /// Their 99th percentile, nanoseconds; of an interval that took in a short one, its own.
    pub p99_ns: u64,
}

impl OpCounts {
    fn add(&mut self, other: &OpCounts) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.errors += other.errors;
        self.latencies += other.latencies;
        self.latency_sum_ns += other.latency_sum_ns;
    }
}

/// One interval of a drive in a cell, all operations together; usually a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IntervalSample {
    /// Interval index.
    pub index: u32,
    /// Part of the ramp.
    pub ramp: bool,
    /// Since the cell's start.
    pub start: Nanos,
    /// Since the cell's start.
    pub end: Nanos,
    /// Reads.
    pub read: OpCounts,
    /// Writes.
    pub write: OpCounts,
    /// Flushes, discards and writes of zeroes.
    pub other: OpCounts,
}

impl IntervalSample {
    fn ops(&self) -> [&OpCounts; 3] {
        [&self.read, &self.write, &self.other]
    }

    /// Completed.
    pub fn ios(&self) -> u64 {
        self.ops().map(|counts| counts.ios).iter().sum()
    }

    /// Bytes.
    pub fn bytes(&self) -> u64 {
        self.ops().map(|counts| counts.bytes).iter().sum()
    }

    /// Failed or short.
    pub fn errors(&self) -> u64 {
        self.ops().map(|counts| counts.errors).iter().sum()
    }

    /// Length.
    pub fn elapsed(&self) -> Nanos {
        self.end - self.start
    }

    /// Length, seconds.
    pub fn elapsed_s(&self) -> f64 {
        self.elapsed().as_secs_f64()
    }

    /// Start, seconds since the cell's start.
    pub fn start_s(&self) -> f64 {
        self.start.as_secs_f64()
    }

    /// End, seconds since the cell's start.
    pub fn end_s(&self) -> f64 {
        self.end.as_secs_f64()
    }

    /// Completions per second.
    pub fn iops(&self) -> f64 {
        rate::per_second(self.ios(), self.elapsed())
    }

    /// MiB (2^20 bytes) per second.
    pub fn mib_per_s(&self) -> f64 {
        rate::mib_per_second(self.bytes(), self.elapsed())
    }

    /// Mean latency, nanoseconds; 0 where nothing completed.
    pub fn latency_mean_ns(&self) -> f64 {
        let sum_ns: f64 = self.ops().map(|counts| counts.latency_sum_ns).iter().sum();
        match self.ios() {
            0 => 0.0,
            ios => sum_ns / ios as f64,
        }
    }

    fn add(&mut self, sample: &OpSample) {
        self.start = self.start.min(sample.start);
        self.end = self.end.max(sample.end);
        let counts = match sample.op {
            Op::Read => &mut self.read,
            Op::Write => &mut self.write,
            _ => &mut self.other,
        };
        let latency = &sample.latency;
        counts.ios += sample.ios;
        counts.bytes += sample.bytes;
        counts.errors += sample.errors;
        counts.latencies += latency.samples;
        counts.latency_sum_ns += latency.mean * latency.samples as f64;
        counts.p99_ns = counts.p99_ns.max(latency.p99);
    }

    /// Take in the counts and the time of a short neighbour.
    fn absorb(&mut self, short: &IntervalSample) {
        self.start = self.start.min(short.start);
        self.end = self.end.max(short.end);
        self.read.add(&short.read);
        self.write.add(&short.write);
        self.other.add(&short.other);
    }
}

/// Is an interval too short to be a sample of its own (see the [module](self))?
pub fn is_short(elapsed: Nanos, longest: Nanos) -> bool {
    u128::from(elapsed.0) * 2 < u128::from(longest.0)
}

impl CellDrive {
    /// All intervals in time order, the ramp's first. The interval in which the ramp ends has two: one of the ramp, one measured.
    pub fn intervals(&self) -> Vec<IntervalSample> {
        let same = |a: &OpSample, b: &OpSample| (a.index, a.ramp) == (b.index, b.ramp);
        let samples = self.series.chunk_by(same).map(|ops| {
            let first = &ops[0];
            let mut sample = IntervalSample {
                index: first.index,
                ramp: first.ramp,
                start: first.start,
                end: first.end,
                ..IntervalSample::default()
            };
            ops.iter().for_each(|op| sample.add(op));
            sample
        });
        samples.collect()
    }

    /// The intervals after the ramp in time order, short ones added to their neighbours (see the [module](self)).
    pub fn measured_intervals(&self) -> Vec<IntervalSample> {
        let mut all = self.intervals();
        all.retain(|sample| !sample.ramp);
        let longest = all
            .iter()
            .map(IntervalSample::elapsed)
            .max()
            .unwrap_or_default();
        let mut whole: Vec<IntervalSample> = Vec::with_capacity(all.len());
        let mut leading: Option<IntervalSample> = None;
        for mut sample in all {
            if !is_short(sample.elapsed(), longest) {
                if let Some(short) = leading.take() {
                    sample.absorb(&short);
                }
                whole.push(sample);
            } else if let Some(before) = whole.last_mut() {
                before.absorb(&sample);
            } else if let Some(before) = &mut leading {
                before.absorb(&sample);
            } else {
                leading = Some(sample);
            }
        }
        whole
    }
}

#[cfg(test)]
#[path = "../tests/unit/series.rs"]
mod tests;
