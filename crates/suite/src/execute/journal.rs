//! What happens in a cell, written into the run's journal as it happens.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use assay_analysis::power::MeanPower;
use assay_io::{Nanos, Telemetry};
use assay_stats::{HostLoad, Interval};
use assay_store::model::{CellResult, Entry, IntervalRecord, TelemetryRecord};
use assay_store::{RunWriter, StoreError};
use assay_units::Op;
use assay_workload::run::RunObserver;

use super::Progress;
use crate::expand::Cell;
use crate::warn::RunWarning;

/// Silence of a power meter that is worth telling, if it used to speak oftener.
const METER_PATIENCE: Nanos = Nanos::from_millis(10_000);

/// What a drive said of itself over a cell, summed up.
#[derive(Clone, Copy, Debug, Default)]
struct TelemetrySummary {
    hottest_c: Option<f64>,
    /// Of the readings after the ramp.
    power: MeanPower,
    /// When the last of them came, and the longest that one was waited for before.
    powered_at: Option<Nanos>,
    longest_wait: Nanos,
    /// When the last reading of any sort came.
    heard_at: Nanos,
    /// First and last reading of bytes written by the host and to the flash.
    host_written: Option<(u64, u64)>,
    nand_written: Option<(u64, u64)>,
}

/// What the drives said of themselves over a cell.
#[derive(Debug, Default)]
pub(super) struct CellTelemetry {
    drives: BTreeMap<usize, TelemetrySummary>,
    /// Everything written to each drive, ramp included.
    pub(super) written_bytes: BTreeMap<usize, u64>,
}

impl CellTelemetry {
    fn hear(&mut self, drive: usize, at: Nanos, ramp: bool, telemetry: &Telemetry) {
        let said = self.drives.entry(drive).or_default();
        said.heard_at = at;
        if telemetry.power_mw.is_some() {
            let waited = at - said.powered_at.unwrap_or(at);
            said.longest_wait = said.longest_wait.max(waited);
            said.powered_at = Some(at);
        }
        if let Some(celsius) = telemetry.temperature_c {
            said.hottest_c = Some(said.hottest_c.map_or(celsius, |h| h.max(celsius)));
        }
        if ramp {
            return;
        }
        if let Some(power_mw) = telemetry.power_mw {
            said.power.add(power_mw);
        }
        let stretch = |span: &mut Option<(u64, u64)>, now: Option<u64>| {
            if let Some(now) = now {
                *span = Some((span.map_or(now, |(first, _)| first), now));
            }
        };
        stretch(&mut said.host_written, telemetry.host_bytes_written);
        stretch(&mut said.nand_written, telemetry.nand_bytes_written);
    }

    /// When a drive's power was last heard of, and when the cell ended, where that is long before: a meter that ends in mid-cell leaves a mean of its
    /// beginning.
    pub(super) fn power_ended(&self, drive: usize) -> Option<(Nanos, Nanos)> {
        let said = self.drives.get(&drive)?;
        let last = said.powered_at?;
        let silent = said.heard_at - last;
        let patience = METER_PATIENCE.max(Nanos(said.longest_wait.0.saturating_mul(3)));
        (silent > patience).then_some((last, said.heard_at))
    }

    /// Add it to a drive's result.
    pub(super) fn values(&self, drive: usize, result: &mut CellResult) {
        let Some(said) = self.drives.get(&drive) else {
            return;
        };
        let mut insert = |name: &str, value: f64| {
            result.values.insert(name.to_owned(), value);
        };
        if let Some(celsius) = said.hottest_c {
            insert("temperature_max_c", celsius);
        }
        if let Some(watts) = said.power.watts() {
            insert("power_mean_w", watts);
        }
        if let (Some(host), Some(nand)) = (said.host_written, said.nand_written)
            && host.1 > host.0
        {
            let amplification = (nand.1 - nand.0) as f64 / (host.1 - host.0) as f64;
            insert("write_amplification", amplification);
        }
    }
}

/// Critical warnings of the drives' health logs that were told already, before the run or in it.
#[derive(Clone, Debug, Default)]
pub(super) struct CriticalWarnings {
    told: BTreeMap<usize, BTreeSet<String>>,
}

impl CriticalWarnings {
    /// Those of these that nobody was told of yet; they count as told from now on.
    pub(super) fn news(&mut self, drive: usize, set: &[String]) -> Vec<String> {
        if set.is_empty() {
            return Vec::new();
        }
        let told = self.told.entry(drive).or_default();
        let new = set.iter().filter(|&name| told.insert(name.clone()));
        new.cloned().collect()
    }
}

