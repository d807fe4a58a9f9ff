use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};

use assay_analysis::block_cache;
use assay_analysis::endurance::{self, CounterSpan, Origins};
use assay_analysis::power::MeanPower;
use assay_io::{Nanos, Telemetry};
use assay_stats::{HostLoad, HostLoadSum, Interval};
use assay_store::model::{
    CACHE_DIRTY_MIB, CACHE_HIT_PCT, CellResult, Entry, TelemetryRecord, WRITE_AMPLIFICATION,
};
use assay_store::{EncodedEntries, StoreError};
use assay_units::MIB;
use assay_workload::run::RunObserver;

use super::RunLog;
use super::io_log::IoLog;
use super::minutes::Minutes;
use crate::events::{Events, IntervalWork, RunEvent};
use crate::live::CellFlags;
use crate::{ExecuteError, warn};
use assay_suite::expand::Cell;

/// Shortest time without a power reading that counts as the meter's end.
const METER_TIMEOUT: Nanos = Nanos::from_millis(10_000);

#[derive(Clone, Copy, Debug, Default)]
struct TelemetrySummary {
    max_temperature_c: Option<f64>,
    /// Readings after the ramp.
    power: MeanPower,
    /// Last power reading, and the longest gap between two.
    last_power_at: Option<Nanos>,
    longest_power_gap: Nanos,
    /// Last reading of any kind.
    last_at: Nanos,
    /// Counters of bytes written by the host and to the media.
    counters: CounterSpan,
    /// Hits and reads of the block cache.
    block_cache: CounterSpan,
    /// Its dirty bytes at the last reading.
    dirty_bytes: Option<u64>,
}

#[derive(Debug, Default)]
pub(super) struct CellTelemetry {
    drives: BTreeMap<usize, TelemetrySummary>,
    pub(super) written_bytes: BTreeMap<usize, u64>,
}

impl CellTelemetry {
    fn add(&mut self, drive: usize, at: Nanos, ramp: bool, telemetry: &Telemetry) {
        let summary = self.drives.entry(drive).or_default();
        summary.last_at = at;
        if telemetry.power_mw.is_some() {
            let gap = at - summary.last_power_at.unwrap_or(at);
            summary.longest_power_gap = summary.longest_power_gap.max(gap);
            summary.last_power_at = Some(at);
        }
        if let Some(celsius) = telemetry.temperature_c {
            let max = summary.max_temperature_c;
            summary.max_temperature_c = Some(max.map_or(celsius, |max| max.max(celsius)));
        }
        let (host, media) = (telemetry.host_bytes_written, telemetry.nand_bytes_written);
        summary.counters.add(ramp, host.zip(media));
        let hits = telemetry.cache_read_hits.zip(telemetry.cache_reads);
        summary.block_cache.add(ramp, hits);
        summary.dirty_bytes = telemetry.cache_dirty_bytes.or(summary.dirty_bytes);
        if ramp {
            return;
        }
        if let Some(power_mw) = telemetry.power_mw {
            summary.power.add(power_mw);
        }
    }

    /// Last power reading and end of the cell, if the readings stopped long before the end: more
    /// than [`METER_TIMEOUT`] and three times the longest gap before. The mean power then covers
    /// only the first part of the cell.
    pub(super) fn power_ended(&self, drive: usize) -> Option<(Nanos, Nanos)> {
        let summary = self.drives.get(&drive)?;
        let last = summary.last_power_at?;
        let gap = summary.last_at - last;
        let ended = gap > METER_TIMEOUT && gap.0.div_ceil(3) > summary.longest_power_gap.0;
        ended.then_some((last, summary.last_at))
    }

