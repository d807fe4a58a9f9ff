//! How far from steady state a preparation left a drive: the rate of random writes, or what its
//! rounds track, at the start of what reached steady state in the same run, relative to that state.
//! The preconditioning of a published procedure stays as published; this is what it was worth.

use assay_store::model::{
    CellKind, PROBE_PHASE, PROBE_START_PCT, STEADY_BYTES_PER_SECOND, SteadyRecord,
};
use assay_store::read::{CellDrive, CellRecord, CellState, Run};
use assay_units::Op;
use assay_units::rate::per_second;
use assay_units::{Nanos, text::format_size};

use crate::steady_state;

/// Share of the area whose writes are the start of a cell: as in the probe.
const START: f64 = 0.02;
/// Share of the area whose writes are the end of a preparation: more than the spare space of most
/// drives, which full passes leave without valid data, so that it is written without collection.
const END: f64 = 0.2;
/// Share of the area that was written when all its regions were: their ends are not whole blocks.
const WHOLE: f64 = 0.99;

#[derive(Clone, Debug, PartialEq)]
pub struct LeftState {
    /// The cell that it is about: of rounds their group.
    pub cell: String,
    pub step: String,
    /// Percent of the steady figure.
    pub at_pct: f64,
    pub text: String,
}

/// In the order of the run's cells, rounds last.
pub fn of_drive(run: &Run, drive: usize) -> Vec<LeftState> {
    let cells = run.cells.iter();
    let mut found: Vec<LeftState> = cells
        .filter_map(|cell| {
            let part = cell.drive(drive)?;
            by_probe(run, cell, part).or_else(|| by_ramp(run, cell, part))
        })
        .collect();
    let steady = run.steady.iter().filter(|record| record.drive == drive);
    found.extend(steady.filter_map(|record| by_rounds(run, record)));
    found
}

fn title<'a>(run: &'a Run, step: &'a str) -> &'a str {
    let mut plans = run.cells.iter().map(|cell| &cell.plan);
    let plan = plans.find(|plan| plan.step == step);
    plan.map_or(step, |plan| &plan.title)
}

/// Of a probe that ended: the rate that it found, bytes per second.
fn probed(cell: &CellRecord, drive: usize) -> Option<f64> {
    let values = &cell.drive(drive)?.result.as_ref()?.values;
    let is_probe = cell.plan.id.ends_with(PROBE_PHASE) && values.contains_key(PROBE_START_PCT);
    values.get(STEADY_BYTES_PER_SECOND).copied().filter(|rate| is_probe && *rate > 0.0)
}

/// Whether the drive was in steady state when this cell began: the cell before it made the same
/// writes and ended in steady state, or it writes sequentially where a block of flash holds data
/// that it overwrites together, or the last preparation was one to steady state by random writes,
/// whose probe found it.
pub fn began_steady(run: &Run, cell: &CellRecord, drive: usize) -> bool {
    if continues_steady(run, cell, drive) || begins_in_own_blocks(run, cell, drive) {
        return true;
    }
    let before = run.cells.iter().take_while(|other| other.plan.id != cell.plan.id);
    let changes = |other: &&CellRecord| {
        matches!(other.plan.kind, CellKind::Prepare | CellKind::Purge)
            && other.plan.drives == [drive]
            && other.state != CellState::Planned
    };
    let last = before.filter(changes).last();
    last.is_some_and(|last| {
        let known = match &last.state {
            CellState::Finished => probed(last, drive).is_some(),
            CellState::Skipped(why) => why.starts_with(assay_store::model::NOT_NEEDED),
            _ => false,
        };
        last.plan.id.ends_with(PROBE_PHASE)
            && last.plan.workload.span_bytes == cell.plan.workload.span_bytes
            && known
    })
}

/// Whether two cells leave the same data together in a block of flash: threads that write at random
/// do it as one, each that writes sequentially has a region.
fn are_same_writes(one: &CellRecord, other: &CellRecord) -> bool {
    let [one, other] = [one, other].map(|cell| {
        let workload = &cell.plan.workload;
        let threads = (workload.rw == "write").then_some((workload.numjobs, workload.iodepth));
        let writes = ["write", "randwrite"].contains(&workload.rw.as_str());
        writes.then_some((&workload.rw, workload.bs_bytes, workload.span_bytes, threads))
    });
    one.is_some() && one == other
}

/// Whether the cell before this one made the same writes and ended in steady state.
fn continues_steady(run: &Run, cell: &CellRecord, drive: usize) -> bool {
    let on_drive = run.cells.iter().filter(|c| c.plan.drives.contains(&drive));
    let before = on_drive.take_while(|other| other.plan.id != cell.plan.id);
    before.last().is_some_and(|before| {
        are_same_writes(before, cell)
            && steady_state::claims_steady_state(&before.plan)
            && before.state == CellState::Finished
            && steady_state::not_steady_reason(run, before, drive).is_none()
    })
}

