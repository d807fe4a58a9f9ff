use crate::claim::ClaimError;
use crate::name::{HostName, NameError, PlanId};
use crate::plan::{DestroyError, PlanError};
use crate::queue::QueueError;
use crate::shared_store::SharedStoreError;

#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    #[error(transparent)]
    Name(#[from] NameError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Destroy(#[from] DestroyError),
    #[error(transparent)]
    Queue(#[from] QueueError),
    #[error("cannot read {path}, the list of further drives of this host: {source}")]
    DriveList { path: String, source: std::io::Error },
    #[error(transparent)]
    SharedStore(#[from] SharedStoreError),
    #[error(transparent)]
    Claim(#[from] ClaimError),
    #[error(
        "{key} in the shared store is damaged: {why}; delete it if it is not needed, or restore \
         it from a backup"
    )]
    Document {
        key: String,
        /// What is wrong.
        why: String,
    },
    #[error("cannot write a document of the shared store: {0}")]
    Json(serde_json::Error),
    #[error("the shared store has no plan {0}; submit it first: `assay fleet submit FILE`")]
    NoPlan(PlanId),
    #[error(
        "plan {id} in the shared store was changed and is now {now}; submit the plan again from \
         its file"
    )]
    ChangedPlan {
        /// Its key.
        id: PlanId,
        now: PlanId,
    },
    /// A typing error, or hosts that have not published their inventories.
    #[error(
        "plan {plan} finds no drive: drives.model must be how the model begins in `assay fleet \
         inventory`; without --here, drives are looked for in the inventories of the shared \
         store, which `assay fleet inventory --store {at}` writes on each host"
    )]
    NoDrives {
        /// Name of the plan.
        plan: String,
        at: String,
    },
    #[error("plan {plan} was cancelled by {by} at {at}; to continue it, submit it with --resume")]
    Cancelled { plan: PlanId, by: String, at: String },
    /// They were named before.
    #[error(
        "run folders of {drives} finished drives are missing; `{command}` ships them again from \
         the work directory of the host that measured them, or measures again where that has lost \
         them too"
    )]
    Missing { drives: usize, command: String },
    #[error(
        "collected run folders are missing: {}; `assay fleet collect PLAN -o DIR` fetches them \
         again from the shared store",
        folders.join(", ")
    )]
    MissingCollected { folders: Vec<String> },
    /// The task has printed its error.
    #[error("the task of host {host} ended with {status}; its message is above")]
    Task { host: HostName, status: std::process::ExitStatus },
}

impl FleetError {
    pub(crate) fn document(key: &str, error: &serde_json::Error) -> FleetError {
        FleetError::Document { key: key.to_owned(), why: error.to_string() }
    }
}
