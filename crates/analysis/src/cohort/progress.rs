use assay_stats::HostAudit;
use assay_store::model::{RunEnd, VerdictResult, warning::code};
use assay_store::read::{CellState, Run};
use serde::Serialize;

use super::observe::{Origin, serial_of};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Every cell was run, or skipped with a reason.
    Done,
    /// Ended early; can be resumed.
    Interrupted,
    /// Killed, or still in progress.
    Unfinished,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunProgress {
    pub serial: String,
    /// Empty where unknown.
    pub host: String,
    /// Empty where unknown.
    pub slot: String,
    pub suite: String,
    pub run_id: String,
    pub began: String,
    pub state: RunState,
    pub drive_lost: bool,
    /// Cells that failed, with the reasons.
    pub failed: Vec<(String, String)>,
    /// `None` where the suite has no rules for one.
    pub verdict: Option<VerdictResult>,
    /// `None` where not recorded.
    pub audit: Option<HostAudit>,
}

pub fn of_run(run: &Run, origin: &Origin) -> Vec<RunProgress> {
    let lost = run.warnings.iter().any(|w| w.code == code::DRIVE_LOST);
    let of = |(drive, record): (usize, &assay_store::model::DriveRecord)| {
        let own = run.cells.iter().filter(|c| c.plan.drives.contains(&drive));
        let failed = own.filter_map(|c| match &c.state {
            CellState::Failed(reason) => Some((c.plan.id.clone(), reason.clone())),
            _ => None,
        });
        RunProgress {
            serial: serial_of(record),
            host: origin.host.clone(),
            slot: origin.slot.clone(),
            suite: run.manifest.suite.name.clone(),
            run_id: run.manifest.run_id.clone(),
            began: run.manifest.created.clone(),
            state: match run.outcome {
                Some(RunEnd::Complete) => RunState::Done,
                Some(RunEnd::Interrupted) => RunState::Interrupted,
                None => RunState::Unfinished,
            },
            drive_lost: lost,
            failed: failed.collect(),
            verdict: run.verdicts.get(drive).and_then(|v| v.as_ref().map(|v| v.result)),
            audit: run.audit,
        }
    };
    run.manifest.drives.iter().enumerate().map(of).collect()
}
