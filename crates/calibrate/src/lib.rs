//! Model calibration and validation: simulated drives against measured and published figures.
//!
//! # Architecture
//! - [`measurement`]: a figure that a procedure gave on a drive, with tolerance, source and role.
//! - [`published`] reads the embedded `reference/*.csv`, [`table`] a user's `measurements.csv`,
//!   [`run_folder`] a run of assay.
//! - [`hardware`]: facts of the drives, and numbers of a profile that contradict them.
//! - `drive_under_test`: a simulated drive and its host; `procedure`: the procedures; `simulate`:
//!   the simulated figures of measurements, on several threads.
//! - [`parameter`]: free parameters and bounds; `search`: the optimiser; [`mod@fit`]: both
//!   together, resumable; [`residual`]: the remaining errors.
//! - [`twin`]: a drive's structure and numbers from its figures; [`template`], [`structures`] and
//!   [`numbers`]: a profile as a table that varies; [`observed`]: figures on the scale of the
//!   [`inference`]; [`identification`]: what a fit leaves open.
//! - [`predictive`]: 90 % predictive intervals of simulated figures, from the tables that
//!   `assay-cross-validation` makes; [`twin_cells`]: that of twins.
//! - [`shipped`]: recipes of the shipped profiles; [`fidelity`]: all profiles against published
//!   figures.
//!
//! # Non-goals
//! No real drive, no workload engine, no printing. The model does not read figures: a profile's
//! numbers are the only link between them.
//!
//! # Key constants
//! `AREA_BYTES` (16 GiB, the area of the DragonFly NVMe tests), the defaults of
//! [`measurement::Tolerance`], [`parameter::DEFAULT_SPAN`] (a parameter without bounds varies by a
//! factor of 4 either way).
#![forbid(unsafe_code)]

mod drive_under_test;
mod error;
pub mod fidelity;
pub mod figure_kind;
pub mod fit;
pub mod hardware;
pub mod identification;
pub mod inference;
pub mod measurement;
pub mod numbers;
pub mod observed;
pub mod parameter;
pub mod predictive;
mod procedure;
pub mod profile_text;
pub mod public_reads;
pub mod published;
pub mod read_curve;
pub mod residual;
pub mod run_folder;
mod search;
pub mod shipped;
mod simulate;
pub mod spread;
pub mod structures;
pub mod table;
pub mod template;
pub mod twin;
pub mod twin_cells;

pub use error::CalibrateError;
pub use fit::{FitResult, FitSettings, fit};
pub use measurement::{
    Measurement, Procedure, ReferenceMetric, ReferenceWorkload, Role, Tolerance,
};
pub use residual::Residuals;
pub use simulate::{Effort, simulate};
