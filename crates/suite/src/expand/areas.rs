//! What cells that run at the same time must not do.

use assay_workload::access::Region;
use assay_workload::plan::{PlanError, Workload};

use super::Cell;
use crate::SuiteError;

/// A job that verifies cannot tell what another one overwrites from what the drive damages: such
/// areas are refused.
pub(super) fn check(cells: &[Cell]) -> Result<(), SuiteError> {
    let beside_others = cells.iter().filter(|cell| cell.together.is_some());
    let mut steady = beside_others.filter(|c| c.workloads.iter().any(|w| w.steady_state.is_some()));
    if let Some(cell) = steady.next() {
        return Err(refused(
            cell,
            "--steadystate is for a job that runs by itself: give --runtime, or run the jobs one \
             after the other",
        ));
    }
    check_logs(cells)?;
    for verifying in cells {
        let beside = cells.iter().filter(|other| {
            verifying.together.is_some()
                && other.together == verifying.together
                && !std::ptr::eq(*other, verifying)
        });
        for other in beside {
            let drives = verifying.plan.drives.iter().zip(&verifying.workloads);
            for (drive, workload) in drives.filter(|(_, workload)| workload.verify_bytes.is_some())
            {
                let position = other.plan.drives.iter().position(|d| d == drive);
                let there = position.and_then(|position| other.workloads.get(position));
                if there.is_some_and(|there| there.writes() && overlap(workload, there)) {
                    return Err(SuiteError::Areas {
                        verifying: verifying.plan.id.clone(),
                        writing: other.plan.id.clone(),
                    });
                }
            }
        }
    }
    Ok(())
}

/// A log of I/Os has those of one job at a time.
fn check_logs(cells: &[Cell]) -> Result<(), SuiteError> {
    let logs = |cell: &Cell| -> Vec<_> {
        let logs = cell.workloads.iter().filter_map(|w| w.io_log.clone());
        logs.collect()
    };
    for (index, cell) in cells.iter().enumerate() {
        let own = logs(cell);
        let beside = cells[..index]
            .iter()
            .filter(|other| cell.together.is_some() && other.together == cell.together);
        let is_shared = own.len() > 1 || beside.flat_map(logs).any(|log| own.contains(&log));
        if is_shared {
            return Err(refused(
                cell,
                "--write_iolog: several drives or jobs at once would write into one file; give \
                 each job a file of its own",
            ));
        }
    }
    Ok(())
}

fn refused(cell: &Cell, why: &str) -> SuiteError {
    SuiteError::Cell { cell: cell.plan.id.clone(), source: PlanError::Invalid(why.to_owned()) }
}

fn overlap(a: &Workload, b: &Workload) -> bool {
    let (a, b) = (reach(a), reach(b));
    let end = |region: Region| region.offset_bytes.saturating_add(region.size_bytes);
    a.offset_bytes < end(b) && b.offset_bytes < end(a)
}

/// From the first byte that its threads may access to the last.
fn reach(workload: &Workload) -> Region {
    if workload.segments.is_some() {
        return Region { offset_bytes: 0, size_bytes: u64::MAX };
    }
    let (first, last) = (workload.region(0), workload.region(workload.numjobs - 1));
    Region {
        offset_bytes: first.offset_bytes,
        size_bytes: last.offset_bytes + last.size_bytes - first.offset_bytes,
    }
}
