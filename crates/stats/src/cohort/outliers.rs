//! Drives unlike the others: distance from the median over Q_n, with a limit that depends on the
//! number of drives, because a constant one flags the more clean cohorts the larger they are. The
//! limits are the 95th percentiles of the largest distance in clean (normal) cohorts of each size,
//! simulated by `cargo run --release -p assay-stats --example outlier-limits`.

use assay_units::Rng;

use super::FALSE_ALARM;
use super::limits::LIMITS;
use super::spread::qn;
use crate::median;

/// Among fewer drives the limit is beyond use.
pub const FEWEST_DRIVES: usize = 6;

/// In units of Q_n; `None` for fewer than [`FEWEST_DRIVES`]. Interpolated on the logarithm of the
/// size; beyond the table it grows as the normal distribution's.
pub fn limit(drives: usize) -> Option<f64> {
    if drives < FEWEST_DRIVES {
        return None;
    }
    let after = LIMITS.partition_point(|(n, _)| *n < drives);
    match LIMITS.get(after) {
        Some((n, limit)) if *n == drives || after == 0 => Some(*limit),
        Some((above, high)) => {
            let (below, low) = LIMITS[after - 1];
            let at = (drives as f64 / below as f64).ln() / (*above as f64 / below as f64).ln();
            Some(low + at * (high - low))
        }
        None => {
            // The largest of n normal values grows as the square root of 2 ln n.
            let (largest, limit) = LIMITS[LIMITS.len() - 1];
            Some(limit * ((drives as f64).ln() / (largest as f64).ln()).sqrt())
        }
    }
}

/// Groups of so many drives have medians precise enough for the limit of one group.
const LARGE_GROUP: usize = 100;
/// Cohorts simulated for a limit of small groups.
const COHORTS: usize = 4_000;

/// The limit where each value is relative to the median of its group, which is less precise in
/// small groups. One group, or large ones: [`limit`] of all drives; else simulated, seeded by the
/// sizes. `None` as [`limit`].
pub fn limit_of_groups(sizes: &[usize]) -> Option<f64> {
    let drives = sizes.iter().sum();
    let one = limit(drives)?;
    if sizes.len() < 2 || sizes.iter().all(|size| *size >= LARGE_GROUP) {
        return Some(one);
    }
    let seed = sizes.iter().fold(0, |seed, size| assay_units::rng::mix(seed, *size as u64));
    let mut rng = Rng::stream(seed, "outlier limit of groups");
    let mut farthest = || {
        let mut values = Vec::with_capacity(drives);
        for size in sizes {
            let own: Vec<f64> = (0..*size).map(|_| rng.normal()).collect();
            let middle = median(&own);
            values.extend(own.iter().map(|v| v - middle));
        }
        let (middle, scale) = (median(&values), qn(&values));
        let far = values.iter().map(|v| (v - middle).abs() / scale);
        far.fold(0.0, f64::max)
    };
    let mut farthest: Vec<f64> = (0..COHORTS).map(|_| farthest()).collect();
    farthest.sort_by(f64::total_cmp);
    Some(farthest[((1.0 - FALSE_ALARM) * COHORTS as f64) as usize])
}

#[derive(Clone, Debug, PartialEq)]
pub struct Distances {
    pub median: f64,
    /// Robust standard deviation.
    pub qn: f64,
    pub limit: f64,
    /// Distance from the median in units of Q_n, with its sign.
    pub distances: Vec<f64>,
}

impl Distances {
    /// Positions of values beyond the limit, the farthest first.
    pub fn beyond(&self) -> Vec<usize> {
        let mut found: Vec<usize> = (0..self.distances.len()).collect();
        found.retain(|at| self.distances[*at].abs() > self.limit);
        found.sort_by(|a, b| self.distances[*b].abs().total_cmp(&self.distances[*a].abs()));
        found
    }
}

/// `None` of fewer than [`FEWEST_DRIVES`] finite values, or if Q_n is 0 (over half are equal).
pub fn distances(values: &[f64]) -> Option<Distances> {
    distances_within(values, limit(values.len())?)
}

/// [`distances`] with another limit.
pub fn distances_within(values: &[f64], limit: f64) -> Option<Distances> {
    let (median, qn) = (median(values), qn(values));
    // Spread within the rounding of the values.
    let rounding = 1e-12 * values.iter().fold(1.0, |most: f64, v| most.max(v.abs()));
    (qn > rounding).then(|| Distances {
        median,
        qn,
        limit,
        distances: values.iter().map(|v| (v - median) / qn).collect(),
    })
}

#[cfg(test)]
#[path = "../../tests/unit/cohort/outliers.rs"]
mod tests;
