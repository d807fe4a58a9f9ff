//! Suites: published procedures as data, and the runner that carries them out.
//!
//! # Architecture
//! [`schema`] reads a suite's TOML; [`catalogue`] holds the built-in ones (the files in `suites/`) and reads users' own;
//! [`expand`] turns a suite, its parameters and the drives named into a [`expand::RunPlan`]: cells with checked workloads, or a
//! reason why a cell is skipped; [`execute`] runs the plan cell by cell into a run folder and can take up where an earlier
//! run was cut off; [`inspect`] looks at what a medium holds; [`verdict`] draws conclusions by the suite's own rules.
//!
//! Data flows one way: `Suite + parameters + drives -> RunPlan -> journal`.
//!
//! # Non-goals
//! Nothing is printed (a [`execute::Progress`] is told), no report is made.
//!
//! # Key constants
//! [`expand::MAX_CELLS`].
#![forbid(unsafe_code)]

pub mod catalogue;
pub mod drive_state_cache;
pub mod error;
pub mod execute;
pub mod expand;
pub mod inspect;
pub mod manifest;

pub mod schema;
pub mod verdict;
pub mod warn;

pub use error::SuiteError;
