//! The present cell of a drive as the detectors of causes see it, in bounded memory.

use assay_analysis::attribution::{Cause, CellContext, ObservedCell, ObservedInterval, phases};
use assay_io::Telemetry;
use assay_stats::{HostLoad, Interval};
use assay_store::series::{IntervalSample, OpCounts};
use assay_units::Op;

/// When there are more, neighbours are merged, so that the whole cell stays in view, in less
/// detail.
const KEPT_INTERVALS: usize = 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveCondition {
    pub label: &'static str,
    /// The figures of the label, if it has any, or who reports it.
    pub details: Option<String>,
}

/// Without [`Cause::Steady`] and [`Cause::Unexplained`], which prove nothing.
pub const CONDITIONS: [&str; 8] = [
    Cause::Fresh.label(),
    Cause::SlcCacheExhausted { cache_bytes: 0 }.label(),
    Cause::GcOnset.label(),
    Cause::GcSteady { write_amplification: None }.label(),
    Cause::ThermalThrottling { onset_c: None, onset_s: 0.0, duty_pct: 0.0, period_s: None }.label(),
    Cause::PowerLimited { state: 0 }.label(),
    Cause::HostLimited.label(),
    Cause::RateLimited { iops: 0.0 }.label(),
];

/// Label of a drive that reports that it throttles.
const THROTTLING: &str = CONDITIONS[4];

#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    pub(super) cell: ObservedCell,
    stride: u32,
    in_last: u32,
    nand_bytes: Option<u64>,
    /// The drive reported in its last reading that it throttles.
    throttled: bool,
}

impl Watch {
    pub(super) fn new(context: CellContext) -> Watch {
        Watch {
            cell: ObservedCell { intervals: Vec::new(), context },
            stride: 1,
            ..Watch::default()
        }
    }

    /// An interval, or a late share of the last one.
    pub(super) fn interval(&mut self, interval: &Interval) {
        if interval.ramp {
            return;
        }
        let sample = sample_of(interval);
        if let Some(last) = self.cell.intervals.last_mut() {
            let is_share = last.sample.end >= sample.end;
            if is_share || self.in_last < self.stride {
                self.in_last += u32::from(!is_share);
                add(&mut last.sample, &sample);
                return;
            }
        }
        if self.cell.intervals.len() == KEPT_INTERVALS {
            self.cell.intervals = halved(&self.cell.intervals);
            self.stride *= 2;
        }
        self.cell.intervals.push(ObservedInterval { sample, ..ObservedInterval::default() });
        self.in_last = 1;
    }

    pub(super) fn telemetry(&mut self, telemetry: &Telemetry) {
        self.throttled = telemetry.throttled == Some(true);
        let before = std::mem::replace(&mut self.nand_bytes, telemetry.nand_bytes_written);
        let Some(last) = self.cell.intervals.last_mut() else {
            return;
        };
        let programmed = self.nand_bytes.zip(before).map(|(now, was)| now - was.min(now));
        last.nand_bytes = sum(last.nand_bytes, programmed);
        last.temperature_c = telemetry.temperature_c;
        last.throttled = either(last.throttled, telemetry.throttled);
        last.warning_time_s = telemetry.warning_time_s;
        last.power_mw = telemetry.power_mw;
        last.power_state = telemetry.power_state;
    }

    pub(super) fn host(&mut self, load: HostLoad) {
        if let Some(last) = self.cell.intervals.last_mut() {
            last.host_idle_pct = Some(load.idle_pct + load.iowait_pct);
        }
    }

    /// The detectors take it for the workload's share of writes.
    fn write_share(&self) -> f64 {
        let bytes = |of: fn(&IntervalSample) -> u64| -> f64 {
            self.cell.intervals.iter().map(|i| of(&i.sample) as f64).sum()
        };
        let all = bytes(IntervalSample::bytes);
        match all > 0.0 {
            true => bytes(|sample| sample.write.bytes) / all,
            false => 0.0,
        }
    }

    /// A throttle status that the drive reports.
    pub(super) fn reported(&self) -> Option<DriveCondition> {
        self.throttled.then(|| DriveCondition {
            label: THROTTLING,
            details: Some("reported by the drive".to_owned()),
        })
    }

    pub(super) fn condition(&self) -> Option<DriveCondition> {
        if let Some(reported) = self.reported() {
            return Some(reported);
        }
        let mut cell = self.cell.clone();
        cell.context.write_share = self.write_share();
        let cause = phases(&cell).pop()?.cause;
        match cause {
            Cause::Steady | Cause::Unexplained => None,
            cause => Some(DriveCondition { label: cause.label(), details: cause.details() }),
        }
    }
}

fn sample_of(interval: &Interval) -> IntervalSample {
    let mut sample = IntervalSample {
        index: interval.index,
        ramp: interval.ramp,
        start: interval.start,
        end: interval.end,
        ..IntervalSample::default()
    };
    for (op, counts) in &interval.ops {
        let of_op = OpCounts {
            ios: counts.ios,
            bytes: counts.bytes,
            errors: counts.errors,
            latencies: counts.latency.count(),
            latency_sum_ns: counts.latency.sum_ns() as f64,
            p99_ns: 0,
        };
        add_counts(
            match op {
                Op::Read => &mut sample.read,
                Op::Write => &mut sample.write,
                Op::Flush => &mut sample.flush,
                Op::Discard | Op::WriteZeroes => &mut sample.other,
            },
            &of_op,
        );
    }
    sample
}

fn add_counts(to: &mut OpCounts, other: &OpCounts) {
    to.ios += other.ios;
    to.bytes += other.bytes;
    to.errors += other.errors;
    to.latencies += other.latencies;
    to.latency_sum_ns += other.latency_sum_ns;
    to.p99_ns = to.p99_ns.max(other.p99_ns);
}

fn add(to: &mut IntervalSample, other: &IntervalSample) {
    to.start = to.start.min(other.start);
    to.end = to.end.max(other.end);
    add_counts(&mut to.read, &other.read);
    add_counts(&mut to.write, &other.write);
    add_counts(&mut to.other, &other.other);
    add_counts(&mut to.flush, &other.flush);
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.zip(b).map(|(a, b)| a + b).or(a).or(b)
}

fn either(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    a.zip(b).map(|(a, b)| a || b).or(a).or(b)
}

/// Each two neighbours as one.
fn halved(intervals: &[ObservedInterval]) -> Vec<ObservedInterval> {
    let merged = intervals.chunks(2).map(|pair| {
        let (first, last) = (pair[0], pair[pair.len() - 1]);
        if pair.len() == 1 {
            return first;
        }
        let mut sample = first.sample;
        add(&mut sample, &last.sample);
        ObservedInterval {
            sample,
            nand_bytes: sum(first.nand_bytes, last.nand_bytes),
            throttled: either(first.throttled, last.throttled),
            ..last
        }
    });
    merged.collect()
}

#[cfg(test)]
#[path = "../../tests/unit/live/watch.rs"]
mod tests;
