//! Drives of this machine: discovery, identity, destruction interlock, NVMe admin commands, health,
//! host statistics, sessions.
//!
//! # Architecture
//! - [`spec`] parses what a user types for a drive; [`identity`] reads what it is; [`interlock`]
//!   decides whether it may be written ([`interlock::WritePermit`] is the only key to a writable
//!   handle, [`open::open_drive`] its only user); [`signature`] detects file systems and the like.
//! - [`nvme`] sends admin commands to real or simulated controllers; [`mod@purge`] discards;
//!   [`telemetry_monitor`] reads health and power during a run.
//! - [`host`] describes the measuring machine; [`load`] samples its processors.
//! - [`supervise`] runs a command that does I/O on real drives in a child process.
//! - [`session`] holds a real or simulated drive for a run and lends it out per job.
//!
//! # Non-goals
//! No workload, no statistics, no files written, nothing printed but what a
//! supervised child prints.
//!
//! # Key constants
//! [`signature::WINDOW_BYTES`]; the timeouts in `nvme::commands`.
#![forbid(unsafe_code)]

mod error_class;
mod files_below;
pub mod host;
pub mod identity;
pub mod interlock;
pub mod load;
pub mod nvme;
pub mod open;
pub mod purge;
pub mod session;
pub mod signature;
pub mod spec;
pub mod supervise;
pub mod telemetry_monitor;
