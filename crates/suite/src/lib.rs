//! Suites: measuring procedures as TOML data, their expansion into cells, and their execution.
//!
//! # Architecture
//! [`schema`] reads a suite's TOML; [`catalogue`] holds the built-in suites (`suites/`) and reads
//! users' own; [`expand`] turns a suite, its parameters and the drives into a [`expand::RunPlan`]:
//! cells with checked workloads, or the reason why a cell is skipped; [`execute`] runs the plan
//! cell by cell into a run folder, and resumes an interrupted run; [`events`] is the one stream of
//! what happens in it, from which [`live`] has the figures of the run in progress; [`inspect`]
//! samples what a medium holds; [`drive_state_cache`] keeps preconditioning states between runs; [`verdict`] evaluates a suite's rules.
//!
//! Data flows one way: `Suite + parameters + drives -> RunPlan -> journal`.
//!
//! # Non-goals
//! No output (an [`events::RunListener`] receives events), no reports.
//!
//! # Key constants
//! [`expand::MAX_CELLS`].
#![forbid(unsafe_code)]

pub mod catalogue;
pub mod drive_state_cache;
pub mod error;
pub mod events;
pub mod execute;
pub mod expand;
pub mod inspect;
pub mod live;
pub mod manifest;
pub mod schema;
pub mod verdict;
mod warn;

pub use error::SuiteError;
