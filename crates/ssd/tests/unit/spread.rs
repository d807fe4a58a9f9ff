use super::*;

#[test]
fn mean_deviation_and_range_are_those_of_the_distribution() {
    let mut spread = ReadTimeSpread::new(5_000, 1);
    let draws: Vec<f64> = (0..200_000)
        .map(|_| spread.around_ns(60_000) as f64)
        .collect();
    let n = draws.len() as f64;
    let mean = draws.iter().sum::<f64>() / n;
    let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    assert!((mean - 60_000.0).abs() < 50.0, "{mean}");
    assert!((variance.sqrt() - 5_000.0).abs() < 50.0, "{variance}");
    let beyond = draws.iter().filter(|&&x| x > 60_000.0 + 2.0 * 5_000.0);
    // A normal distribution has 2.28 % beyond two deviations, the sum of four uniform numbers 2.2 %.
    let share = beyond.count() as f64 / n;
    assert!((0.019..0.025).contains(&share), "{share}");
    assert!(draws.iter().all(|&x| (x - 60_000.0).abs() <= 17_321.0));
}

#[test]
fn a_zero_spread_changes_nothing_and_times_are_positive() {
    assert_eq!(ReadTimeSpread::new(0, 1).around_ns(777), 777);
    let mut wide = ReadTimeSpread::new(u64::MAX, 1);
    assert!((0..1000).all(|_| wide.around_ns(1000) >= 500));
}
