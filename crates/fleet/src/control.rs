//! The control document of a plan, `plans/PLAN/control.json`, which only operators write.

use assay_device::host::wall_clock;
use serde::{Deserialize, Serialize};

use crate::shared_store::{Condition, SharedStore};
use crate::{FleetError, PlanId};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlState {
    #[default]
    Running,
    /// Tasks end when the present cell has ended.
    Paused,
    /// Tasks end at once, and none begins again.
    Cancelled,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    pub state: ControlState,
    /// `USER@HOST`.
    pub by: String,
    pub at: String,
}

pub(crate) fn key(plan: &PlanId) -> String {
    format!("plans/{plan}/control.json")
}

/// `None` before the plan's first submission.
pub fn read(store: &dyn SharedStore, plan: &PlanId) -> Result<Option<Control>, FleetError> {
    let key = key(plan);
    let Some((bytes, _)) = store.get(&key)? else {
        return Ok(None);
    };
    let control = serde_json::from_slice(&bytes);
    Ok(Some(control.map_err(|error| FleetError::document(&key, &error))?))
}

/// The last writer prevails: it is an operator's decision.
pub fn write(
    store: &dyn SharedStore,
    plan: &PlanId,
    state: ControlState,
    by: &str,
) -> Result<Control, FleetError> {
    let control = Control { state, by: by.to_owned(), at: wall_clock() };
    let bytes = serde_json::to_vec_pretty(&control).map_err(FleetError::Json)?;
    store.put(&key(plan), &bytes, Condition::Any)?;
    Ok(control)
}
