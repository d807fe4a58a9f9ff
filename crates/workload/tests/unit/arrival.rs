use super::*;
use assay_units::{Rng, rng::mix};
use proptest::prelude::*;

fn whole(number: u64) -> NonZeroU64 {
    NonZeroU64::new(number).unwrap()
}

fn rate(iops: u64) -> Rate {
    Rate::iops(whole(iops))
}

fn workers(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).unwrap()
}

fn poisson_times(iops: u64, share: u32, seed: u64, count: usize) -> Vec<u64> {
    let mut arrivals = Arrivals::poisson(whole(iops), workers(share), Rng::new(seed));
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        times.push(arrivals.next_due().0);
        arrivals.advance();
    }
    times
}

#[test]
fn a_closed_loop_is_always_due() {
    let mut closed = Arrivals::closed();
    closed.advance();
    assert!(!closed.is_paced());
    assert_eq!(closed.next_due(), Nanos::ZERO);
}

proptest! {
    /// The n-th arrival is floor((worker + n * workers) * 10^9 / rate), the formula evaluated in
    /// 128 bits.
    #[test]
    fn constant_arrivals_never_drift(
        iops in prop_oneof![1_u64..5_000_000, Just(u64::MAX), Just(3), Just(999_999_937)],
        share in 1_u32..64, count in 1_usize..3000,
    ) {
        for worker in [0, share / 2, share - 1] {
            let mut arrivals = Arrivals::constant(rate(iops), worker, workers(share));
            prop_assert!(arrivals.is_paced());
            for n in 0..count as u128 {
                let index = u128::from(worker) + n * u128::from(share);
                let due = index * 1_000_000_000 / u128::from(iops);
                prop_assert_eq!(u128::from(arrivals.next_due().0), due);
                arrivals.advance();
            }
        }
    }
}

proptest! {
    /// The n-th arrival of a job held to bytes per second is floor(n * 10^9 * block / bytes), in
    /// 128 bits: no rate is rounded.
    #[test]
    fn bytes_per_second_are_met_exactly(
        bytes in prop_oneof![1_u64..100_000, 1_000_000_u64..20_000_000_000, Just(u64::MAX)],
        blocks in 1_u64..8192, share in 1_u32..64, count in 1_usize..1000,
    ) {
        let block = blocks * 512;
        let limit = Rate::of_bytes(whole(bytes), block as f64);
        let exact = bytes as f64 / block as f64;
        let per_second = limit.ios.get() as f64 / limit.seconds.get() as f64;
        prop_assert!((per_second / exact - 1.0).abs() < 1e-9);
        for worker in [0, share - 1] {
            let mut arrivals = Arrivals::constant(limit, worker, workers(share));
            for n in 0..count as u128 {
                let index = u128::from(worker) + n * u128::from(share);
                let due = index * 1_000_000_000 * u128::from(block) / u128::from(bytes);
                prop_assert_eq!(u128::from(arrivals.next_due().0), due);
                arrivals.advance();
            }
        }
    }
}

#[test]
fn workers_together_have_the_job_rate() {
    let mut all: Vec<u64> = Vec::new();
    for worker in 0..3 {
        let mut arrivals = Arrivals::constant(rate(7), worker, workers(3));
        for _ in 0..10 {
            all.push(arrivals.next_due().0);
            arrivals.advance();
        }
    }
    all.sort_unstable();
    let expected: Vec<u64> = (0..30).map(|n| n * 1_000_000_000 / 7).collect();
    assert_eq!(all, expected);
}

/// Exponential gaps: mean 1/rate, standard deviation equal to the mean, and the right share beyond
/// the mean (1/e).
#[test]
fn poisson_gaps_are_exponential() {
    let times = poisson_times(250_000, 1, 4, 200_001);
    let gaps: Vec<f64> = times.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
    let count = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / count;
    let deviation = (gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / count).sqrt();
    let beyond = gaps.iter().filter(|&&g| g > 4000.0).count() as f64 / count;
    assert!((mean - 4000.0).abs() < 45.0, "mean {mean}");
    assert!((deviation / mean - 1.0).abs() < 0.015, "deviation {deviation}");
    assert!((beyond - (-1.0_f64).exp()).abs() < 0.006, "beyond the mean: {beyond}");
}

/// Counts in equal windows have variance equal to their mean: index of dispersion 1, also for the
/// sum of workers.
#[test]
fn poisson_counts_have_dispersion_one() {
    let (iops, share, per_worker) = (1_000_000_u64, 4_u32, 50_000_usize);
    let mut times: Vec<u64> = (0..share)
        .flat_map(|w| poisson_times(iops, share, mix(9, u64::from(w)), per_worker))
        .collect();
    times.sort_unstable();
    let window_ns = 20_000;
    let end = 180_000_000_u64; // 0.18 s of the 0.2 s that every worker covers.
    let mut counts = vec![0_f64; (end / window_ns) as usize];
    for time in times.into_iter().filter(|&t| t < end) {
        counts[(time / window_ns) as usize] += 1.0;
    }
    let n = counts.len() as f64;
    let mean = counts.iter().sum::<f64>() / n;
    let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / (n - 1.0);
    assert!((mean - 20.0).abs() < 0.25, "mean {mean}");
    // Standard error of the index over 9000 windows: sqrt(2/9000) = 0.015.
    assert!((variance / mean - 1.0).abs() < 0.06, "index of dispersion {}", variance / mean);
}

/// At 40 million per second the mean gap is 25 ns: rounding each gap to whole ns would be off by
/// percents, the kept fraction is not.
#[test]
fn fractions_of_a_nanosecond_add_up() {
    let times = poisson_times(400_000_000, 1, 2, 400_000);
    let mean = *times.last().unwrap() as f64 / times.len() as f64;
    assert!((mean - 2.5).abs() < 0.02, "mean gap {mean} ns");
}

#[test]
fn extreme_times_saturate() {
    let mut slow = Arrivals::constant(rate(1), u32::MAX - 1, workers(u32::MAX));
    for _ in 0..100 {
        let before = slow.next_due();
        slow.advance();
        assert!(slow.next_due() >= before);
    }
    assert_eq!(slow.next_due(), Nanos::MAX);
}
