//! Has a figure that is measured again and again come to rest?
//!
//! # Rules
//! - [`SteadyRule::Snia`], the default: SNIA Solid State Storage Performance Test Specification 2.0.2, definition 2.1.24. Over the last
//!   `window` rounds (5) the largest value less the smallest is at most `range_pct` (20 %) of their average, *and* the line
//!   fitted to them by least squares rises or falls by at most `excursion_pct` (10 %) of the average between the first and the last
//!   round of the window. Equality passes.
//! - [`SteadyRule::Fio`]: fio's option `steadystate`, as its `steadystate.c` computes it. `iops_slope:0.3%`: the least-squares slope
//!   per sample, as percent of the window's mean, is in size *less than* the limit (not at most). `iops:0.3%`: no value is
//!   as far from the window's mean as the limit. Without the percent sign the limits are in units of the figure. fio cuts rates and, for
//!   the slope, the mean down to whole numbers; here they stay fractions, so that the two can differ where a mean is below
//!   about 100.
//!
//! A rule looks at one window; [`SteadyRule::judge_with_dwell`] asks that it hold for several windows in a row, because a slow wave passes any
//! rule of one window at its crest.
//!
//! # Non-goals
//! Finding *where* in a series rest begins (that is what change points are for), and any judgement of whether the level is the right one: a
//! drive that writes into its cache comes to rest too.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Rounds that the SNIA rule looks at.
pub const SNIA_WINDOW: usize = 5;
/// Largest less smallest, percent of the mean, that the SNIA rule allows.
pub const SNIA_RANGE_PCT: f64 = 20.0;
/// Rise or fall of the fitted line across the window, percent of the mean, that the SNIA rule allows.
pub const SNIA_EXCURSION_PCT: f64 = 10.0;
/// Rounds after which the specification gives up: "not achieved".
pub const SNIA_MOST_ROUNDS: usize = 25;

/// What counts as rounding and not as breaking a limit, as a share of the limit.
const ROUNDING: f64 = 1e-9;

/// When a repeated figure counts as steady.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SteadyRule {
    /// SNIA SSS PTS 2.0.2, 2.1.24.
    Snia {
        /// Rounds looked at, the last ones.
        window: usize,
        /// Largest less smallest at most, percent of their mean.
        range_pct: f64,
        /// Rise or fall of the least-squares line across the window at most, percent of their mean.
        excursion_pct: f64,
    },
    /// fio's `steadystate`.
    Fio {
        /// What is held against the limit.
        criterion: FioCriterion,
        /// The limit, not reached.
        limit: Limit,
        /// Samples looked at, the last ones (fio's `steadystate_duration` over its interval).
        window: usize,
    },
}

/// What fio's rule holds against its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FioCriterion {
    /// Size of the least-squares slope per sample (`iops_slope`, `bw_slope`).
    Slope,
    /// Distance of the value farthest from the mean (`iops`, `bw`).
    MeanDeviation,
}

/// A limit in units of the figure, or relative to its mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// In units of the figure (for a slope: per sample).
    Absolute(f64),
    /// Percent of the mean (for a slope: per sample).
    Percent(f64),
}

/// Which of a job's rates fio's option names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioFigure {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
}

/// A text that is none of fio's steady-state options.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{0}` is no steady-state rule: write one of iops, bw, iops_slope, bw_slope, a colon, and a limit above zero, such as `iops_slope:0.3%`"
)]
pub struct NoSuchRule(String);

/// What a rule says of a series. Every figure is finite; those that cannot be computed (too few rounds, a value that is none) are 0, and
/// [`Judgement::why`] says so.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// The rule holds.
    pub achieved: bool,
    /// Rounds looked at, from 1: first and last; (0, 0) when there is none.
    pub window: (u32, u32),
    /// Mean over the window.
    pub mean: f64,
    /// Largest less smallest, percent of the mean.
    pub range_pct: f64,
    /// Size of the rise or fall of the least-squares line across the window, percent of the mean; never negative.
    pub excursion_pct: f64,
    /// Slope of that line, units of the figure per round.
    pub slope_per_step: f64,
    /// What failed, with figures; `None` exactly when achieved.
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

