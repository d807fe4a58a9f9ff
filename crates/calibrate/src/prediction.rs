//! Predictions with intervals, and their cross-validation.
//!
//! - [`template`]: a drive's profile from hardware facts and from other drives, without what its
//!   own figures taught.
//! - [`alternatives`]: structural numbers of a profile, and other values of them.
//! - [`anchor`]: figures of data sheets as soft observations.
//! - [`learn`]: the posterior of one drive over starts and structures, and figures of its members.
//! - `structures`: the structures and starts of one drive that are tried.
//! - [`folds`]: what is left out, and the predictions of it.
//! - `scale`: scales of errors, learned from other drives.
//! - [`score`]: errors, coverage, baselines, predictive intervals; the tables in `reference/`.
//! - [`twins`]: twins of drives whose truth is known.
//! - [`discrepancy`]: what the model lacks, and how alike its errors at neighbouring cells are.
//! - [`ensemble`]: the members of the shipped profiles.
//! - [`units`]: folds, twins and ensembles by index, computed anywhere and joined.

pub mod alternatives;
pub mod anchor;
pub mod discrepancy;
pub mod ensemble;
pub mod folds;
pub mod learn;
mod scale;
pub mod score;
mod structures;
pub mod template;
pub mod twins;
pub mod units;
