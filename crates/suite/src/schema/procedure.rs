//! What a step may say of its procedure beyond a workload: rounds, an end by rest, and what preconditioning it leaves or wants.

use serde::Deserialize;

/// Repeat the step's cells until its tracked figures come to rest.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundsSpec {
    /// Rounds at most; without rest after them the result is "not achieved". A number, or a parameter.
    pub most: toml::Value,
    /// Rounds that are looked at together.
    #[serde(default = "window")]
    pub window: u32,
    /// Largest less smallest figure in the window, percent of its mean, at most.
    #[serde(default = "range_pct")]
    pub range_pct: f64,
    /// Rise of the least-squares line across the window, percent of the mean, at most.
    #[serde(default = "excursion_pct")]
    pub excursion_pct: f64,
    /// Further rounds for which the rule must go on holding. A number, or a parameter.
    #[serde(default = "no_dwell")]
    pub dwell: toml::Value,
    /// `snia`, or fio's rule as fio spells it, which names the figure too: `iops_slope:0.3%`, `bw:1%`. Or a parameter.
    #[serde(default = "snia")]
    pub rule: String,
    /// Which cells are tracked: options and their values, as in the matrix. All of them when empty.
    #[serde(default)]
    pub track: toml::Table,
    /// Which figure of theirs, by SNIA's rule.
    #[serde(default)]
    pub figure: TrackingVariable,
}

/// SNIA's rule, in the words of a suite.
pub const SNIA: &str = "snia";

fn snia() -> String {
    SNIA.to_owned()
}

/// The specification asks for none.
fn no_dwell() -> toml::Value {
    toml::Value::Integer(0)
}

/// SNIA SSS PTS 2.0.2, definition of steady state: five rounds.
fn window() -> u32 {
    5
}

/// The same: range within 20 % of the average.
fn range_pct() -> f64 {
    20.0
}

/// The same: slope excursion within 10 % of the average.
fn excursion_pct() -> f64 {
    10.0
}

/// A figure that is tracked from round to round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrackingVariable {
    /// I/Os per second.
    #[default]
    Iops,
    /// MiB per second.
    MibPerS,
    /// Mean latency.
    MeanLatency,
}

impl TrackingVariable {
    /// With its unit.
    pub fn words(self) -> &'static str {
        match self {
            TrackingVariable::Iops => "IOPS",
            TrackingVariable::MibPerS => "MiB/s",
            TrackingVariable::MeanLatency => "mean latency, us",
        }
    }
}

/// Leave the drive alone before a cell: caches empty themselves meanwhile, and a drive may go to sleep.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleSpec {
    /// A duration, before each cell. Scaled where it is a parameter.
    pub before: String,
    /// Another one before the first cell of each repetition; as before every other when absent.
    #[serde(default)]
    pub first: Option<String>,
}

/// End a cell before its runtime is over, once the drive has settled or got too hot.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopCondition {
    /// A duration: its rate and temperature are compared with those of the same span before. Scaled where it is a parameter.
    pub settle_window: String,
    /// Change of the mean rate from one window to the next, percent, at most.
    #[serde(default = "rate_pct")]
    pub rate_pct: f64,
    /// Change of the mean temperature from one window to the next, degrees Celsius, at most.
    #[serde(default = "celsius")]
    pub celsius: f64,
    /// Give up at this temperature, degrees Celsius: a drive that gets there has no limit of its own.
    #[serde(default = "limit_c")]
    pub limit_c: f64,
}

fn rate_pct() -> f64 {
    2.0
}

fn celsius() -> f64 {
    0.5
}

/// Beyond what any NVMe drive is rated for.
fn limit_c() -> f64 {
    110.0
}