impl SteadyRule {
    /// fio's spelling (`iops_slope:0.3%`, `bw:100`), and the figure it is about. `window` is a count of samples.
    ///
    /// # Errors
    /// When the text is none of fio's.
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
        let (digits, percent) = match limit.strip_suffix('%') {
            Some(digits) => (digits, true),
            None => (limit, false),
        };
        let value: f64 = digits.parse().map_err(|_| no_such())?;
        if !(value.is_finite() && value > 0.0) {
            return Err(no_such());
        }
        let limit = match percent {
            true => Limit::Percent(value),
            false => Limit::Absolute(value),
        };
        Ok((
            figure,
            SteadyRule::Fio {
                criterion,
                limit,
                window,
            },
        ))
    }

    /// Rounds looked at together.
    pub fn window(&self) -> usize {
        match *self {
            SteadyRule::Snia { window, .. } | SteadyRule::Fio { window, .. } => window,
        }
    }

    /// The rule with its limits, for people.
    pub fn words(&self) -> String {
        self.in_words()
    }

    /// How far from a mean a value may lie, in units of the figure: half the range that SNIA's rule allows, or fio's deviation. `None` of a
    /// rule that limits only the slope.
    pub fn half_band(&self, mean: f64) -> Option<f64> {
        match *self {
            SteadyRule::Snia { range_pct, .. } => Some(mean * range_pct / 200.0),
            SteadyRule::Fio {
                criterion: FioCriterion::MeanDeviation,
                limit,
                ..
            } => Some(match limit {
                Limit::Absolute(limit) => limit,
                Limit::Percent(limit) => mean * limit / 100.0,
            }),
            SteadyRule::Fio {
                criterion: FioCriterion::Slope,
                ..
            } => None,
        }
    }

    fn in_words(&self) -> String {
        match *self {
            SteadyRule::Snia {
                window,
                range_pct,
                excursion_pct,
            } => format!(
                "SNIA SSS PTS: over the last {window} rounds, largest less smallest at most {range_pct} % of the mean, and rise of the \
                 least-squares line at most {excursion_pct} % of the mean"
            ),
            SteadyRule::Fio {
                criterion,
                limit,
                window,
            } => {
                let what = match criterion {
                    FioCriterion::Slope => "slope of the least-squares line per round less than",
                    FioCriterion::MeanDeviation => "every value off the mean by less than",
                };
                let limit = match limit {
                    Limit::Absolute(limit) => format!("{limit}"),
                    Limit::Percent(limit) => format!("{limit} % of the mean"),
                };
                format!("fio: over the last {window} rounds, {what} {limit}")
            }
        }
    }

    /// What the rule says of the last window of `values`, the first round first.
    pub fn judge(&self, values: &[f64]) -> Judgement {
        let window = self.window();
        let last = u32::try_from(values.len()).unwrap_or(u32::MAX);
        if window < 2 {
            return unsteady(
                (last.min(1), last),
                format!("a window of {window} rounds shows no trend; it takes at least 2"),
            );
        }
        if values.len() < window {
            return Judgement {
                mean: mean_of_numbers(values),
                ..unsteady(
                    (last.min(1), last),
                    format!("only {} of {window} rounds", values.len()),
                )
            };
        }
        let first = values.len() - window;
        let span = (u32::try_from(first + 1).unwrap_or(u32::MAX), last);
        let seen = &values[first..];
        if let Some((at, value)) = seen
            .iter()
            .enumerate()
            .find(|(_, value)| !(value.is_finite() && **value >= 0.0))
        {
            let why = match value.is_finite() {
                true => format!("round {} measured {value}, below zero", first + at + 1),
                false => format!("round {} has no value", first + at + 1),
            };
            return unsteady(span, why);
        }
        let shape = Shape::of(seen);
        if shape.mean <= 0.0 || !shape.finite() {
            return unsteady(
                span,
                "the mean of the window is zero, or beyond numbers".to_owned(),
            );
        }
        let range_pct = shape.range / shape.mean * 100.0;
        let excursion_pct = shape.slope.abs() * (window - 1) as f64 / shape.mean * 100.0;
        let why = match *self {
            SteadyRule::Snia {
                range_pct: range_most,
                excursion_pct: excursion_most,
                ..
            } => {
                let mut failed = Vec::new();
                if !at_most(range_pct, range_most) {
                    failed.push(format!(
                        "range {} % of the mean, at most {range_most} %",
                        figure(range_pct, range_most)
                    ));
                }
                if !at_most(excursion_pct, excursion_most) {
                    failed.push(format!(
                        "least-squares line {} by {} % of the mean across the window, at most {excursion_most} %",
                        if shape.slope < 0.0 { "falls" } else { "rises" },
                        figure(excursion_pct, excursion_most)
                    ));
                }
                (!failed.is_empty()).then(|| failed.join("; "))
            }
            SteadyRule::Fio {
                criterion, limit, ..
            } => {
                let (what, size) = match criterion {
                    FioCriterion::Slope => ("slope per round", shape.slope.abs()),
                    FioCriterion::MeanDeviation => {
                        ("largest distance from the mean", shape.farthest)
                    }
                };
                let (size, most, unit) = match limit {
                    Limit::Absolute(most) => (size, most, ""),
                    Limit::Percent(most) => (size / shape.mean * 100.0, most, " % of the mean"),
                };
                // Not `size >= most`: a limit that is no number must fail.
                let holds = size < most;
                (!holds).then(|| {
                    format!(
                        "{what} {}{unit}, must be less than {most}{unit}",
                        figure(size, most)
                    )
                })
            }
        };
        Judgement {
            achieved: why.is_none(),
            window: span,
            mean: shape.mean,
            range_pct,
            excursion_pct,
            slope_per_step: shape.slope,
            why,
        }
    }

    /// As [`SteadyRule::judge`], and the rule must have held for the `dwell` windows before the last one too, each one round
    /// earlier. The figures are those of the last window.
    pub fn judge_with_dwell(&self, values: &[f64], dwell: usize) -> Judgement {
        let mut judgement = self.judge(values);
        if !judgement.achieved || dwell == 0 {
            return judgement;
        }
        let held = (1..=dwell)
            .take_while(|back| {
                values
                    .len()
                    .checked_sub(*back)
                    .is_some_and(|length| self.judge(&values[..length]).achieved)
            })
            .count();
        if held < dwell {
            judgement.achieved = false;
            judgement.why = Some(format!(
                "holds now, but for {} of {} windows in a row so far",
                held + 1,
                dwell.saturating_add(1)
            ));
        }
        judgement
    }
}

