//! The control document of a plan, `plans/PLAN/control.json`: whether its tasks go on. Only
//! operators write it; tasks obey it.

use assay_device::host::wall_clock;
use serde::{Deserialize, Serialize};

use crate::shared_store::{Condition, SharedStore};
use crate::{FleetError, PlanId};

/// Whether the tasks of a plan go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlState {
    /// They go on.
    #[default]
    Running,
    /// They end when the present cell has ended.
    Paused,
    /// They end at once, and none begins again.
    Cancelled,
}

/// The document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    pub state: ControlState,
    /// Who wrote it: `USER@HOST`.
    pub by: String,
    /// When, RFC 3339.
    pub at: String,
}

/// Key of the control document of a plan.
pub(crate) fn key(plan: &PlanId) -> String {
    format!("plans/{plan}/control.json")
}

/// The control document of a plan; `None` before its first submission.
///
/// # Errors
/// [`FleetError::SharedStore`], or [`FleetError::Document`] if it is damaged.
pub fn read(store: &dyn SharedStore, plan: &PlanId) -> Result<Option<Control>, FleetError> {
    let key = key(plan);
    let Some((bytes, _)) = store.get(&key)? else {
        return Ok(None);
    };
    let control = serde_json::from_slice(&bytes);
    Ok(Some(
        control.map_err(|error| FleetError::document(&key, &error))?,
    ))
}

/// Writes the control document. The last writer prevails: it is an operator's decision.
///
/// # Errors
/// [`FleetError::SharedStore`].
pub fn write(
    store: &dyn SharedStore,
    plan: &PlanId,
    state: ControlState,
    by: &str,
) -> Result<Control, FleetError> {
    let control = Control {
        state,
        by: by.to_owned(),
        at: wall_clock(),
    };
    let bytes = serde_json::to_vec_pretty(&control).map_err(FleetError::Json)?;
    store.put(&key(plan), &bytes, Condition::Any)?;
    Ok(control)
}
