use super::*;
use assay_units::Rng;
use proptest::prelude::*;

proptest! {
    #[test]
    fn is_a_bijection(count in 1_u64..5000, seed: u64) {
        let permutation = Permutation::new(count, &mut Rng::new(seed));
        let mut seen = vec![false; count as usize];
        for i in 0..count {
            let value = permutation.apply(i);
            prop_assert!(value < count);
            prop_assert!(!std::mem::replace(&mut seen[value as usize], true), "{value} twice");
        }
    }

    #[test]
    fn stays_inside_for_any_count(count: u64, index: u64, seed: u64) {
        let permutation = Permutation::new(count, &mut Rng::new(seed));
        prop_assert!(permutation.apply(index) < count.max(1));
    }
}

/// Over many keys, each of 12 values must go to each position equally often: chi-squared over
/// (12-1)^2 degrees of freedom of the 12 x 12 table.
#[test]
fn every_position_is_equally_likely() {
    const N: usize = 12;
    const KEYS: usize = 24_000;
    let mut table = [[0_u32; N]; N];
    let mut rng = Rng::new(5);
    let mut permutation = Permutation::new(N as u64, &mut rng);
    for _ in 0..KEYS {
        permutation.reshuffle(&mut rng);
        for (i, row) in table.iter_mut().enumerate() {
            row[permutation.apply(i as u64) as usize] += 1;
        }
    }
    let expected = KEYS as f64 / N as f64;
    let chi2: f64 =
        table.as_flattened().iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
    // 121 degrees of freedom: mean 121, standard deviation 15.6; 0.9999 quantile 185.
    assert!(chi2 < 185.0, "chi-squared {chi2}");
}

/// Over many keys, all ordered pairs of positions of the first two indexes in a range of 60 are
/// about equally often.
#[test]
fn pairs_are_about_equally_likely() {
    const N: u64 = 60;
    const PER_PAIR: u64 = 40;
    let mut counts = vec![0_u32; (N * N) as usize];
    let mut rng = Rng::new(6);
    let mut permutation = Permutation::new(N, &mut rng);
    for _ in 0..N * (N - 1) * PER_PAIR {
        permutation.reshuffle(&mut rng);
        counts[(permutation.apply(7) * N + permutation.apply(8)) as usize] += 1;
    }
    let pairs = counts.iter().enumerate().filter(|(i, _)| *i as u64 / N != *i as u64 % N);
    let chi2: f64 =
        pairs.map(|(_, &n)| (f64::from(n) - PER_PAIR as f64).powi(2) / PER_PAIR as f64).sum();
    // 3539 degrees of freedom for a truly random permutation: mean 3539, standard deviation 84. Six
    // rounds over six bits come close to it; a shuffle that keeps neighbours together is off by
    // orders of magnitude.
    assert!(chi2 < 3539.0 * 1.15, "chi-squared {chi2}");
}

/// Neighbours must not stay neighbours: the mean distance of consecutive outputs of a random order
/// is a third of the range.
#[test]
fn consecutive_outputs_are_far_apart() {
    let count = 1_000_003_u64;
    let permutation = Permutation::new(count, &mut Rng::new(8));
    let total: f64 = (1..50_000_u64)
        .map(|i| permutation.apply(i).abs_diff(permutation.apply(i - 1)) as f64)
        .sum();
    let mean = total / 49_999.0 / count as f64;
    assert!((mean - 1.0 / 3.0).abs() < 0.006, "mean distance {mean}");
}
