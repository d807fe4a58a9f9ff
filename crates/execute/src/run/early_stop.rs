//! Early stop of a soak: in thermal and throughput steady state, or at a temperature limit.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_io::{Nanos, Telemetry};
use assay_stats::{HostLoad, Interval};
use assay_workload::run::RunObserver;

use assay_suite::expand::StopRule;

/// Why a cell stopped before its runtime.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StopReason {
    Steady,
    TemperatureLimit,
}

/// Rate and temperature of one drive since the ramp.
#[derive(Debug, Default)]
struct DriveSeries {
    /// End of each interval, its length, and its I/Os.
    rates: Vec<(Nanos, Nanos, u64)>,
    temperatures: Vec<(Nanos, f64)>,
}

impl DriveSeries {
    fn rate(&self, from: Nanos, to: Nanos) -> Option<f64> {
        let inside = self.rates.iter().filter(|r| r.0 > from && r.0 <= to);
        let (ios, span) = inside.fold((0, 0), |(ios, span), r| (ios + r.2, span + r.1.0));
        (span > 0).then(|| ios as f64 * 1e9 / span as f64)
    }

    fn temperature(&self, from: Nanos, to: Nanos) -> Option<f64> {
        let inside = self.temperatures.iter().filter(|t| t.0 > from && t.0 <= to);
        let (sum, count) = inside.fold((0.0, 0_u32), |(sum, count), t| (sum + t.1, count + 1));
        (count > 0).then(|| sum / f64::from(count))
    }

    /// Whether the last two windows agree within the rule's limits.
    fn is_steady(&self, rule: &StopRule) -> bool {
        let Some(&(now, ..)) = self.rates.last() else {
            return false;
        };
        // Two whole windows; without the product, which can overflow.
        if now.0 / 2 < rule.window.0 {
            return false;
        }
        let (middle, begin) = (now - rule.window, now - rule.window - rule.window);
        let (Some(before), Some(after)) = (self.rate(begin, middle), self.rate(middle, now)) else {
            return false;
        };
        let temperatures = self
            .temperature(begin, middle)
            .zip(self.temperature(middle, now));
        // A drive without a temperature sensor is evaluated by its rate alone.
        let warmed = temperatures.map_or(0.0, |(before, after)| (after - before).abs());
        (after - before).abs() <= before.max(after) * rule.rate_pct / 100.0
            && warmed <= rule.celsius
    }
}

/// Forwards events to another observer, and sets the stop flag when the rule holds on every drive.
pub(super) struct EarlyStop<'a> {
    rule: StopRule,
    inner: &'a mut dyn RunObserver,
    /// Set by the user.
    stop: &'a AtomicBool,
    ended: &'a AtomicBool,
    drives: BTreeMap<usize, DriveSeries>,
    /// Why the cell stopped early, if it did.
    pub(super) reason: Option<StopReason>,
}

impl<'a> EarlyStop<'a> {
    pub(super) fn new(
        rule: StopRule,
        inner: &'a mut dyn RunObserver,
        stop: &'a AtomicBool,
        ended: &'a AtomicBool,
    ) -> EarlyStop<'a> {
        EarlyStop {
            rule,
            inner,
            stop,
            ended,
            drives: BTreeMap::new(),
            reason: None,
        }
    }

    fn end(&mut self, reason: StopReason) {
        self.reason.get_or_insert(reason);
        self.ended.store(true, Ordering::Relaxed);
    }
}

impl RunObserver for EarlyStop<'_> {
    fn interval(&mut self, drive: usize, interval: &Interval) {
        self.inner.interval(drive, interval);
        if self.stop.load(Ordering::Relaxed) {
            self.ended.store(true, Ordering::Relaxed);
        }
        if !interval.ramp {
            let ops = interval.ops.iter().filter(|(op, _)| op.counts_in_iops());
            let ios = ops.map(|(_, counts)| counts.ios).sum();
            let series = self.drives.entry(drive).or_default();
            let mut latest = series.rates.iter_mut().rev();
            match latest.find(|(end, ..)| *end == interval.end) {
                // A late worker's share, of any earlier interval: its span counts once.
                Some((_, _, sum)) => *sum += ios,
                None => series
                    .rates
                    .push((interval.end, interval.end - interval.start, ios)),
            }
        }
        let mut drives = self.drives.values();
        if drives.len() > 0 && drives.all(|drive| drive.is_steady(&self.rule)) {
            self.end(StopReason::Steady);
        }
    }

    fn telemetry(&mut self, drive: usize, at: Nanos, telemetry: Telemetry) {
        if let Some(celsius) = telemetry.temperature_c {
            let series = self.drives.entry(drive).or_default();
            series.temperatures.push((at, celsius));
            if celsius >= self.rule.limit_c {
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
#[path = "../../tests/unit/run/early_stop.rs"]
mod tests;
