use assay_units::{Classified, ErrorClass};

use crate::endpoint::EndpointError;
use crate::index::IndexError;
use crate::status::StreamError;

impl Classified for StreamError {
    fn class(&self) -> ErrorClass {
        match self {
            StreamError::Index(error) => error.class(),
            StreamError::Session(error) => error.class(),
            StreamError::Range(_)
            | StreamError::NoSlots { .. }
            | StreamError::Unsupported { .. } => ErrorClass::Usage,
            StreamError::Target(_)
            | StreamError::Source { .. }
            | StreamError::Sink { .. }
            | StreamError::HostMemory { .. }
            | StreamError::Core { .. } => ErrorClass::Io,
            StreamError::SmallSlots { .. } => ErrorClass::Internal,
        }
    }
}

impl Classified for EndpointError {
    fn class(&self) -> ErrorClass {
        match self {
            EndpointError::System { .. } => ErrorClass::Io,
            EndpointError::Name { .. } | EndpointError::Exists { .. } | EndpointError::Terminal => {
                ErrorClass::Usage
            }
        }
    }
}

impl Classified for IndexError {
    fn class(&self) -> ErrorClass {
        match self {
            IndexError::Device(_) | IndexError::Beyond { .. } => ErrorClass::DriveFailed,
            IndexError::Target(_) => ErrorClass::Io,
            IndexError::None { .. }
            | IndexError::NoRoom { .. }
            | IndexError::SmallChunks { .. }
            | IndexError::Mixed { .. } => ErrorClass::Usage,
        }
    }
}