/// Whether a sequential cell overwrites nothing but what a preparation wrote by the same writes, or
/// in the order of the addresses: each block of flash then holds data of one of its threads.
fn begins_in_own_blocks(run: &Run, cell: &CellRecord, drive: usize) -> bool {
    let range = |cell: &CellRecord| {
        let (begin, span) = (cell.plan.workload.offset_bytes, cell.plan.workload.span_bytes);
        begin..begin.saturating_add(span)
    };
    let own = range(cell);
    let before = run.cells.iter().take_while(|other| other.plan.id != cell.plan.id);
    let changes = |other: &&CellRecord| {
        let there = range(other);
        let overlaps = there.start < own.end && own.start < there.end;
        let written = written_bytes(other, drive) > 0 || was_not_needed(other);
        other.plan.drives.contains(&drive)
            && (other.plan.kind == CellKind::Purge || written && overlaps)
    };
    let last = before.filter(changes).last();
    last.is_some_and(|last| {
        let there = range(last);
        let whole = written_bytes(last, drive) as f64 >= WHOLE * (there.end - there.start) as f64;
        let workload = &last.plan.workload;
        let in_order = workload.rw == "write" && workload.numjobs == 1;
        last.plan.kind == CellKind::Prepare
            && (whole && last.state == CellState::Finished || was_not_needed(last))
            && (in_order || are_same_writes(last, cell))
            && cell.plan.workload.rw == "write"
            && there.start <= own.start
            && own.end <= there.end
    })
}

/// A preparation that an earlier run has done, since when nothing was written.
fn was_not_needed(cell: &CellRecord) -> bool {
    let not_needed = assay_store::model::NOT_NEEDED;
    matches!(&cell.state, CellState::Skipped(why) if why.starts_with(not_needed))
        && cell.plan.kind == CellKind::Prepare
}

fn written_bytes(cell: &CellRecord, drive: usize) -> u64 {
    let series = cell.drive(drive).map(|part| part.series.iter());
    let writes = series.into_iter().flatten().filter(|p| p.op == Op::Write);
    writes.map(|point| point.bytes).sum()
}

/// Draws each block once per pass: at the end of a pass collection finds blocks without valid data,
/// so its last writes say nothing of what follows.
const COVER: &str = "--random_distribution cover";

/// Random writes of a preparation, its last ones, by the steady rate that a later probe found.
fn by_probe(run: &Run, cell: &CellRecord, part: &CellDrive) -> Option<LeftState> {
    let plan = &cell.plan;
    let is_other = plan.kind == CellKind::Prepare && !plan.id.contains("/phase=");
    let is_random = plan.workload.rw == "randwrite" && !plan.workload.options.contains(COVER);
    if !is_other || !is_random || cell.state != CellState::Finished {
        return None;
    }
    let same = |other: &&CellRecord| {
        let (own, other) = (&plan.workload, &other.plan.workload);
        (own.bs_bytes, own.span_bytes) == (other.bs_bytes, other.span_bytes)
    };
    let probes = run.cells.iter().filter(same);
    let (probe, steady) =
        probes.filter_map(|other| Some((other, probed(other, part.drive)?))).next()?;
    let writes: Vec<_> = part.series.iter().filter(|point| point.op == Op::Write).collect();
    let last = writes.iter().rev().map(|p| (p.bytes, p.elapsed()));
    let rate = rate_of(last, plan.workload.span_bytes, END)?;
    let at_pct = rate / steady * 100.0;
    let (own, by) = (&plan.title, &probe.plan.title);
    Some(LeftState {
        cell: plan.id.clone(),
        step: plan.step.clone(),
        at_pct,
        text: format!(
            "{own}: at {at_pct:.0} % of the steady rate of {} random writes (found by: {by})",
            format_size(plan.workload.bs_bytes)
        ),
    })
}

/// Random writes that claim steady state after a ramp: their first writes by their mean.
fn by_ramp(run: &Run, cell: &CellRecord, part: &CellDrive) -> Option<LeftState> {
    let plan = &cell.plan;
    let is_ramped = plan.steady && plan.workload.ramp_ns > 0 && plan.workload.rw == "randwrite";
    let result = part.result.as_ref().filter(|_| is_ramped)?;
    if steady_state::not_steady_reason(run, cell, part.drive).is_some() {
        return None;
    }
    let writes = part.series.iter().filter(|point| point.op == Op::Write);
    let writes: Vec<_> = writes.map(|p| (p.bytes, p.elapsed())).collect();
    let rate = rate_of(writes.into_iter(), plan.workload.span_bytes, START)?;
    let steady = per_second(result.write.bytes, result.elapsed);
    let at_pct = rate / steady * 100.0;
    (steady > 0.0).then(|| LeftState {
        cell: plan.id.clone(),
        step: plan.step.clone(),
        at_pct,
        text: format!("{}: it began at {at_pct:.0} % of its steady rate", plan.title),
    })
}

fn by_rounds(run: &Run, record: &SteadyRecord) -> Option<LeftState> {
    let (first, title) = (*record.values.first()?, title(run, &record.step));
    let at_pct = first / record.mean * 100.0;
    (record.achieved && record.mean > 0.0).then(|| LeftState {
        cell: record.group.clone(),
        step: record.step.clone(),
        at_pct,
        text: format!(
            "{title}: the first round was at {at_pct:.0} % of the steady {}",
            record.figure
        ),
    })
}

/// Bytes per second of the first writes, as many as are this share of the area.
fn rate_of(writes: impl Iterator<Item = (u64, Nanos)>, area_bytes: u64, share: f64) -> Option<f64> {
    let enough = (area_bytes as f64 * share) as u64;
    let (mut sum, mut span) = (0_u64, Nanos::ZERO);
    for (bytes, own) in writes {
        (sum, span) = (sum.saturating_add(bytes), Nanos(span.0.saturating_add(own.0)));
        if sum >= enough {
            break;
        }
    }
    (sum > 0 && span > Nanos::ZERO).then(|| per_second(sum, span))
}

#[cfg(test)]
#[path = "../tests/unit/left_state.rs"]
mod tests;
