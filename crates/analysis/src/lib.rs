//! Analysis of runs: the conclusions that reports show and verdicts use.
//!
//! # Architecture
//! Crate `stats` holds the statistics on plain series; here they are applied to
//! [`assay_store::read::Run`]s. Everything is a pure function of runs.
//!
//! - Whole runs: [`conclusions`], everything concluded as rows of tables; [`figure`], the registry
//!   of figures; [`standard`], conditions of a standard's test; [`verified`], passes over the same
//!   blocks.
//! - One drive: [`check`], whether it is as fast as expected; [`rank`], among public drives.
//! - Several runs: [`compare`], drives or runs against each other; [`cohort`], many drives of a
//!   fleet; [`health_trend`], health of a drive over its runs.
//! - [`warnings`] of a run by their cause.
//! - Figures of cells: [`estimate`], confidence intervals; [`deadlines`], [`drain`], [`fill`],
//!   [`power`], [`score`], [`streams`], [`trace_replay`], [`wake`], and [`block_cache`], hit rates.
//! - Causes and structure: [`attribution`], phases and their causes; [`modes`], levels between
//!   which a rate alternates; [`queueing`], parts of an open loop's latency; [`interference`] of
//!   other jobs; [`knee`], sufficient depth and sustainable load; [`recovery`] after idle time;
//!   [`stimulus`], consecutive workloads.
//! - Steady state: [`steady_state`], the check; [`left_state`], how far from it a drive was left;
//!   [`steady_time`], time until it; [`rounds`], the window.
//! - Media: [`endurance`], write amplification; [`indirection`], unit in which a drive maps data.
//!
//! # Non-goals
//! Access to drives, output, clocks.
//!
//! # Key constants
//! None: limits of statistics are in `stats`, limits of verdicts in policies.
#![forbid(unsafe_code)]

pub mod attribution;
pub mod block_cache;
pub mod check;
pub mod cohort;
pub mod compare;
pub mod conclusions;
pub mod deadlines;
pub mod drain;
pub mod endurance;
pub mod estimate;
pub mod figure;
pub mod fill;
#[cfg(test)]
#[path = "../tests/fixtures/mod.rs"]
mod fixtures;
pub mod health_trend;
pub mod indirection;
pub mod interference;
pub mod iocost;
pub mod knee;
pub mod left_state;
mod link;
pub mod modes;
pub mod placement;
pub mod power;
pub mod queueing;
pub mod rank;
pub mod recovery;
pub mod rounds;
pub mod score;
pub mod spreadsheet;
pub mod standard;
pub mod steady_state;
pub mod steady_time;
pub mod stimulus;
pub mod streams;
pub mod trace_replay;
pub mod verified;
pub mod wake;
pub mod warnings;
