//! Run folders: crash-safe recording and reading of runs.
//!
//! # Architecture
//! A run folder holds
//! - `manifest.json`: the plan and its environment, with build, suite text and seed
//!   ([`model::Manifest`]);
//! - `journal.log`: one line per event, appended as it happens ([`model::Entry`]), each with its
//!   own CRC-32C, so that a line torn by a crash is detected and everything before it is kept;
//! - `SHA256SUMS`: written when the run finishes, for `sha256sum -c SHA256SUMS`.
//!
//! [`run`] creates, resumes and finishes folders; [`read`] folds a journal into [`Run`], the input
//! of analysis, reports and exports; [`series`] defines the interval series. A run survives
//! a kill, a full disk, an I/O error, flipped bits (the line is left out and reported), a second
//! writer (refused), and events of a newer version (reported). A result that is not the sum of its
//! intervals and a changed manifest are reported too.
//!
//! # Non-goals
//! Access to drives; figures that were not measured; a database: `cat`, `cut -c10-` and `jq` read
//! the journal.
//!
//! # Key constants
//! [`model::SCHEMA`], the version of the layout; [`journal::MAX_LINE_BYTES`], the longest valid
//! line.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod error;
pub mod find;
mod fold;
mod interrupted_start;
pub mod journal;
pub mod model;
pub mod progress;
pub mod read;
pub mod replace;
pub mod run;
pub mod series;
mod thin;

pub use error::StoreError;
pub use read::Run;
pub use run::{Destination, EncodedEntries, RunWriter};
