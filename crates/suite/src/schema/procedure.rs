use assay_stats::steady::SteadyRule;
use assay_store::model::OperatingPoint;
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundsSpec {
    /// Largest number of rounds; without steady state after them the result is "not achieved".
    pub most: toml::Value,
    /// Rounds of the measurement window.
    #[serde(default = "window")]
    pub window: u32,
    /// Largest range (maximum minus minimum) in the window, percent of its mean.
    #[serde(default = "range_pct")]
    pub range_pct: f64,
    /// Largest change of the least-squares line across the window, percent of the mean.
    #[serde(default = "excursion_pct")]
    pub excursion_pct: f64,
    /// Further rounds for which the rule must hold. A number or a parameter.
    #[serde(default = "no_dwell")]
    pub dwell: toml::Value,
    /// `snia`, or fio's `steadystate` rule, which names its figure: `iops_slope:0.3%`, `bw:1%`.
    #[serde(default = "snia")]
    pub rule: String,
    /// Matrix options and values of the tracked cells; empty: all cells.
    #[serde(default)]
    pub track: toml::Table,
    #[serde(default)]
    pub figure: TrackingVariable,
    /// Earlier step whose cells run at the begin of every round, and not by themselves.
    pub before: Option<String>,
}

/// Operating points: threads and queue depth come from what a grid of both measured.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointSpec {
    /// Earlier step in rounds with both options in its matrix.
    pub of: String,
    /// `max`, `mid` or `min`.
    pub which: OperatingPoint,
    /// Largest mean response time of the points that count.
    #[serde(default = "response_limit")]
    pub limit: String,
}

/// 5 ms, as in public implementations of the PTS's demand intensity test (docs/suites/snia.md).
fn response_limit() -> String {
    "5ms".to_owned()
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimulatedHostSpec {
    pub processors: String,
    #[serde(default = "no_uplink")]
    pub uplink: String,
}

fn no_uplink() -> String {
    NO_UPLINK.to_owned()
}

/// The value of [`SimulatedHostSpec::uplink`] without one.
pub const NO_UPLINK: &str = "none";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndRule {
    /// The one that is reached first.
    #[default]
    First,
    /// The one that is reached last.
    Last,
}

impl EndRule {
    pub fn parse(text: &str) -> Result<EndRule, String> {
        match text.trim() {
            "first" => Ok(EndRule::First),
            "last" => Ok(EndRule::Last),
            other => Err(format!("ends = {other:?} is neither first nor last")),
        }
    }
}

impl RoundsSpec {
    /// Check the keys against each other and the step's matrix.
    pub(super) fn check(&self, matrix: &toml::Table) -> Result<(), String> {
        if self.window < 2 {
            return Err("a window has at least 2 rounds".to_owned());
        }
        // A parameter's value is checked in the plan.
        let rule = self.rule.as_str();
        if rule != SNIA && !rule.contains('{') {
            SteadyRule::from_fio(rule, self.window as usize)
                .map_err(|e| format!("{e}; or `{SNIA}` for SNIA's rule"))?;
        }
        if !(self.range_pct > 0.0 && self.excursion_pct > 0.0) {
            return Err("range_pct and excursion_pct must be above 0".to_owned());
        }
        match self.track.keys().find(|key| !matrix.contains_key(*key)) {
            Some(key) => Err(format!("tracks {key:?}, which is not in its matrix")),
            None => Ok(()),
        }
    }
}

/// Name of SNIA's rule.
pub const SNIA: &str = "snia";

fn snia() -> String {
    SNIA.to_owned()
}

/// The specification has no dwell.
fn no_dwell() -> toml::Value {
    toml::Value::Integer(0)
}

/// SNIA SSS PTS 2.0.2, definition of steady state: five rounds.
fn window() -> u32 {
    5
}

/// SNIA SSS PTS 2.0.2: range within 20 % of the average.
fn range_pct() -> f64 {
    20.0
}

/// SNIA SSS PTS 2.0.2: slope excursion within 10 % of the average.
fn excursion_pct() -> f64 {
    10.0
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrackingVariable {
    #[default]
    Iops,
    MibPerS,
    MeanLatency,
}

impl TrackingVariable {
    pub fn text(self) -> &'static str {
        match self {
            TrackingVariable::Iops => "IOPS",
            TrackingVariable::MibPerS => "MiB/s",
            TrackingVariable::MeanLatency => "mean latency, \u{b5}s",
        }
    }
}

/// Write caches are folded meanwhile, and the drive may enter a low-power state.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleSpec {
    /// A duration, before each cell. Scaled where it is a parameter.
    pub before: String,
    /// Before the first cell of each repetition; absent: as `before`.
    pub first: Option<String>,
}

/// State in which each cell of a step begins: waited for, up to a limit.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartSpec {
    pub cool_k: f64,
    /// Longest wait for the state, scaled where it is a parameter.
    pub timeout: String,
    /// Idle time in any case, for garbage collection and the folding of a write cache.
    #[serde(alias = "rest")]
    pub idle: Option<String>,
}

/// Early stop of a cell: in thermal and throughput steady state, or at a temperature limit.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopCondition {
    /// Window length: two consecutive windows are compared. Scaled where it is a parameter.
    pub settle_window: String,
    #[serde(default = "rate_pct")]
    pub rate_pct: f64,
    /// Largest change of the mean temperature between windows, degrees Celsius.
    #[serde(default = "celsius")]
    pub celsius: f64,
    #[serde(default = "limit_c")]
    pub limit_c: f64,
}

fn rate_pct() -> f64 {
    2.0
}

fn celsius() -> f64 {
    0.5
}

/// Above the rated temperature of any NVMe drive.
fn limit_c() -> f64 {
    110.0
}
