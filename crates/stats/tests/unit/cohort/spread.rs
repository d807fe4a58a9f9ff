use assay_units::Rng;

use super::*;

/// Q_n by its definition.
fn naive(values: &[f64], factor: f64) -> f64 {
    let mut all = Vec::new();
    for (at, a) in values.iter().enumerate() {
        all.extend(values[..at].iter().map(|b| (a - b).abs()));
    }
    all.sort_by(f64::total_cmp);
    let half = values.len() / 2 + 1;
    factor * QN_TO_SIGMA * all[half * (half - 1) / 2 - 1]
}

#[test]
fn qn_is_the_order_statistic_of_its_definition() {
    let mut rng = Rng::new(1);
    for n in [10usize, 11, 24, 57] {
        let values: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        let n = n as f64;
        let factor = if n % 2.0 == 1.0 { n / (n + 1.4) } else { n / (n + 3.8) };
        assert_eq!(qn(&values), naive(&values, factor));
    }
    assert_eq!(qn(&[1.0, 3.0]), 0.399 * QN_TO_SIGMA * 2.0);
    assert_eq!(qn(&[5.0; 7]), 0.0);
    assert_eq!(qn(&[5.0]), 0.0);
}

#[test]
fn qn_estimates_the_deviation_and_withstands_half_of_the_values() {
    let mut rng = Rng::new(2);
    let mut values: Vec<f64> = (0..400).map(|_| 3.0 * rng.normal()).collect();
    assert!((qn(&values) / 3.0 - 1.0).abs() < 0.1);
    values[..150].fill(1e9);
    assert!(qn(&values) < 30.0);
}

#[test]
fn variance_components_are_those_of_the_analysis_of_variance() {
    // Means 1 and 5, within: 2 each.
    let found = variance_components(&[vec![0.0, 2.0], vec![4.0, 6.0]]).expect("two classes");
    assert_eq!((found.within, found.degrees), (2.0, 2));
    assert_eq!(found.between, (16.0 - 2.0) / 2.0);
    assert_eq!(variance_components(&[vec![1.0], vec![2.0]]), None);
    assert_eq!(variance_components(&[vec![1.0, 2.0]]), None);
    let alike = variance_components(&[vec![0.0, 2.0], vec![0.0, 2.0]]).expect("two classes");
    assert_eq!((alike.between, alike.share_within()), (0.0, Some(1.0)));
}

#[test]
fn tails_are_not_judged_without_enough_variation() {
    assert_eq!(heavy_tails(&[1.0; 40]), None);
    assert_eq!(heavy_tails(&[1.0, 2.0, 3.0]), None);
}
