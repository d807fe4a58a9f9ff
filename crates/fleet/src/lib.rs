//! The same suites on many drives of many hosts; a drive is known by its serial.
//!
//! # Architecture
//! A plan names suites and serials. A queue (Slurm, or this host alone) runs one task per host or
//! per drive. A task claims the drives that it finds, starts `assay run` for each, and ships the
//! run folders into the shared store. All state is in run folders and claims, so that a queue that
//! forgets everything loses nothing.
//! - [`name`]: serials, host names and plan ids, valid as keys, file names and arguments.
//! - [`plan`]: a TOML file to a checked plan, its id, JSON schema, confirmations of destroying,
//!   times.
//! - [`inventory`]: the drives of a host; [`assignment`]: which drive is measured where, in which
//!   order.
//! - [`mod@submit`] writes a plan into the shared store ([`stored_plan`], [`control`]) and makes
//!   the jobs that are missing; [`mod@status`] reads how far each drive is.
//! - [`queue`]: the trait of queues, with Slurm and this host as queues.
//! - [`sweep`]: simulated drives over a matrix, and fits, computed in [`chunks`] on many hosts.
//! - [`shared_store`]: documents by key, replaced by compare and swap: a directory, or a bucket.
//! - [`claim`]: which attempt may measure a drive; [`ship`]: run folders to and from the shared
//!   store; [`mod@collect`]: all of a plan.
//! - [`task`]: what a job runs on a host.
//!
//! # Non-goals
//! No scheduling, no agent, no server, no measuring, nothing printed.
//!
//! # Key constants
//! [`inventory::FORMAT`], the version of an inventory; [`name::MAX_SERIAL_BYTES`].
#![forbid(unsafe_code)]

pub mod assignment;
pub mod chunks;
pub mod claim;
pub mod collect;
pub mod control;
pub mod error;
mod error_class;
pub mod inventory;
pub mod missing;
pub mod name;
pub mod plan;
pub mod queue;
pub mod shared_store;
pub mod ship;
mod space;
pub mod status;
pub mod stored_plan;
pub mod submit;
pub mod sweep;
pub mod task;

/// Environment variable of the level of events that a child process writes.
pub const LOG_VARIABLE: &str = "ASSAY_LOG";

pub use error::FleetError;
pub use name::{HostName, PlanId, Serial};
pub use plan::Plan;
