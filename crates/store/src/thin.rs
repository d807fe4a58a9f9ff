//! Thinning of latency distributions, with the tail intact.

use assay_stats::summary::PERCENTILES;
use assay_units::Nanos;

/// A smooth curve on any screen.
pub(crate) const MAX_POINTS: usize = 400;
/// Spread evenly over the probability.
const BODY_POINTS: u64 = 160;
/// Spread evenly over the logarithm of the probability to be above: a percentile plot's axis.
const TAIL_POINTS: u32 = 160;
/// The slowest points, kept as they are.
const LAST_POINTS: usize = 64;

/// Points are (latency, values up to it). At most [`MAX_POINTS`] of them stay, with the first, the
/// slowest, those of all [`PERCENTILES`] and the last one up to each deadline.
pub(crate) fn thin(points: &[(Nanos, u64)], deadlines_ns: &[u64]) -> Vec<(Nanos, u64)> {
    let Some(&(_, total)) = points.last() else {
        return Vec::new();
    };
    if points.len() <= MAX_POINTS {
        return points.to_vec();
    }
    let at_rank =
        |rank: u64| points.partition_point(|&(_, seen)| seen < rank).min(points.len() - 1);
    let body = (0..=BODY_POINTS)
        .map(|i| (u128::from(total) * u128::from(i) / u128::from(BODY_POINTS)) as u64);
    let decades = (total as f64).log10();
    let tail = (0..=TAIL_POINTS).map(|i| {
        let above = 10_f64.powf(-decades * f64::from(i) / f64::from(TAIL_POINTS));
        total - (total as f64 * above) as u64
    });
    let named = PERCENTILES.iter().map(|&(_, per_million)| {
        (u128::from(total) * u128::from(per_million)).div_ceil(1_000_000) as u64
    });
    let up_to =
        |deadline_ns: &u64| points.partition_point(|&(latency, _)| latency.0 <= *deadline_ns);
    let in_time = deadlines_ns.iter().filter_map(|d| up_to(d).checked_sub(1));
    let mut kept: Vec<usize> = body
        .chain(tail)
        .chain(named)
        .map(|rank| at_rank(rank.clamp(1, total)))
        .chain(points.len() - LAST_POINTS..points.len())
        .chain(in_time)
        .collect();
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|i| points[i]).collect()
}

#[cfg(test)]
#[path = "../tests/unit/thin.rs"]
mod tests;
