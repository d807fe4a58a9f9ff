//! Comparison of runs: faster, slower, same or can't tell; of single runs, whether they differ
//! (results, sources and limits: docs/statistics.md, "Comparison").
//!
//! A side has one value per run, with the interval of [`crate::confidence`] where the run was long
//! enough. Everything is computed on logarithms, so exchanging the sides inverts the ratio exactly.
//! Of three errors the widest counts:
//! - *within runs*: the errors of the single values, added, with Satterthwaite's degrees of
//!   freedom;
//! - *between runs*, from two runs on either side: the spread of the runs' values around their
//!   side's mean, common to both sides, with Student's t for all runs less two;
//! - *Welch's*, for several runs on both sides in different numbers, where a common spread can be
//!   wrong.
//!
//! One run on each side says nothing of the spread between runs, so it only tells that these runs
//! differ or agree, unless the ratio is larger than repetition is known to give
//! ([`ComparisonSettings::repeatability`]). A tail percentile ([`Quantity::TailPercentile`]) has no
//! error within a run, because it depends on the few slowest operations, which come in groups; runs
//! are its unit, from
//! [`FEWEST_TAIL_RUNS`] on each side on.

use serde::{Deserialize, Serialize};

use crate::confidence::{Estimate, LEVEL};
use crate::student;

/// Differences smaller than this are irrelevant, as a share of 1.
pub const MINIMUM_EFFECT: f64 = 0.01;

/// Fewest runs on each side with an answer on a tail percentile, so that no value is the spread.
pub const FEWEST_TAIL_RUNS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A mean or a rate: its error within a run is known from the run's series.
    Mean,
    /// A percentile of latencies from the 90th on: known between runs only.
    TailPercentile,
}

/// The other side relative to the baseline.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Default, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// Better, significantly and by the minimum effect.
    Faster,
    /// Worse, significantly and by the minimum effect.
    Slower,
    /// Different by less than the minimum effect.
    Same,
    /// One run on each side: different, significantly and by the minimum effect.
    RunsDiffer,
    /// One run on each side: different by less than the minimum effect.
    RunsAgree,
    /// Not decided by the data.
    #[default]
    CannotTell,
}

impl Difference {
    pub const ALL: [Difference; 6] = [
        Difference::Faster,
        Difference::Slower,
        Difference::Same,
        Difference::RunsDiffer,
        Difference::RunsAgree,
        Difference::CannotTell,
    ];

    pub fn label(self) -> &'static str {
        match self {
            Difference::Faster => "faster",
            Difference::Slower => "slower",
            Difference::Same => "same",
            Difference::RunsDiffer => "these runs differ",
            Difference::RunsAgree => "these runs agree",
            Difference::CannotTell => "can't tell",
        }
    }
}

/// Direction of improvement of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Rates.
    More,
    /// Latencies.
    Less,
}

/// Error that determined the width of the interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    WithinRuns,
    BetweenRuns,
    /// None of this comparison's own: the ratio is beyond what repetition is known to give.
    Repeatability,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunValue {
    pub value: f64,
    pub estimate: Option<Estimate>,
}

