//! How far each drive of a plan is, from claims and shipped journals, whatever queue runs the
//! tasks.

use std::collections::BTreeMap;

use assay_store::journal::{LineContent, parse_line};
use assay_store::model::{Entry, Manifest};
use assay_units::Nanos;
use serde::Serialize;

use crate::assignment::{Assignment, WhyLeftOut, assign};
use crate::claim::{Claim, ClaimState, SuiteClaim};
use crate::control::{self, Control};
use crate::inventory::HostInventory;
use crate::missing::{self, MissingRun};
use crate::plan::Estimate;
use crate::shared_store::SharedStore;
use crate::ship::prefix;
use crate::{FleetError, HostName, Plan, PlanId, Serial};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DriveTaskState {
    Running,
    Waiting,
    /// The last attempt ended early; the next one goes on.
    Interrupted,
    Done,
    /// Every suite is complete; the drive or its data failed.
    Failed,
    /// Every suite is complete, and the shared store has lost a run folder.
    DataMissing,
    /// An operator must act.
    Refused,
    /// No inventory has the drive.
    NotFound,
}

impl DriveTaskState {
    /// All states, in the order of tables.
    pub const ALL: [DriveTaskState; 8] = [
        DriveTaskState::Running,
        DriveTaskState::Waiting,
        DriveTaskState::Interrupted,
        DriveTaskState::Done,
        DriveTaskState::Failed,
        DriveTaskState::DataMissing,
        DriveTaskState::Refused,
        DriveTaskState::NotFound,
    ];

