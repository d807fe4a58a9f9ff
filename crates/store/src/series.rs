//! What a drive completed in each interval of a cell: the one series behind reports, analysis and
//! verdicts.

use assay_stats::LatencySummary;
use assay_units::{Nanos, Op, rate};

use crate::read::CellDrive;

pub mod short;
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
    /// Their 99th percentile, nanoseconds.
    pub p99_ns: u64,
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
    /// Deallocations and writes of zeroes.
    pub other: OpCounts,
    /// Flushes, which are in none of the sums.
    pub flush: OpCounts,
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

    /// Failed or short, flushes included.
    pub fn errors(&self) -> u64 {
        let ios: u64 = self.ops().map(|counts| counts.errors).iter().sum();
        ios + self.flush.errors
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
            Op::Flush => &mut self.flush,
            Op::Discard | Op::WriteZeroes => &mut self.other,
        };
        let latency = &sample.latency;
        counts.ios += sample.ios;
        counts.bytes += sample.bytes;
        counts.errors += sample.errors;
        counts.latencies += latency.samples;
        counts.latency_sum_ns += latency.mean * latency.samples as f64;
        counts.p99_ns = counts.p99_ns.max(latency.p99);
    }
}

impl CellDrive {
    /// Intervals in time order; the one in which the ramp ends has a ramp and a measured part.
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

    /// The intervals after the ramp in time order.
    pub fn measured_intervals(&self) -> Vec<IntervalSample> {
        let mut measured = self.intervals();
        measured.retain(|sample| !sample.ramp);
        measured
    }
}

#[cfg(test)]
#[path = "../tests/unit/series.rs"]
mod tests;
