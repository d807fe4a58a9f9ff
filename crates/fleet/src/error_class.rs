use assay_units::{Classified, ErrorClass};

use crate::chunks::ChunkError;
use crate::claim::ClaimError;
use crate::error::FleetError;
use crate::plan::PlanError;
use crate::queue::QueueError;
use crate::shared_store::SharedStoreError;
use crate::sweep::SweepError;

impl Classified for FleetError {
    fn class(&self) -> ErrorClass {
        match self {
            FleetError::SharedStore(error) => error.class(),
            FleetError::Claim(error) => error.class(),
            FleetError::Queue(error) => error.class(),
            FleetError::Plan(error) => error.class(),
            FleetError::Name(_)
            | FleetError::NoPlan(_)
            | FleetError::ChangedPlan { .. }
            | FleetError::NoDrives { .. } => ErrorClass::Usage,
            FleetError::Cancelled { .. } | FleetError::Destroy(_) => ErrorClass::Refused,
            FleetError::DriveList { .. }
            | FleetError::Document { .. }
            | FleetError::Missing { .. }
            | FleetError::MissingCollected { .. } => ErrorClass::Io,
            FleetError::Json(_) => ErrorClass::Internal,
            // Exit statuses of docs/json.md.
            FleetError::Task { status, .. } => match status.code() {
                Some(2) => ErrorClass::Usage,
                Some(3) => ErrorClass::Refused,
                Some(75) => ErrorClass::InUse,
                _ => ErrorClass::Io,
            },
        }
    }
}

impl Classified for PlanError {
    fn class(&self) -> ErrorClass {
        match self {
            PlanError::File { source, .. } | PlanError::SerialsFile { source, .. } => {
                ErrorClass::of_named_file(source)
            }
            PlanError::Suite { source, .. } => source.class(),
            PlanError::Destroy(_) => ErrorClass::Refused,
            PlanError::Toml { .. }
            | PlanError::Invalid { .. }
            | PlanError::Serials { .. }
            | PlanError::Name(_) => ErrorClass::Usage,
        }
    }
}

impl Classified for QueueError {
    fn class(&self) -> ErrorClass {
        match self {
            QueueError::NoRack { .. } => ErrorClass::Usage,
            QueueError::Start { .. }
            | QueueError::Failed { .. }
            | QueueError::Output { .. }
            | QueueError::Unsupported(_) => ErrorClass::Io,
        }
    }
}

impl Classified for ClaimError {
    fn class(&self) -> ErrorClass {
        match self {
            ClaimError::Store(error) => error.class(),
            ClaimError::Fenced { .. } | ClaimError::Damaged { .. } => ErrorClass::Io,
        }
    }
}

impl Classified for SharedStoreError {
    fn class(&self) -> ErrorClass {
        match self {
            SharedStoreError::Location { .. } => ErrorClass::Usage,
            SharedStoreError::Io { .. }
            | SharedStoreError::Foreign { .. }
            | SharedStoreError::Full { .. } => ErrorClass::Io,
            SharedStoreError::Key { .. } | SharedStoreError::Empty(_) => ErrorClass::Internal,
        }
    }
}

impl Classified for SweepError {
    fn class(&self) -> ErrorClass {
        match self {
            SweepError::File { source, .. } => ErrorClass::of_named_file(source),
            SweepError::Invalid { .. } | SweepError::Name(_) => ErrorClass::Usage,
            SweepError::Profile(error) => error.class(),
            SweepError::Parameter(error) => error.class(),
            SweepError::Chunk(error) => error.class(),
            SweepError::Run(error) => error.class(),
            SweepError::System { .. } | SweepError::Point { .. } => ErrorClass::Io,
        }
    }
}

impl Classified for ChunkError {
    fn class(&self) -> ErrorClass {
        match self {
            ChunkError::Store(error) => error.class(),
            ChunkError::Directory { source, .. } => ErrorClass::of_named_file(source),
            ChunkError::NoSuchChunk { .. } | ChunkError::Incomplete { .. } => ErrorClass::Usage,
            ChunkError::Differs { .. } | ChunkError::Damaged { .. } => ErrorClass::Io,
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/error_class.rs"]
mod tests;
