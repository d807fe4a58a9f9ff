//! Execution of a planned suite into a run folder.
//!
//! # Architecture
//! [`run`] executes a plan ([`assay_suite::expand::RunPlan`]) cell by cell, and resumes an
//! interrupted run; [`manifest`] is what a run folder begins with; [`events`] is the one stream of
//! what happens in a run, from which [`live`] has the figures of the run in progress; [`inspect`]
//! samples what a medium holds; [`drive_state_cache`] keeps preconditioning states between runs.
//!
//! Data flows one way: `RunPlan + drives -> journal`, and beside it the events.
//!
//! # Non-goals
//! No output (an [`events::RunListener`] receives events), no reports.
//!
//! # Key constants
//! [`live::KEPT_WARNINGS`], [`drive_state_cache::SLACK_BYTES`].
#![forbid(unsafe_code)]

pub mod drive_state_cache;
pub mod error;
pub mod events;
pub mod inspect;
pub mod live;
pub mod manifest;
pub mod run;
mod warn;

pub use error::ExecuteError;
