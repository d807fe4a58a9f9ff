//! Cross-validation of the shipped profiles: what they and the model predict of figures that no fit
//! had seen. For maintainers; users read its results in docs/fidelity.md, and `assay-calibrate`
//! reads the tables in `reference/`.
//!
//! # Architecture
//! - [`template`]: a drive's profile from hardware facts and other drives; [`alternatives`]: values
//!   of structural numbers that facts leave open.
//! - [`anchor`]: figures of data sheets as soft observations.
//! - [`hierarchy`]: means and widths that drives share.
//! - [`learn`]: the posterior of one drive over starts and `structures`, and figures of its
//!   members; [`discrepancy`]: what the model lacks.
//! - [`folds`]: what is left out, and its predictions.
//! - [`score`]: errors, coverage, baselines, predictive intervals; `scale`: scales of errors.
//! - [`twins`]: twins of drives whose truth is known. [`ensemble`]: members of shipped profiles.
//! - [`units`]: folds, twins and ensembles by index, computed on any host and joined.
//!
//! # Non-goals
//! Shipping: no package contains the program, and nothing depends on this crate.
//!
//! # Key constants
//! [`units::SEED`], [`folds::MEMBERS`], [`twins::GOAL`].
#![forbid(unsafe_code)]

pub mod alternatives;
pub mod anchor;
pub mod discrepancy;
pub mod ensemble;
pub mod folds;
pub mod hierarchy;
pub mod learn;
mod scale;
pub mod score;
mod structures;
pub mod template;
pub mod twins;
pub mod units;
