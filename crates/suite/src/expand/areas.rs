//! Areas of cells that run at the same time.

use assay_workload::access::Region;
use assay_workload::plan::Workload;

use super::Cell;
use crate::SuiteError;

/// A job that verifies cannot tell what another one overwrites from what the drive damages: such
/// areas are refused.
pub(super) fn check(cells: &[Cell]) -> Result<(), SuiteError> {
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

fn overlap(a: &Workload, b: &Workload) -> bool {
    let (a, b) = (reach(a), reach(b));
    let end = |region: Region| region.offset_bytes.saturating_add(region.size_bytes);
    a.offset_bytes < end(b) && b.offset_bytes < end(a)
}

/// From the first byte that its threads may access to the last.
fn reach(workload: &Workload) -> Region {
    if workload.segments.is_some() {
        return Region {
            offset_bytes: 0,
            size_bytes: u64::MAX,
        };
    }
    let (first, last) = (workload.region(0), workload.region(workload.numjobs - 1));
    Region {
        offset_bytes: first.offset_bytes,
        size_bytes: last.offset_bytes + last.size_bytes - first.offset_bytes,
    }
}