    pub fn text(self) -> &'static str {
        match self {
            DriveTaskState::Running => "running",
            DriveTaskState::Waiting => "waiting",
            DriveTaskState::Interrupted => "interrupted",
            DriveTaskState::Done => "done",
            DriveTaskState::Failed => "failed",
            DriveTaskState::DataMissing => "data missing",
            DriveTaskState::Refused => "refused",
            DriveTaskState::NotFound => "not found",
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct DriveStatus {
    pub serial: Serial,
    pub state: DriveTaskState,
    /// Host of the last attempt, else of the inventory.
    pub host: Option<HostName>,
    pub attempts: u64,
    pub suites_done: usize,
    /// Name of the folder of the suite under way.
    pub suite: Option<String>,
    /// The last cell that was shipped.
    pub cell: Option<String>,
    /// Share of the cells of all suites that are complete.
    pub progress: f64,
    /// Planned time of what is left.
    pub left_ns: Option<u64>,
    pub reason: Option<String>,
    /// Run folders that the shared store has lost.
    pub missing: Vec<MissingRun>,
}

#[derive(Clone, Debug, Serialize)]
pub struct PlanStatus {
    pub plan: PlanId,
    pub control: Option<Control>,
    pub drives: Vec<DriveStatus>,
}

impl PlanStatus {
    pub fn count(&self, state: DriveTaskState) -> usize {
        self.drives.iter().filter(|d| d.state == state).count()
    }
}

/// Errors: those of the shared store, and damaged documents in it.
pub fn status(
    plan: &Plan,
    id: &PlanId,
    store: &dyn SharedStore,
    inventories: &[HostInventory],
) -> Result<PlanStatus, FleetError> {
    let assignment = assign(plan, id, inventories);
    let mut found: BTreeMap<Serial, Found> = found(assignment);
    // Of plans without a list: drives that had a claim and are in no inventory now.
    let claims = format!("claims/{id}/");
    let claimed = store.list(&claims)?;
    let mut drives = Vec::new();
    for key in &claimed {
        let Some((bytes, _)) = store.get(key)? else {
            continue;
        };
        let claim: Claim =
            serde_json::from_slice(&bytes).map_err(|error| FleetError::document(key, &error))?;
        let place = found.remove(&claim.serial);
        drives.push(of_claim(store, plan, &claim, place)?);
    }
    for (serial, place) in found {
        let (state, host, estimate, reason) = match place {
            Found::At(host, estimate) => {
                (DriveTaskState::Waiting, Some(host), Some(estimate), None)
            }
            Found::LeftOut(WhyLeftOut::NotFound) => (DriveTaskState::NotFound, None, None, None),
            Found::LeftOut(why) => (DriveTaskState::Refused, None, None, Some(why.to_string())),
        };
        drives.push(DriveStatus {
            serial,
            state,
            host,
            attempts: 0,
            suites_done: 0,
            suite: None,
            cell: None,
            progress: 0.0,
            left_ns: estimate.map(|estimate| estimate.span.0),
            reason,
            missing: Vec::new(),
        });
    }
    drives.sort_by(|a, b| a.serial.cmp(&b.serial));
    Ok(PlanStatus { plan: id.clone(), control: control::read(store, id)?, drives })
}

enum Found {
    At(HostName, Estimate),
    LeftOut(WhyLeftOut),
}

fn found(assignment: Assignment) -> BTreeMap<Serial, Found> {
    let mut found = BTreeMap::new();
    for (host, drives) in assignment.hosts {
        for assigned in drives {
            let at = Found::At(host.clone(), assigned.estimate);
            found.insert(assigned.drive.serial, at);
        }
    }
    for left_out in assignment.left_out {
        found.insert(left_out.serial, Found::LeftOut(left_out.why));
    }
    found
}

fn of_claim(
    store: &dyn SharedStore,
    plan: &Plan,
    claim: &Claim,
    place: Option<Found>,
) -> Result<DriveStatus, FleetError> {
    let missing = missing::of_claim(store, claim)?;
    let state = match claim.state {
        ClaimState::Done | ClaimState::Failed if !missing.is_empty() => DriveTaskState::DataMissing,
        ClaimState::Running => DriveTaskState::Running,
        ClaimState::Done => DriveTaskState::Done,
        ClaimState::Failed => DriveTaskState::Failed,
        ClaimState::Interrupted => DriveTaskState::Interrupted,
        ClaimState::Refused => DriveTaskState::Refused,
    };
    let complete = claim.suites.iter().filter(|suite| suite.outcome.is_some());
    let is_there = |suite: &&SuiteClaim| missing.iter().all(|run| run.suite != suite.folder);
    let suites_done = complete.filter(is_there).count();
    let under_way = match claim.is_finished() {
        true => None,
        false => claim.suites.iter().find(|suite| suite.outcome.is_none()),
    };
    let last = match under_way {
        Some(suite) => {
            let prefix = prefix(&claim.plan, &claim.serial, &suite.folder);
            last_cell(store, &prefix)?
        }
        None => None,
    };
    let of_suite = last.as_ref().map_or(0.0, |last| last.share);
    let suites = plan.suites.len().max(1);
    let progress = match claim.is_finished() {
        true if missing.is_empty() => 1.0,
        _ => (suites_done as f64 + of_suite) / suites as f64,
    };
    let estimate = match &place {
        Some(Found::At(_, estimate)) if !claim.is_finished() => Some(estimate.span),
        _ => None,
    };
    let left = estimate.map(|span: Nanos| (span.0 as f64 * (1.0 - progress)) as u64);
    Ok(DriveStatus {
        serial: claim.serial.clone(),
        state,
        host: Some(claim.holder.host.clone()),
        attempts: claim.attempt,
        suites_done,
        suite: under_way.map(|suite| suite.folder.clone()),
        cell: last.map(|last| last.cell),
        progress,
        left_ns: left,
        reason: match missing.is_empty() {
            true => claim.reason.clone(),
            false => Some(missing.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
        },
        missing,
    })
}

struct LastCell {
    cell: String,
    /// Share of the run's cells before this one.
    share: f64,
}

/// Reads the last piece, which is enough.
fn last_cell(store: &dyn SharedStore, prefix: &str) -> Result<Option<LastCell>, FleetError> {
    let key = format!("{prefix}/manifest.json");
    let Some((manifest, _)) = store.get(&key)? else {
        return Ok(None);
    };
    let manifest: Manifest =
        serde_json::from_slice(&manifest).map_err(|error| FleetError::document(&key, &error))?;
    let pieces = store.list(&format!("{prefix}/journal/"))?;
    let measured: Vec<&str> = manifest
        .cells
        .iter()
        .filter(|cell| cell.skipped.is_none())
        .map(|cell| cell.id.as_str())
        .collect();
    for piece in pieces.iter().rev() {
        let Some((bytes, _)) = store.get(piece)? else {
            continue;
        };
        let lines = bytes.split(|byte| *byte == b'\n').rev();
        let cell = lines.filter(|line| !line.is_empty()).find_map(|line| {
            let (cell, is_over) = match parse_line(line) {
                LineContent::Entry(entry) => match *entry {
                    Entry::CellStart { cell, .. } => (cell, false),
                    Entry::Interval(interval) => (interval.cell, false),
                    Entry::CellFinish { cell, .. }
                    | Entry::CellFailed { cell, .. }
                    | Entry::CellSkipped { cell, .. } => (cell, true),
                    _ => return None,
                },
                _ => return None,
            };
            let index = measured.iter().position(|id| *id == cell)?;
            let before = index + usize::from(is_over);
            let share = before as f64 / measured.len() as f64;
            Some(LastCell { cell, share })
        });
        if cell.is_some() {
            return Ok(cell);
        }
    }
    Ok(None)
}

#[cfg(test)]
#[path = "../tests/unit/status.rs"]
mod tests;
