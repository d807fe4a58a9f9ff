//! Modes of a series: the levels between which a rate alternates, their shares and dwell times.
//!
//! # Method
//! Two models of the series are compared by the Bayesian information criterion (G. Schwarz,
//! "Estimating the dimension of a model", 1978):
//!
//! - *one mode*: a linear trend with noise of first-order autoregression, fitted by least squares.
//!   Noise with a memory visits high and low values for long, so that the distribution of its
//!   values alone shows several modes by chance;
//! - *several levels*: a hidden Markov model with two to [`MOST_LEVELS`] normally distributed
//!   levels (L. R. Rabiner, "A tutorial on hidden Markov models", 1989), fitted by segmental
//!   k-means (B.-H. Juang, L. R. Rabiner, 1990), beginning with the best partition of the values.
//!
//! Levels that win are modes only where they are
//!
//! - *resolved*: the middle third between neighbours has at most [`MOST_VALLEY`] of the values that
//!   equal widths at either level have, which chance explains in at most [`CHANCE`] of unimodal
//!   series (a binomial test of the excess mass: D. W. Müller, G. Sawitzki, "Excess mass estimates
//!   and tests for multimodality", 1991), and they differ by at least [`LEAST_DIFFERENCE`]. Others
//!   are one level;
//! - *recurring*: visited at least [`LEAST_VISITS`] times, unlike the levels of a slow trend or
//!   cliff;
//! - *common*: with at least [`LEAST_SHARE`] of the values. Rarer ones are outliers.
//!
//! The rates of false and of missed modes are in docs/statistics.md, "Modes".
//!
//! # Non-goals
//! Causes of the levels (crate `analysis`); periods.

use serde::{Deserialize, Serialize};

use crate::consistency::LEAST_SPREAD;
use crate::moments::moments;

mod markov;
mod single;

/// Three modes, and one for outliers.
pub const MOST_LEVELS: usize = 4;
/// Fewest values among which modes are looked for.
pub const LEAST_VALUES: usize = 30;
/// Most values that are looked at; of a longer series, means over equal parts.
pub const MOST_VALUES: usize = 20_000;
/// Least difference of two modes, as a share of the higher.
pub const LEAST_DIFFERENCE: f64 = 0.05;
/// Fewest visits of a mode.
pub const LEAST_VISITS: usize = 3;
pub const LEAST_SHARE: f64 = 0.05;
/// Most values in the middle third between two modes, as a share of the less frequent mode's.
pub const MOST_VALLEY: f64 = 0.5;
/// Probability of an emptier middle third in a unimodal series.
pub const CHANCE: f64 = 0.01;
/// Least difference of "very strong" evidence (R. E. Kass, A. E. Raftery, "Bayes factors", 1995).
const STRONG: f64 = 10.0;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// Median of the values.
    pub level: f64,
    pub stddev: f64,
    pub share_pct: f64,
    /// How often the series came to the mode, or began in it.
    pub visits: u64,
    /// Mean visit, in values, without those cut off by the series' ends (unless it never leaves).
    pub dwell: f64,
    /// In values.
    pub longest: f64,
}

/// Ascending; `None` with fewer than [`LEAST_VALUES`] values, or one that is not finite.
pub fn modes(values: &[f64]) -> Option<Vec<Mode>> {
    if values.len() < LEAST_VALUES || !values.iter().all(|v| v.is_finite()) {
        return None;
    }
    let part = values.len().div_ceil(MOST_VALUES);
    let series: Vec<f64> = values.chunks(part).map(crate::mean).collect();
    let spread = LEAST_SPREAD * assay_units::median(series.iter().map(|v| v.abs()))?;
    // Of a series that is mostly zero.
    let least_spread = spread.max(f64::MIN_POSITIVE.sqrt());
    let one = single::criterion(&series, least_spread);
    let models = (2..=MOST_LEVELS).filter_map(|levels| markov::fit(&series, levels, least_spread));
    let best = models.min_by(|a, b| a.criterion.total_cmp(&b.criterion));
    let several = best.filter(|model| model.criterion + STRONG < one);
    let found = several.map_or_else(Vec::new, |model| distinct(&series, &model.path));
    let found = match found.len() {
        0 | 1 => vec![whole(&series)?],
        _ => found,
    };
    let in_values = |mode: Mode| Mode {
        dwell: mode.dwell * part as f64,
        longest: mode.longest * part as f64,
        ..mode
    };
    Some(found.into_iter().map(in_values).collect())
}

