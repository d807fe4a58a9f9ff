//! Steady-state rules for a value measured in rounds: SNIA PTS and fio `steadystate` (limits,
//! sources and reading: docs/statistics.md, "Steady state").
//!
//! A slow oscillation passes any rule of one window at its extremum;
//! [`SteadyRule::evaluate_with_dwell`] requires several. Not here: the start of steady state in a
//! series (see [`crate::change`]).

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::moments::{mean, slope};

/// In rounds.
pub const SNIA_WINDOW: usize = 5;
/// Largest range (largest less smallest), percent of the mean.
pub const SNIA_RANGE_PCT: f64 = 20.0;
/// Largest rise or fall of the least-squares line across the window, percent of the mean.
pub const SNIA_EXCURSION_PCT: f64 = 10.0;

/// Tolerance for rounding, as a share of the limit.
const ROUNDING: f64 = 1e-9;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SteadyRule {
    /// SNIA SSS PTS 2.0.2, 2.1.24.
    Snia {
        /// Last rounds.
        window: usize,
        /// Largest less smallest at most, percent of their mean.
        range_pct: f64,
        /// Rise or fall of the least-squares line across the window at most, percent of their mean.
        excursion_pct: f64,
    },
    /// fio's `steadystate`.
    Fio {
        criterion: FioCriterion,
        /// Exclusive.
        limit: SteadyLimit,
        /// Last samples (fio's `steadystate_duration` over its interval).
        window: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FioCriterion {
    /// Size of the least-squares slope per sample (`iops_slope`, `bw_slope`).
    Slope,
    /// Distance of the value farthest from the mean (`iops`, `bw`).
    MeanDeviation,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SteadyLimit {
    /// In units of the value (for a slope: per sample).
    Absolute(f64),
    /// Percent of the mean (for a slope: per sample).
    Percent(f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioFigure {
    Iops,
    /// Bytes per second.
    Bandwidth,
}

/// A text that is not a steady-state option of fio.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{0}` is not a steady-state rule: use one of iops, bw, iops_slope, bw_slope, a colon, and a \
     limit above zero, such as `iops_slope:0.3%`"
)]
pub struct NoSuchRule(String);

/// Values that cannot be computed are 0, with the reason in [`SteadyEvaluation::why`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SteadyEvaluation {
    pub achieved: bool,
    /// First and last round, counted from 1; (0, 0) without rounds.
    pub window: (u32, u32),
    pub mean: f64,
    /// Largest less smallest, percent of the mean.
    pub range_pct: f64,
    /// Size of the rise or fall of the least-squares line across the window, percent of the mean.
    pub excursion_pct: f64,
    /// Slope of the least-squares line, units of the value per round.
    pub slope_per_step: f64,
    /// The failed condition, with figures; `None` exactly when achieved.
    pub why: Option<String>,
}

impl Default for SteadyRule {
    fn default() -> SteadyRule {
        SteadyRule::Snia {
            window: SNIA_WINDOW,
            range_pct: SNIA_RANGE_PCT,
            excursion_pct: SNIA_EXCURSION_PCT,
        }
    }
}

/// Why a round measured no rate; the first is `first`, from 0.
fn not_a_rate(seen: &[f64], first: usize) -> Option<String> {
    let mut seen = seen.iter().enumerate();
    let (at, value) = seen.find(|(_, value)| !value.is_finite() || **value < 0.0)?;
    Some(match value.is_finite() {
        true => format!("round {} measured {value}, below zero", first + at + 1),
        false => format!("round {} has no value", first + at + 1),
    })
}

fn beyond_range(range_pct: f64, most: f64) -> Option<String> {
    let range = figure(range_pct, most);
    (!at_most(range_pct, most)).then(|| format!("range {range} % of the mean, at most {most} %"))
}

fn beyond_limit(what: &str, size: f64, mean: f64, limit: SteadyLimit) -> Option<String> {
    let (size, most, unit) = match limit {
        SteadyLimit::Absolute(most) => (size, most, ""),
        SteadyLimit::Percent(most) => (size / mean * 100.0, most, " % of the mean"),
    };
    // Not `size >= most`: a limit that is not a number must fail.
    let holds = size < most;
    let figure = figure(size, most);
    (!holds).then(|| format!("{what} {figure}{unit}, must be less than {most}{unit}"))
}

fn beyond_excursion(slope: f64, excursion_pct: f64, most: f64) -> Option<String> {
    let moves = if slope < 0.0 { "falls" } else { "rises" };
    let by = figure(excursion_pct, most);
    (!at_most(excursion_pct, most)).then(|| {
        format!(
            "least-squares line {moves} by {by} % of the mean across the window, at most {most} %"
        )
    })
}

impl SteadyRule {
    /// Parse fio's syntax (`iops_slope:0.3%`, `bw:100`). `window` is a count of samples.
    pub fn from_fio(text: &str, window: usize) -> Result<(FioFigure, SteadyRule), NoSuchRule> {
        let no_such = || NoSuchRule(text.to_owned());
        let (name, limit) = text.split_once(':').ok_or_else(no_such)?;
        let (figure, criterion) = match name {
            "iops" => (FioFigure::Iops, FioCriterion::MeanDeviation),
            "bw" => (FioFigure::Bandwidth, FioCriterion::MeanDeviation),
            "iops_slope" => (FioFigure::Iops, FioCriterion::Slope),
            "bw_slope" => (FioFigure::Bandwidth, FioCriterion::Slope),
            _ => return Err(no_such()),
        };
        let (digits, limit): (&str, fn(f64) -> SteadyLimit) = match limit.strip_suffix('%') {
            Some(digits) => (digits, SteadyLimit::Percent),
            None => (limit, SteadyLimit::Absolute),
        };
        let value: f64 = digits.parse().map_err(|_| no_such())?;
        if !(value.is_finite() && value > 0.0) {
            return Err(no_such());
        }
        let limit = limit(value);
        Ok((figure, SteadyRule::Fio { criterion, limit, window }))
    }

    pub fn window(&self) -> usize {
        match *self {
            SteadyRule::Snia { window, .. } | SteadyRule::Fio { window, .. } => window,
        }
    }

    /// Largest distance of a value from the mean; `None` for a rule that limits only the slope.
    pub fn half_band(&self, mean: f64) -> Option<f64> {
        match *self {
            SteadyRule::Snia { range_pct, .. } => Some(mean * range_pct / 200.0),
            SteadyRule::Fio { criterion, limit, .. } => (criterion == FioCriterion::MeanDeviation)
                .then(|| match limit {
                    SteadyLimit::Absolute(limit) => limit,
                    SteadyLimit::Percent(limit) => mean * limit / 100.0,
                }),
        }
    }

    pub fn text(&self) -> String {
        match *self {
            SteadyRule::Snia { window, range_pct, excursion_pct } => format!(
                "SNIA SSS PTS: over the last {window} rounds, largest less smallest at most \
                 {range_pct} % of the mean, and rise of the least-squares line at most \
                 {excursion_pct} % of the mean"
            ),
            SteadyRule::Fio { criterion, limit, window } => {
                let what = match criterion {
                    FioCriterion::Slope => "slope of the least-squares line per round less than",
                    FioCriterion::MeanDeviation => "every value off the mean by less than",
                };
                let limit = match limit {
                    SteadyLimit::Absolute(limit) => format!("{limit}"),
                    SteadyLimit::Percent(limit) => format!("{limit} % of the mean"),
                };
                format!("fio: over the last {window} rounds, {what} {limit}")
            }
        }
    }

    /// `values` are in time order; the last window counts.
    pub fn evaluate(&self, values: &[f64]) -> SteadyEvaluation {
        let window = self.window();
        let last = u32::try_from(values.len()).expect("rounds and samples are far fewer than 2^32");
        let all = (last.min(1), last);
        if window < 2 {
            let why = format!("a window of {window} rounds shows no trend; at least 2 are needed");
            return unsteady(all, why);
        }
        if values.len() < window {
            let why = format!("only {} of {window} rounds", values.len());
            return SteadyEvaluation {
                mean: Some(mean(values)).filter(|mean| mean.is_finite()).unwrap_or(0.0),
                ..unsteady(all, why)
            };
        }
        let first = values.len() - window;
        let span = (last + 1 - window as u32, last);
        let seen = &values[first..];
        if let Some(why) = not_a_rate(seen, first) {
            return unsteady(span, why);
        }
        let (mean, slope) = (mean(seen), slope(seen));
        let largest = seen.iter().copied().fold(f64::MIN, f64::max);
        let smallest = seen.iter().copied().fold(f64::MAX, f64::min);
        let range = (largest - smallest) / mean;
        if mean <= 0.0 || ![mean, slope, range].iter().all(|v| v.is_finite()) {
            let why = "the mean of the window is zero or not finite";
            return unsteady(span, why.to_owned());
        }
        let range_pct = range * 100.0;
        let excursion_pct = slope.abs() * (window - 1) as f64 / mean * 100.0;
        let farthest = (largest - mean).max(mean - smallest);
        let why = match *self {
            SteadyRule::Snia { range_pct: range_most, excursion_pct: excursion_most, .. } => {
                let range = beyond_range(range_pct, range_most);
                let excursion = beyond_excursion(slope, excursion_pct, excursion_most);
                let failed: Vec<String> = range.into_iter().chain(excursion).collect();
                (!failed.is_empty()).then(|| failed.join("; "))
            }
            SteadyRule::Fio { criterion, limit, .. } => {
                let (what, size) = match criterion {
                    FioCriterion::Slope => ("slope per round", slope.abs()),
                    FioCriterion::MeanDeviation => ("largest distance from the mean", farthest),
                };
                beyond_limit(what, size, mean, limit)
            }
        };
        SteadyEvaluation {
            achieved: why.is_none(),
            window: span,
            mean,
            range_pct,
            excursion_pct,
            slope_per_step: slope,
            why,
        }
    }

    /// [`SteadyRule::evaluate`]; the rule must have held for the `dwell` windows before too.
    pub fn evaluate_with_dwell(&self, values: &[f64], dwell: usize) -> SteadyEvaluation {
        let mut result = self.evaluate(values);
        if result.achieved {
            let held = (1..=dwell)
                .map_while(|back| values.len().checked_sub(back))
                .take_while(|length| self.evaluate(&values[..*length]).achieved)
                .count();
            if held < dwell {
                let (held, windows) = (held + 1, dwell.saturating_add(1));
                let why = format!("holds now, but for {held} of {windows} windows in a row so far");
                (result.achieved, result.why) = (false, Some(why));
            }
        }
        result
    }
}

fn unsteady(window: (u32, u32), why: String) -> SteadyEvaluation {
    SteadyEvaluation { window, why: Some(why), ..SteadyEvaluation::default() }
}

fn at_most(value: f64, limit: f64) -> bool {
    value <= limit * (1.0 + ROUNDING)
}

/// As many digits as distinguish the value from the limit.
fn figure(value: f64, limit: f64) -> String {
    for digits in 0..4 {
        let text = format!("{value:.digits$}");
        let shown: f64 = text.parse().unwrap_or(value);
        if (shown - limit).abs() >= (value - limit).abs() * 0.5 && shown != limit {
            return text;
        }
    }
    format!("{value}")
}

#[cfg(test)]
#[path = "../tests/unit/steady.rs"]
mod tests;
