//! Errors, each with what to do next.

use std::io;
use std::path::{Path, PathBuf};

use assay_ssd::{DriveError, ProfileError};
use assay_store::StoreError;
use assay_units::{Classified, ErrorClass};

#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    #[error("{}: {source}", path.display())]
    File {
        path: PathBuf,
        /// Reported by the operating system.
        source: io::Error,
    },
    #[error(
        "{file}, line {line}{}: {what}",
        column.as_ref().map(|c| format!(", column {c}")).unwrap_or_default()
    )]
    Table {
        file: String,
        line: usize,
        column: Option<String>,
        /// The defect and the expected form.
        what: String,
    },
    #[error(transparent)]
    Run(#[from] StoreError),
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    Drive(#[from] DriveError),
    #[error("simulated drive {drive:?}, {procedure}: {what}")]
    Simulation { drive: String, procedure: String, what: String },
    #[error("{what} has no figure to fit to: {why}")]
    NoTargets {
        what: String,
        /// The reason and the remedy.
        why: String,
    },
    #[error("free parameter {path:?}: {what}")]
    Parameter {
        path: String,
        /// The defect and the expected form.
        what: String,
    },
    #[error(
        "{} is the state of another fit (other profile, figures, free parameters, seed or \
         version); remove it to start again, or write elsewhere with -o",
        path.display()
    )]
    OtherFit {
        /// State file of the other fit.
        path: PathBuf,
    },
}

impl CalibrateError {
    pub(crate) fn file(path: &Path) -> impl Fn(io::Error) -> CalibrateError {
        move |source| CalibrateError::File { path: path.to_owned(), source }
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
        CalibrateError::Parameter { path: path.into(), what: what.to_owned() }
    }
}

impl Classified for CalibrateError {
    fn class(&self) -> ErrorClass {
        match self {
            CalibrateError::Run(error) => error.class(),
            // Wrong content, no error of the system.
            CalibrateError::File { source, .. } if source.raw_os_error().is_none() => {
                ErrorClass::Usage
            }
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
