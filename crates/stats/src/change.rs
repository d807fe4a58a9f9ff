//! Change-point detection (PELT) for series of rates, and detection of rates that alternate between
//! two levels, both on logarithms of rates.
//!
//! Hampel's filter replaces single outliers by the median of their neighbours. PELT (R. Killick, P.
//! Fearnhead, I. A. Eckley, JASA 107, 2012) finds the segmentation of least cost: squared
//! deviations from each segment's mean, in units of the noise variance, and a penalty per segment.
//! The noise is the median absolute difference of neighbours, robust against steps and trends.
//! [`alternation`]: two classes by Otsu's threshold (N. Otsu, IEEE Trans. SMC 9, 1979), for thermal
//! throttling with hysteresis.

use crate::median;
use crate::moments::{mean, slope};

/// Least noise, a logarithm of a ratio (1 %), so that noiseless series have no tiny changes.
pub const NOISE_FLOOR: f64 = 0.01;
/// Penalty of a segment, in units of the noise's variance times `ln n`. The Bayesian criterion for
/// a level and a position is 3 (N. R. Zhang, D. O. Siegmund, Biometrics 63, 2007); more, because
/// successive rates are correlated.
pub const PENALTY: f64 = 5.0;
/// Least difference between the levels of neighbouring segments, a logarithm of a ratio (5 %).
pub const LEAST_STEP: f64 = 0.05;
/// In points.
pub const LEAST_LEN: usize = 3;
/// Longer series become medians of neighbours: the worst case grows with the square of the length.
pub const MOST_POINTS: usize = 1 << 14;

/// Deviations from its neighbours' median beyond which a point is an outlier.
const OUTLIER_DEVIATIONS: f64 = 3.0;
/// Neighbours on each side with which a point is compared.
const OUTLIER_REACH: usize = 3;
/// Standard deviation over median absolute deviation of a normal distribution.
pub const MAD_TO_SIGMA: f64 = 1.4826;
/// Least rate, share of the highest: bounds the logarithm of a stall.
const LEAST_SHARE: f64 = 1e-4;
/// Least distance of two alternating levels, a logarithm of a ratio (16 %).
const LEAST_SWING: f64 = 0.15;
/// Least share of the variance that two levels explain.
const LEAST_EXPLAINED: f64 = 0.8;
const LEAST_FALLS: usize = 2;

/// A span of a series between changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Segment {
    pub from: usize,
    /// Exclusive.
    pub to: usize,
    /// Median rate.
    pub level: f64,
    /// Standard deviation (from the median absolute one) of the rate, as share of the level.
    pub spread: f64,
    /// Change per point along the least-squares line of the logarithms, as share of the level.
    pub slope: f64,
}

impl Segment {
    pub fn len(&self) -> usize {
        self.to - self.from
    }

    /// Never true for segments of [`segments`].
    pub fn is_empty(&self) -> bool {
        self.to == self.from
    }
}

/// Segments that cover a whole series; what is not a positive number counts as the least rate.
/// Changes of more than [`MOST_POINTS`] points are found to within one median of neighbours.
pub fn segments(rates: &[f64]) -> Vec<Segment> {
    let logs = logarithms(rates);
    // An odd number, so that the median at a step is of one of its sides.
    let each = logs.len().div_ceil(MOST_POINTS) | 1;
    let points: Vec<f64> = match each {
        1 => logs.clone(),
        _ => logs.chunks(each).map(median).collect(),
    };
    let Some(noise) = noise_of(&points) else {
        return describe_all(rates, &logs, &[0, rates.len()]);
    };
    let even = without_outliers(&points, noise);
    let penalty = PENALTY * (points.len() as f64).ln();
    let mut cuts = joined(&even, pelt(&even, noise, penalty));
    for cut in &mut cuts {
        *cut = (*cut * each).min(logs.len());
    }
    describe_all(rates, &logs, &cuts)
}

/// Of neighbours' ratios (a logarithm), at least [`NOISE_FLOOR`]; `None` below four points.
pub fn noise(rates: &[f64]) -> Option<f64> {
    noise_of(&logarithms(rates))
}

