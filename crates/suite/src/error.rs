//! Errors of suites and their runs.

use assay_device::session::SessionError;
use assay_store::StoreError;
use assay_workload::plan::PlanError;
use assay_workload::run::RunError;

/// A suite that cannot be read, planned or run.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// No such suite.
    #[error(
        "there is no suite {name:?}; the suites are: {known} (`assay suites` describes them); or give the path of a suite file (.toml)"
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
    /// Invalid TOML.
    #[error("suite {name}: {message}")]
    Text {
        /// The suite.
        name: String,
        /// Error and position.
        message: String,
    },
    /// An invalid policy.
    #[error("policy {name}: {message}")]
    Policy {
        /// The policy.
        name: String,
        /// Error and position.
        message: String,
    },
    /// A parameter the suite does not have.
    #[error("suite {suite} has no parameter {key:?}; it has: {known}")]
    UnknownParameter {
        /// The suite.
        suite: String,
        /// The given key.
        key: String,
        /// The existing ones.
        known: String,
    },
    /// A parameter's value cannot be used.
    #[error("suite {suite}: parameter {key}={value}: {why}")]
    BadParameter {
        /// The suite.
        suite: String,
        /// The parameter.
        key: String,
        /// Its value.
        value: String,
        /// The error.
        why: String,
    },
    /// The scale is out of range.
    #[error("--scale {0} is not between 0.001 and 100")]
    BadScale(f64),
    /// A cell's workload does not fit its drive.
    #[error("cell {cell}: {source}")]
    Cell {
        /// The cell.
        cell: String,
        /// Why.
        source: PlanError,
    },
    /// A cell's load is a share of a rate that was not measured.
    #[error(
        "{cell}: its load is a share of the rate of step {step}, which has no result on this drive; read why that step failed or was skipped"
    )]
    NoLoad {
        /// The cell.
        cell: String,
        /// The step.
        step: String,
    },
    /// More than [`crate::expand::MAX_CELLS`] cells.
    #[error("suite {suite} would make {cells} cells, more than {most}; shorten its lists")]
    TooManyCells {
        /// The suite.
        suite: String,
        /// How many.
        cells: usize,
        /// The most.
        most: usize,
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
        /// The run.
        run: String,
        /// The difference.
        why: String,
    },
}
