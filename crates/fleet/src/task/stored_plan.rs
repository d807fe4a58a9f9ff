//! The plan of a task, from the shared store.

use std::io;

use super::runner::SuiteCall;
use crate::inventory::InventoryDrive;
use crate::plan::{PlanError, PlanSuite, SERIALS_FILE};
use crate::shared_store::{SharedStore, SharedStoreError};
use crate::{Plan, PlanId, Serial};

/// A plan that a task cannot use.
#[derive(Debug, thiserror::Error)]
pub enum StoredPlanError {
    /// There is none.
    #[error("there is no plan {0} in the shared store; `assay fleet submit FILE` writes it there")]
    Missing(PlanId),
    /// The document is not text.
    #[error(
        "plans/{0}/plan.toml in the shared store is damaged: {1}; `assay fleet submit FILE` writes it again"
    )]
    Damaged(PlanId, String),
    /// It is no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The shared store failed.
    #[error(transparent)]
    Store(#[from] SharedStoreError),
}

/// The plan with this id.
///
/// # Errors
/// [`StoredPlanError`].
pub fn load(store: &dyn SharedStore, id: &PlanId) -> Result<Plan, StoredPlanError> {
    let text = |key: &str| -> Result<Option<String>, StoredPlanError> {
        let Some((bytes, _)) = store.get(key)? else {
            return Ok(None);
        };
        let text = String::from_utf8(bytes);
        let damaged = |error: std::string::FromUtf8Error| {
            StoredPlanError::Damaged(id.clone(), error.to_string())
        };
        Ok(Some(text.map_err(damaged)?))
    };
    let key = format!("plans/{id}/plan.toml");
    let toml = text(&key)?.ok_or_else(|| StoredPlanError::Missing(id.clone()))?;
    // Suite files and the list of serials are beside it.
    let read = |file: &str| {
        let name = file.rsplit('/').next().unwrap_or(file);
        let is_suite = name.ends_with(".toml");
        let name = if is_suite { name } else { SERIALS_FILE };
        match text(&format!("plans/{id}/{name}")) {
            Ok(Some(text)) => Ok(text),
            Ok(None) => Err(io::Error::new(
                io::ErrorKind::NotFound,
                "it is not beside the stored plan",
            )),
            Err(error) => Err(io::Error::other(error.to_string())),
        }
    };
    let plan = Plan::parse(&key, &toml, &read)?;
    let found = plan.id()?;
    if found != *id {
        return Err(StoredPlanError::Damaged(
            id.clone(),
            format!("its content is that of {found}"),
        ));
    }
    Ok(plan)
}

/// A suite of the plan as arguments of `assay run`; `file` is the local copy of a suite file.
pub fn call(plan: &Plan, index: usize, suite: &PlanSuite, file: Option<&str>) -> SuiteCall {
    let mut arguments = vec![file.unwrap_or(&suite.name).to_owned()];
    for (key, value) in &suite.set {
        arguments.extend(["--set".to_owned(), format!("{key}={value}")]);
    }
    let run = &plan.run;
    arguments.extend(["--scale".to_owned(), run.scale.to_string()]);
    arguments.extend(["--seed".to_owned(), run.seed.to_string()]);
    SuiteCall {
        folder: format!("{index:02}-{}", suite.label),
        arguments,
    }
}

/// The drives of a host that the plan selects; `only`: this one alone.
pub fn selected(
    plan: &Plan,
    drives: &[InventoryDrive],
    only: Option<&Serial>,
) -> Vec<InventoryDrive> {
    let is_selected = |drive: &&InventoryDrive| {
        let list = plan.drives.serials.as_ref();
        let model = plan.drives.model.as_deref();
        only.is_none_or(|only| drive.serial == *only)
            && list.is_none_or(|list| list.drives.contains_key(&drive.serial))
            && model.is_none_or(|model| drive.model.starts_with(model))
    };
    drives.iter().filter(is_selected).cloned().collect()
}