/// Rise along the least-squares line, as logarithm of the ratio of its ends.
pub fn drift(rates: &[f64]) -> f64 {
    slope(&logarithms(rates)) * rates.len().saturating_sub(1) as f64
}

fn logarithms(rates: &[f64]) -> Vec<f64> {
    let usable = |&rate: &f64| Some(rate).filter(|rate| rate.is_finite() && *rate > 0.0);
    let highest = rates.iter().filter_map(usable).fold(0.0, f64::max);
    if highest == 0.0 {
        return vec![0.0; rates.len()];
    }
    let log = |rate: &f64| usable(rate).unwrap_or(0.0).max(highest * LEAST_SHARE).ln();
    rates.iter().map(log).collect()
}

fn noise_of(logs: &[f64]) -> Option<f64> {
    if logs.len() < 4 {
        return None;
    }
    let steps: Vec<f64> = logs.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    let sigma = median(&steps) * MAD_TO_SIGMA / std::f64::consts::SQRT_2;
    Some(sigma.max(NOISE_FLOOR))
}

fn without_outliers(logs: &[f64], noise: f64) -> Vec<f64> {
    let kept = |(at, &log): (usize, &f64)| {
        let from = at.saturating_sub(OUTLIER_REACH);
        let middle = median(&logs[from..(at + OUTLIER_REACH + 1).min(logs.len())]);
        let is_outlier = (log - middle).abs() > OUTLIER_DEVIATIONS * noise;
        if is_outlier { middle } else { log }
    };
    logs.iter().enumerate().map(kept).collect()
}

/// Squared deviations from the mean of `from..to`, in units of the noise's variance, by prefix sums
/// of deviations from the overall mean (for numerical precision) and of their squares.
fn segment_costs(values: &[f64], noise: f64) -> impl Fn(usize, usize) -> f64 {
    let mean = mean(values);
    let mut sums = vec![(0.0, 0.0)];
    sums.extend(values.iter().scan((0.0, 0.0), |(sum, squares), value| {
        *sum += value - mean;
        *squares += (value - mean) * (value - mean);
        Some((*sum, *squares))
    }));
    move |from: usize, to: usize| {
        let (sum, squares) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
        let deviations: f64 = squares - sum * sum / (to - from) as f64;
        deviations.max(0.0) / (noise * noise)
    }
}

/// Segmentation of least cost, ends included: `[0, ..., n]`.
fn pelt(values: &[f64], noise: f64, penalty: f64) -> Vec<usize> {
    let n = values.len();
    let cost_of = segment_costs(values, noise);
    let mut best = vec![f64::INFINITY; n + 1];
    best[0] = -penalty;
    let mut before = vec![0; n + 1];
    // Candidates for the last cut, and until when.
    let mut open = vec![(0, usize::MAX)];
    for to in LEAST_LEN..=n {
        open.retain(|&(_, until)| to < until);
        let mut costs = Vec::with_capacity(open.len());
        for &(from, _) in &open {
            let cost = best[from] + cost_of(from, to);
            costs.push(cost);
            if cost + penalty < best[to] {
                best[to] = cost + penalty;
                before[to] = from;
            }
        }
        // A candidate worse than a cut here, even without penalty, is pruned for later segments.
        for ((_, until), cost) in open.iter_mut().zip(costs) {
            if cost > best[to] {
                *until = (*until).min(to + LEAST_LEN);
            }
        }
        let next = to + 1 - LEAST_LEN;
        if next >= LEAST_LEN {
            open.push((next, usize::MAX));
        }
    }
    let mut cuts = vec![n];
    let mut at = n;
    while at > 0 && best[at].is_finite() {
        at = before[at];
        cuts.push(at);
    }
    if at > 0 {
        cuts.push(0);
    }
    cuts.reverse();
    cuts
}

/// Remove cuts between levels that differ by less than [`LEAST_STEP`], smallest difference first.
fn joined(values: &[f64], mut cuts: Vec<usize>) -> Vec<usize> {
    loop {
        let smallest = (1..cuts.len().saturating_sub(1))
            .map(|at| {
                let left = mean(&values[cuts[at - 1]..cuts[at]]);
                let right = mean(&values[cuts[at]..cuts[at + 1]]);
                ((right - left).abs(), at)
            })
            .min_by(|a, b| a.0.total_cmp(&b.0));
        match smallest {
            Some((step, at)) if step < LEAST_STEP => {
                cuts.remove(at);
            }
            _ => return cuts,
        }
    }
}

