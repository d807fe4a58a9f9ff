//! Runs of the cohort: which are complete, and what failed.

use assay_stats::HostAudit;
use assay_store::model::{RunEnd, VerdictResult, warning::code};
use assay_store::read::{CellState, Run};
use serde::Serialize;

use super::observe::{Origin, serial_of};

/// How far a run of a drive came.
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

/// A run of a drive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunProgress {
    /// Serial of the drive.
    pub serial: String,
    /// Host; empty where unknown.
    pub host: String,
    /// Slot; empty where unknown.
    pub slot: String,
    pub suite: String,
    pub run_id: String,
    /// When it began.
    pub began: String,
    /// How far it came.
    pub state: RunState,
    pub drive_lost: bool,
    /// Cells that failed, with the reasons.
    pub failed: Vec<(String, String)>,
    /// Verdict, where the suite has rules for one.
    pub verdict: Option<VerdictResult>,
    /// The self-audit of the host; `None` where not recorded.
    pub audit: Option<HostAudit>,
}

/// The drives of a run.
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
            verdict: run
                .verdicts
                .get(drive)
                .and_then(|v| v.as_ref().map(|v| v.result)),
            audit: run.audit,
        }
    };
    run.manifest.drives.iter().enumerate().map(of).collect()
}
