//! Errors of plans, inventories and queues.

use crate::name::NameError;
use crate::plan::{DestroyError, PlanError};
use crate::queue::QueueError;

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
}
