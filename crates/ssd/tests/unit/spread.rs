use super::*;

#[test]
fn mean_deviation_and_range_are_those_of_the_distribution() {
    let mut spread = ReadTimeSpread::new(5_000, 1);
    let draws: Vec<f64> = (0..200_000).map(|_| spread.around_ns(60_000) as f64).collect();
    let n = draws.len() as f64;
    let mean = draws.iter().sum::<f64>() / n;
    let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    assert!((mean - 60_000.0).abs() < 50.0, "{mean}");
    assert!((variance.sqrt() - 5_000.0).abs() < 50.0, "{variance}");
    let beyond = draws.iter().filter(|&&x| x > 60_000.0 + 2.0 * 5_000.0);
    // A normal distribution has 2.28 % beyond two deviations, the sum of four uniform numbers 2.2
    // %.
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

fn moments(times: impl Iterator<Item = u64>) -> (f64, f64) {
    let times: Vec<f64> = times.map(|ns| ns as f64).collect();
    let n = times.len() as f64;
    let mean = times.iter().sum::<f64>() / n;
    let variance = times.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.sqrt())
}

#[test]
fn word_lines_differ_and_a_word_line_reads_alike() {
    let mut spread = WordLineSpread::new(None, 0, 60_000, 1);
    let (mean, sigma) = moments((0..100_000).map(|line| spread.sense_ns(line, 60_000)));
    assert!((mean - 60_000.0).abs() < 60.0, "{mean}");
    // 4 % between word lines and 1 % between reads.
    let expected = 60_000.0 * (0.04_f64.powi(2) + 0.01_f64.powi(2)).sqrt();
    assert!((sigma / expected - 1.0).abs() < 0.02, "{sigma}");
    for line in 0..20 {
        let mut again = || spread.sense_ns(line, 60_000);
        let (of_line, sigma) = moments((0..5_000).map(|_| again()));
        assert!((570.0..630.0).contains(&sigma), "{sigma}");
        assert!((again() as f64 - of_line).abs() < 4.0 * 600.0);
    }
    let (mean, sigma) = moments((0..100_000).map(|line| spread.program_ns(line, 500_000)));
    assert!((mean - 500_000.0).abs() < 500.0 && (sigma / 20_000.0 - 1.0).abs() < 0.02);
    assert_eq!(spread.program_ns(7, 500_000), spread.program_ns(7, 500_000));
}

#[test]
fn a_uniform_addition_is_uniform_among_word_lines_and_independent_of_the_deviation() {
    let mut plain = WordLineSpread::new(Some(0), 30_000, 50_000, 1);
    let added: Vec<u64> = (0..90_000).map(|line| plain.sense_ns(line, 50_000) - 50_000).collect();
    for third in 0..3 {
        let range = third * 10_000..(third + 1) * 10_000;
        let share = added.iter().filter(|&ns| range.contains(ns)).count();
        assert!((29_000..31_000).contains(&share), "{third}: {share}");
    }
    assert!(added.iter().all(|&ns| ns <= 30_000));
    let mut both = WordLineSpread::new(Some(3_000), 30_000, 50_000, 1);
    let product = |(line, &ns): (usize, &u64)| {
        let deviation = both.sense_ns(line as u32, 50_000) as f64 - 50_000.0 - ns as f64;
        deviation * (ns as f64 - 15_000.0)
    };
    let covariance = added.iter().enumerate().map(product).sum::<f64>() / 90_000.0;
    // Correlation of less than 2 %: sigmas of 3,000 and 8,660.
    assert!(covariance.abs() < 0.02 * 3_000.0 * 8_660.0, "{covariance}");
    assert_eq!(plain.program_ns(5, 777), 777);
}

#[test]
fn the_uniform_addition_is_part_of_the_class_s_deviation() {
    for (jitter_ns, expected) in [(0, 0.041), (6_000, 0.041), (40_000, 0.144)] {
        let mut spread = WordLineSpread::new(None, jitter_ns, 60_000, 1);
        let (mean, sigma) = moments((0..50_000).map(|line| spread.sense_ns(line, 60_000)));
        assert!((sigma / mean - expected).abs() < 0.02 * expected, "{jitter_ns}: {}", sigma / mean);
    }
}
