use serde::Deserialize;

use super::machine::Control;
use crate::shared_store::{SharedStore, SharedStoreError};
use crate::{PlanId, control};

#[derive(Deserialize)]
struct Document {
    state: String,
}

/// Running without a document. A document that cannot be read pauses: it may have been meant to
/// stop.
pub fn read(store: &dyn SharedStore, plan: &PlanId) -> Result<Control, SharedStoreError> {
    let Some((bytes, _)) = store.get(&control::key(plan))? else {
        return Ok(Control::Running);
    };
    let document = serde_json::from_slice::<Document>(&bytes);
    Ok(match document.as_ref().map(|d| d.state.as_str()) {
        Ok("running") => Control::Running,
        Ok("cancelled") => Control::Cancelled,
        _ => Control::Paused,
    })
}
