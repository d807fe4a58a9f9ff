//! Location and spread of a cohort.

use std::cmp::Ordering;

/// Makes Q_n estimate the standard deviation of a normal distribution (P. J. Rousseeuw, C. Croux,
/// "Alternatives to the Median Absolute Deviation", Journal of the American Statistical Association
/// 88, 1993).
const QN_TO_SIGMA: f64 = 2.2219;
/// Finite-sample factors for 2 to 9 values (C. Croux, P. J. Rousseeuw, "Time-efficient algorithms
/// for two highly robust estimators of scale", Computational Statistics 1, 1992).
const QN_SMALL: [f64; 8] = [0.399, 0.994, 0.512, 0.844, 0.611, 0.857, 0.669, 0.872];

/// Robust standard deviation: an order statistic of the differences of all pairs. Half of the
/// values may be arbitrary. 0 of fewer than two values. All values must be finite.
pub fn qn(values: &[f64]) -> f64 {
    let n = values.len();
    if n < 2 {
        return 0.0;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = n / 2 + 1;
    let rank = half * (half - 1) / 2;
    let factor = match n {
        2..=9 => QN_SMALL[n - 2],
        _ if n % 2 == 1 => n as f64 / (n as f64 + 1.4),
        _ => n as f64 / (n as f64 + 3.8),
    };
    factor * QN_TO_SIGMA * pair_difference(&sorted, rank)
}

/// The `rank`-th smallest difference (from 1) of two sorted values, exact by bisection over the
/// bits of non-negative numbers, which are in their order.
fn pair_difference(sorted: &[f64], rank: usize) -> f64 {
    let reaches = |limit: f64| {
        let (mut count, mut low) = (0, 0);
        for high in 1..sorted.len() {
            while sorted[high] - sorted[low] > limit {
                low += 1;
            }
            count += high - low;
        }
        count >= rank
    };
    let (mut below, mut enough) = (0, (sorted[sorted.len() - 1] - sorted[0]).to_bits());
    while below < enough {
        let middle = below + (enough - below) / 2;
        if reaches(f64::from_bits(middle)) {
            enough = middle;
        } else {
            below = middle + 1;
        }
    }
    f64::from_bits(enough)
}

/// Of one-way classes (drives with repeated runs).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VarianceComponents {
    /// Between drives.
    pub between: f64,
    /// Between runs of a drive.
    pub within: f64,
    /// Of [`VarianceComponents::within`].
    pub degrees: usize,
}

impl VarianceComponents {
    /// Share of the variance of single runs that is between runs of a drive.
    pub fn share_within(&self) -> Option<f64> {
        let all = self.between + self.within;
        (all > 0.0).then(|| self.within / all)
    }
}

/// By the analysis of variance for unequal numbers (S. R. Searle, G. Casella, C. E. McCulloch,
/// "Variance Components", 1992, 3.6). A negative estimate is zero. `None` without two classes, or
/// without a repetition.
pub fn variance_components(classes: &[Vec<f64>]) -> Option<VarianceComponents> {
    let classes: Vec<&Vec<f64>> = classes.iter().filter(|class| !class.is_empty()).collect();
    let count: usize = classes.iter().map(|class| class.len()).sum();
    if classes.len() < 2 || count <= classes.len() {
        return None;
    }
    let all = count as f64;
    let grand = classes.iter().flat_map(|c| c.iter()).sum::<f64>() / all;
    let (mut inside, mut outside, mut squares) = (0.0, 0.0, 0.0);
    for class in &classes {
        let mean = crate::mean(class);
        inside += class.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
        outside += class.len() as f64 * (mean - grand).powi(2);
        squares += (class.len() as f64).powi(2);
    }
    let (degrees, groups) = (count - classes.len(), classes.len() as f64 - 1.0);
    let within = inside / degrees as f64;
    let each = (all - squares / all) / groups;
    let between = ((outside / groups - within) / each).max(0.0);
    (within.is_finite() && between.is_finite()).then_some(VarianceComponents {
        between,
        within,
        degrees,
    })
}

const NORMAL_L_KURTOSIS: f64 = 0.1226;
pub const FEWEST_FOR_TAILS: usize = 12;

/// Whether tails are heavier than normal, by a one-sided test of the L-kurtosis (J. R. M. Hosking,
/// Journal of the Royal Statistical Society B 52, 1990) with the variance of A. Harri and K. H.
/// Coble ("Normality testing: two new tests using L-moments", Journal of Applied Statistics 38,
/// 2011); about 5 % of normal cohorts are called heavy. `None` of fewer than [`FEWEST_FOR_TAILS`]
/// values, or without variation.
pub fn heavy_tails(values: &[f64]) -> Option<bool> {
    let n = values.len() as f64;
    if values.len() < FEWEST_FOR_TAILS {
        return None;
    }
    let kurtosis = l_kurtosis(values)?;
    let error = (0.1866 / n + 0.8 / (n * n)).sqrt();
    Some(kurtosis > NORMAL_L_KURTOSIS + 1.645 * error)
}

/// Ratio of the fourth to the second sample L-moment; `None` without variation.
fn l_kurtosis(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    // Deviations from the median, for precision.
    let centre = sorted[sorted.len() / 2];
    let n = sorted.len() as f64;
    let mut weighted = [0.0; 4];
    for (at, value) in sorted.iter().enumerate() {
        let (i, value) = (at as f64, (value - centre) / n);
        let first = i / (n - 1.0);
        let second = first * (i - 1.0) / (n - 2.0);
        let third = second * (i - 2.0) / (n - 3.0);
        for (sum, weight) in weighted.iter_mut().zip([1.0, first, second, third]) {
            *sum += weight * value;
        }
    }
    let [b0, b1, b2, b3] = weighted;
    let (scale, fourth) = (2.0 * b1 - b0, 20.0 * b3 - 30.0 * b2 + 12.0 * b1 - b0);
    match scale.partial_cmp(&0.0) {
        Some(Ordering::Greater) => Some(fourth / scale),
        _ => None,
    }
}

#[cfg(test)]
#[path = "../../tests/unit/cohort/spread.rs"]
mod tests;
