//! Is the other one faster, slower, the same, or can nobody tell?
//!
//! # Mechanism
//! Each side is one figure per run, with the interval of [`crate::confidence`] where the run was long enough. Everything happens on logarithms, so that
//! the answer is a ratio, and swapping the sides turns it over exactly. Three errors are candidates, and the widest one counts:
//! - *within runs*: the errors of the single figures, added up, with Satterthwaite's degrees of freedom. All there is with one run per
//!   side; says nothing of what a repetition would change.
//! - *between runs*, from two runs of any side on: the spread of the runs' figures around their side's mean, taken as one for both sides, with
//!   Student's t for all runs less two. It holds what repeating changes (state, heat, placement), and within-run error with it. Where one side has one
//!   run only, the other's spread stands for it.
//! - *Welch's*, where both sides have several runs, but not equally many: then a common spread may mislead.
//!
//! Run means are weighted alike: with the few runs that people make, weights by a random-effects model (R. DerSimonian and N. Laird, Controlled
//! Clinical Trials 7, 1986) rest on a variance that is itself a guess from two or three values, and its normal quantiles are known to be too narrow.
//!
//! # Answers
//! - *faster*, *slower*: the interval of the ratio leaves out 1, and the ratio is off 1 by at least the minimum effect (1 %).
//! - *same*: the whole interval lies within the minimum effect, proven difference or not.
//! - *can't tell*: everything else, with why.
//!
//! # Effect size
//! The logarithm of the ratio over the spread of single intervals' figures (relative, pooled over runs, with the spread between runs added):
//! Cohen's d for ratios. 0.2 is small, 0.8 large (J. Cohen, "Statistical Power Analysis", 1988): a proven difference of 0.1 will not be noticed
//! from one second to the next.
//!
//! # Limits
//! One answer in twenty may find a difference where there is none, if its difference is more than the minimum effect; who asks for a
//! hundred answers must expect that. Not corrected here: what belongs together is the reader's to say.

use serde::{Deserialize, Serialize};

use crate::confidence::{Estimate, LEVEL};
use crate::student;

/// Differences smaller than this matter to nobody, as a share of 1.
pub const MINIMUM_EFFECT: f64 = 0.01;

/// What the comparison says of the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Better by a proven difference that matters.
    Faster,
    /// Worse by a proven difference that matters.
    Slower,
    /// Proven not to differ by as much as matters.
    Same,
    /// Not enough is known.
    CannotTell,
}

impl Answer {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Answer::Faster => "faster",
            Answer::Slower => "slower",
            Answer::Same => "same",
            Answer::CannotTell => "can't tell",
        }
    }
}

/// Which way a figure is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Rates.
    More,
    /// Latencies.
    Less,
}

/// What decided how wide the interval is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The errors within the runs.
    WithinRuns,
    /// The spread between repeated runs.
    BetweenRuns,
}

/// A figure of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeat {
    /// The figure.
    pub value: f64,
    /// Its interval, where the run was long enough for one.
    pub estimate: Option<Estimate>,
}

impl From<Estimate> for Repeat {
    fn from(estimate: Estimate) -> Repeat {
        Repeat {
            value: estimate.mean,
            estimate: Some(estimate),
        }
    }
}

/// How to compare.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// Confidence level, as a share of 1.
    pub level: f64,
    /// Differences smaller than this are none, as a share of 1.
    pub minimum_effect: f64,
}

impl Default for Terms {
    fn default() -> Terms {
        Terms {
            level: LEVEL,
            minimum_effect: MINIMUM_EFFECT,
        }
    }
}

/// The answer with what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The answer.
    pub answer: Answer,
    /// The other side's figure over the baseline's (geometric means of runs); `None` where a side has none.
    pub ratio: Option<f64>,
    /// Its interval; `None` where no error can be told.
    pub interval: Option<(f64, f64)>,
    /// Confidence level of the interval, as a share of 1.
    pub level: f64,
    /// See the module's head; `None` where nothing varies.
    pub effect_size: Option<f64>,
    /// What made the interval as wide as it is.
    pub basis: Option<Basis>,
    /// Runs of the baseline and of the other side.
    pub runs: (u32, u32),
    /// Why nobody can tell, when so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
}

