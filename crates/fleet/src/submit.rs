use assay_device::host::wall_clock;
use serde::{Deserialize, Serialize};

use crate::assignment::{Assignment, assign};
use crate::control::{self, ControlState};
use crate::inventory::HostInventory;
use crate::plan::{Place, confirm_destroy};
use crate::queue::{Completed, JobSpec, Queue, complete};
use crate::shared_store::{Condition, PutOutcome, SharedStore};
use crate::{FleetError, HostName, Plan, PlanId, Serial, claim, missing, stored_plan};

#[derive(Clone, Debug, Default)]
pub struct SubmitOptions {
    pub destroy_count: Option<usize>,
    /// Continues a plan that was cancelled.
    pub resume: bool,
    /// Empty: all.
    pub hosts: Vec<HostName>,
    /// Name of the queue, for the record.
    pub queue: String,
    /// `USER@HOST`.
    pub by: String,
}

#[derive(Clone, Debug, Default)]
pub struct Submitted {
    pub assignment: Assignment,
    pub jobs: Completed,
    pub finished: usize,
    /// Drives of which the shared store has lost a run folder.
    pub reopened: Vec<Serial>,
}

/// `plans/PLAN/submissions/N.json`.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    by: String,
    at: String,
    queue: String,
    destroy_count: Option<usize>,
    jobs_made: Vec<(String, String)>,
    jobs_present: usize,
    drives: usize,
    finished: usize,
    left_out: Vec<(String, String)>,
}

/// Repeating it makes only what is missing: jobs are found by name, finished drives by their
/// claims. Errors: [`FleetError::Destroy`] without a confirmation, [`FleetError::NoDrives`] where
/// no inventory has one; those of the shared store and the queue.
pub fn submit(
    plan: &Plan,
    id: &PlanId,
    store: &dyn SharedStore,
    inventories: &[HostInventory],
    queue: &mut dyn Queue,
    options: &SubmitOptions,
) -> Result<Submitted, FleetError> {
    confirm_destroy(plan, options.destroy_count)?;
    let before = control::read(store, id)?;
    if let Some(control) = before.filter(|c| c.state == ControlState::Cancelled && !options.resume)
    {
        return Err(FleetError::Cancelled { plan: id.clone(), by: control.by, at: control.at });
    }
    let assignment = assign(plan, id, inventories);
    if assignment.drives() == 0 && assignment.left_out.is_empty() {
        return Err(FleetError::NoDrives { plan: plan.name.clone(), at: plan.store.at.clone() });
    }
    let found = assignment.hosts.values().flatten();
    let found = found.map(|assigned| assigned.drive.serial.clone());
    stored_plan::write(store, id, plan, found)?;
    control::write(store, id, ControlState::Running, &options.by)?;
    let mut specs = Vec::new();
    let (mut finished, mut reopened) = (0, Vec::new());
    for (host, drives) in &assignment.hosts {
        if !options.hosts.is_empty() && !options.hosts.contains(host) {
            continue;
        }
        let inventory = inventories.iter().find(|i| i.host == *host);
        let spec = |serial| JobSpec {
            plan: id.clone(),
            host: host.clone(),
            serial,
            rack: inventory.and_then(|i| i.rack.clone()),
        };
        let mut left = Vec::new();
        for assigned in drives {
            let serial = &assigned.drive.serial;
            if missing::reopen(store, id, serial)? {
                reopened.push(serial.clone());
            }
            let claim = claim::read(store, id, serial)?;
            match claim.is_some_and(|(claim, _)| claim.is_finished()) {
                true => finished += 1,
                false => left.push(serial.clone()),
            }
        }
        match plan.run.place {
            Place::Host if left.is_empty() => {}
            Place::Host => specs.push(spec(None)),
            Place::Drive => specs.extend(left.into_iter().map(|serial| spec(Some(serial)))),
        }
    }
    let jobs = complete(queue, id, &specs)?;
    let submitted = Submitted { assignment, jobs, finished, reopened };
    record(store, id, options, &submitted)?;
    Ok(submitted)
}

fn record(
    store: &dyn SharedStore,
    id: &PlanId,
    options: &SubmitOptions,
    submitted: &Submitted,
) -> Result<(), FleetError> {
    let left_out = submitted.assignment.left_out.iter();
    let left_out = left_out.map(|l| (l.serial.to_string(), l.why.code().to_owned()));
    let record = Record {
        by: options.by.clone(),
        at: wall_clock(),
        queue: options.queue.clone(),
        destroy_count: options.destroy_count,
        jobs_made: submitted.jobs.made.clone(),
        jobs_present: submitted.jobs.present.len(),
        drives: submitted.assignment.drives(),
        finished: submitted.finished,
        left_out: left_out.collect(),
    };
    let bytes = serde_json::to_vec_pretty(&record).map_err(FleetError::Json)?;
    let prefix = format!("plans/{id}/submissions/");
    let mut number = store.list(&prefix)?.len() + 1;
    // Another submission at the same time may take a number.
    while store.put(&format!("{prefix}{number:06}.json"), &bytes, Condition::Absent)?
        == PutOutcome::Conflict
    {
        number += 1;
    }
    Ok(())
}

#[cfg(test)]
#[path = "../tests/unit/submit.rs"]
mod tests;
