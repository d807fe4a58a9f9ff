//! Conclusions about many drives that ran the same suites, usually of one model (rules, sources and
//! error rates: docs/cohorts.md). Every source of measurements (run folders through [`observe`],
//! the tables of a fleet) becomes a list of [`Observation`]s. [`conclude()`] is a pure function of
//! them and of what was declared before measuring ([`settings`]): spread and hosts per figure,
//! [`outliers`], [`groups`] against a baseline, and how often chance alone gives each kind of
//! conclusion. Soaks are a second kind of input: figures over time ([`soak`]), of which [`drift`]
//! is concluded. [`progress`] says which runs are complete, and [`audit`] compares the self-audits
//! of their hosts. Non-goals: statistics on plain numbers (crate `assay-stats`), pages and tables
//! (crate `assay-report`).

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
    /// The same for every drive ([`observe::cell_figure`], [`observe::headline_figure`]).
    pub figure: String,
    /// Unit of [`Observation::value`], as shown; empty for ratios.
    pub unit: String,
    /// `None` for a figure without a better direction.
    pub better: Option<Better>,
    pub value: f64,
    /// Identifies the drive.
    pub serial: String,
    pub model: String,
    pub firmware: String,
    /// Empty where unknown.
    pub lot: String,
    /// As the plan assigns it; empty where groups follow from [`Observation::firmware`] or there
    /// are none.
    pub group: String,
    /// Empty where unknown.
    pub host: String,
    /// Empty where unknown.
    pub slot: String,
    pub run_id: String,
    /// RFC 3339 in UTC.
    pub began: String,
    pub simulated: bool,
}
