use assay_units::{Classified, ErrorClass};

use crate::identity::IdentityError;
use crate::interlock::Refusal;
use crate::open::OpenError;
use crate::session::SessionError;
use crate::supervise::SuperviseError;

impl Classified for Refusal {
    fn class(&self) -> ErrorClass {
        match self.is_temporary() {
            true => ErrorClass::InUse,
            false => ErrorClass::Refused,
        }
    }
}

impl Classified for IdentityError {
    fn class(&self) -> ErrorClass {
        match self {
            IdentityError::Missing(_)
            | IdentityError::Directory(_)
            | IdentityError::NvmeGeneric { .. }
            | IdentityError::NotADrive { .. }
            | IdentityError::ZeroSize { .. } => ErrorClass::Usage,
            IdentityError::PermissionDenied(_)
            | IdentityError::NoNode(_)
            | IdentityError::NotInSysfs { .. }
            | IdentityError::Io { .. } => ErrorClass::Io,
        }
    }
}

impl Classified for OpenError {
    fn class(&self) -> ErrorClass {
        match self {
            OpenError::System { .. } if self.is_temporary() => ErrorClass::InUse,
            OpenError::Format { .. } => ErrorClass::Usage,
            OpenError::System { .. } | OpenError::Permit(_) | OpenError::NoFile(_) => {
                ErrorClass::Io
            }
        }
    }
}

impl Classified for SessionError {
    fn class(&self) -> ErrorClass {
        match self {
            SessionError::Refused(refusal) => refusal.class(),
            SessionError::Open(error) => error.class(),
            SessionError::Identity(error) => error.class(),
            SessionError::Profile { source, .. } => source.class(),
            SessionError::BeingWritten { .. } => ErrorClass::InUse,
            SessionError::NoPermit { .. } | SessionError::ErasesMore { .. } => ErrorClass::Refused,
            SessionError::Spec(_)
            | SessionError::Option { .. }
            | SessionError::Cache { .. }
            | SessionError::NoPowerControl { .. }
            | SessionError::NoSuchPowerState { .. }
            | SessionError::OnlyInZones { .. }
            | SessionError::NotErasable { .. } => ErrorClass::Usage,
            SessionError::Target(_)
            | SessionError::Purge(_)
            | SessionError::Command(_)
            | SessionError::Erase(_)
            | SessionError::Controller { .. } => ErrorClass::Io,
        }
    }
}

impl Classified for SuperviseError {
    fn class(&self) -> ErrorClass {
        ErrorClass::Io
    }
}
