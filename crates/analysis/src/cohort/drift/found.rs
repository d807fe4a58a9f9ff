//! What a soak of a cohort shows.

use assay_stats::cohort::drift::Span;
use assay_stats::cohort::errors::AgainstLimit;
use assay_stats::compare::Better;
use serde::Serialize;

use super::super::outliers::Separation;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DriftVerdict {
    /// Moves away from the others.
    Drifts,
    /// The whole interval of the change is within the minimum effect.
    Alike,
    CannotTell,
    /// Too few drives to judge by.
    NotJudged,
}

impl DriftVerdict {
    pub fn label(self) -> &'static str {
        match self {
            DriftVerdict::Drifts => "drifts",
            DriftVerdict::Alike => "alike",
            DriftVerdict::CannotTell => "can\u{2019}t tell",
            DriftVerdict::NotJudged => "not judged",
        }
    }
}

/// Over the soak, with the 95 % interval: share of 1 where the figure is logarithmic, else in its
/// unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Change {
    pub change: f64,
    pub interval: (f64, f64),
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DriveDrift {
    /// Index into [`super::conclude::Cohort::drives`].
    pub drive: usize,
    /// Index into [`super::conclude::Cohort::groups`].
    pub group: usize,
    /// Measured time.
    pub hours: f64,
    /// Spans without an interruption.
    pub spans: usize,
    /// Change relative to the median curve of the group.
    pub relative: Change,
    /// Change of the drive by itself; `None` where too little was measured.
    pub own: Option<Change>,
    /// Distance of the relative slope from those of the others, in units of Q_n, with the limit.
    pub distance: Option<(f64, f64)>,
    pub verdict: DriftVerdict,
    /// `None` where the drive does not drift.
    pub worse: Option<bool>,
    /// `None` where the drive does not drift.
    pub separation: Option<Separation>,
    /// The stated limit (of temperatures, without one, the drive's warning temperature), and hours
    /// from the end of the soak until the drive reaches it at its own slope; only where the
    /// interval of the slope excludes zero.
    pub to_limit: Option<(f64, f64)>,
    /// Relative block medians by hour, on the scale of the figure, each span on the level that the
    /// slope gives it.
    #[serde(skip)]
    pub line: Vec<Span>,
}

/// Common to the drives of a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommonDrift {
    /// Index into [`super::conclude::Cohort::groups`].
    pub group: usize,
    pub drives: usize,
    /// Change of the median curve over the soak.
    pub change: Change,
    /// Hour and height of a step that explains the curve better than a slope.
    pub step: Option<(f64, f64)>,
    /// The interval excludes zero, and the change is at least the minimum effect.
    pub drifts: bool,
    /// `None` where the curve does not drift.
    pub worse: Option<bool>,
    /// Curve by hour on the figure's scale, each span on the level that the slope gives it.
    #[serde(skip)]
    pub curve: Vec<Span>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SoakDrift {
    pub figure: String,
    pub unit: String,
    pub better: Option<Better>,
    /// Changes are ratios.
    pub logarithmic: bool,
    /// Usual length of the soak, to which changes refer.
    pub hours: f64,
    /// Median of the drives, in the figure's unit.
    pub median: f64,
    /// Robust standard deviation of the relative changes (Q_n), and the limit beyond which a drive
    /// drifts.
    pub spread_and_limit: Option<(f64, f64)>,
    /// Whether the slopes have heavy tails; `None` where not judged.
    pub heavy_tails: Option<bool>,
    pub common: Vec<CommonDrift>,
    /// Limits of the conclusions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    pub values: Vec<DriveDrift>,
}

impl SoakDrift {
    /// A difference on the figure's scale as share of 1, or in its unit.
    pub fn shown(&self, difference: f64) -> f64 {
        if self.logarithmic { difference.exp_m1() } else { difference }
    }

    pub fn drifting(&self) -> impl Iterator<Item = &DriveDrift> {
        let values = self.values.iter();
        values.filter(|v| v.verdict == DriftVerdict::Drifts)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ErrorRate {
    pub figure: String,
    /// Index into [`super::conclude::Cohort::drives`].
    pub drive: usize,
    /// Failed or short I/Os.
    pub errors: u64,
    pub bits: f64,
    /// Errors per bit.
    pub limit: f64,
    /// `exceeded`, `within`, `cannot_tell`.
    #[serde(serialize_with = "against")]
    pub result: AgainstLimit,
}

fn against<S: serde::Serializer>(result: &AgainstLimit, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(match result {
        AgainstLimit::Exceeded => "exceeded",
        AgainstLimit::Within => "within",
        AgainstLimit::CannotTell => "cannot_tell",
    })
}
