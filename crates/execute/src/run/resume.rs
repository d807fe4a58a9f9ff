use std::collections::{BTreeMap, BTreeSet};

use assay_io::Nanos;
use assay_store::model::{CellPlan, NOT_NEEDED};
use assay_store::read::{CellDrive, CellRecord, CellState, Run};
use assay_units::Op;

use super::cell::Finished;
use super::requests::SKIPPED_BY_USER;
use super::written::{Courses, Watched, course_before};
use crate::ExecuteError;
use crate::drive_state_cache::InterruptedWrites;
use assay_suite::expand::{Cell, RunPlan};

/// The current interval, the one before it (journaled with a delay), and one of a late thread.
const UNJOURNALED_INTERVALS: u64 = 3;
/// Largest possible write rate, bytes per second: PCIe 5.0 x4.
const MAX_BYTES_PER_S: u64 = 16 << 30;
/// Time for opening a drive, filling buffers and process exit, outside the intervals.
const OVERHEAD: Nanos = Nanos::from_secs(10);

#[derive(Debug, Default)]
pub struct Resume {
    pub(super) finished: Finished,
    /// Preparations skipped because the drive was in that state already.
    not_needed: BTreeSet<String>,
    /// Cells that a person skipped: they stay skipped.
    skipped_by_user: BTreeSet<String>,
    remaining: BTreeSet<String>,
    /// Possible writes of each cell to each of its drives in its last attempt.
    interrupted_writes: BTreeMap<(String, usize), InterruptedWrites>,
    /// What the finished segments of passes have seen.
    pub(super) courses: Courses,
}

impl Resume {
    pub fn from_run(run: &Run, plan: &RunPlan) -> Result<Resume, ExecuteError> {
        let before: Vec<&CellPlan> = run.cells.iter().map(|c| &c.plan).collect();
        let now: Vec<&CellPlan> = plan.cells.iter().map(|c| &c.plan).collect();
        if before != now {
            let why = match before.iter().zip(&now).find(|(b, n)| b != n) {
                Some((b, n)) => format!(
                    "cell {} differs from the plan made then (is {} the same drive, with the same \
                     permission?)",
                    n.id,
                    if b.id == n.id { "it" } else { b.id.as_str() }
                ),
                None => format!("it has {} cells, there would be {} now", before.len(), now.len()),
            };
            let run = run.path.display().to_string();
            return Err(ExecuteError::NotTheSame { run, why });
        }
        let finished = run
            .cells
            .iter()
            .filter(|cell| cell.state == CellState::Finished)
            .map(|cell| {
                let results = cell.drives.iter().filter_map(|d| d.result.clone());
                (cell.plan.id.clone(), results.collect())
            })
            .collect();
        let mut interrupted_writes = BTreeMap::new();
        for (record, cell) in run.cells.iter().zip(&plan.cells) {
            for part in &record.drives {
                let key = (record.plan.id.clone(), part.drive);
                interrupted_writes.insert(key, possible_writes(record, cell, part));
            }
        }
        let named = |wanted: fn(&CellState) -> bool| -> BTreeSet<String> {
            let cells = run.cells.iter().filter(|cell| wanted(&cell.state));
            cells.map(|cell| cell.plan.id.clone()).collect()
        };
        Ok(Resume {
            finished,
            not_needed: named(
                |state| matches!(state, CellState::Skipped(why) if why.starts_with(NOT_NEEDED)),
            ),
            skipped_by_user: named(
                |state| matches!(state, CellState::Skipped(why) if why == SKIPPED_BY_USER),
            ),
            remaining: named(|state| !matches!(state, CellState::Finished | CellState::Skipped(_))),
            interrupted_writes,
            courses: courses(run, plan),
        })
    }

    /// Later writes of the earlier run itself do not change this.
    pub(super) fn was_not_needed(&self, cell: &Cell) -> bool {
        cell.sets_state.is_some() && self.not_needed.contains(&cell.plan.id)
    }

    pub(super) fn was_skipped_by_user(&self, cell: &Cell) -> bool {
        self.skipped_by_user.contains(&cell.plan.id)
    }