fn whole(series: &[f64]) -> Option<Mode> {
    let path = vec![Some(0); series.len()];
    of_level(series, &path, 0)
}

/// Common levels that recur; unresolved neighbours count as one.
fn distinct(series: &[f64], path: &[usize]) -> Vec<Mode> {
    // Levels are numbered in ascending order; `None` is in no mode.
    let mut path: Vec<Option<usize>> = path.iter().copied().map(Some).collect();
    loop {
        let levels: Vec<(usize, Mode)> = (0..MOST_LEVELS)
            .filter_map(|level| Some((level, of_level(series, &path, level)?)))
            .collect();
        let rare = |(_, mode): &&(usize, Mode)| mode.share_pct < LEAST_SHARE * 100.0;
        let passing = |(_, mode): &&(usize, Mode)| (mode.visits as usize) < LEAST_VISITS;
        let pairs = levels.windows(2).map(|pair| (pair[0], pair[1]));
        let unresolved = pairs
            .map(|(a, b)| (valley(series, a.1.level, b.1.level), a.0, b.0))
            .filter(|(valley, ..)| *valley > MOST_VALLEY)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        // One change at a time, because each changes shares and visits of the others.
        if let Some((level, _)) = levels.iter().find(rare) {
            path.iter_mut().filter(|at| **at == Some(*level)).for_each(|at| *at = None);
        } else if let Some((_, into, from)) = unresolved {
            path.iter_mut().filter(|at| **at == Some(from)).for_each(|at| *at = Some(into));
        } else if let Some((level, _)) = levels.iter().find(passing) {
            path.iter_mut().filter(|at| **at == Some(*level)).for_each(|at| *at = None);
        } else {
            return levels.into_iter().map(|(_, mode)| mode).collect();
        }
    }
}

/// Values in the middle third between two levels, as a share of those in as wide a span around the
/// less frequent level; infinite where a unimodal series can have as few by chance, or the levels
/// hardly differ.
fn valley(series: &[f64], low: f64, high: f64) -> f64 {
    let difference = high - low;
    if difference < LEAST_DIFFERENCE * high.abs().max(low.abs()) {
        return f64::INFINITY;
    }
    let around = |middle: f64| {
        let inside = |v: &&f64| (**v - middle).abs() < difference / 6.0;
        series.iter().filter(inside).count()
    };
    let (middle, level) = (around(low.midpoint(high)), around(low).min(around(high)));
    if level == 0 || at_most(middle, middle + level) > CHANCE {
        return f64::INFINITY;
    }
    middle as f64 / level as f64
}

/// Probability of at most `few` heads in `tosses` of a fair coin.
fn at_most(few: usize, tosses: usize) -> f64 {
    // By logarithms, because binomial coefficients overflow.
    let mut log_term = -(tosses as f64) * std::f64::consts::LN_2;
    let mut sum = 0.0;
    for heads in 0..=few {
        sum += log_term.exp();
        log_term += (((tosses - heads) as f64) / (heads + 1) as f64).ln();
    }
    sum
}

/// `None` without values.
fn of_level(series: &[f64], path: &[Option<usize>], level: usize) -> Option<Mode> {
    let own = || series.iter().zip(path).filter(|(_, at)| **at == Some(level));
    let values: Vec<f64> = own().map(|(v, _)| *v).collect();
    let median = assay_units::median(values.iter().copied())?;
    // Values in no mode do not end a visit.
    let visited: Vec<usize> = path.iter().flatten().copied().collect();
    let runs = visited.chunk_by(|a, b| a == b);
    let runs: Vec<&[usize]> = runs.collect();
    let own_runs = |runs: &[&[usize]]| -> Vec<usize> {
        let own = runs.iter().filter(|run| run[0] == level);
        own.map(|run| run.len()).collect()
    };
    let visits = own_runs(&runs);
    let inner = runs.get(1..runs.len() - 1).map(own_runs).unwrap_or_default();
    let whole = if inner.is_empty() { &visits } else { &inner };
    let dwell = whole.iter().sum::<usize>() as f64 / whole.len() as f64;
    let in_mode = values.len() as f64;
    Some(Mode {
        level: median,
        stddev: moments(&values).map_or(0.0, |(_, variance)| variance.sqrt()),
        share_pct: in_mode / series.len() as f64 * 100.0,
        visits: visits.len() as u64,
        dwell,
        longest: visits.iter().copied().max()? as f64,
    })
}

#[cfg(test)]
#[path = "../tests/unit/modes.rs"]
mod tests;
