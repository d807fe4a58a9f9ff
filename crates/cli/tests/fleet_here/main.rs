//! Fleets without a queue, through the real binary, on simulated drives: two hosts are two host
//! names on this machine.
//!
//! # Architecture
//! [`fixture`] makes a folder with the lists of drives of two hosts and a shared store, and runs
//! the binary in it. One module per command.
//!
//! # Non-goals
//! No Slurm; no performance.

#![allow(clippy::unwrap_used, reason = "a test whose fixture cannot be set up panics")]

mod cohort;
mod fixture;

mod here;
mod missing;
mod plan;
mod queue;
mod soaks;