    /// The last finished cell that prepares a drive as this one does.
    pub(super) fn last_of_preparation<'a>(&self, cells: &'a [Cell], of: &Cell) -> Option<&'a Cell> {
        let state = of.sets_state.as_ref()?;
        let same = |other: &&Cell| {
            let set = other.sets_state.as_ref();
            other.plan.drives == of.plan.drives
                && other.plan.step == of.plan.step
                && set
                    .is_some_and(|set| (&set.name, &set.workload) == (&state.name, &state.workload))
                && self.finished.contains_key(&other.plan.id)
        };
        cells.iter().rev().find(same)
    }

    pub(super) fn is_superseded(&self, cells: &[Cell], index: usize) -> bool {
        let cell = &cells[index];
        let Some(state) = &cell.sets_state else {
            return false;
        };
        let later = cells[index + 1..].iter();
        let mut decisive =
            later.filter(|other| other.plan.drives == cell.plan.drives).filter_map(|other| {
                let wanted = other.needs_state.as_ref() == Some(&state.name);
                let replaced = other.sets_state.as_ref().is_some_and(|o| o.name != state.name);
                if wanted && self.remaining.contains(&other.plan.id) {
                    return Some(false);
                }
                (replaced && self.finished.contains_key(&other.plan.id)).then_some(true)
            });
        decisive.next().unwrap_or(false)
    }

    pub(super) fn writes_of(&self, cell: &str, drive: usize) -> InterruptedWrites {
        let writes = self.interrupted_writes.get(&(cell.to_owned(), drive));
        writes.copied().unwrap_or_default()
    }
}

fn courses(run: &Run, plan: &RunPlan) -> Courses {
    let mut courses = Courses::new();
    for (record, cell) in run.cells.iter().zip(&plan.cells) {
        let watched = cell.workloads.first().and_then(|w| Watched::new(cell, w));
        let (Some(watched), CellState::Finished, Some(_), [part]) =
            (watched, &record.state, &cell.plan.segment, record.drives.as_slice())
        else {
            continue;
        };
        let mut course = course_before(cell, &courses).cloned().unwrap_or_default();
        for point in part.series.iter().filter(|p| p.op == Op::Write && !p.ramp) {
            let span = Nanos(point.end.0.saturating_sub(point.start.0));
            course.add(watched, point.bytes, span);
        }
        for reading in &part.telemetry {
            let counters = reading.host_bytes_written.zip(reading.nand_bytes_written);
            counters
                .into_iter()
                .for_each(|(host, media)| course.add_counters(watched, host, media));
        }
        courses.insert(cell.plan.id.clone(), course);
    }
    courses
}

/// The run folder is input: sums saturate, since a larger bound is only less strict.
fn possible_writes(record: &CellRecord, cell: &Cell, part: &CellDrive) -> InterruptedWrites {
    let writes = || part.series.iter().filter(|point| point.op == Op::Write);
    let intervals = cell.workloads.iter().map(|workload| workload.interval);
    let interval = intervals.max().unwrap_or(Nanos::SECOND);
    let most_seen = writes().map(|point| point.bytes).max();
    let most = most_seen.filter(|bytes| *bytes > 0).unwrap_or_else(|| {
        let bytes = u128::from(interval.0) * u128::from(MAX_BYTES_PER_S) / 1_000_000_000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    });
    let journaled_until = part.series.iter().map(|point| point.end).max();
    let spans = [
        record.plan.idle_ns,
        journaled_until.unwrap_or_default().0,
        interval.0.saturating_mul(UNJOURNALED_INTERVALS),
        OVERHEAD.0,
    ];
    InterruptedWrites {
        journaled_bytes: writes().fold(0, |sum, point| sum.saturating_add(point.bytes)),
        unjournaled_bytes: most.saturating_mul(UNJOURNALED_INTERVALS),
        max_duration: Nanos(spans.into_iter().fold(0, u64::saturating_add)),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/run/resume.rs"]
mod tests;
