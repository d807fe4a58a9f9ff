//! From a run folder's cells to what the detectors look at, and from phases to figures of a drive.

use std::collections::BTreeMap;

use assay_store::model::{CellKind, Drive, TelemetryRecord, Workload};
use assay_store::read::{CellDrive, CellRecord, CellState, Run};
use assay_units::Op;
use serde::Serialize;

use super::{Cause, Facts, Moment, Phase, Throttling, Watched, phases, throttling};
use crate::power;

/// The run's warning that the host set a cell's rate (`suite::warn`).
const HOST_WARNING: &str = "host-limited";
/// What a busiest thread is taken to have used where the run only says that it was too much, percent.
const WARNED_THREAD_PCT: f64 = 100.0;

/// The phases of a drive in a cell, with their causes; `drive` is its index in [`Manifest::drives`](assay_store::model::Manifest::drives).
/// None where the cell has no series of it.
pub fn of_cell(run: &Run, cell: &CellRecord, drive: usize) -> Vec<Phase> {
    watched(run, cell, drive).map_or_else(Vec::new, |watched| phases(&watched))
}

/// What heat cost a drive in a cell; `None` where it did not throttle.
pub fn throttling_of_cell(run: &Run, cell: &CellRecord, drive: usize) -> Option<Throttling> {
    let watched = watched(run, cell, drive)?;
    throttling(&watched, &phases(&watched))
}

