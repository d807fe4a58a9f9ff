//! Analysis of runs: the conclusions that reports show and verdicts use.
//!
//! # Architecture
//! Crate `stats` holds the statistics on plain series; here they are applied to
//! [`assay_store::read::Run`]s. Everything is a pure function of runs.
//!
//! - [`block_cache`]: hit rate of a block cache in front of a device.
//! - [`estimate`]: figures of a cell with confidence intervals.
//! - [`steady_state`]: check of figures declared steady.
//! - [`conclusions`]: everything concluded from a run, as rows of tables.
//! - [`deadlines`]: I/Os that missed a deadline.
//! - [`drain`]: time until an amount of data is on the drive.
//! - [`endurance`]: write amplification, and endurance under a workload.
//! - [`figure`]: the registry of figures: keys, units, directions, validity, computation.
//! - [`fill`]: short workloads on an empty and on a full drive.
//! - [`health_trend`]: health of a drive over its runs.
//! - [`indirection`]: unit in which a drive maps its data.
//! - [`interference`]: what other jobs on the same drive cost a workload.
//! - [`modes`]: levels between which the rate of a cell alternates.
//! - [`queueing`]: service, queueing and lateness of open loops.
//! - [`score`]: consistency score of a cell's last part.
//! - [`knee`]: sufficient depth of a sweep, sustainable load of a load curve.
//! - [`cohort`]: many drives of a fleet: spread, outliers, drift in soaks, groups.
//! - [`compare`]: drives or runs against each other: faster, slower, same, can't tell.
//! - [`attribution`]: phases of a cell and their causes; thermal throttling in figures.
//! - [`power`]: mean power.
//! - [`recovery`]: rate of bursts after idle time.
//! - [`rounds`]: measurement window of rounds until steady state.
//! - [`standard`]: conditions of a standard's test, and deviations from them.
//! - [`steady_time`]: time and capacities written until a long write is steady.
//! - [`stimulus`]: levels of consecutive workloads, and the time from one to the next.
//! - [`streams`]: short streams against a continuous one, and the cliffs between them.
//! - [`trace_replay`]: rate, latency and energy of a replayed trace, by phase.
//! - [`verified`]: results of passes over the same blocks.
//! - [`wake`]: latency of the first I/O after idle time.
//!
//! # Non-goals
//! Access to drives, output, clocks.
//!
//! # Key constants
//! None: limits of statistics are in `stats`, limits of verdicts in policies.
#![forbid(unsafe_code)]

pub mod attribution;
pub mod block_cache;
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
pub mod knee;
pub mod modes;
pub mod power;
pub mod queueing;
pub mod recovery;
pub mod rounds;
pub mod score;
pub mod standard;
pub mod steady_state;
pub mod steady_time;
pub mod stimulus;
pub mod streams;
pub mod trace_replay;
pub mod verified;
pub mod wake;
