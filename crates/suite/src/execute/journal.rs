//! What happens in a cell, written into the run's journal as it happens.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_engine::run::Observer;
use assay_measure::{HostLoad, Interval};
use assay_store::model::{Entry, IntervalRecord, TelemetryRecord};
use assay_store::{RunWriter, StoreError};
use assay_target::{Nanos, Telemetry};

use super::Progress;

/// Writes what happens into the journal as it happens.
pub(super) struct Journal<'a> {
    pub(super) cell: &'a str,
    pub(super) writer: &'a mut RunWriter,
    pub(super) progress: &'a mut dyn Progress,
    pub(super) stop: &'a AtomicBool,
    pub(super) bytes: BTreeMap<usize, u64>,
    pub(super) hottest_c: BTreeMap<usize, f64>,
    pub(super) host: Vec<HostLoad>,
    pub(super) failure: Option<StoreError>,
}

impl Journal<'_> {
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

impl Observer for Journal<'_> {
    fn interval(&mut self, drive: usize, interval: &Interval) {
        let bytes = self.bytes.entry(drive).or_default();
        *bytes += interval
            .ops
            .iter()
            .map(|(_, counts)| counts.bytes)
            .sum::<u64>();
        self.progress
            .interval(drive, interval.end, *bytes, interval);
        self.append(&Entry::Interval(IntervalRecord::new(
            self.cell,
            drive,
            interval.clone(),
        )));
    }

    fn telemetry(&mut self, drive: usize, at: Nanos, telemetry: Telemetry) {
        if let Some(celsius) = telemetry.temperature_c {
            let hottest = self.hottest_c.entry(drive).or_insert(celsius);
            *hottest = hottest.max(celsius);
        }
        self.append(&Entry::Telemetry(TelemetryRecord {
            cell: self.cell.to_owned(),
            drive,
            at,
            temperature_c: telemetry.temperature_c,
            sensors_c: telemetry.sensors_c,
            throttled: telemetry.throttled,
            warning_time_s: telemetry.warning_time_s,
            power_mw: telemetry.power_mw,
            power_state: telemetry.power_state,
            host_bytes_written: telemetry.host_bytes_written,
            nand_bytes_written: telemetry.nand_bytes_written,
        }));
    }

    fn host(&mut self, index: u32, load: HostLoad) {
        self.host.push(load);
        self.append(&Entry::Host {
            cell: self.cell.to_owned(),
            index,
            load,
        });
    }
}

/// Records nothing.
pub(super) struct Ignore;

impl Observer for Ignore {
    fn interval(&mut self, _drive: usize, _interval: &Interval) {}
    fn telemetry(&mut self, _drive: usize, _at: Nanos, _telemetry: Telemetry) {}
    fn host(&mut self, _index: u32, _load: HostLoad) {}
}
