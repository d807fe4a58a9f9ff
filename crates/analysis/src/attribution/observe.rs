//! Input of the detectors: a cell of a run folder with everything recorded about a drive in it.

use std::collections::BTreeMap;

use assay_store::model::{CellKind, DriveRecord, TelemetryRecord, WorkloadRecord};
use assay_store::read::{CellDrive, CellRecord, CellState, Run};
use assay_units::Op;

use super::{
    CellContext, ObservedCell, ObservedInterval, RatePhase, Throttling, phases, throttling,
};
use crate::power;

/// The phases of a drive in a cell; `drive` is its index in [`Manifest::drives`](assay_store::model::Manifest::drives). Empty where
/// the cell has no series of it.
pub fn of_cell(run: &Run, cell: &CellRecord, drive: usize) -> Vec<RatePhase> {
    observe(run, cell, drive).map_or_else(Vec::new, |observed| phases(&observed))
}

/// Throttling of a drive in a cell; `None` where it did not throttle.
pub fn throttling_of_cell(run: &Run, cell: &CellRecord, drive: usize) -> Option<Throttling> {
    let observed = observe(run, cell, drive)?;
    throttling(&observed, &phases(&observed))
}

/// Everything recorded about a drive in a cell; `None` where the drive does not take part, or nothing was measured.
pub fn observe(run: &Run, cell: &CellRecord, drive: usize) -> Option<ObservedCell> {
    let part = cell.drives.iter().find(|part| part.drive == drive)?;
    let samples = part.measured_intervals();
    if samples.is_empty() {
        return None;
    }
    let idle: BTreeMap<u32, f64> = cell
        .host
        .iter()
        .map(|(index, load)| (*index, load.idle_pct + load.iowait_pct))
        .collect();
    let busiest_thread_pct = busiest_thread_pct(cell, part);
    let mut readings = Readings::of(&part.telemetry);
    let mut intervals = Vec::with_capacity(samples.len());
    for sample in samples {
        // A reading at the end of an interval can be stamped a little after it.
        let (reading, nand_bytes) = readings.up_to(sample.end_s(), sample.elapsed_s() / 2.0);
        let reading = reading.cloned().unwrap_or_default();
        intervals.push(ObservedInterval {
            sample,
            nand_bytes,
            temperature_c: reading.temperature_c,
            throttled: reading.throttled,
            warning_time_s: reading.warning_time_s,
            power_mw: reading.power_mw,
            power_state: reading.power_state,
            host_idle_pct: idle.get(&sample.index).copied(),
            busiest_thread_pct,
        });
    }
    Some(ObservedCell {
        intervals,
        context: context(run, cell, part),
    })
}

/// Telemetry in time order, read forward.
struct Readings<'a> {
    records: &'a [TelemetryRecord],
    next: usize,
    nand_bytes: Option<u64>,
}

impl<'a> Readings<'a> {
    fn of(records: &'a [TelemetryRecord]) -> Readings<'a> {
        Readings {
            records,
            next: 0,
            nand_bytes: None,
        }
    }

    /// The last reading of an interval that ends at `end_s`, not older than the interval, and the bytes written to the flash since
    /// the last reading that counted them.
    fn up_to(&mut self, end_s: f64, slack_s: f64) -> (Option<&'a TelemetryRecord>, Option<u64>) {
        let mut latest = None;
        while let Some(record) = self.records.get(self.next)
            && record.at.as_secs_f64() <= end_s + slack_s
        {
            latest = Some(record);
            self.next += 1;
        }
        let counted = latest.and_then(|record| record.nand_bytes_written);
        let before = self.nand_bytes;
        self.nand_bytes = counted.or(before);
        // A counter that runs backwards (a drive that was reset) gives no count.
        let added = counted
            .zip(before)
            .map(|(now, then)| now.saturating_sub(then));
        (latest, added)
    }
}

/// Processor time of the busiest worker thread, as measured. Run folders of earlier versions do not have it: there the mean over all
/// threads is a lower bound, and only for a drive measured alone (the process is the same for all drives).
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
    let bytes = |of: Option<Op>| -> u64 {
        let points = part
            .series
            .iter()
            .filter(|p| of.is_none_or(|op| op == p.op));
        points.map(|p| p.bytes).sum()
    };
    let all = bytes(None);
    let known = run.manifest.drives.get(part.drive);
    CellContext {
        write_share: match all {
            0 => 0.0,
            all => bytes(Some(Op::Write)) as f64 / all as f64,
        },
        random: workload.rw.starts_with("rand"),
        capacity_bytes: known.map_or(0, |drive| drive.capacity_bytes),
        span_bytes: workload.span_bytes,
        written_before_bytes: written_since_purge(run, cell, part.drive),
        power_cap_mw: known.and_then(|drive| power_cap_mw(drive, workload, part)),
        unlimited: unlimited(run, cell, part),
        offered_iops: (workload.rate_iops > 0.0).then_some(workload.rate_iops),
    }
}

/// Maximum power of the power state of a cell: of the state in the readings, or else of the requested one.
fn power_cap_mw(drive: &DriveRecord, workload: &WorkloadRecord, part: &CellDrive) -> Option<u64> {
    let seen = part.telemetry.iter().rev().find_map(|r| r.power_state);
    let state = seen.or(workload.power_state)?;
    drive.power_limits_mw.get(&state).copied()
}

/// Bytes that this run wrote to a drive between its last purge and a cell; `None` without a purge.
fn written_since_purge(run: &Run, cell: &CellRecord, drive: usize) -> Option<u64> {
    let mut written = None;
    for earlier in &run.cells {
        if earlier.plan.id == cell.plan.id {
            break;
        }
        let Some(part) = earlier.drives.iter().find(|part| part.drive == drive) else {
            continue;
        };
        if earlier.plan.kind == CellKind::Purge {
            written = (earlier.state == CellState::Finished).then_some(0);
            continue;
        }
        let writes = part.series.iter().filter(|point| point.op == Op::Write);
        written = written.map(|before: u64| before + writes.map(|point| point.bytes).sum::<u64>());
    }
    written
}

/// Power (milliwatts) and rate (I/Os per second) of the same workload on the same drive in power state 0, from the same run.
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
        let theirs = other.drives.iter().find(|d| d.drive == part.drive)?;
        let mean_mw = (power::mean_watts(theirs)? * 1e3).round() as u64;
        Some((mean_mw, theirs.result.as_ref()?.iops()))
    })
}

#[cfg(test)]
#[path = "../../tests/unit/attribution/observe.rs"]
mod tests;
