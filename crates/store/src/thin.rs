//! Fewer points for a latency distribution, with its tail intact.

use assay_stats::summary::PERCENTILES;
use assay_units::Nanos;

/// Points kept at most: enough for a curve without visible corners on any screen.
pub(crate) const MAX_POINTS: usize = 400;
/// Spread evenly over the probability.
const BODY_POINTS: u64 = 160;
/// Spread evenly over the logarithm of the probability to be above: a percentile plot's axis.
const TAIL_POINTS: u32 = 160;
/// The slowest points, kept as they are.
const LAST_POINTS: usize = 64;

/// Thin a cumulative distribution, (latency, values up to it), to [`MAX_POINTS`]. Every point kept is one of the given
/// ones, so the curve stays true; the first, the slowest and those of all [`PERCENTILES`] are among them.
pub(crate) fn thin(points: &[(Nanos, u64)]) -> Vec<(Nanos, u64)> {
    let Some(&(_, total)) = points.last() else {
        return Vec::new();
    };
    if points.len() <= MAX_POINTS {
        return points.to_vec();
    }
    let at_rank = |rank: u64| {
        points
            .partition_point(|&(_, seen)| seen < rank)
            .min(points.len() - 1)
    };
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
    let mut kept: Vec<usize> = body
        .chain(tail)
        .chain(named)
        .map(|rank| at_rank(rank.clamp(1, total)))
        .chain(points.len() - LAST_POINTS..points.len())
        .collect();
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|i| points[i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_stats::{Histogram, LatencySummary};
    use assay_units::Rng;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keeps_the_ends_the_order_and_every_named_percentile(seed in any::<u64>(), values in 1_u32..60_000, spread in 1_u32..30) {
            let mut rng = Rng::new(seed);
            let mut histogram = Histogram::new();
            for _ in 0..values {
                histogram.record(Nanos(1_000 + (rng.exponential(1.0) * f64::from(1_u32 << spread)) as u64));
            }
            let all = histogram.cumulative();
            let kept = thin(&all);
            prop_assert!(kept.len() <= MAX_POINTS && kept.len() >= all.len().min(LAST_POINTS));
            prop_assert_eq!(kept.first(), all.first());
            prop_assert_eq!(kept.last(), all.last());
            prop_assert!(kept.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1));
            prop_assert!(kept.iter().all(|point| all.contains(point)));
            let summary = LatencySummary::of(&histogram);
            for (name, per_million) in PERCENTILES {
                let rank = (u64::from(values) * u64::from(per_million)).div_ceil(1_000_000).max(1);
                let read_off = kept.iter().find(|(_, seen)| *seen >= rank).unwrap().0;
                prop_assert_eq!(Some(read_off), summary.percentile(name), "{}", name);
            }
        }
    }

    #[test]
    fn nothing_stays_nothing() {
        assert_eq!(thin(&[]), Vec::new());
    }
}