/// Writes what happens into the journal as it happens.
pub(super) struct Journal<'a> {
    cell: &'a str,
    ramp: Nanos,
    writer: &'a mut RunWriter,
    progress: &'a mut dyn Progress,
    stop: &'a AtomicBool,
    critical_warnings: &'a mut CriticalWarnings,
    bytes: BTreeMap<usize, u64>,
    watched: CellTelemetry,
    host: Vec<(u32, HostLoad)>,
    /// The first interval of which a part counts.
    measured_from: Option<u32>,
    failure: Option<StoreError>,
}

impl<'a> Journal<'a> {
    pub(super) fn new(
        cell: &'a Cell,
        writer: &'a mut RunWriter,
        progress: &'a mut dyn Progress,
        stop: &'a AtomicBool,
        critical_warnings: &'a mut CriticalWarnings,
    ) -> Journal<'a> {
        Journal {
            cell: &cell.plan.id,
            ramp: Nanos(cell.plan.workload.ramp_ns),
            writer,
            progress,
            stop,
            critical_warnings,
            bytes: BTreeMap::new(),
            watched: CellTelemetry::default(),
            host: Vec::new(),
            measured_from: None,
            failure: None,
        }
    }

    /// What was heard, of the host since the ramp, if all of it could be recorded.
    pub(super) fn end(self) -> Result<(CellTelemetry, Vec<HostLoad>), StoreError> {
        if let Some(error) = self.failure {
            return Err(error);
        }
        let from = self.measured_from.unwrap_or(u32::MAX);
        let measured = self.host.into_iter().filter(|(index, _)| *index >= from);
        Ok((self.watched, measured.map(|(_, load)| load).collect()))
    }

    fn append(&mut self, entry: &Entry) {
        if self.failure.is_some() {
            return;
        }
        if let Err(error) = self.writer.append(entry) {
            // What cannot be recorded must not go on being measured.
            self.failure = Some(error);
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

impl RunObserver for Journal<'_> {
    fn interval(&mut self, drive: usize, interval: &Interval) {
        let bytes = self.bytes.entry(drive).or_default();
        *bytes += interval
            .ops
            .iter()
            .map(|(_, counts)| counts.bytes)
            .sum::<u64>();
        let writes = interval.ops.iter().filter(|(op, _)| *op == Op::Write);
        let written: u64 = writes.map(|(_, counts)| counts.bytes).sum();
        *self.watched.written_bytes.entry(drive).or_default() += written;
        if !interval.ramp {
            let first = self.measured_from.unwrap_or(u32::MAX);
            self.measured_from = Some(first.min(interval.index));
        }
        self.progress
            .interval(drive, interval.end, *bytes, interval);
        self.append(&Entry::Interval(IntervalRecord::new(
            self.cell,
            drive,
            interval.clone(),
        )));
    }

    fn telemetry(&mut self, drive: usize, at: Nanos, telemetry: Telemetry) {
        self.watched.hear(drive, at, at <= self.ramp, &telemetry);
        let raised = self
            .critical_warnings
            .news(drive, &telemetry.critical_warnings);
        self.append(&Entry::Telemetry(TelemetryRecord {
            cell: self.cell.to_owned(),
            drive,
            at,
            temperature_c: telemetry.temperature_c,
            sensors_c: telemetry.sensors_c,
            throttled: telemetry.throttled,
            warning_time_s: telemetry.warning_time_s,
            critical_time_s: telemetry.critical_time_s,
            thermal_transitions: telemetry.thermal_transitions,
            media_errors: telemetry.media_errors,
            error_log_entries: telemetry.error_log_entries,
            percentage_used: telemetry.percentage_used,
            available_spare_pct: telemetry.available_spare_pct,
            critical_warnings: telemetry.critical_warnings,
            power_mw: telemetry.power_mw,
            power_state: telemetry.power_state,
            host_bytes_read: telemetry.host_bytes_read,
            host_bytes_written: telemetry.host_bytes_written,
            nand_bytes_written: telemetry.nand_bytes_written,
        }));
        if !raised.is_empty() {
            // Told at once, and so also of a cell that never ends.
            let words = raised.join(", ");
            let warning = RunWarning::CriticalWarningRaised { words, at };
            let record = warning.record(Some(self.cell), Some(drive));
            self.progress.warned(&record);
            self.append(&Entry::Warning(record));
        }
    }

    fn host(&mut self, index: u32, load: HostLoad) {
        self.host.push((index, load));
        self.append(&Entry::Host {
            cell: self.cell.to_owned(),
            index,
            load,
        });
    }
}

/// Records nothing.
pub(super) struct Ignore;

impl RunObserver for Ignore {
    fn interval(&mut self, _drive: usize, _interval: &Interval) {}
    fn telemetry(&mut self, _drive: usize, _at: Nanos, _telemetry: Telemetry) {}
    fn host(&mut self, _index: u32, _load: HostLoad) {}
}

#[cfg(test)]
#[path = "../../tests/unit/execute/journal.rs"]
mod tests;
