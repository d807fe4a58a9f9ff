//! Conclusions about a cohort: many drives that ran the same suites, usually of one model (rules,
//! sources and error rates: docs/cohorts.md).
//!
//! # Architecture
//! Every source of measurements (run folders through [`observe`], the tables of a fleet) becomes a
//! list of [`Observation`]s: one figure of one drive in one run. [`conclude()`] is a pure function
//! of them and of what was declared before measuring ([`settings`]): spread and hosts per figure,
//! [`outliers`], [`groups`] against a baseline, and for each kind of conclusion how often chance
//! alone gives it. Soaks are a second kind of input: figures over time ([`soak`]), of which
//! [`drift`] is concluded. [`progress`] says which runs are complete, and [`audit`] compares the
//! self-audits of their hosts.
//!
//! # Non-goals
//! Statistics on plain numbers (crate `assay-stats`), pages and tables (crate `assay-report`).

use assay_stats::compare::Better;
use serde::{Deserialize, Serialize};

pub mod audit;
pub mod conclude;
pub mod drift;
pub mod groups;
pub mod observe;
pub mod outliers;
pub mod progress;
pub mod settings;
pub mod soak;

pub use conclude::{Cohort, conclude};
pub use settings::{CohortSettings, Grouping};
pub use soak::Soaks;

/// One figure of one drive in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Id of the fleet plan; empty without one.
    pub plan: String,
    /// Name of the figure, the same for every drive ([`observe::cell_figure`],
    /// [`observe::headline_figure`]).
    pub figure: String,
    /// Unit of [`Observation::value`], as shown; empty for ratios.
    pub unit: String,
    /// Direction of improvement; `None` for a figure without one.
    pub better: Option<Better>,
    /// The value, in [`Observation::unit`].
    pub value: f64,
    /// Serial of the drive, which identifies it.
    pub serial: String,
    /// Model, as the drive reports it.
    pub model: String,
    /// Firmware, as the drive reports it.
    pub firmware: String,
    /// Production lot; empty where unknown.
    pub lot: String,
    /// Group that the plan assigns; empty where groups follow from [`Observation::firmware`] or
    /// there are none.
    pub group: String,
    /// Name of the measuring host; empty where unknown.
    pub host: String,
    /// Slot in the host; empty where unknown.
    pub slot: String,
    pub run_id: String,
    /// When the run began, RFC 3339 in UTC.
    pub began: String,
    /// Is the drive simulated?
    pub simulated: bool,
}
