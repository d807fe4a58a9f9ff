use super::*;
use assay_stats::{Histogram, LatencySummary};
use assay_units::Rng;
use proptest::prelude::*;

proptest! {
    #[test]
    fn thinning_keeps_ends_order_and_named_percentiles(seed in any::<u64>(), values in 1_u32..60_000, spread in 1_u32..30, deadline in any::<u32>()) {
        let mut rng = Rng::new(seed);
        let mut histogram = Histogram::new();
        for _ in 0..values {
            histogram.record(Nanos(1_000 + (rng.exponential(1.0) * f64::from(1_u32 << spread)) as u64));
        }
        let all = histogram.cumulative();
        let kept = thin(&all, &[u64::from(deadline)]);
        let in_time = |points: &[(Nanos, u64)]| {
            points.iter().rev().find(|(latency, _)| latency.0 <= u64::from(deadline)).map_or(0, |point| point.1)
        };
        prop_assert_eq!(in_time(&kept), in_time(&all), "a deadline is counted exactly");
        prop_assert!(kept.len() <= MAX_POINTS && kept.len() >= all.len().min(LAST_POINTS));
        prop_assert_eq!(kept.first(), all.first());
        prop_assert_eq!(kept.last(), all.last());
        prop_assert!(kept.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1));
        prop_assert!(kept.iter().all(|point| all.contains(point)));
        let summary = LatencySummary::new(&histogram);
        for (name, per_million) in PERCENTILES {
            let rank = (u64::from(values) * u64::from(per_million)).div_ceil(1_000_000).max(1);
            let read_off = kept.iter().find(|(_, seen)| *seen >= rank).unwrap().0;
            prop_assert_eq!(Some(read_off), summary.percentile(name), "{}", name);
        }
    }
}

#[test]
fn an_empty_series_stays_empty() {
    assert_eq!(thin(&[], &[1]), Vec::new());
}
