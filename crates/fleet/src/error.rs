//! Errors of plans, inventories and queues.

use crate::claim::ClaimError;
use crate::name::{HostName, NameError, PlanId};
use crate::plan::{DestroyError, PlanError};
use crate::queue::QueueError;
use crate::shared_store::SharedStoreError;

/// A plan, an inventory or a queue that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// A serial, host name or plan id that cannot be used.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A plan that cannot be used.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A confirmation of destroying is missing.
    #[error(transparent)]
    Destroy(#[from] DestroyError),
    /// The queue failed.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The list of further drives of a host cannot be read.
    #[error("cannot read {path}, the list of further drives of this host: {source}")]
    DriveList {
        /// The file.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The shared store failed.
    #[error(transparent)]
    SharedStore(#[from] SharedStoreError),
    /// A claim cannot be read.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// A document of the shared store is damaged.
    #[error(
        "{key} in the shared store is damaged: {why}; delete it if it is not needed, or restore \
         it from a backup"
    )]
    Document {
        key: String,
        /// What is wrong.
        why: String,
    },
    /// A document cannot be written as JSON.
    #[error("cannot write a document of the shared store: {0}")]
    Json(serde_json::Error),
    /// There is no such plan.
    #[error("the shared store has no plan {0}; submit it first: `assay fleet submit FILE`")]
    NoPlan(PlanId),
    /// A stored plan was changed.
    #[error(
        "plan {id} in the shared store was changed and is now {now}; submit the plan again from \
         its file"
    )]
    ChangedPlan {
        /// Its key.
        id: PlanId,
        /// The id of its content.
        now: PlanId,
    },
    /// A plan that finds nothing: a typing error, or hosts that have not published their
    /// inventories.
    #[error(
        "plan {plan} finds no drive: drives.model must be how the model begins in `assay fleet \
         inventory`; without --here, drives are looked for in the inventories of the shared \
         store, which `assay fleet inventory --store {at}` writes on each host"
    )]
    NoDrives {
        /// Name of the plan.
        plan: String,
        /// Its shared store.
        at: String,
    },
    /// The plan was cancelled.
    #[error("plan {plan} was cancelled by {by} at {at}; to continue it, submit it with --resume")]
    Cancelled {
        plan: PlanId,
        /// User and host.
        by: String,
        /// When.
        at: String,
    },
    /// A task on this host ended with an error, which it has printed.
    #[error("the task of host {host} ended with {status}; its message is above")]
    Task {
        host: HostName,
        status: std::process::ExitStatus,
    },
}

impl FleetError {
    pub(crate) fn document(key: &str, error: &serde_json::Error) -> FleetError {
        FleetError::Document {
            key: key.to_owned(),
            why: error.to_string(),
        }
    }
}
