//! Text of a file is shown without characters that act on a terminal.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    #[error("{file}: cannot read the trace: {why}; check the path and its permissions")]
    Unreadable { file: String, why: String },
    #[error("{file}: {what}; {advice}")]
    Unsuitable { file: String, what: String, advice: String },
    #[error("{file}:{line}: {what}; {advice}")]
    Line { file: String, line: u64, what: String, advice: String },
    #[error("--{option} {given:?}: {expected}")]
    Option { option: &'static str, given: String, expected: String },
    #[error("{file}: {what}")]
    Unfit { file: String, what: String },
}
