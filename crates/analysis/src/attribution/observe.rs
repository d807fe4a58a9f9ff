//! Input of the detectors: everything recorded about a drive in a cell.

use std::collections::BTreeMap;

use assay_store::model::{
    CellKind, CellResult, DriveRecord, OFFERED_IOPS, TelemetryRecord, WorkloadRecord,
};
use assay_store::read::{CellDrive, CellRecord, CellState, Run};
use assay_store::series::IntervalSample;
use assay_units::Op;

use super::{CellContext, ObservedCell, ObservedInterval};
use super::{RatePhase, Throttling, phases, throttling};
use crate::power;

/// `drive` is the index in [`Manifest::drives`](assay_store::model::Manifest::drives). Empty where
/// the cell has no series of the drive.
pub fn of_cell(run: &Run, cell: &CellRecord, drive: usize) -> Vec<RatePhase> {
    observe(run, cell, drive).map_or_else(Vec::new, |observed| phases(&observed))
}

/// `None` where the drive did not throttle.
pub fn throttling_of_cell(run: &Run, cell: &CellRecord, drive: usize) -> Option<Throttling> {
    let observed = observe(run, cell, drive)?;
    throttling(&observed, &phases(&observed))
}

/// `None` where the drive does not take part, or nothing was measured.
pub fn observe(run: &Run, cell: &CellRecord, drive: usize) -> Option<ObservedCell> {
    // The detectors know one workload of a drive.
    if cell.plan.job.is_some() {
        return None;
    }
    let part = cell.drive(drive)?;
    let samples = part.measured_intervals();
    if samples.is_empty() {
        return None;
    }
    let host = cell.host.iter();
    let idle: BTreeMap<u32, f64> =
        host.map(|(index, load)| (*index, load.idle_pct + load.iowait_pct)).collect();
    let busiest_thread_pct = busiest_thread_pct(cell, part);
    let known = run.manifest.drives.get(part.drive);
    let simulated = known.is_some_and(|drive| drive.simulated);
    let mean_iops = part.result.as_ref().map_or(0.0, CellResult::iops);
    let mut readings = Readings { records: &part.telemetry, nand_bytes: None };
    let observed = |sample: IntervalSample| {
        // A reading at the end of an interval can be stamped a little after it.
        let (reading, nand_bytes) = readings.up_to(sample.end_s() + sample.elapsed_s() / 2.0);
        let reading = reading.cloned().unwrap_or_default();
        ObservedInterval {
            sample,
            nand_bytes,
            temperature_c: reading.temperature_c,
            throttled: reading.throttled,
            warning_time_s: reading.warning_time_s,
            power_mw: reading.power_mw,
            power_state: reading.power_state,
            host_idle_pct: idle.get(&sample.index).copied(),
            // A simulated host spends the same time on every I/O.
            busiest_thread_pct: match simulated && mean_iops > 0.0 {
                true => busiest_thread_pct.map(|pct| pct * sample.iops() / mean_iops),
                false => busiest_thread_pct,
            },
        }
    };
    Some(ObservedCell {
        intervals: samples.into_iter().map(observed).collect(),
        context: context(run, cell, part),
    })
}

/// Telemetry in time order, read forward.
struct Readings<'a> {
    /// Records that were not read yet.
    records: &'a [TelemetryRecord],
    nand_bytes: Option<u64>,
}

impl<'a> Readings<'a> {
    /// The last reading until `end_s` that was not read yet, and the flash bytes since the last
    /// reading that counted them.
    fn up_to(&mut self, end_s: f64) -> (Option<&'a TelemetryRecord>, Option<u64>) {
        let until = |record: &TelemetryRecord| record.at.as_secs_f64() <= end_s;
        let (past, rest) = self.records.split_at(self.records.partition_point(until));
        self.records = rest;
        let latest = past.last();
        let counted = latest.and_then(|record| record.nand_bytes_written);
        let before = self.nand_bytes;
        self.nand_bytes = counted.or(before);
        // A counter that runs backwards (a drive that was reset) gives no count.
        let both = counted.zip(before);
        (latest, both.map(|(now, then)| now.saturating_sub(then)))
    }
}

