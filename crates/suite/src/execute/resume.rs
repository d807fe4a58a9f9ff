//! What is left to do of a run that was cut off.

use std::collections::{BTreeMap, BTreeSet};

use assay_io::Nanos;
use assay_store::model::{CellPlan, CellResult};
use assay_store::read::{CellDrive, CellRecord, CellState, Run};
use assay_units::Op;

use super::preconditions::NOT_NEEDED;
use crate::SuiteError;
use crate::drive_state_cache::InterruptedWrites;
use crate::expand::{Cell, RunPlan};

/// Intervals that can be missing in the journal of a run that was killed: the one under way, the one before it, which is told a moment later, and one more
/// for a thread that was late.
const UNSEEN_INTERVALS: u64 = 3;
/// No drive writes more in a second, bytes: PCIe 5.0 with four lanes. For cells that were cut off before their first interval was told.
const MOST_BYTES_PER_S: u64 = 16 << 30;
/// What opening a drive, filling buffers and ending a process can take around the intervals.
const AROUND: Nanos = Nanos::from_secs(10);

/// What is left to do of a run that was cut off.
#[derive(Debug, Default)]
pub struct Resume {
    pub(super) finished: BTreeMap<String, Vec<CellResult>>,
    /// Preparations that were not needed, because the drive was in the state already.
    spared: BTreeSet<String>,
    /// Cells that are still to be measured.
    left: BTreeSet<String>,
    /// What each cell can have written to each of its drives when it was last begun.
    wrote: BTreeMap<(String, usize), InterruptedWrites>,
}

impl Resume {
    /// From the folder of the earlier run.
    ///
    /// # Errors
    /// When the plan made now is not the plan of that run.
    pub fn from_run(run: &Run, plan: &RunPlan) -> Result<Resume, SuiteError> {
        let before: Vec<&CellPlan> = run.cells.iter().map(|c| &c.plan).collect();
        let now: Vec<&CellPlan> = plan.cells.iter().map(|c| &c.plan).collect();
        if before != now {
            let which = before.iter().zip(&now).find(|(b, n)| b != n).map_or_else(
                || format!("it has {} cells, there would be {} now", before.len(), now.len()),
                |(b, n)| {
                    format!(
                        "cell {} differs from the plan made then (is {} the same drive, with the same permission?)",
                        n.id,
                        if b.id == n.id { "it" } else { b.id.as_str() }
                    )
                },
            );
            return Err(SuiteError::NotTheSame {
                run: run.path.display().to_string(),
                why: which,
            });
        }
        let finished = run
            .cells
            .iter()
            .filter(|cell| cell.state == CellState::Finished)
            .map(|cell| {
                let results = cell
                    .drives
                    .iter()
                    .filter_map(|d| d.result.clone())
                    .collect();
                (cell.plan.id.clone(), results)
            })
            .collect();
        let mut wrote = BTreeMap::new();
        for (record, cell) in run.cells.iter().zip(&plan.cells) {
            for part in &record.drives {
                let key = (record.plan.id.clone(), part.drive);
                wrote.insert(key, cut_off(record, cell, part));
            }
        }
        let named = |wanted: fn(&CellState) -> bool| -> BTreeSet<String> {
            let cells = run.cells.iter().filter(|cell| wanted(&cell.state));
            cells.map(|cell| cell.plan.id.clone()).collect()
        };
        Ok(Resume {
            finished,
            spared: named(
                |state| matches!(state, CellState::Skipped(why) if why.starts_with(NOT_NEEDED)),
            ),
            left: named(|state| !matches!(state, CellState::Finished | CellState::Skipped(_))),
            wrote,
        })
    }

    /// Was this preparation not needed in the earlier run? What that run wrote to the drive afterwards does not make it needed.
    pub(super) fn was_spared(&self, cell: &Cell) -> bool {
        cell.leaves.is_some() && self.spared.contains(&cell.plan.id)
    }

    /// Has the run gone on to another state of the drive since, so that nobody needs the one that this cell left?
    pub(super) fn is_superseded(&self, cells: &[Cell], index: usize) -> bool {
        let cell = &cells[index];
        let Some(leaves) = &cell.leaves else {
            return false;
        };
        let drives = &cell.plan.drives;
        let later = cells[index + 1..].iter();
        for other in later.filter(|other| other.plan.drives == *drives) {
            let wanted = other.wants.as_ref() == Some(&leaves.name);
            if wanted && self.left.contains(&other.plan.id) {
                return false;
            }
            let leaves_another = other.leaves.as_ref().is_some_and(|o| o.name != leaves.name);
            if leaves_another && self.finished.contains_key(&other.plan.id) {
                return true;
            }
        }
        false
    }

    /// What a cell can have written to a drive when it was last begun.
    pub(super) fn wrote(&self, cell: &str, drive: usize) -> InterruptedWrites {
        let key = (cell.to_owned(), drive);
        self.wrote.get(&key).copied().unwrap_or_default()
    }
}

fn cut_off(record: &CellRecord, cell: &Cell, part: &CellDrive) -> InterruptedWrites {
    let writes = || part.series.iter().filter(|point| point.op == Op::Write);
    let intervals = cell.workloads.iter().map(|workload| workload.interval);
    let interval = intervals.max().unwrap_or(Nanos::SECOND);
    let most_seen = writes().map(|point| point.bytes).max();
    let most = most_seen.filter(|bytes| *bytes > 0).unwrap_or_else(|| {
        let bytes = u128::from(interval.0) * u128::from(MOST_BYTES_PER_S) / 1_000_000_000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    });
    let seen_until = part.series.iter().map(|point| point.end).max();
    let unseen = Nanos(interval.0.saturating_mul(UNSEEN_INTERVALS));
    InterruptedWrites {
        written_bytes: writes().map(|point| point.bytes).sum(),
        unseen_bytes: most.saturating_mul(UNSEEN_INTERVALS),
        lasted: Nanos(record.plan.rest_ns) + seen_until.unwrap_or_default() + unseen + AROUND,
    }
}

#[cfg(test)]
#[path = "../../tests/unit/execute/resume.rs"]
mod tests;
