use std::fmt;

use assay_suite::SuiteError;

use crate::name::NameError;

#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("cannot read {path}: {source}; name a plan, a TOML file (docs/fleet.md)")]
    File { path: String, source: std::io::Error },
    #[error("{path} is not valid TOML: {message}")]
    Toml {
        /// The file.
        path: String,
        message: String,
    },
    #[error("{path}: {}", listed(.problems))]
    Invalid { path: String, problems: Vec<Problem> },
    #[error("{path}: suites: {source}")]
    Suite { path: String, source: Box<SuiteError> },
    #[error(
        "{path}: drives.serials: cannot read {list}: {source}; write the serials into it, one per \
         line, as `assay fleet inventory` shows them"
    )]
    SerialsFile { path: String, list: String, source: std::io::Error },
    #[error("{list}, line {line}: {why}")]
    Serials { list: String, line: usize, why: String },
    #[error(transparent)]
    Destroy(#[from] DestroyError),
    #[error(transparent)]
    Name(#[from] NameError),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Key with its section: `run.share`.
    pub key: String,
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

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DestroyError {
    #[error(
        "the suite {0} destroys data and the plan does not allow it; write destroy = true into \
         [run] and list the serials"
    )]
    NotAllowed(String),
    #[error(
        "destroy = true needs the serials of all drives that may be erased; write serials = \
         \"FILE\" into [drives]"
    )]
    NoSerials,
    #[error(
        "the plan destroys the data of {0} drives; confirm it with their number: --destroy-count \
         {0}"
    )]
    NoCount(usize),
    #[error(
        "--destroy-count {given} is not the number of serials in the plan's list, {listed}; check \
         the list before confirming it"
    )]
    OtherCount {
        given: usize,
        /// Serials in the list.
        listed: usize,
    },
    #[error(
        "--destroy-count {0} is given and the plan only reads; leave it out, or write destroy = \
         true into [run]"
    )]
    Unneeded(usize),
}