fn describe_all(rates: &[f64], logs: &[f64], cuts: &[usize]) -> Vec<Segment> {
    let describe = |from: usize, to: usize| {
        let level = median(&rates[from..to]);
        let off: Vec<f64> = rates[from..to].iter().map(|r| (r - level).abs()).collect();
        let share = if level > 0.0 { 1.0 / level } else { 0.0 };
        Segment {
            from,
            to,
            level,
            spread: median(&off) * MAD_TO_SIGMA * share,
            slope: slope(&logs[from..to]),
        }
    };
    let ends = cuts.windows(2).filter(|w| w[0] < w[1]);
    ends.map(|w| describe(w[0], w[1])).collect()
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alternation {
    /// Median rate of the fast state.
    pub high: f64,
    /// Median rate of the slow state.
    pub low: f64,
    /// Per point.
    pub slow: Vec<bool>,
    /// First points of slow spans.
    pub falls: Vec<usize>,
    /// Median length of complete fast spans, points.
    pub dwell_high: f64,
    /// Median length of complete slow spans, points.
    pub dwell_low: f64,
    /// Share of slow points from the first fall to the last.
    pub duty_low: f64,
    /// Median points from one fall to the next.
    pub period: f64,
}

/// `None` for one level, a single step, or levels that are not distinct.
pub fn alternation(rates: &[f64]) -> Option<Alternation> {
    let logs = logarithms(rates);
    let split = split_in_two(&logs)?;
    let slow: Vec<bool> = logs.iter().map(|&log| log < split).collect();
    let states = &slow[..];
    let starts =
        |of: bool| (1..states.len()).filter(move |&at| states[at] == of && states[at - 1] != of);
    let falls: Vec<usize> = starts(true).collect();
    if falls.len() < LEAST_FALLS {
        return None;
    }
    let of = |wanted: bool| -> Vec<f64> {
        let chosen = rates.iter().zip(&slow).filter(|(_, is)| **is == wanted);
        chosen.map(|(rate, _)| *rate).collect()
    };
    let rises: Vec<usize> = starts(false).collect();
    let (first, last) = (falls[0], falls[falls.len() - 1]);
    let slow_points = slow[first..last].iter().filter(|s| **s).count();
    let span_length = |starts: &[usize], ends: &[usize]| -> f64 {
        let lengths = starts.iter().filter_map(|&start| {
            let end = ends.iter().find(|&&end| end > start)?;
            Some((end - start) as f64)
        });
        median(&lengths.collect::<Vec<f64>>())
    };
    let periods: Vec<f64> = falls.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
    Some(Alternation {
        high: median(&of(false)),
        low: median(&of(true)),
        dwell_high: span_length(&rises, &falls),
        dwell_low: span_length(&falls, &rises),
        duty_low: slow_points as f64 / (last - first) as f64,
        period: median(&periods),
        slow,
        falls,
    })
}

/// Otsu's threshold, if it explains most of the variance and the sides are distinct.
fn split_in_two(logs: &[f64]) -> Option<f64> {
    let mut sorted = logs.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (n, all) = (sorted.len() as f64, sorted.iter().sum::<f64>());
    let total: f64 = sorted.iter().map(|v| (v - all / n) * (v - all / n)).sum();
    let mut below = 0.0;
    let mut best: Option<(f64, usize)> = None;
    for at in 1..sorted.len() {
        below += sorted[at - 1];
        let (k, gap) = (at as f64, all / n - below / at as f64);
        let between = k * n / (n - k) * gap * gap;
        if best.is_none_or(|(most, _)| between > most) {
            best = Some((between, at));
        }
    }
    let (between, at) = best?;
    let (low, high) = (mean(&sorted[..at]), mean(&sorted[at..]));
    let clear = between >= LEAST_EXPLAINED * total && high - low >= LEAST_SWING;
    clear.then(|| f64::midpoint(low, high))
}

#[cfg(test)]
#[path = "../tests/unit/change.rs"]
mod tests;
