//! fio job files: parsing, and conversion into assay's workloads.
//!
//! # Architecture
//! [`ini`] reads the text of a file, with its includes, into sections of options; [`line`] reads
//! the words of a command line into the same; [`substitute`]
//! replaces `${VARIABLE}` and `$keyword`; [`number`] reads fio's integers, sizes, times and
//! arithmetic, [`pattern`] the bytes of buffers. [`job::convert`] checks each section against
//! [`options`], the one table of what is supported, and returns jobs whose workload is
//! [`assay_workload::options::JobOptions`]: what `assay job` takes.
//!
//! The format is that of fio 3.33: HOWTO.rst, "Job file format" and "Parameter types"; `init.c`
//! (`__parse_jobs_ini`) and `parse.c` where the document leaves a question open.
//!
//! # Non-goals
//! No file is opened here: the caller passes a function that reads one. No drive is opened, and
//! nothing is printed. An option that is neither supported nor without effect is an error that
//! names it; none is ignored.
//!
//! # Key constants
//! [`ini::MAX_INCLUDE_DEPTH`], [`ini::MAX_OPTIONS`], [`job::MAX_JOBS`].
#![forbid(unsafe_code)]

pub mod ini;
pub mod job;
pub mod line;
pub mod number;
pub mod options;
pub mod pattern;
pub mod substitute;

pub use ini::{JobFile, Place};
pub use job::{Conversion, FioJob, convert};
pub use line::CommandLine;

/// The message names file, line, section and option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{place}: {section}{message}",
    section = .section.as_ref().map(|name| format!("[{name}]: ")).unwrap_or_default()
)]
pub struct JobFileError {
    pub place: Place,
    pub section: Option<String>,
    /// What is wrong, and what to write instead.
    pub message: String,
}
