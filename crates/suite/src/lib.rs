//! Suites: measuring procedures as TOML data, and their expansion into a plan of cells.
//!
//! # Architecture
//! [`schema`] reads a suite's TOML; [`catalogue`] holds the built-in suites (`suites/`) and reads
//! users' own; [`expand`] turns a suite, its parameters and the drives into a [`expand::RunPlan`]:
//! cells with checked workloads, or the reason why a cell is skipped; [`verdict`] evaluates a
//! suite's rules. `assay-execute` runs the plan.
//!
//! # Non-goals
//! No I/O on drives, no run folders, no threads.
//!
//! # Key constants
//! [`expand::MAX_CELLS`].
#![forbid(unsafe_code)]

pub mod catalogue;
pub mod error;
pub mod expand;
pub mod schema;
pub mod verdict;

pub use error::SuiteError;
