//! Run folders: everything a run measured, written as it is measured, readable by anybody for ever.
//!
//! # Architecture
//! A run folder holds
//! - `manifest.json`: what was to be measured, on what, by which build, with which suite text and seed ([`model::Manifest`]);
//! - `journal.log`: one line per event, appended as it happens ([`model::Entry`]), each line carrying its own CRC-32C, so
//!   that a line torn by a crash is recognised and everything before it is kept;
//! - `SHA256SUMS`: written when the run finishes; `sha256sum -c SHA256SUMS` proves that nothing changed since.
//!
//! [`model`] holds the types, [`journal`] writes and reads lines, [`run`] creates, resumes and finishes folders, [`read`]
//! folds a journal into [`Run`], the one structure that `report` and [`mod@export`] look at. [`export()`] writes a run as
//! JSON, CSV, Parquet, or in the layout of fio's JSON.
//!
//! A run survives: a kill at any moment (at most the line being written is lost), a full disk or I/O error (nothing
//! written before is lost, and the writer goes on once there is room), flipped bits (the line is left out and named), a
//! second writer (refused), and a newer version's events (left out and named). A result that is not the sum of its
//! intervals is reported as such, and so is a manifest that is not the one the run was begun with.
//!
//! # Non-goals
//! No drive is touched, nothing is computed that was not measured: a result is the sum of its intervals. No database:
//! a folder of lines can be read with `cat`, `cut -c10-` and `jq`.
//!
//! # Key constants
//! [`model::SCHEMA`], the version of the folder's layout; [`journal::MAX_LINE_BYTES`], the longest line taken for one.
#![forbid(unsafe_code)]

pub mod error;
pub mod export;
mod fold;
pub mod journal;
pub mod model;
pub mod read;
pub mod run;
pub mod series;
mod thin;

pub use error::StoreError;
pub use export::{ExportFormat, export};
pub use read::Run;
pub use run::{Destination, RunWriter, verify_checksums};