impl From<Estimate> for RunValue {
    fn from(estimate: Estimate) -> RunValue {
        RunValue { value: estimate.mean, estimate: Some(estimate) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonSettings {
    /// Confidence level, as a share of 1.
    pub level: f64,
    /// As a share of 1.
    pub minimum_effect: f64,
    /// The largest ratio that repetition of such a workload is known to give without a difference
    /// of the sides; a larger one is an answer from single runs too. `None`: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeatability: Option<f64>,
}

impl Default for ComparisonSettings {
    fn default() -> ComparisonSettings {
        ComparisonSettings { level: LEVEL, minimum_effect: MINIMUM_EFFECT, repeatability: None }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub answer: Difference,
    /// The other side's value over the baseline's (geometric means of runs).
    pub ratio: Option<f64>,
    /// `None` without an error estimate.
    pub interval: Option<(f64, f64)>,
    /// Confidence level of the interval, as a share of 1.
    pub level: f64,
    /// Logarithm of the ratio over the relative spread of single intervals (Cohen's d).
    pub effect_size: Option<f64>,
    pub basis: Option<Basis>,
    pub runs: (u32, u32),
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
}

struct Side {
    runs: f64,
    mean: f64,
    /// Sum of squares of the runs around their mean.
    squares: f64,
    /// Variance of the mean from errors within runs, degrees of freedom; if all runs have
    /// estimates.
    within: Option<(f64, f64)>,
    spread: f64,
}

impl Side {
    /// `None` without runs, or with a value that is not positive and finite.
    fn new(repeats: &[RunValue]) -> Option<Side> {
        if repeats.is_empty() || !repeats.iter().all(|r| r.value.is_finite() && r.value > 0.0) {
            return None;
        }
        let runs = repeats.len() as f64;
        let logs = || repeats.iter().map(|r| r.value.ln());
        let mean = logs().sum::<f64>() / runs;
        let (mut variance, mut shares, mut spread) = (0.0, 0.0, 0.0);
        let mut known = true;
        for repeat in repeats {
            match &repeat.estimate {
                Some(e) if e.mean > 0.0 => {
                    let own = (e.standard_error / e.mean / runs).powi(2);
                    variance += own;
                    shares += own * own / e.degrees.max(1.0);
                    spread += (e.stddev / e.mean).powi(2) / runs;
                }
                _ => known = false,
            }
        }
        let degrees = effective_degrees(variance, shares);
        Some(Side {
            runs,
            mean,
            squares: logs().map(|y| (y - mean).powi(2)).sum(),
            within: known.then_some((variance, degrees)),
            spread,
        })
    }

    /// Variance of the side's mean from its own runs, and its degrees of freedom.
    fn between(&self) -> (f64, f64) {
        let degrees = self.runs - 1.0;
        (self.squares / degrees / self.runs, degrees)
    }
}

/// Degrees of freedom of a sum of two variances (Satterthwaite).
fn satterthwaite(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let variance = a.0 + b.0;
    let shares = a.0 * a.0 / a.1 + b.0 * b.0 / b.1;
    (variance, effective_degrees(variance, shares).max(1.0))
}

/// Of a variance, from the sum of its squared parts over their degrees of freedom.
fn effective_degrees(variance: f64, shares: f64) -> f64 {
    if shares > 0.0 { variance * variance / shares } else { f64::MAX }
}

/// The widest half-width, with its error.
fn widest(a: &Side, b: &Side, level: f64) -> Option<(f64, Basis)> {
    let mut found: Option<(f64, Basis)> = None;
    let mut candidate = |variance: f64, degrees: f64, basis: Basis| {
        let half = student::two_sided(level, degrees).map(|t| t * variance.sqrt());
        if let Some(half) = half.filter(|h| h.is_finite())
            && found.is_none_or(|(most, _)| half > most)
        {
            found = Some((half, basis));
        }
    };
    if let (Some(a), Some(b)) = (a.within, b.within) {
        let (variance, degrees) = satterthwaite(a, b);
        candidate(variance, degrees, Basis::WithinRuns);
    }
    if let Some(variance) = pooled(a, b) {
        let of_means = variance * (1.0 / a.runs + 1.0 / b.runs);
        candidate(of_means, a.runs + b.runs - 2.0, Basis::BetweenRuns);
        if a.runs != b.runs && a.runs >= 2.0 && b.runs >= 2.0 {
            let (variance, degrees) = satterthwaite(a.between(), b.between());
            candidate(variance, degrees, Basis::BetweenRuns);
        }
    }
    found
}

/// Variance between runs, common to both sides; `None` of one run each.
fn pooled(a: &Side, b: &Side) -> Option<f64> {
    let degrees = a.runs + b.runs - 2.0;
    (degrees >= 1.0).then(|| (a.squares + b.squares) / degrees)
}

impl Comparison {
    /// The answer, or why there is none, by an interval of `half` on each side of `log_ratio`.
    fn answer(
        &mut self,
        log_ratio: f64,
        half: f64,
        single: bool,
        better: Better,
        settings: ComparisonSettings,
    ) {
        let (low, high) = (log_ratio - half, log_ratio + half);
        let matters = (1.0 + settings.minimum_effect.max(0.0)).ln();
        // Differences within rounding do not count.
        let significant = low > 1e-12 || high < -1e-12;
        let better_by = match better {
            Better::More => log_ratio,
            Better::Less => -log_ratio,
        };
        if low >= -matters && high <= matters && (!significant || matters > 0.0) {
            self.answer = match single {
                true => Difference::RunsAgree,
                false => Difference::Same,
            };
        } else if significant && log_ratio.abs() >= matters {
            self.answer = match better_by > 0.0 {
                _ if single => Difference::RunsDiffer,
                true => Difference::Faster,
                false => Difference::Slower,
            };
        } else {
            let least = settings.minimum_effect * 100.0;
            let [low, high] = [low, high].map(|log| format!("{:+.1} %", (log.exp() - 1.0) * 100.0));
            self.why = Some(match significant {
                true => format!("a difference, but it may be smaller than {least} %"),
                false => format!(
                    "between {low} and {high}: holds both no difference and one \
                     of more than {least} %"
                ),
            });
        }
    }
}

impl Comparison {
    fn answer_by_size(&mut self, log_ratio: f64, better: Better) {
        let is_better = match better {
            Better::More => log_ratio > 0.0,
            Better::Less => log_ratio < 0.0,
        };
        self.answer = match is_better {
            true => Difference::Faster,
            false => Difference::Slower,
        };
        self.basis = Some(Basis::Repeatability);
        self.why = None;
    }
}

/// Of a tail percentile only the values count, not their intervals.
pub fn compare(
    baseline: &[RunValue],
    other: &[RunValue],
    quantity: Quantity,
    better: Better,
    settings: ComparisonSettings,
) -> Comparison {
    let mut comparison = Comparison {
        level: settings.level,
        runs: (baseline.len() as u32, other.len() as u32),
        ..Comparison::default()
    };
    let plain = |side: &[RunValue]| -> Vec<RunValue> {
        let of_run = |r: &RunValue| RunValue {
            estimate: r.estimate.filter(|_| quantity == Quantity::Mean),
            ..*r
        };
        side.iter().map(of_run).collect()
    };
    let (Some(a), Some(b)) = (Side::new(&plain(baseline)), Side::new(&plain(other))) else {
        comparison.why = Some("one side has no value above zero".to_owned());
        return comparison;
    };
    let log_ratio = b.mean - a.mean;
    comparison.ratio = Some(log_ratio.exp());
    let spread = ((a.spread + b.spread) / 2.0 + pooled(&a, &b).unwrap_or(0.0)).sqrt();
    comparison.effect_size = (spread > 1e-12).then(|| log_ratio / spread);
    let fewest = baseline.len().min(other.len());
    let beyond = || is_beyond_repetition(&a, &b, settings);
    if quantity == Quantity::TailPercentile && fewest < FEWEST_TAIL_RUNS {
        if beyond() {
            comparison.answer_by_size(log_ratio, better);
            return comparison;
        }
        comparison.why = Some(format!(
            "a tail percentile is compared between runs: at least {FEWEST_TAIL_RUNS} runs on each \
             side"
        ));
        return comparison;
    }
    let Some((half, basis)) = widest(&a, &b, settings.level) else {
        if beyond() {
            comparison.answer_by_size(log_ratio, better);
            return comparison;
        }
        let why =
            "a single run per side, and no interval within one of them: run longer, or repeat";
        comparison.why = Some(why.to_owned());
        return comparison;
    };
    let (low, high) = (log_ratio - half, log_ratio + half);
    comparison.interval = Some((low.exp(), high.exp()));
    comparison.basis = Some(basis);
    let single = a.runs + b.runs == 2.0;
    comparison.answer(log_ratio, half, single, better, settings);
    let is_open = matches!(comparison.answer, Difference::CannotTell | Difference::RunsDiffer);
    if is_open && beyond() {
        comparison.answer_by_size(log_ratio, better);
    }
    comparison
}

/// Whether the ratio of the sides is larger than repetition gives. Runs of this comparison that are
/// spread as widely as that say that it gives more here.
fn is_beyond_repetition(a: &Side, b: &Side, settings: ComparisonSettings) -> bool {
    let Some(repeatability) = settings.repeatability else {
        return false;
    };
    let most = repeatability.ln();
    // A spread of which the known extreme is twice the standard deviation.
    let own = pooled(a, b).map_or(0.0, f64::sqrt);
    (b.mean - a.mean).abs() > most && 2.0 * own < most
}

#[cfg(test)]
#[path = "../tests/unit/compare.rs"]
mod tests;