/// A side on the logarithmic scale.
struct Side {
    runs: f64,
    mean: f64,
    /// Sum of squares of the runs around their mean.
    squares: f64,
    /// Variance of the side's mean from errors within runs, and its degrees of freedom; `None` if a run has no estimate.
    within: Option<(f64, f64)>,
    /// Mean relative variance of single values within runs, where known.
    spread: f64,
}

impl Side {
    /// `None` without runs, or with a figure that has no logarithm.
    fn of(repeats: &[Repeat]) -> Option<Side> {
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
        let degrees = if shares > 0.0 {
            variance * variance / shares
        } else {
            f64::MAX
        };
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
    let degrees = if shares > 0.0 {
        variance * variance / shares
    } else {
        f64::MAX
    };
    (variance, degrees.max(1.0))
}

/// Compare `other` with `baseline`.
pub fn compare(baseline: &[Repeat], other: &[Repeat], better: Better, terms: Terms) -> Comparison {
    let count = |runs: &[Repeat]| u32::try_from(runs.len()).unwrap_or(u32::MAX);
    let mut comparison = Comparison {
        answer: Answer::CannotTell,
        ratio: None,
        interval: None,
        level: terms.level,
        effect_size: None,
        basis: None,
        runs: (count(baseline), count(other)),
        why: None,
    };
    let (Some(a), Some(b)) = (Side::of(baseline), Side::of(other)) else {
        comparison.why = Some("one side has no figure above zero".to_owned());
        return comparison;
    };
    let log_ratio = b.mean - a.mean;
    comparison.ratio = Some(log_ratio.exp());
    let repeats = a.runs + b.runs - 2.0;
    let pooled = (repeats >= 1.0).then(|| (a.squares + b.squares) / repeats);
    let spread = ((a.spread + b.spread) / 2.0 + pooled.unwrap_or(0.0)).sqrt();
    comparison.effect_size = (spread > 1e-12).then(|| log_ratio / spread);

    let mut widest: Option<(f64, Basis)> = None;
    let mut candidate = |variance: f64, degrees: f64, basis: Basis| {
        let half = student::two_sided(terms.level, degrees).map(|t| t * variance.sqrt());
        if let Some(half) = half.filter(|h| h.is_finite())
            && widest.is_none_or(|(most, _)| half > most)
        {
            widest = Some((half, basis));
        }
    };
    if let (Some(a), Some(b)) = (a.within, b.within) {
        let (variance, degrees) = satterthwaite(a, b);
        candidate(variance, degrees, Basis::WithinRuns);
    }
    if let Some(variance) = pooled {
        candidate(
            variance * (1.0 / a.runs + 1.0 / b.runs),
            repeats,
            Basis::BetweenRuns,
        );
        if a.runs != b.runs && a.runs >= 2.0 && b.runs >= 2.0 {
            let (variance, degrees) = satterthwaite(a.between(), b.between());
            candidate(variance, degrees, Basis::BetweenRuns);
        }
    }
    let Some((half, basis)) = widest else {
        comparison.why = Some(
            "a single run per side, and too short for an interval (under ten intervals): run longer, or repeat".to_owned(),
        );
        return comparison;
    };
    let (low, high) = (log_ratio - half, log_ratio + half);
    comparison.interval = Some((low.exp(), high.exp()));
    comparison.basis = Some(basis);
    let matters = (1.0 + terms.minimum_effect.max(0.0)).ln();
    // A difference of rounding only is none.
    let proven = low > 1e-12 || high < -1e-12;
    let (answer, why) = if low >= -matters && high <= matters && (!proven || matters > 0.0) {
        (Answer::Same, None)
    } else if proven && log_ratio.abs() >= matters {
        let good = (log_ratio > 0.0) == (better == Better::More);
        (if good { Answer::Faster } else { Answer::Slower }, None)
    } else {
        let percent = |log: f64| format!("{:+.1} %", (log.exp() - 1.0) * 100.0);
        let least = terms.minimum_effect * 100.0;
        let open = if proven {
            format!("a difference, but it may be smaller than {least} %")
        } else {
            format!(
                "between {} and {}: holds both no difference and one of more than {least} %",
                percent(low),
                percent(high)
            )
        };
        (Answer::CannotTell, Some(open))
    };
    comparison.answer = answer;
    comparison.why = why;
    comparison
}

#[cfg(test)]
#[path = "../tests/unit/compare.rs"]
mod tests;
