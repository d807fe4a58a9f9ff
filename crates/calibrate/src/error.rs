//! Errors, each with what to do next.

use std::io;
use std::path::{Path, PathBuf};

use assay_ssd::{DriveError, ProfileError};
use assay_store::StoreError;
use assay_units::{Classified, ErrorClass};

/// Why figures could not be obtained, or a profile not fitted to them.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A table has an invalid entry.
    #[error("{file}, line {line}{}: {what}", column.as_ref().map(|c| format!(", column {c}")).unwrap_or_default())]
    Table {
        /// The file's name.
        file: String,
        line: usize,
        /// The column, where it is one field.
        column: Option<String>,
        /// The defect and the expected form.
        what: String,
    },
    /// A run folder could not be read.
    #[error(transparent)]
    Run(#[from] StoreError),
    /// A profile is not valid.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A profile cannot make a drive.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// A simulated drive failed an I/O of a procedure.
    #[error("simulated drive {drive:?}, {procedure}: {what}")]
    Simulation {
        /// The profile's name.
        drive: String,
        procedure: String,
        /// What happened.
        what: String,
    },
    /// There are no figures to fit to.
    #[error("{what} has no figure to fit to: {why}")]
    NoTargets {
        /// The requested source.
        what: String,
        /// The reason and the remedy.
        why: String,
    },
    /// A parameter is not in the profile or cannot be fitted.
    #[error("free parameter {path:?}: {what}")]
    Parameter {
        /// Its dotted path.
        path: String,
        /// The defect and the expected form.
        what: String,
    },
    /// A state file belongs to another fit.
    #[error(
        "{} is the state of another fit (other profile, figures, free parameters, seed or version); remove it to start again, or write elsewhere with -o",
        path.display()
    )]
    OtherFit {
        /// The state file.
        path: PathBuf,
    },
}

impl CalibrateError {
    /// The error of a file that cannot be read or written.
    pub(crate) fn file(path: &Path) -> impl Fn(io::Error) -> CalibrateError {
        move |source| CalibrateError::File {
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn table(
        file: &str,
        line: usize,
        column: Option<&str>,
        what: &str,
    ) -> CalibrateError {
        CalibrateError::Table {
            file: file.to_owned(),
            line,
            column: column.map(str::to_owned),
            what: what.to_owned(),
        }
    }

    pub(crate) fn parameter(path: impl Into<String>, what: &str) -> CalibrateError {
        CalibrateError::Parameter {
            path: path.into(),
            what: what.to_owned(),
        }
    }
}

impl Classified for CalibrateError {
    fn class(&self) -> ErrorClass {
        match self {
            CalibrateError::Run(error) => error.class(),
            CalibrateError::File { .. } => ErrorClass::Io,
            CalibrateError::Simulation { .. } => ErrorClass::DriveFailed,
            CalibrateError::Table { .. }
            | CalibrateError::Profile(_)
            | CalibrateError::Drive(_)
            | CalibrateError::NoTargets { .. }
            | CalibrateError::Parameter { .. }
            | CalibrateError::OtherFit { .. } => ErrorClass::Usage,
        }
    }
}
