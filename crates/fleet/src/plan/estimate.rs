//! Planned time of a plan on a drive: the sum of its suites' planned times.

use std::collections::BTreeMap;

use assay_device::session::{DriveSession, SessionError, SessionOptions};
use assay_device::spec::DriveSpec;
use assay_store::model::CellKind;
use assay_suite::SuiteError;
use assay_suite::expand::{Cell, expand};
use assay_units::{Nanos, SECTOR_BYTES};
use assay_workload::plan::Workload;

use super::Plan;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Longest planned time of all cells, with the idle times before them. Cells that end by bytes
    /// or by steady state can end earlier.
    pub span: Nanos,
    pub cells: usize,
    /// Bytes of cells that end by size: whole passes, for most preconditioning.
    pub written_bytes: u64,
    /// Planned time of writing in cells that end by time; of mixed workloads, the share of writes.
    pub writing: Nanos,
}

impl Estimate {
    fn add_writes(&mut self, workload: &Workload) {
        if workload.trims || !workload.writes() {
            return;
        }
        let of_writes = |total: u64| {
            let part = u128::from(total) * u128::from(100 - workload.read_percent) / 100;
            u64::try_from(part).unwrap_or(u64::MAX)
        };
        match (workload.planned_bytes(), workload.planned_span()) {
            (Some(bytes), _) => {
                self.written_bytes = self.written_bytes.saturating_add(of_writes(bytes));
            }
            (None, Some(span)) => {
                self.writing = Nanos(self.writing.0.saturating_add(of_writes(span.0)));
            }
            (None, None) => {}
        }
    }
}

/// By capacity and permission to write: drives of a plan differ little, and an expansion takes
/// milliseconds.
#[derive(Debug, Default)]
pub struct Estimates {
    known: BTreeMap<(u64, bool), Estimate>,
}

impl Estimates {
    /// Without the writing cells unless `may_write`. The planned time is that of a null target of
    /// the same size, which has no contents: steps that inspect them count nothing.
    pub fn estimate(
        &mut self,
        plan: &Plan,
        capacity_bytes: u64,
        may_write: bool,
    ) -> Result<Estimate, SuiteError> {
        let key = (capacity_bytes, may_write);
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let drive = stand_in(capacity_bytes)?;
        let drives = std::slice::from_ref(&drive);
        let mut estimate = Estimate::default();
        for suite in &plan.suites {
            let cells = expand(&suite.suite, &plan.settings(suite), drives)?.cells;
            let is_measured = |cell: &&Cell| {
                let writes = cell.plan.kind == CellKind::Purge
                    || cell.workloads.iter().any(|workload| workload.writes());
                cell.plan.skipped.is_none() && (may_write || !writes)
            };
            for cell in cells.iter().filter(is_measured) {
                estimate.span = Nanos(estimate.span.0.saturating_add(cell.longest_span().0));
                estimate.cells += 1;
                for workload in &cell.workloads {
                    estimate.add_writes(workload);
                }
            }
        }
        self.known.insert(key, estimate);
        Ok(estimate)
    }
}

/// A null target, over which a suite is expanded without a drive.
pub(super) fn stand_in(capacity_bytes: u64) -> Result<DriveSession, SuiteError> {
    let size_bytes = capacity_bytes / SECTOR_BYTES * SECTOR_BYTES;
    let spec = DriveSpec::parse(&format!("null:size={size_bytes}")).map_err(SessionError::from)?;
    Ok(DriveSession::open(&spec, &SessionOptions::default())?)
}
