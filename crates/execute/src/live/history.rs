//! Rates of a drive over its last minutes, in seconds of the drive's time.

use std::collections::VecDeque;

use assay_units::Nanos;

pub const KEPT_SECONDS: usize = 600;

/// Of measurement, without the time between cells; virtual for a simulated drive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HistorySecond {
    pub number: u64,
    /// I/Os completed, spread evenly over each interval.
    pub ios: f64,
    pub bytes: f64,
    pub p99_ns: u64,
    /// How much of it was measured, seconds (1 for all but the present one and the ends of cells).
    pub covered_s: f64,
    /// Number of the cell, counted from the drive's first.
    pub cell: u32,
}

impl HistorySecond {
    pub fn iops(&self) -> f64 {
        self.per_second(self.ios)
    }

    pub fn bytes_per_s(&self) -> f64 {
        self.per_second(self.bytes)
    }

    fn per_second(&self, amount: f64) -> f64 {
        match self.covered_s > 0.0 {
            true => amount / self.covered_s,
            false => 0.0,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct History {
    seconds: VecDeque<HistorySecond>,
    /// Number of the second after the last one kept.
    next: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Contribution {
    /// Its start and end in the drive's time.
    pub(super) start: Nanos,
    pub(super) end: Nanos,
    pub(super) ios: u64,
    pub(super) bytes: u64,
    pub(super) p99: Nanos,
    pub(super) cell: u32,
}

impl History {
    /// Add an interval, spread over the seconds that it covers.
    pub(super) fn add(&mut self, of: Contribution) {
        let span_s = (of.end - of.start).as_secs_f64();
        if span_s <= 0.0 {
            return;
        }
        let second = Nanos::SECOND.0;
        let last = (of.end.0 - 1) / second;
        let kept = KEPT_SECONDS as u64;
        let first = (of.start.0 / second).max(last.saturating_sub(kept - 1));
        for number in first..=last {
            let from = Nanos((number * second).max(of.start.0));
            let to = Nanos(((number + 1).saturating_mul(second)).min(of.end.0));
            let covered_s = (to - from).as_secs_f64();
            let share = covered_s / span_s;
            let Some(at) = self.second(number) else {
                continue;
            };
            at.ios += of.ios as f64 * share;
            at.bytes += of.bytes as f64 * share;
            at.p99_ns = at.p99_ns.max(of.p99.0);
            at.covered_s = (at.covered_s + covered_s).min(1.0);
            at.cell = of.cell;
        }
    }

    /// The second of that number, appended if it is new; `None` if it is no longer kept.
    fn second(&mut self, number: u64) -> Option<&mut HistorySecond> {
        if number.saturating_sub(self.next) > KEPT_SECONDS as u64 {
            self.seconds.clear();
            self.next = number;
        }
        while self.next <= number {
            if self.seconds.len() == KEPT_SECONDS {
                self.seconds.pop_front();
            }
            self.seconds.push_back(HistorySecond { number: self.next, ..HistorySecond::default() });
            self.next += 1;
        }
        let back = usize::try_from(self.next - number).ok()?;
        let index = self.seconds.len().checked_sub(back)?;
        self.seconds.get_mut(index)
    }

    pub(super) fn to_vec(&self) -> Vec<HistorySecond> {
        self.seconds.iter().copied().collect()
    }
}

#[cfg(test)]
#[path = "../../tests/unit/live/history.rs"]
mod tests;
