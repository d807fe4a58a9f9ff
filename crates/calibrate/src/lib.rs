//! Measured and published figures against simulated drives: how far a profile is off, and how to bring it nearer.
//!
//! # Architecture
//! - [`measurement`]: [`Measurement`], "this procedure gave this figure on this drive", with its tolerance, source and role
//!   (fitting target or held out).
//! - [`published`] reads the embedded `reference/*.csv`, [`table`] a user's `measurements.csv`, [`run_folder`] a run of assay; all
//!   give measurements.
//! - [`host`]: the machine that uses the drive: threads, queue depth, time of its own per I/O.
//! - [`procedure`]: the procedures, each run on a simulated drive directly (sans-IO, no engine).
//! - [`mod@simulate`]: measurements in, simulated figures out; those that one run of a procedure answers share it; runs are spread
//!   over threads, and the figures do not depend on how many.
//! - [`parameter`]: a profile's free numbers and their bounds; [`search`]: the optimiser; [`mod@fit`]: both joined, resumable;
//!   [`residual`]: what remains.
//! - [`shipped`]: how the shipped profiles were fitted; [`fidelity`]: all of them beside what was published.
//!
//! # Non-goals
//! No real drive is touched, no engine, no printing: commands and reports show what is found here. Nothing here is read by the
//! model: a profile's numbers are the only way from a figure into a simulated drive.
//!
//! # Key constants
//! [`drive_under_test::AREA_BYTES`] (16 GiB, report A's area), [`measurement::Tolerance`]'s defaults, [`parameter::DEFAULT_SPAN`] (a
//! free number without a range moves by a factor of 4 either way).
#![forbid(unsafe_code)]

pub mod drive_under_test;
pub mod error;
pub mod fidelity;
pub mod fit;
pub mod measurement;
pub mod parameter;
pub mod procedure;
pub mod published;
pub mod residual;
pub mod run_folder;
pub mod search;
pub mod shipped;
pub mod simulate;
pub mod table;

pub use error::CalibrateError;
pub use fit::{FitResult, FitSettings, fit};
pub use measurement::{
    Measurement, Procedure, ReferenceMetric, ReferenceWorkload, Role, Tolerance,
};
pub use residual::Residuals;
pub use simulate::{Effort, simulate};
