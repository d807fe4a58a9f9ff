//! `plans/PLAN/plan.toml`, its list of serials, and its suite files. `serials.txt` has the plan's
//! list, or, of a plan without one, the drives of its model that were found; each `submit` adds
//! those found since.

use std::collections::BTreeSet;

use crate::plan::{SERIALS_FILE, SerialList};
use crate::shared_store::{Condition, SharedStore};
use crate::{FleetError, Plan, PlanId, Serial};

#[derive(Clone, Debug)]
pub struct StoredPlan {
    pub id: PlanId,
    pub plan: Plan,
    pub serials: BTreeSet<Serial>,
}

fn key(id: &PlanId, name: &str) -> String {
    format!("plans/{id}/{name}")
}

pub fn write(
    store: &dyn SharedStore,
    id: &PlanId,
    plan: &Plan,
    found: impl IntoIterator<Item = Serial>,
) -> Result<StoredPlan, FleetError> {
    let mut list = plan.drives.serials.clone().unwrap_or_default();
    if plan.drives.serials.is_none() {
        let before = serials(store, id)?.unwrap_or_default();
        for serial in before.into_iter().chain(found) {
            list.drives.insert(serial, Vec::new());
        }
    }
    let put = |name: &str, text: &str| {
        let put = store.put(&key(id, name), text.as_bytes(), Condition::Any);
        put.map(drop)
    };
    if !list.drives.is_empty() {
        put(SERIALS_FILE, &list.text())?;
    }
    for (name, text) in plan.stored_suites() {
        put(&name, &text)?;
    }
    // Last: a plan that can be read is complete.
    put("plan.toml", &plan.stored_text())?;
    Ok(StoredPlan {
        id: id.clone(),
        plan: plan.clone(),
        serials: list.drives.into_keys().collect(),
    })
}

/// `None` before the plan's first submission.
fn serials(store: &dyn SharedStore, id: &PlanId) -> Result<Option<BTreeSet<Serial>>, FleetError> {
    let Some((bytes, _)) = store.get(&key(id, SERIALS_FILE))? else {
        return Ok(None);
    };
    let list = SerialList::parse(&key(id, SERIALS_FILE), &String::from_utf8_lossy(&bytes))?;
    Ok(Some(list.drives.into_keys().collect()))
}

/// [`FleetError::Plan`] if this version of assay cannot read the plan, or it was changed.
pub fn read(store: &dyn SharedStore, id: &PlanId) -> Result<StoredPlan, FleetError> {
    let name = key(id, "plan.toml");
    let Some((bytes, _)) = store.get(&name)? else {
        return Err(FleetError::NoPlan(id.clone()));
    };
    let file = |file: &str| {
        let found = store.get(&key(id, file)).map_err(std::io::Error::other)?;
        let (bytes, _) = found.ok_or(std::io::ErrorKind::NotFound)?;
        String::from_utf8(bytes).map_err(std::io::Error::other)
    };
    let plan = Plan::parse(&name, &String::from_utf8_lossy(&bytes), &file)?;
    let now = plan.id()?;
    if now != *id {
        return Err(FleetError::ChangedPlan { id: id.clone(), now });
    }
    Ok(StoredPlan { id: id.clone(), plan, serials: serials(store, id)?.unwrap_or_default() })
}

#[cfg(test)]
#[path = "../tests/unit/stored_plan.rs"]
mod tests;
