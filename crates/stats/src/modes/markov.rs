//! The model of several levels: a hidden Markov model, fitted by segmental k-means.

use std::f64::consts::TAU;

use super::MOST_LEVELS;
use crate::moments::moments;

/// Most rounds of decoding and estimation; nearly all series need fewer than ten.
const MOST_ROUNDS: usize = 30;
/// Added to the count of each transition: an unseen one is not impossible (Krichevsky-Trofimov).
const UNSEEN: f64 = 0.5;
/// Most points of the first partition: means over equal parts of the sorted values.
const MOST_POINTS: usize = 200;

pub(super) struct Model {
    /// Bayesian information criterion; the first value is given.
    pub(super) criterion: f64,
    /// Level of each value, numbered in ascending order.
    pub(super) path: Vec<usize>,
}

#[derive(Clone, Copy, Default)]
struct Level {
    mean: f64,
    spread: f64,
    /// Logarithms of the probabilities of a transition from each level to this one.
    log_from: [f64; MOST_LEVELS],
}

impl Level {
    fn log_density(&self, value: f64) -> f64 {
        let deviation = (value - self.mean) / self.spread;
        -0.5 * deviation * deviation - self.spread.ln() - 0.5 * TAU.ln()
    }
}

/// `None` where a level has no values left.
pub(super) fn fit(series: &[f64], levels: usize, least_spread: f64) -> Option<Model> {
    let bounds = partition(series, levels)?;
    let nearest = |v: &f64| bounds.iter().filter(|bound| v >= bound).count();
    let mut path: Vec<usize> = series.iter().map(nearest).collect();
    let mut model = estimate(series, &path, levels, least_spread)?;
    for _ in 0..MOST_ROUNDS {
        let next = decode(series, &model);
        model = estimate(series, &next, levels, least_spread)?;
        let is_stable = next == path;
        path = next;
        if is_stable {
            break;
        }
    }
    let steps = path.windows(2).zip(&series[1..]);
    let log_likelihood: f64 = steps
        .map(|(step, value)| {
            let level = &model[step[1]];
            level.log_from[step[0]] + level.log_density(*value)
        })
        .sum();
    // Means, spreads, transitions.
    let free = (2 * levels + levels * (levels - 1)) as f64;
    let criterion = -2.0 * log_likelihood + free * ((series.len() - 1) as f64).ln();
    // Rounds can exchange levels.
    let rank = |at: usize| model.iter().filter(|other| other.mean < model[at].mean).count();
    let path = path.into_iter().map(rank).collect();
    Some(Model { criterion, path })
}

/// Bounds between groups of values with the least squares within groups; `None` with fewer distinct
/// values. Exact for up to [`MOST_POINTS`] points, by dynamic programming (W. D. Fisher, "On
/// grouping for maximum homogeneity", 1958).
fn partition(series: &[f64], groups: usize) -> Option<Vec<f64>> {
    let mut sorted = series.to_vec();
    sorted.sort_by(f64::total_cmp);
    let part = sorted.len().div_ceil(MOST_POINTS);
    let points: Vec<f64> = sorted.chunks(part).map(crate::mean).collect();
    if points.chunk_by(|a, b| a == b).count() < groups {
        return None;
    }
    let centre = crate::mean(&points);
    let mut sums = vec![(0.0, 0.0)];
    for point in &points {
        let (sum, squares): (f64, f64) = *sums.last()?;
        let deviation = point - centre;
        sums.push((sum + deviation, squares + deviation * deviation));
    }
    let within = |from: usize, to: usize| {
        let (sum, squares) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
        squares - sum * sum / (to - from) as f64
    };
    // Least squares of the first `to` points in so many groups, and where the last group begins.
    let mut least: Vec<f64> = (1..=points.len()).map(|to| within(0, to)).collect();
    let mut begins: Vec<Vec<usize>> = Vec::new();
    for group in 1..groups {
        let best = |to: usize| {
            let froms = group..to;
            let costs = froms.map(|from| (least[from - 1] + within(from, to), from));
            costs.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, 0))
        };
        let (costs, from): (Vec<f64>, Vec<usize>) = (1..=points.len()).map(best).unzip();
        least = costs;
        begins.push(from);
    }
    let mut bounds = Vec::new();
    let mut to = points.len();
    for from in begins.iter().rev() {
        let at = from[to - 1];
        bounds.push(points[at - 1].midpoint(points[at]));
        to = at;
    }
    Some(bounds)
}

fn estimate(
    series: &[f64],
    path: &[usize],
    levels: usize,
    least_spread: f64,
) -> Option<Vec<Level>> {
    let mut transitions = [[UNSEEN; MOST_LEVELS]; MOST_LEVELS];
    for step in path.windows(2) {
        transitions[step[0]][step[1]] += 1.0;
    }
    let departures = transitions.map(|to| to[..levels].iter().sum::<f64>());
    let level = |at: usize| {
        let own = series.iter().zip(path).filter(|(_, level)| **level == at);
        let own: Vec<f64> = own.map(|(v, _)| *v).collect();
        let (mean, variance) = match own[..] {
            [] => return None,
            [value] => (value, 0.0),
            _ => moments(&own)?,
        };
        Some(Level {
            mean,
            spread: variance.sqrt().max(least_spread),
            log_from: std::array::from_fn(|from| (transitions[from][at] / departures[from]).ln()),
        })
    };
    (0..levels).map(level).collect()
}

/// The most probable path (A. J. Viterbi, 1967).
fn decode(series: &[f64], model: &[Level]) -> Vec<usize> {
    let mut origins: Vec<[usize; MOST_LEVELS]> = Vec::with_capacity(series.len());
    let mut best = [f64::NEG_INFINITY; MOST_LEVELS];
    for (score, level) in best.iter_mut().zip(model) {
        *score = level.log_density(series[0]);
    }
    for value in &series[1..] {
        let (mut next, mut origin) = ([f64::NEG_INFINITY; MOST_LEVELS], [0; MOST_LEVELS]);
        for (at, level) in model.iter().enumerate() {
            let scores = best.iter().zip(&level.log_from).take(model.len());
            for (from, (before, transition)) in scores.enumerate() {
                let score = before + transition;
                if score > next[at] {
                    (next[at], origin[at]) = (score, from);
                }
            }
            next[at] += level.log_density(*value);
        }
        best = next;
        origins.push(origin);
    }
    let ends = (0..model.len()).max_by(|a, b| best[*a].total_cmp(&best[*b]));
    let mut at = ends.unwrap_or(0);
    let mut path = vec![at; series.len()];
    for (t, origin) in origins.iter().enumerate().rev() {
        at = origin[at];
        path[t] = at;
    }
    path
}
