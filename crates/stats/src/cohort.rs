//! Statistics of cohorts, in which the drive is the unit (results, sources and tested error rates:
//! docs/cohorts.md).
//!
//! - [`spread`]: median and Q_n, variance between drives and between runs, weight of the tails;
//! - [`outliers`]: limits by the number of drives, from a simulated table;
//! - [`groups`]: Welch's and the paired comparison of drives;
//! - [`hosts`]: is it the host or the drive?
//! - [`multiple`]: Holm's and Benjamini and Hochberg's corrections;
//! - [`power`]: drives needed for a comparison;
//! - [`drift`]: slopes of soaks across gaps, and relative to what all drives have in common;
//! - [`errors`]: counts of errors against a limit.
//!
//! Callers pass logarithms of positive figures, so that differences are ratios.

pub mod drift;
pub mod errors;
pub mod groups;
pub mod hosts;
mod limits;
pub mod multiple;
pub mod outliers;
pub mod power;
pub mod spread;

/// Share of clean cohorts, comparisons or families in which chance alone gives a conclusion.
pub const FALSE_ALARM: f64 = 0.05;
