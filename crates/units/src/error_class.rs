//! Classes of errors: what can be done about one. Commands take their exit status from the class.

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
    /// Of a failure to read a file named by the user. One that is missing, or has other content
    /// than it should (no error of the operating system), is a matter of usage.
    pub fn of_named_file(error: &io::Error) -> ErrorClass {
        match error.kind() == io::ErrorKind::NotFound || error.raw_os_error().is_none() {
            true => ErrorClass::Usage,
            false => ErrorClass::Io,
        }
    }
}

/// An error with a class. The implementation of an enum names every variant, so that a new variant
/// is not built without a class.
pub trait Classified {
    /// Its class.
    fn class(&self) -> ErrorClass;
}

#[cfg(test)]
#[path = "../tests/unit/error_class.rs"]
mod tests;
