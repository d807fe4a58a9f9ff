//! Errors of suites and their runs.

use assay_device::session::SessionError;
use assay_store::StoreError;
use assay_units::text::did_you_mean;
use assay_workload::plan::PlanError;
use assay_workload::run::RunError;

use crate::expand::MAX_CELLS;

/// A suite that cannot be read, planned or run.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// A cell of several that run at the same time failed, and all of them with it.
    #[error("{0}")]
    Together(String),
    /// No such suite.
    #[error(
        "there is no suite {name:?}{}; the suites are: {known} (`assay suites` describes them); \
         or give the path of a suite file (.toml)",
        did_you_mean(name, known)
    )]
    Unknown {
        /// The given name.
        name: String,
        /// The existing ones.
        known: String,
    },
    /// A suite file cannot be read.
    #[error(
        "cannot read the suite file {path}: {source}; `assay suites` lists the built-in suites"
    )]
    File {
        /// The file.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// An invalid suite or policy, or parameter of one.
    #[error("{what} {name}: {message}")]
    Invalid {
        /// `suite` or `policy`.
        what: &'static str,
        name: String,
        /// Error and position.
        message: String,
    },
    /// A parameter the suite does not have.
    #[error("suite {suite} has no parameter {key:?}; it has: {known}")]
    UnknownParameter {
        suite: String,
        /// The given key.
        key: String,
        /// The existing ones.
        known: String,
    },
    /// The scale is out of range.
    #[error("--scale {0} is not between 0.001 and 100")]
    BadScale(f64),
    /// A cell's workload does not fit its drive.
    #[error("cell {cell}: {source}")]
    Cell {
        cell: String,
        /// Why.
        source: PlanError,
    },
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
    NoPoint {
        cell: String,
        step: String,
        limit: String,
    },
    /// More than [`MAX_CELLS`] cells.
    #[error(
        "suite {suite} would make at least {cells} cells, more than {MAX_CELLS}; shorten its lists"
    )]
    TooManyCells {
        suite: String,
        /// How many, as far as they were counted.
        cells: u128,
    },
    /// A drive cannot be opened or used.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A job failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The run folder cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The resumed run has another plan or drive.
    #[error("cannot resume {run}: {why}")]
    NotTheSame {
        run: String,
        /// The difference.
        why: String,
    },
}

impl SuiteError {
    pub(crate) fn invalid(what: &'static str, name: &str, message: String) -> SuiteError {
        SuiteError::Invalid {
            what,
            name: name.to_owned(),
            message,
        }
    }
}
