//! Workloads: what to read and write, when, with which data, and the loop that does it.
//!
//! # Architecture
//! Data flow one way: [`options::JobOptions`] (by fio's names, from the command line or a suite)
//! are checked against a drive's properties and become a [`plan::Workload`]; every thread of it
//! becomes a [`worker::Worker`]; [`io_loop::run_io_loop`] runs workers on a [`assay_io::Target`];
//! [`run::run_jobs`] runs the workloads of one or several drives and hands intervals to a
//! [`run::RunObserver`].
//!
//! - [`access`], [`arrival`], [`assay_integrity`]: addresses, due times, data and their
//!   verification.
//! - A worker is sans-IO and the same code for every target. On a real drive each worker has a
//!   thread and a target of its own; on a simulated drive all workers share one target in one
//!   thread, so that virtual time has one owner.
//! - [`segments`]: an area in pieces spread over the drive.
//! - [`coverage`]: the blocks that a preconditioning has written.
//! - [`audit`]: cost of the I/O loop and the clock on this host, measured before each run.
//!
//! # Non-goals
//! No files are written, nothing is printed, no drive is discovered or authorised here.
//!
//! # Key constants
//! [`io_loop::STOP_GRACE`], [`assay_io::IO_TIMEOUT`], [`plan::MAX_JOBS`], [`plan::DEFAULT_SEED`].
#![forbid(unsafe_code)]

pub mod access;
pub mod arrival;
pub mod audit;
pub mod coverage;
pub mod exit;
pub mod flow;
pub mod io_loop;
pub mod options;
pub mod plan;
pub mod run;
pub mod segments;
pub mod worker;
