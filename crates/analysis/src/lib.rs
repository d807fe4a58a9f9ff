//! What runs mean: from the cells of a run folder to conclusions that a report shows and a verdict rests on.
//!
//! # Architecture
//! `measure` holds the statistics, on plain series; here they are applied to [`assay_store::read::Run`]s. Everything is a pure function of
//! runs: the same runs give the same conclusions, and nothing is concluded that a run folder does not hold.
//!
//! - [`estimate`]: the figures of a cell with their confidence intervals.
//! - [`rest`]: whether a figure that is said to be steady is that of a drive at rest.
//! - [`score`]: the consistency score of a cell's last part.
//! - [`knee`]: the depth of a sweep that is enough, the load of a curve that is borne.
//! - [`compare`]: drives or runs against each other: faster, slower, same, can't tell.
//! - [`attribution`]: phases of a cell and their causes, from its series and what the drive and the host said meanwhile; what heat cost.
//! - [`power`]: what a drive drew, on average.
//! - [`streams`]: short streams against one without end, and the cliffs between them.
//! - [`verified`]: what passes over the same blocks found.
//!
//! # Non-goals
//! No drive is touched, nothing is printed or drawn, no clock is read.
//!
//! # Key constants
//! None of its own: limits of statistics are in `measure`, limits of verdicts in policies.
#![forbid(unsafe_code)]

pub mod attribution;
pub mod compare;
pub mod estimate;
#[cfg(test)]
#[path = "../tests/fixtures/mod.rs"]
mod fixtures;
pub mod knee;
pub mod power;
pub mod score;
pub mod steady_state;
pub mod streams;
pub mod verified;
