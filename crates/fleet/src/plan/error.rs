//! Errors of plans.

use std::fmt;

use assay_suite::SuiteError;

use crate::name::NameError;

/// A plan that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// It cannot be read.
    #[error("cannot read {path}: {source}; name a plan, a TOML file (docs/fleet.md)")]
    File {
        /// The file.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
    #[error("{path} is not valid TOML: {message}")]
    Toml {
        /// The file.
        path: String,
        /// Error and position.
        message: String,
    },
    /// Keys or values that cannot be used.
    #[error("{path}: {}", listed(.problems))]
    Invalid {
        /// The file.
        path: String,
        /// All of them.
        problems: Vec<Problem>,
    },
    /// A suite that cannot be used.
    #[error("{path}: suites: {source}")]
    Suite {
        /// The file.
        path: String,
        /// Why.
        source: Box<SuiteError>,
    },
    /// The list of serials cannot be read.
    #[error(
        "{path}: drives.serials: cannot read {list}: {source}; write the serials into it, one per \
         line, as `assay fleet inventory` shows them"
    )]
    SerialsFile {
        /// The plan.
        path: String,
        list: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// A line of the list of serials.
    #[error("{list}, line {line}: {why}")]
    Serials {
        list: String,
        line: usize,
        /// What is wrong, and what to write.
        why: String,
    },
    /// The confirmation of destroying is missing.
    #[error(transparent)]
    Destroy(#[from] DestroyError),
    /// A name that cannot be used.
    #[error(transparent)]
    Name(#[from] NameError),
}

/// A key or value that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key with its section: `run.share`.
    pub key: String,
    /// What is wrong, with the value, and what to write.
    pub why: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.why)
    }
}

fn listed(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n  ")
}

/// One of the three confirmations of destroying is missing or wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DestroyError {
    /// `destroy = true` is missing.
    #[error(
        "the suite {0} destroys data and the plan does not allow it; write destroy = true into \
         [run] and list the serials"
    )]
    NotAllowed(String),
    /// The serials are missing.
    #[error(
        "destroy = true needs the serials of all drives that may be erased; write serials = \
         \"FILE\" into [drives]"
    )]
    NoSerials,
    /// `--destroy-count` is missing.
    #[error(
        "the plan destroys the data of {0} drives; confirm it with their number: --destroy-count \
         {0}"
    )]
    NoCount(usize),
    /// `--destroy-count` is another number.
    #[error(
        "--destroy-count {given} is not the number of serials in the plan's list, {listed}; check \
         the list before confirming it"
    )]
    OtherCount {
        given: usize,
        /// Serials in the list.
        listed: usize,
    },
    /// `--destroy-count` with a plan that does not destroy.
    #[error(
        "--destroy-count {0} is given and the plan only reads; leave it out, or write destroy = \
         true into [run]"
    )]
    Unneeded(usize),
}
