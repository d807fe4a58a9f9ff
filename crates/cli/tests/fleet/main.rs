//! `assay fleet` under a real Slurm: its controller, munge and several node daemons, all of them on
//! loopback in a network namespace of the tests, with simulated drives.
//!
//! # Architecture
//! [`cluster`] starts and removes a cluster, and ends parts of it as power losses and crashes do.
//! Most cases share one cluster, each on hosts of its own, because most of their time is Slurm's
//! timeouts; a case that ends the controller has a cluster to itself.
//!
//! # Non-goals
//! Slurm's own behaviour beyond what assay relies on; performance, but for the ignored `scaling`
//! (`make fleet-scaling`). Without root or Slurm's packages the tests are skipped with a message.

#![allow(clippy::unwrap_used, reason = "a test whose fixture cannot be set up panics")]

#[allow(dead_code, reason = "shared with the end-to-end tests, which use the rest")]
#[path = "../e2e/fixture.rs"]
mod fixture;

mod bench;
mod cluster;

mod failures;
mod plans;
mod queue;
mod scaling;
mod sweeps;
