//! Predictions with intervals, and their cross-validation.
//!
//! - [`template`]: a drive's profile from hardware facts and from other drives, without what its own figures taught.
//! - [`anchor`]: figures of data sheets as soft observations.
//! - [`learn`]: the posterior of one drive over starts and structures, and figures of its members.
//! - [`folds`]: what is left out, and the predictions of it.
//! - [`score`]: errors, coverage, baselines, predictive intervals; the tables in `reference/`.
//! - [`twins`]: twins of drives whose truth is known.
//! - [`ensemble`]: the members of the shipped profiles.

pub mod anchor;
pub mod ensemble;
pub mod folds;
pub mod learn;
pub mod score;
pub mod template;
pub mod twins;
