//! Run folders: everything a run measured, written as it is measured, readable by anybody for ever.
//!
//! # Architecture
//! A run folder holds
//! - `manifest.json`: what was to be measured, on what, by which build, with which suite text and seed ([`model::Manifest`]);
//! - `journal.log`: one line per event, appended as it happens ([`model::Entry`]), each line carrying its own CRC-32C, so
//!   that a line torn by a crash is recognised and everything before it is kept;
//! - `SHA256SUMS`: written when the run finishes; `sha256sum -c SHA256SUMS` proves that nothing changed since.
//!
//! [`model`] holds the types, [`journal`] writes and reads lines, [`run`] creates, opens, resumes and finishes folders,
//! [`read`] folds a journal into [`read::Run`], the one structure that `report` and [`export`] look at.
//!
//! # Non-goals
//! No drive is touched, nothing is computed that was not measured: a result is the sum of its intervals.
//!
//! # Key constants
//! [`model::SCHEMA`], the version of the folder's layout.
#![forbid(unsafe_code)]

pub mod model;
pub mod read;
