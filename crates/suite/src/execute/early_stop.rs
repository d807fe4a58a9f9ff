//! RunSummary a cell once the drive has settled.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_io::{Nanos, Telemetry};
use assay_stats::{HostLoad, Interval};
use assay_workload::run::RunObserver;

use crate::expand::StopRule;

/// Why a cell ended before its runtime.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StopReason {
    /// Rate and temperature stay where they are.
    Steady,
    /// It got as hot as it may.
    TemperatureLimit,
}

/// A drive's last two windows.
#[derive(Debug, Default)]
struct Course {
    /// End of each interval, how long it was, and the I/Os in it.
    rates: Vec<(Nanos, Nanos, u64)>,
    temperatures: Vec<(Nanos, f64)>,
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u64), |(sum, count), v| (sum + v, count + 1));
    (count > 0).then(|| sum / count as f64)
}

impl Course {
    /// I/Os per second of the intervals that ended after `from` and by `to`.
    fn rate(&self, from: Nanos, to: Nanos) -> Option<f64> {
        let inside = self
            .rates
            .iter()
            .filter(|(end, ..)| *end > from && *end <= to);
        let (ios, span) = inside.fold((0, 0), |(ios, span), (_, length, more)| {
            (ios + more, span + length.0)
        });
        (span > 0).then(|| ios as f64 * 1e9 / span as f64)
    }

    fn temperature(&self, from: Nanos, to: Nanos) -> Option<f64> {
        let inside = self
            .temperatures
            .iter()
            .filter(|(at, _)| *at > from && *at <= to);
        mean(inside.map(|(_, celsius)| *celsius))
    }

    /// Were the last two windows alike?
    fn settled(&self, rule: &StopRule) -> bool {
        let Some(&(now, ..)) = self.rates.last() else {
            return false;
        };
        if now.0 < rule.window.0.saturating_mul(2) {
            return false;
        }
        let (middle, begin) = (now - rule.window, now - rule.window - rule.window);
        let (Some(before), Some(after)) = (self.rate(begin, middle), self.rate(middle, now)) else {
            return false;
        };
        let warmed = match (
            self.temperature(begin, middle),
            self.temperature(middle, now),
        ) {
            (Some(before), Some(after)) => (after - before).abs(),
            // A drive without a thermometer is judged by its rate.
            _ => 0.0,
        };
        (after - before).abs() <= before.max(after) * rule.rate_pct / 100.0
            && warmed <= rule.celsius
    }
}

/// Stands between the engine and whoever is told, and ends the cell in time.
pub(super) struct EarlyStop<'a> {
    rule: Option<StopRule>,
    inner: &'a mut dyn RunObserver,
    /// The user's.
    stop: &'a AtomicBool,
    /// What the engine looks at.
    ended: &'a AtomicBool,
    courses: BTreeMap<usize, Course>,
    by: Option<StopReason>,
}

impl<'a> EarlyStop<'a> {
    pub(super) fn new(
        rule: Option<StopRule>,
        inner: &'a mut dyn RunObserver,
        stop: &'a AtomicBool,
        ended: &'a AtomicBool,
    ) -> EarlyStop<'a> {
        EarlyStop {
            rule,
            inner,
            stop,
            ended,
            courses: BTreeMap::new(),
            by: None,
        }
    }

    /// Why the cell ended before its time, when it did.
    pub(super) fn stop_reason(&self) -> Option<StopReason> {
        self.by
    }

    fn end(&mut self, by: StopReason) {
        self.by.get_or_insert(by);
        self.ended.store(true, Ordering::Relaxed);
    }
}

impl RunObserver for EarlyStop<'_> {
    fn interval(&mut self, drive: usize, interval: &Interval) {
        self.inner.interval(drive, interval);
        if self.stop.load(Ordering::Relaxed) {
            self.ended.store(true, Ordering::Relaxed);
        }
        let Some(rule) = self.rule else {
            return;
        };
        if !interval.ramp {
            let ios = interval.ops.iter().map(|(_, counts)| counts.ios).sum();
            let course = self.courses.entry(drive).or_default();
            let mut latest = course.rates.iter_mut().rev();
            match latest.find(|(end, ..)| *end == interval.end) {
                // A late worker's share, of any earlier interval: its span counts once.
                Some((_, _, sum)) => *sum += ios,
                None => course
                    .rates
                    .push((interval.end, interval.end - interval.start, ios)),
            }
        }
        if self.courses.values().all(|course| course.settled(&rule)) && !self.courses.is_empty() {
            self.end(StopReason::Steady);
        }
    }

    fn telemetry(&mut self, drive: usize, at: Nanos, telemetry: Telemetry) {
        if let (Some(rule), Some(celsius)) = (self.rule, telemetry.temperature_c) {
            let course = self.courses.entry(drive).or_default();
            course.temperatures.push((at, celsius));
            if celsius >= rule.limit_c {
                self.end(StopReason::TemperatureLimit);
            }
        }
        self.inner.telemetry(drive, at, telemetry);
    }

    fn host(&mut self, index: u32, load: HostLoad) {
        self.inner.host(index, load);
    }
}

#[cfg(test)]
#[path = "../../tests/unit/execute/early_stop.rs"]
mod tests;
