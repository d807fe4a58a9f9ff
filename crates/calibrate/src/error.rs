//! What can go wrong, in words that say what to do next.

use std::path::PathBuf;

use assay_ssd::{DriveError, ProfileError};
use assay_store::StoreError;

/// Why figures could not be had, or a profile not be fitted to them.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A table of measurements has something in it that is not one.
    #[error("{file}, line {line}{}: {what}", column.as_ref().map(|c| format!(", column {c}")).unwrap_or_default())]
    Table {
        /// The file's name.
        file: String,
        /// Line, from 1.
        line: usize,
        /// The column's name, when one is at fault.
        column: Option<String>,
        /// What is wrong and what would be right.
        what: String,
    },
    /// A run folder could not be read.
    #[error(transparent)]
    Run(#[from] StoreError),
    /// A profile could not be read or makes no drive.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A profile's flash and capacity do not go together.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// A simulated drive refused an I/O of a procedure.
    #[error("simulated drive {drive:?}, {procedure}: {what}")]
    Simulation {
        /// The profile's name.
        drive: String,
        /// What was being run.
        procedure: String,
        /// What happened.
        what: String,
    },
    /// There is nothing to fit to.
    #[error("{what} has no figure to fit to: {why}")]
    NoTargets {
        /// The source asked for.
        what: String,
        /// What would be right.
        why: String,
    },
    /// A free number is not in the profile or cannot move.
    #[error("free number {path:?}: {what}")]
    Parameter {
        /// Its dotted path.
        path: String,
        /// What is wrong and what would be right.
        what: String,
    },
    /// A state file belongs to another fit.
    #[error(
        "{} is the state of another fit (other profile, figures, free numbers, seed or version); remove it to begin anew, or write elsewhere with -o",
        path.display()
    )]
    OtherFit {
        /// The state file.
        path: PathBuf,
    },
}
