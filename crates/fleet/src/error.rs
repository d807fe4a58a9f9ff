//! Errors of plans, inventories and queues.

use crate::name::NameError;

/// A plan, an inventory or a queue that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// A serial, host name or plan id that cannot be used.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The list of further drives of a host cannot be read.
    #[error("cannot read {path}, the list of further drives of this host: {source}")]
    DriveList {
        /// The file.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
}