    /// Add the summary to a drive's result; `origins` of its counters of bytes written.
    pub(super) fn add_to(&self, drive: usize, origins: Option<Origins>, result: &mut CellResult) {
        let Some(summary) = self.drives.get(&drive) else {
            return;
        };
        let reads = result.read.ios;
        let mut insert = |name: &str, value: f64| {
            result.values.insert(name.to_owned(), value);
        };
        if let Some(celsius) = summary.max_temperature_c {
            insert("temperature_max_c", celsius);
        }
        if let Some(watts) = summary.power.watts() {
            insert("power_mean_w", watts);
        }
        let amplification = origins.and_then(|origins| {
            let growth = summary.counters.growth().ok()?;
            endurance::amplification(growth, &origins).ok()
        });
        if let Some(found) = amplification {
            insert(WRITE_AMPLIFICATION, found.factor);
        }
        if let Some(percent) = block_cache::hit_pct(&summary.block_cache, reads) {
            insert(CACHE_HIT_PCT, percent);
        }
        if let Some(bytes) = summary.dirty_bytes {
            insert(CACHE_DIRTY_MIB, bytes as f64 / MIB as f64);
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct CriticalWarnings {
    reported: BTreeMap<usize, BTreeSet<String>>,
}

impl CriticalWarnings {
    pub(super) fn take_new(&mut self, drive: usize, set: &[String]) -> Vec<String> {
        if set.is_empty() {
            return Vec::new();
        }
        let reported = self.reported.entry(drive).or_default();
        let new = set.iter().filter(|&name| reported.insert(name.clone()));
        new.cloned().collect()
    }

    pub(super) fn merge(&mut self, drive: usize, mut of_drive: CriticalWarnings) {
        if let Some(reported) = of_drive.reported.remove(&drive) {
            self.reported.insert(drive, reported);
        }
    }
}

/// Intervals of which it may not be known yet whether they are measured: their threads are late.
const LATE_INTERVALS: usize = 64;

/// Host load of the intervals since the ramp.
#[derive(Debug, Default)]
struct MeasuredLoad {
    /// The latest.
    late: VecDeque<(u32, HostLoad)>,
    sum: HostLoadSum,
    /// The first interval after the ramp.
    from: Option<u32>,
}

impl MeasuredLoad {
    fn measured(&mut self, index: u32) {
        self.from = Some(self.from.unwrap_or(index).min(index));
    }

    fn add(&mut self, index: u32, load: HostLoad) {
        self.late.push_back((index, load));
        if self.late.len() > LATE_INTERVALS {
            self.add_oldest();
        }
    }

    fn add_oldest(&mut self) {
        if let Some((index, load)) = self.late.pop_front()
            && self.from.is_some_and(|from| index >= from)
        {
            self.sum.add(&load);
        }
    }

    fn mean(mut self) -> Option<HostLoad> {
        while !self.late.is_empty() {
            self.add_oldest();
        }
        self.sum.mean()
    }
}

pub(super) struct Journal<'a, 'e> {
    cell: &'a str,
    drives: &'a [usize],
    ramp: Nanos,
    log: &'a dyn RunLog,
    events: &'a Events<'e>,
    stop: &'a AtomicBool,
    flags: &'a CellFlags,
    critical_warnings: &'a mut CriticalWarnings,
    telemetry: CellTelemetry,
    host: MeasuredLoad,
    /// Where intervals are recorded by the minute.
    minutes: Option<Minutes>,
    io_log: Option<IoLog>,
    failure: Option<ExecuteError>,
}

impl<'a, 'e> Journal<'a, 'e> {
    pub(super) fn new(
        cell: &'a Cell,
        log: &'a dyn RunLog,
        events: &'a Events<'e>,
        stop: &'a AtomicBool,
        flags: &'a CellFlags,
        critical_warnings: &'a mut CriticalWarnings,
        io_log: Option<IoLog>,
    ) -> Journal<'a, 'e> {
        Journal {
            cell: &cell.plan.id,
            drives: &cell.plan.drives,
            ramp: Nanos(cell.plan.workload.ramp_ns),
            log,
            events,
            stop,
            flags,
            critical_warnings,
            telemetry: CellTelemetry::default(),
            host: MeasuredLoad::default(),
            minutes: cell.by_minute.then(Minutes::default),
            io_log,
            failure: None,
        }
    }

    /// The cell's telemetry, and the mean host load since the ramp.
    pub(super) fn end(mut self) -> Result<(CellTelemetry, Option<HostLoad>), ExecuteError> {
        if let Some(mut minutes) = self.minutes.take() {
            self.record_minutes(minutes.end(), minutes.host_end());
        }
        if let Some(error) = self.failure {
            return Err(error);
        }
        self.io_log.take().map_or(Ok(()), IoLog::close)?;
        Ok((self.telemetry, self.host.mean()))
    }

    fn record_minutes(&mut self, sums: Vec<(usize, Interval)>, host: Option<(u32, HostLoad)>) {
        for (drive, sum) in sums {
            self.append_interval(drive, &sum);
        }
        if let Some((index, load)) = host {
            self.append(&Entry::Host { cell: self.cell.to_owned(), index, load });
        }
    }

    fn append_interval(&mut self, drive: usize, interval: &Interval) {
        let entry = EncodedEntries::interval(self.cell, drive, interval, self.log.folder());
        self.appended(|log| log.append_encoded(entry?));
    }

    fn append(&mut self, entry: &Entry) {
        self.appended(|log| log.append(entry));
    }

    fn appended(&mut self, append: impl FnOnce(&dyn RunLog) -> Result<(), StoreError>) {
        if self.failure.is_some() {
            return;
        }
        let appended = append(self.log).map_err(ExecuteError::from);
        self.check(appended);
    }

    fn log_ios(&mut self, interval: &Interval) {
        let logged = self.io_log.as_mut().map_or(Ok(()), |log| log.interval(interval));
        self.check(logged);
    }

    /// Measurements that cannot be recorded are stopped.
    fn check(&mut self, recorded: Result<(), ExecuteError>) {
        if let Err(error) = recorded {
            self.failure.get_or_insert(error);
            self.stop.store(true, Ordering::Relaxed);
            self.flags.forward(self.stop);
        }
    }
}

impl RunObserver for Journal<'_, '_> {
    fn read_back(&mut self, _drive: usize, interval: &Interval) {
        self.flags.forward(self.stop);
        self.log_ios(interval);
    }

    fn interval(&mut self, drive: usize, interval: &Interval) {
        let work = IntervalWork::new(interval);
        *self.telemetry.written_bytes.entry(drive).or_default() += work.written_bytes;
        if !interval.ramp {
            self.host.measured(interval.index);
        }
        self.events.emit(&RunEvent::Interval { drive, work, interval: Some(interval) });
        self.flags.forward(self.stop);
        self.log_ios(interval);
        match &mut self.minutes {
            Some(minutes) => {
                let sums = minutes.interval(drive, interval);
                self.record_minutes(sums, None);
            }
            None => self.append_interval(drive, interval),
        }
    }

    fn telemetry(&mut self, drive: usize, at: Nanos, telemetry: Telemetry) {
        self.flags.forward(self.stop);
        self.events.emit(&RunEvent::Telemetry { drive, at, telemetry: &telemetry });
        self.telemetry.add(drive, at, at <= self.ramp, &telemetry);
        let set = &telemetry.critical_warnings;
        let raised = self.critical_warnings.take_new(drive, set);
        let minutes = self.minutes.as_mut();
        if minutes.is_some_and(|minutes| !minutes.keeps(drive, at, &telemetry)) {
            return;
        }
        let record = TelemetryRecord::new(self.cell.to_owned(), drive, at, telemetry);
        self.append(&Entry::Telemetry(record));
        if !raised.is_empty() {
            // Recorded at once: the cell may hang.
            let warning = warn::critical_warning_raised(&raised.join(", "), at);
            let record = warn::about(warning, Some(self.cell), Some(drive));
            self.events.warned(&record);
            self.append(&Entry::Warning(record));
        }
    }

    fn host(&mut self, index: u32, load: HostLoad) {
        self.flags.forward(self.stop);
        let drives = self.drives;
        self.events.emit(&RunEvent::Host { drives, load });
        self.host.add(index, load);
        let recorded = match &mut self.minutes {
            Some(minutes) => minutes.host(load),
            None => Some((index, load)),
        };
        self.record_minutes(Vec::new(), recorded);
    }
}

pub(super) struct Ignore<'a> {
    pub(super) stop: &'a AtomicBool,
    pub(super) flags: &'a CellFlags,
}

impl RunObserver for Ignore<'_> {
    fn interval(&mut self, _drive: usize, _interval: &Interval) {
        self.flags.forward(self.stop);
    }

    fn telemetry(&mut self, _drive: usize, _at: Nanos, _telemetry: Telemetry) {
        self.flags.forward(self.stop);
    }

    fn host(&mut self, _index: u32, _load: HostLoad) {
        self.flags.forward(self.stop);
    }
}

#[cfg(test)]
#[path = "../../tests/unit/run/journal.rs"]
mod tests;
