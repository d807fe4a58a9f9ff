//! Errors of traces. Text of a file is shown without characters that act on a terminal.

/// Why a trace cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be opened or read.
    #[error("{file}: cannot read the trace: {why}; check the path and its permissions")]
    Unreadable {
        file: String,
        /// The system's message.
        why: String,
    },
    /// The file cannot be read twice, or is compressed.
    #[error("{file}: {what}; {advice}")]
    Unsuitable {
        file: String,
        /// What it is.
        what: String,
        /// What to do.
        advice: String,
    },
    /// A line cannot be parsed.
    #[error("{file}:{line}: {what}; {advice}")]
    Line {
        file: String,
        /// From 1.
        line: u64,
        /// What is wrong with it, with its text.
        what: String,
        /// What to do.
        advice: String,
    },
    /// An option about the trace has no such value.
    #[error("--{option} {given:?}: {expected}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// Its value.
        given: String,
        /// What it takes.
        expected: String,
    },
    /// The trace does not suit the drive or the options.
    #[error("{file}: {what}")]
    Unfit {
        file: String,
        /// Why, and what to do.
        what: String,
    },
}
