//! Errors of runs.

use std::path::PathBuf;

use assay_device::session::SessionError;
use assay_store::StoreError;
use assay_suite::SuiteError;
use assay_units::{Classified, ErrorClass};
use assay_workload::run::RunError;

/// A plan that cannot be run, or a cell of it.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// A cell of several that run at the same time failed, and all of them with it.
    #[error("{0}")]
    Together(String),
    /// A cell's load is a share of a rate that was not measured.
    #[error(
        "{cell}: its load is a share of the rate of step {step}, which has no result on this \
         drive; read why that step failed or was skipped"
    )]
    NoLoad { cell: String, step: String },
    /// A cell's operating point cannot be chosen.
    #[error(
        "{cell}: no point of the grid of step {step} has a result with a mean response time below \
         {limit} on this drive; read why its cells failed, or raise the limit in a copy of the \
         suite"
    )]
    NoPoint { cell: String, step: String, limit: String },
    /// The resumed run has another plan or drive.
    #[error("cannot resume {run}: {why}")]
    NotTheSame { run: String, why: String },
    #[error(
        "cannot write the log of I/Os {}: {source}; name another file in --write_iolog, or leave \
         it out",
        path.display()
    )]
    IoLog { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Suite(#[from] SuiteError),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Classified for ExecuteError {
    fn class(&self) -> ErrorClass {
        match self {
            ExecuteError::Suite(error) => error.class(),
            ExecuteError::Session(error) => error.class(),
            ExecuteError::Run(error) => error.class(),
            ExecuteError::Store(error) => error.class(),
            ExecuteError::NoLoad { .. } | ExecuteError::NoPoint { .. } => ErrorClass::DriveFailed,
            ExecuteError::IoLog { .. } => ErrorClass::Io,
            ExecuteError::Together(_) | ExecuteError::NotTheSame { .. } => ErrorClass::Usage,
        }
    }
}
