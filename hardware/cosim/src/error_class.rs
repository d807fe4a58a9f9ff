use assay_units::{Classified, ErrorClass};

use crate::host::CoreHostError;
use crate::model::ModelError;
use crate::streamer::CoreError;
use crate::world::WorldError;

impl Classified for CoreHostError {
    fn class(&self) -> ErrorClass {
        match self {
            CoreHostError::Session(error) => error.class(),
            CoreHostError::Core(error) => error.class(),
            CoreHostError::Drive { .. } => ErrorClass::Io,
            CoreHostError::NotSimulated { .. }
            | CoreHostError::NotNvme { .. }
            | CoreHostError::Configuration { .. } => ErrorClass::Usage,
        }
    }
}

impl Classified for CoreError {
    fn class(&self) -> ErrorClass {
        match self {
            CoreError::World(error) => error.class(),
            CoreError::Map { .. }
            | CoreError::BringUp { .. }
            | CoreError::NotReady { .. }
            | CoreError::Stuck { .. }
            | CoreError::Range { .. } => ErrorClass::DriveFailed,
        }
    }
}

impl Classified for WorldError {
    fn class(&self) -> ErrorClass {
        match self {
            WorldError::Model(error) => error.class(),
            WorldError::Protocol(_) | WorldError::Register { .. } | WorldError::Timeout { .. } => {
                ErrorClass::DriveFailed
            }
        }
    }
}

impl Classified for ModelError {
    fn class(&self) -> ErrorClass {
        match self {
            ModelError::Missing { .. }
            | ModelError::Broken { .. }
            | ModelError::Configuration { .. } => ErrorClass::Usage,
            ModelError::Wave { .. } => ErrorClass::Io,
            ModelError::Assertion { .. } => ErrorClass::DriveFailed,
        }
    }
}
