//! Errors of suites.

use assay_device::session::SessionError;
use assay_units::text::did_you_mean;
use assay_units::{Classified, ErrorClass};
use assay_workload::plan::PlanError;

use crate::expand::MAX_CELLS;

/// A suite that cannot be read, or planned.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    #[error(
        "there is no suite {name:?}{}; the suites are: {known} (`assay suites` describes them); \
         or give the path of a suite file (.toml)",
        did_you_mean(name, known)
    )]
    Unknown { name: String, known: String },
    #[error(
        "cannot read the suite file {path}: {source}; `assay suites` lists the built-in suites"
    )]
    File { path: String, source: std::io::Error },
    #[error("{what} {name}: {message}")]
    Invalid { what: &'static str, name: String, message: String },
    #[error("suite {suite} has no parameter {key:?}; it has: {known}")]
    UnknownParameter { suite: String, key: String, known: String },
    #[error("--scale {0} is not between 0.001 and 100")]
    BadScale(f64),
    #[error("cell {cell}: {source}")]
    Cell { cell: String, source: PlanError },
    #[error(
        "suite {suite} would make at least {cells} cells, more than {MAX_CELLS}; shorten its lists"
    )]
    TooManyCells { suite: String, cells: u128 },
    #[error(
        "{verifying} verifies an area in which {writing} writes at the same time, so that what one \
         overwrites could not be told from a fault of the drive: give each an area of its own \
         (offset, size), or run them one after the other"
    )]
    Areas { verifying: String, writing: String },
    #[error(
        "{} and {}: drives of one run are all whole, or all of the same shrink=; run them apart",
        drives[0], drives[1]
    )]
    ShrunkApart { drives: [String; 2] },
    #[error("suite {suite} measures {why}; run it on the whole drive, shorter with --scale")]
    Shrunk { suite: String, why: &'static str },
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl SuiteError {
    pub(crate) fn invalid(what: &'static str, name: &str, message: String) -> SuiteError {
        SuiteError::Invalid { what, name: name.to_owned(), message }
    }
}

impl Classified for SuiteError {
    fn class(&self) -> ErrorClass {
        match self {
            SuiteError::Session(error) => error.class(),
            SuiteError::Cell { source, .. } => source.class(),
            SuiteError::File { source, .. } => ErrorClass::of_named_file(source),
            SuiteError::Unknown { .. }
            | SuiteError::Invalid { .. }
            | SuiteError::UnknownParameter { .. }
            | SuiteError::BadScale(_)
            | SuiteError::ShrunkApart { .. }
            | SuiteError::Shrunk { .. }
            | SuiteError::Areas { .. }
            | SuiteError::TooManyCells { .. } => ErrorClass::Usage,
        }
    }
}