fn unsteady(window: (u32, u32), why: String) -> Judgement {
    Judgement {
        window,
        why: Some(why),
        ..Judgement::default()
    }
}

/// Mean of what there is, for display; 0 when that is not a number.
fn mean_of_numbers(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    if mean.is_finite() { mean } else { 0.0 }
}

fn at_most(value: f64, limit: f64) -> bool {
    value <= limit * (1.0 + ROUNDING)
}

/// A figure that broke a limit, with as many digits as it takes to see that it did.
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

/// The moments of a window.
struct Shape {
    mean: f64,
    range: f64,
    slope: f64,
    farthest: f64,
}

impl Shape {
    /// Of at least two finite values.
    fn of(values: &[f64]) -> Shape {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let largest = values.iter().copied().fold(f64::MIN, f64::max);
        let smallest = values.iter().copied().fold(f64::MAX, f64::min);
        let middle = (n - 1.0) / 2.0;
        let (mut xy, mut xx) = (0.0, 0.0);
        for (i, y) in values.iter().enumerate() {
            let x = i as f64 - middle;
            xy += x * (y - mean);
            xx += x * x;
        }
        Shape {
            mean,
            range: largest - smallest,
            slope: xy / xx,
            farthest: (largest - mean).max(mean - smallest),
        }
    }

    fn finite(&self) -> bool {
        [self.mean, self.range, self.slope, self.range / self.mean]
            .iter()
            .all(|v| v.is_finite())
    }
}

#[cfg(test)]
#[path = "../tests/unit/steady.rs"]
mod tests;