/// What is known of a drive in a cell; `None` where the drive does not take part, or nothing was measured.
pub fn watched(run: &Run, cell: &CellRecord, drive: usize) -> Option<Watched> {
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
    let busiest_thread_pct = busiest_thread(run, cell, part);
    let mut readings = Readings::of(&part.telemetry);
    let mut moments = Vec::with_capacity(samples.len());
    for second in samples {
        // A reading at the end of an interval may be stamped a little after it.
        let (reading, nand_bytes) = readings.up_to(second.end_s(), second.elapsed_s() / 2.0);
        let reading = reading.cloned().unwrap_or_default();
        moments.push(Moment {
            start_s: second.start_s(),
            elapsed_s: second.elapsed_s(),
            iops: second.iops(),
            mib_per_s: second.mib_per_s(),
            latency_mean_ns: second.latency_mean_ns(),
            written_bytes: second.write.bytes,
            nand_bytes,
            temperature_c: reading.temperature_c,
            throttled: reading.throttled,
            warning_time_s: reading.warning_time_s,
            power_mw: reading.power_mw,
            power_state: reading.power_state,
            host_idle_pct: idle.get(&second.index).copied(),
            busiest_thread_pct,
        });
    }
    Some(Watched {
        moments,
        facts: facts(run, cell, part),
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

    /// The last reading of an interval that ends at `end_s`, not older than it, and the bytes that the flash was given since the
    /// reading of the interval before.
    fn up_to(&mut self, end_s: f64, slack_s: f64) -> (Option<&'a TelemetryRecord>, Option<u64>) {
        let mut found = None;
        while let Some(record) = self.records.get(self.next)
            && record.at.as_secs_f64() <= end_s + slack_s
        {
            found = Some(record);
            self.next += 1;
        }
        let counted = found.and_then(|record| record.nand_bytes_written);
        let before = self.nand_bytes;
        self.nand_bytes = counted.or(before);
        let added = counted
            .zip(before)
            .map(|(now, then)| now.saturating_sub(then));
        (found, added)
    }
}

/// The busiest thread's share of a processor, as far as the run tells: a warning says that it was too much, else all threads' mean is the
/// least that the busiest can have used.
fn busiest_thread(run: &Run, cell: &CellRecord, part: &CellDrive) -> Option<f64> {
    let warned = run.warnings.iter().any(|warning| {
        warning.code == HOST_WARNING
            && warning.cell.as_ref() == Some(&cell.plan.id)
            && warning.drive.is_none_or(|drive| drive == part.drive)
    });
    if warned {
        return Some(WARNED_THREAD_PCT);
    }
    // Of several drives at once, nobody can tell whose threads they were.
    let process = part.result.as_ref()?.process?;
    let threads = f64::from(cell.plan.workload.numjobs.max(1));
    (cell.drives.len() == 1).then_some((process.cpu_user_pct + process.cpu_system_pct) / threads)
}

fn facts(run: &Run, cell: &CellRecord, part: &CellDrive) -> Facts {
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
    Facts {
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

/// What the power state of a cell allows: the one that readings show, or else the one that was asked for.
fn power_cap_mw(drive: &Drive, workload: &Workload, part: &CellDrive) -> Option<u64> {
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

/// What attribution found of a drive over all cells of a run: figures for verdicts and tables. Rates in MiB/s.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The lowest temperature at which the drive began to throttle, degrees Celsius.
    pub throttle_onset_c: Option<f64>,
    /// How long the workload ran until then, seconds.
    pub throttle_onset_s: Option<f64>,
    /// Share of the time in the slow state while it did, percent.
    pub throttle_duty_pct: Option<f64>,
    /// From one fall to the next, seconds.
    pub throttle_period_s: Option<f64>,
    /// The rate of the phase before.
    pub rate_before_throttle_mib_per_s: Option<f64>,
    /// The mean rate while it did, fast and slow states together.
    pub rate_throttled_mib_per_s: Option<f64>,
    /// What went into the SLC cache before it was full, bytes: the largest seen.
    pub slc_cache_bytes: Option<u64>,
    /// Writing into the cache.
    pub rate_in_cache_mib_per_s: Option<f64>,
    /// Writing with the cache full.
    pub rate_after_cache_mib_per_s: Option<f64>,
    /// Random writes until garbage collection began, bytes.
    pub collection_after_bytes: Option<u64>,
    /// Writes per second with collection in its steady state: of the last cell that reached it.
    pub collection_steady_iops: Option<f64>,
    /// Write amplification there.
    pub write_amplification: Option<f64>,
    /// Cells with a span that the host limited.
    pub host_limited_cells: u32,
    /// Cells with a span that a power state limited.
    pub power_limited_cells: u32,
    /// Cells with a change that nothing explains.
    pub unexplained_cells: u32,
}

/// What attribution found of a drive over all cells of a run.
pub fn summary(run: &Run, drive: usize) -> Summary {
    let mut found = Summary::default();
    for cell in &run.cells {
        if let Some(watched) = watched(run, cell, drive) {
            found.add(&watched, &phases(&watched));
        }
    }
    found
}

impl Summary {
    /// The cell that began to throttle at the lowest temperature stands for the drive.
    fn add_throttling(&mut self, hot: &Throttling) {
        let known = self.throttle_onset_c.zip(hot.onset_c);
        let milder = known.is_some_and(|(least, celsius)| celsius >= least);
        if self.throttle_onset_s.is_none() || !milder {
            self.throttle_onset_c = hot.onset_c;
            self.throttle_onset_s = Some(hot.onset_s);
            self.throttle_duty_pct = Some(hot.duty_pct);
            self.throttle_period_s = hot.period_s;
            self.rate_before_throttle_mib_per_s = hot.before.map(|before| before.mib_per_s);
            self.rate_throttled_mib_per_s = Some(hot.after_mib_per_s);
        }
    }

    fn add(&mut self, watched: &Watched, phases: &[Phase]) {
        let any = |of: fn(&Cause) -> bool| u32::from(phases.iter().any(|phase| of(&phase.cause)));
        self.host_limited_cells += any(|cause| matches!(cause, Cause::HostLimited));
        self.power_limited_cells += any(|cause| matches!(cause, Cause::PowerLimited { .. }));
        self.unexplained_cells += any(|cause| matches!(cause, Cause::Unexplained));
        if let Some(hot) = throttling(watched, phases) {
            self.add_throttling(&hot);
        }
        for (at, phase) in phases.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| &phases[at]);
            let rate_before = before.map(|before| before.mean_mib_per_s);
            match phase.cause {
                Cause::SlcCacheExhausted { cache_bytes } => {
                    if self.slc_cache_bytes.is_none_or(|known| cache_bytes > known) {
                        self.slc_cache_bytes = Some(cache_bytes);
                        self.rate_in_cache_mib_per_s = rate_before;
                        self.rate_after_cache_mib_per_s = Some(phase.mean_mib_per_s);
                    }
                }
                Cause::CollectionOnset | Cause::CollectionSteady { .. } => {
                    let collects = before.is_some_and(|p| p.cause.is_collection());
                    if !collects && before.is_some() {
                        self.collection_after_bytes = Some(written_until(watched, phase.from_s));
                    }
                    if let Cause::CollectionSteady {
                        write_amplification,
                    } = phase.cause
                    {
                        self.collection_steady_iops = Some(phase.mean_iops);
                        self.write_amplification = write_amplification.or(self.write_amplification);
                    }
                }
                // Of the cell as a whole, above.
                Cause::ThermalThrottling { .. }
                | Cause::Fresh
                | Cause::PowerLimited { .. }
                | Cause::HostLimited
                | Cause::Steady
                | Cause::Unexplained => {}
            }
        }
    }
}

/// Bytes written in a cell up to a time.
fn written_until(watched: &Watched, until_s: f64) -> u64 {
    let before = watched.moments.iter().filter(|m| m.start_s < until_s);
    before.map(|moment| moment.written_bytes).sum()
}

#[cfg(test)]
#[path = "../../tests/unit/attribution/of_run.rs"]
mod tests;
