//! Cross-validation of the model and the shipped profiles: what they predict of figures that
//! nothing had seen. For maintainers; users read its results in docs/fidelity.md, and
//! `assay-calibrate` reads the tables in `reference/`.
//!
//! # Architecture
//! - [`template`]: a drive's profile from hardware facts and other drives; [`alternatives`]: values
//!   of structural numbers that facts leave open; [`simulation`]: what it says of figures.
//! - [`folds`]: what is left out, and its predictions.
//! - [`score`]: errors, coverage, baselines, predictive intervals; [`page`]: the section of
//!   docs/fidelity.md.
//! - [`public`]: public drives, predicted from their ratings alone; [`public_page`]: their section.
//! - [`profiled`]: public drives with a profile: simulated reads at saturation, and their section.
//! - [`twins`]: twins of drives whose truth is known.
//!
//! # Non-goals
//! Shipping: no package contains the program, and nothing depends on this crate.
//!
//! # Key constants
//! [`twins::GOAL`].
#![forbid(unsafe_code)]

pub mod alternatives;
pub mod folds;
pub mod page;
pub mod profiled;
pub mod public;
pub mod public_page;
pub mod score;
pub mod simulation;
pub mod template;
pub mod twins;
