//! Classes of errors, from which commands take their exit status.

use std::io;

/// What kind of failure an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// The command line, or a file or name given in it, must be corrected.
    Usage,
    /// Refused for safety.
    Refused,
    /// The drive or its data failed.
    DriveFailed,
    /// In use by another process: the same command can succeed later.
    InUse,
    /// I/O failed, or the system lacks what the command needs.
    Io,
    /// A defect of this program.
    Internal,
}

impl ErrorClass {
    /// A user's file that is missing, or has wrong content (no error of the system), is usage.
    pub fn of_named_file(error: &io::Error) -> ErrorClass {
        match error.kind() == io::ErrorKind::NotFound || error.raw_os_error().is_none() {
            true => ErrorClass::Usage,
            false => ErrorClass::Io,
        }
    }
}

/// An error with a class. Implementations of enums name every variant, so that none is forgotten.
pub trait Classified {
    /// Its class.
    fn class(&self) -> ErrorClass;
}

#[cfg(test)]
#[path = "../tests/unit/error_class.rs"]
mod tests;
