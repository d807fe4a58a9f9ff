//! Intervals of a soak by the minute: a journal of weeks would be gigabytes by the second.

use std::collections::BTreeMap;

use assay_io::{Nanos, Telemetry};
use assay_stats::{HostLoad, HostLoadSum, Interval};

const MINUTE: Nanos = Nanos::from_secs(60);

/// What of a reading is recorded at once when it changes.
#[derive(Clone, Debug, Default, PartialEq)]
struct Condition {
    throttled: Option<bool>,
    critical_warnings: Vec<String>,
    power_state: Option<u8>,
}

#[derive(Debug, Default)]
pub(super) struct Minutes {
    /// By minute, whether measured (not ramp), and drive: the order in which they are recorded.
    open: BTreeMap<(u32, bool, usize), Interval>,
    /// Last recorded minute and condition of each drive.
    readings: BTreeMap<usize, (u32, Condition)>,
    host: HostLoadSum,
    host_minute: u32,
    latest: u32,
}

fn minute_of(at: Nanos) -> u32 {
    // Later than 8,000 years all is one minute.
    u32::try_from(at.0 / MINUTE.0).unwrap_or(u32::MAX)
}

impl Minutes {
    /// A share that arrives after its minute is over makes a record of its own, which readers add.
    pub(super) fn interval(&mut self, drive: usize, interval: &Interval) -> Vec<(usize, Interval)> {
        let minute = minute_of(interval.start);
        self.latest = self.latest.max(minute);
        let over = self.over(minute);
        let key = (minute, !interval.ramp, drive);
        let sum = self
            .open
            .entry(key)
            .and_modify(|sum| sum.merge(interval))
            .or_insert_with(|| Interval { index: minute, ..interval.clone() });
        // Written already.
        sum.submitted.clear();
        over
    }

    /// The sums of the minutes before this one.
    fn over(&mut self, minute: u32) -> Vec<(usize, Interval)> {
        let rest = self.open.split_off(&(minute, false, 0));
        let over = std::mem::replace(&mut self.open, rest);
        let drive = |((_, _, drive), sum)| (drive, sum);
        over.into_iter().map(drive).collect()
    }

    pub(super) fn end(&mut self) -> Vec<(usize, Interval)> {
        self.over(u32::MAX)
    }

    /// The first of each minute, and each whose condition differs from the last one recorded.
    pub(super) fn keeps(&mut self, drive: usize, at: Nanos, telemetry: &Telemetry) -> bool {
        let minute = minute_of(at);
        let condition = Condition {
            throttled: telemetry.throttled,
            critical_warnings: telemetry.critical_warnings.clone(),
            power_state: telemetry.power_state,
        };
        let now = (minute, condition);
        let kept = self.readings.get(&drive) != Some(&now);
        if kept {
            self.readings.insert(drive, now);
        }
        kept
    }

    pub(super) fn host(&mut self, load: HostLoad) -> Option<(u32, HostLoad)> {
        let is_over = self.latest != self.host_minute;
        let over = is_over.then(|| self.host_end()).flatten();
        self.host_minute = self.latest;
        self.host.add(&load);
        over
    }

    pub(super) fn host_end(&mut self) -> Option<(u32, HostLoad)> {
        let mean = std::mem::take(&mut self.host).mean()?;
        Some((self.host_minute, mean))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/run/minutes.rs"]
mod tests;
