//! What a procedure says of its cells beyond their workloads: how they are to be read, which repeat in rounds, and whether the rounds
//! came to rest.

use serde::{Deserialize, Serialize};

/// How the cells of a step are to be read. Decides which tables and charts a report draws of them, never what is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellView {
    /// An hour of random writes: rate over time on a logarithmic axis, and a score over its last part (report B).
    Consistency,
    /// A sweep over queue depth, reported at the lowest depth that reaches 95 % of the best rate (report D).
    Knee,
    /// Latency against offered load in an open loop.
    Load,
    /// Cells repeated in rounds until they come to rest (SNIA SSS PTS).
    Rounds,
    /// One write without end, as time and as capacities written (SNIA SSS PTS, write saturation).
    Saturation,
    /// A soak until temperature and rate settle.
    Thermal,
    /// The whole drive written and verified.
    Capacity,
    /// Streams from one chunk to many, each written, read and repeated: the rate by length (report C, "average peak").
    Peak,
    /// The whole area as one stream, written, read back and verified, repeated (report C, "average continuous").
    Continuous,
}

impl CellView {
    /// Streams of chunks, short or long: what one shows is read against the other.
    pub fn is_stream(self) -> bool {
        matches!(self, CellView::Peak | CellView::Continuous)
    }
}

/// A cell's place among rounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Which, from 1.
    pub number: u32,
    /// Rounds planned at most.
    pub most: u32,
    /// Rounds that are looked at together.
    pub window: u32,
    /// Its figure decides whether the rounds have come to rest.
    #[serde(default)]
    pub tracked: bool,
}

/// An offered rate that depends on what an earlier step reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfferedLoad {
    /// The step whose best cell on the same drive is the whole.
    pub of: String,
    /// Share of it that is offered, percent.
    pub percent: f64,
}

/// Name of the value ([`super::CellResult::values`]) of what a cell with a [`OfferedLoad`] offered, I/Os per second.
pub const OFFERED_IOPS: &str = "offered_iops";

/// Whether the rounds of a step came to rest on a drive, by the figure of one tracked cell. The last one recorded for a `group` counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyRecord {
    /// Index into [`super::Manifest::drives`].
    pub drive: usize,
    /// The step.
    pub step: String,
    /// The cell without its round: what is tracked, unique in the run.
    pub group: String,
    /// The rule, with its limits, in words.
    pub rule: String,
    /// The figure that is tracked, with its unit: `IOPS`, `MiB/s`, `mean latency, us`.
    pub figure: String,
    /// Came to rest.
    pub achieved: bool,
    /// The figure in every round so far, the first round first.
    pub values: Vec<f64>,
    /// Rounds the rule looked at, from 1: first and last.
    pub window: (u32, u32),
    /// Mean over the window.
    pub mean: f64,
    /// Largest less smallest in the window, percent of the mean.
    pub range_pct: f64,
    /// Rise of the least-squares line across the window, percent of the mean, never negative.
    pub excursion_pct: f64,
    /// Slope of that line, in units of the figure per round.
    pub slope_per_round: f64,
    /// How far from the mean a value may lie by the rule, in units of the figure; absent where the rule does not limit that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub band: Option<f64>,
    /// Why it has not come to rest, when so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
}
