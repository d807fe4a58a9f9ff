use super::*;
use proptest::prelude::*;

fn histogram_of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for &value in values {
        histogram.record(Nanos(value));
    }
    histogram
}

#[test]
fn buckets_tile_the_range_without_gap_or_overlap() {
    let mut previous_high = None;
    for bucket in 0..BUCKETS {
        let high = highest_of(bucket);
        assert_eq!(bucket_of(high), bucket);
        if let Some(before) = previous_high {
            assert_eq!(bucket_of(before + 1), bucket);
        }
        previous_high = Some(high);
    }
    assert_eq!(previous_high, Some(MAX_TRACKABLE_NS));
    assert_eq!(bucket_of(MAX_TRACKABLE_NS + 1), BUCKETS);
}

#[test]
fn overflow_is_counted_and_never_clamped() {
    let histogram = histogram_of(&[100, MAX_TRACKABLE_NS + 1, u64::MAX]);
    assert_eq!(histogram.count(), 3);
    assert_eq!(histogram.overflow(), 2);
    assert_eq!(histogram.max(), Nanos(u64::MAX));
    assert_eq!(histogram.percentile(1_000_000), Nanos(u64::MAX));
    assert_eq!(histogram.percentile(300_000), Nanos(100));
    assert_eq!(Histogram::decode(&histogram.encode()), Ok(histogram));
}

#[test]
fn empty_is_all_zero() {
    let histogram = Histogram::new();
    assert_eq!(histogram.percentile(999_999), Nanos::ZERO);
    assert_eq!((histogram.min(), histogram.max()), (Nanos::ZERO, Nanos::ZERO));
    assert_eq!(histogram.stddev_ns(), 0.0);
    assert_eq!(Histogram::decode(&histogram.encode()), Ok(histogram));
}

fn latencies() -> impl Strategy<Value = Vec<u64>> {
    // Uniform over exponents, so that small and huge latencies are equally likely.
    prop::collection::vec((0_u32..41, any::<u64>()), 1..400)
        .prop_map(|v| v.into_iter().map(|(e, x)| x % (2 << e)).collect())
}

proptest! {
    /// The oracle: HdrHistogram itself, at three significant digits over the same range.
    #[test]
    fn agrees_with_hdrhistogram(values in latencies()) {
        let mut oracle = hdrhistogram::Histogram::<u64>::new_with_bounds(1, MAX_TRACKABLE_NS, 3).unwrap();
        for &value in &values {
            oracle.record(value).unwrap();
        }
        let ours = histogram_of(&values);
        for per_million in [1, 100_000, 500_000, 900_000, 990_000, 999_000, 999_900, 999_999, 1_000_000] {
            let theirs = oracle.value_at_quantile(f64::from(per_million) / 1e6);
            let value = ours.percentile(per_million).0;
            // HdrHistogram reports up to the top of a bucket, this histogram at most the maximum:
            // both within one bucket.
            prop_assert!(value.abs_diff(theirs) as f64 <= theirs as f64 / 1024.0 + 1.0, "{per_million}: {value} vs {theirs}");
        }
    }

    /// The oracle: sorting.
    #[test]
    fn percentiles_are_nearest_rank_within_a_bucket(mut values in latencies(), per_million in 1_u32..=1_000_000) {
        let ours = histogram_of(&values).percentile(per_million).0;
        values.sort_unstable();
        let rank = (values.len() as u64 * u64::from(per_million)).div_ceil(1_000_000).max(1) as usize;
        let truth = values[rank - 1];
        prop_assert!(ours >= truth && ours as f64 <= truth as f64 * (1.0 + 1.0 / 1024.0) + 1.0, "{ours} vs {truth}");
    }

    #[test]
    fn moments_are_exact_or_close(values in latencies()) {
        let ours = histogram_of(&values);
        let n = values.len() as f64;
        let mean = values.iter().map(|&v| v as f64).sum::<f64>() / n;
        let stddev = (values.iter().map(|&v| (v as f64 - mean).powi(2)).sum::<f64>() / n).sqrt();
        prop_assert!((ours.mean_ns() - mean).abs() <= mean * 1e-12);
        // A bucket is at most 1/1024 wide; the largest value bounds the error of every square.
        prop_assert!((ours.stddev_ns() - stddev).abs() <= ours.max().0 as f64 / 1024.0);
    }

    #[test]
    fn merging_equals_recording_together(a in latencies(), b in latencies()) {
        let mut merged = histogram_of(&a);
        merged.merge(&histogram_of(&b));
        let together: Vec<u64> = a.iter().chain(&b).copied().collect();
        prop_assert_eq!(merged, histogram_of(&together));
    }

    #[test]
    fn encoding_round_trips_and_clearing_empties(values in latencies()) {
        let mut histogram = histogram_of(&values);
        prop_assert_eq!(&Histogram::decode(&histogram.encode()).unwrap(), &histogram);
        histogram.clear();
        prop_assert_eq!(histogram, Histogram::new());
    }

    #[test]
    fn decoding_never_panics(text in "[A-Za-z0-9+/]{0,80}") {
        let _ = Histogram::decode(&text);
    }

    #[test]
    fn decoding_bytes_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(histogram) = Histogram::decode(&BASE64.encode(bytes)) {
            let _ = (histogram.stddev_ns(), histogram.percentile(990_000), histogram.cumulative());
        }
    }
}