/// Run folders of earlier versions lack it: there the mean over all threads is a lower bound, and
/// only for a drive measured alone (the process is the same for all drives).
fn busiest_thread_pct(cell: &CellRecord, part: &CellDrive) -> Option<f64> {
    let result = part.result.as_ref()?;
    result.busiest_thread_pct.or_else(|| {
        let process = result.process.filter(|_| cell.drives.len() == 1)?;
        let threads = f64::from(cell.plan.workload.numjobs.max(1));
        Some((process.cpu_user_pct + process.cpu_system_pct) / threads)
    })
}

fn context(run: &Run, cell: &CellRecord, part: &CellDrive) -> CellContext {
    let workload = &cell.plan.workload;
    let all: u64 = part.series.iter().map(|p| p.bytes).sum();
    let known = run.manifest.drives.get(part.drive);
    CellContext {
        write_share: match all {
            0 => 0.0,
            all => written_bytes(part) as f64 / all as f64,
        },
        random: workload.rw.starts_with("rand"),
        capacity_bytes: known.map_or(0, |drive| drive.capacity_bytes),
        span_bytes: workload.span_bytes,
        written_before_bytes: written_since_purge(run, cell, part.drive),
        power_cap_mw: known.and_then(|drive| power_cap_mw(drive, workload, part)),
        unlimited: unlimited(run, cell, part),
        asked_iops: asked_iops(workload, part),
    }
}

/// The workload's limit, or the rate offered, which can depend on an earlier cell.
fn asked_iops(workload: &WorkloadRecord, part: &CellDrive) -> Option<f64> {
    let offered = part.result.as_ref().and_then(|result| {
        let recorded = result.values.get(OFFERED_IOPS).copied();
        recorded.filter(|&iops| iops > 0.0)
    });
    let planned = (workload.rate_iops > 0.0).then_some(workload.rate_iops);
    workload.rate_limit_iops.or(offered).or(planned)
}

/// Maximum power of the state in the readings, else of the requested one.
fn power_cap_mw(drive: &DriveRecord, workload: &WorkloadRecord, part: &CellDrive) -> Option<u64> {
    let seen = part.telemetry.iter().rev().find_map(|r| r.power_state);
    let state = seen.or(workload.power_state)?;
    drive.power_limits_mw.get(&state).copied()
}

/// `None` without a purge.
fn written_since_purge(run: &Run, cell: &CellRecord, drive: usize) -> Option<u64> {
    let mut written = None;
    let earlier = run.cells.iter().take_while(|c| c.plan.id != cell.plan.id);
    for (earlier, part) in earlier.filter_map(|c| Some((c, c.drive(drive)?))) {
        written = match earlier.plan.kind {
            CellKind::Purge => (earlier.state == CellState::Finished).then_some(0),
            _ => written.map(|before: u64| before + written_bytes(part)),
        };
    }
    written
}

fn written_bytes(part: &CellDrive) -> u64 {
    let writes = part.series.iter().filter(|point| point.op == Op::Write);
    writes.map(|point| point.bytes).sum()
}

/// Power (milliwatts) and IOPS of the same workload and drive in power state 0.
fn unlimited(run: &Run, cell: &CellRecord, part: &CellDrive) -> Option<(u64, f64)> {
    let wanted = &cell.plan.workload;
    if wanted.power_state.unwrap_or(0) == 0 {
        return None;
    }
    run.cells.iter().find_map(|other| {
        let w = &other.plan.workload;
        let same = (&w.rw, w.bs_bytes, w.iodepth, w.numjobs)
            == (&wanted.rw, wanted.bs_bytes, wanted.iodepth, wanted.numjobs)
            && w.rwmixread == wanted.rwmixread
            && w.power_state.unwrap_or(0) == 0;
        if !same {
            return None;
        }
        let theirs = other.drive(part.drive)?;
        let mean_mw = (power::mean_watts(theirs)? * 1e3).round() as u64;
        Some((mean_mw, theirs.result.as_ref()?.iops()))
    })
}

#[cfg(test)]
#[path = "../../tests/unit/attribution/observe.rs"]
mod tests;
