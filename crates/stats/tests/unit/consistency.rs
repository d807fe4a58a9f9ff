use proptest::prelude::*;

use super::*;

#[test]
fn by_hand() {
    // Deviations from 100: -10, 10, 0, 0, 0: variance 200 / 4 = 50.
    let s = score(&[999.0, 90.0, 110.0, 100.0, 100.0, 100.0], 5).unwrap();
    assert_eq!((s.samples, s.mean, s.median, s.min, s.max), (5, 100.0, 100.0, 90.0, 110.0));
    assert!((s.stddev - 50.0_f64.sqrt()).abs() < 1e-12);
    assert!((s.consistency.unwrap() - 100.0 / 50.0_f64.sqrt()).abs() < 1e-12);
    // Median absolute deviation 0: the least spread, 0.2 of 100, reaches 0.7.
    assert_eq!((s.outliers_above_pct, s.outliers_below_pct), (20.0, 20.0));
}

/// AnandTech M8Pe in small: one drive with a constant rate and rare outliers above, one with two
/// alternating levels.
#[test]
fn rare_outliers_and_two_levels_are_distinguished() {
    let even: Vec<f64> = (0..400)
        .map(|i| if i % 100 == 50 { 110e3 } else { 22e3 + f64::from(i % 7) * 50.0 })
        .collect();
    let s = score(&even, 400).unwrap();
    assert_eq!((s.outliers_above_pct, s.outliers_below_pct), (1.0, 0.0));
    let throttled: Vec<f64> = (0..400).map(|i| if i % 40 < 28 { 18e3 } else { 2.4e3 }).collect();
    let t = score(&throttled, 400).unwrap();
    assert!(t.consistency.unwrap() < 2.0 && t.min == 2.4e3, "{t:?}");
    assert_eq!((t.outliers_above_pct, t.outliers_below_pct), (0.0, 0.0));
    let levels: Vec<(f64, f64)> = t.modes.iter().map(|mode| (mode.level, mode.share_pct)).collect();
    assert_eq!(levels, [(2.4e3, 30.0), (18e3, 70.0)]);
    assert_eq!(s.modes.len(), 1);
}

/// Slow over half of the time: the median is the slow level, and the fast one was called outliers.
#[test]
fn a_second_level_is_no_outlier_at_any_share() {
    for slow in 1..40 {
        let values: Vec<f64> = (0..400).map(|i| if i % 40 < slow { 2.4e3 } else { 18e3 }).collect();
        let s = score(&values, 400).unwrap();
        let rare = 40.0 * crate::modes::LEAST_SHARE;
        let common = (rare..=40.0 - rare).contains(&f64::from(slow));
        assert_eq!(s.modes.len(), 1 + usize::from(common), "{slow} of 40: {s:?}");
        if common {
            assert_eq!((s.outliers_above_pct, s.outliers_below_pct), (0.0, 0.0), "{slow} of 40");
        }
    }
}

#[test]
fn what_has_no_score() {
    assert_eq!(score(&[], 400), None);
    assert_eq!(score(&[1.0], 400), None);
    assert_eq!(score(&[1.0, 2.0], 1), None);
    assert_eq!(score(&[1.0, f64::NAN], 2), None);
    assert_eq!(score(&[f64::MAX, f64::MAX], 2), None);
    let same = score(&[5.0; 10], 400).unwrap();
    assert_eq!((same.consistency, same.outliers_above_pct), (None, 0.0));
}

proptest! {
    #[test]
    fn scores_keep_their_order(values in prop::collection::vec(0.0_f64..1e6, 2..60), last in 2_usize..60) {
        let s = score(&values, last).unwrap();
        prop_assert!(s.min <= s.median && s.median <= s.max);
        prop_assert!(s.min <= s.mean * (1.0 + 1e-9) && s.mean <= s.max * (1.0 + 1e-9));
        prop_assert!(s.outliers_above_pct + s.outliers_below_pct < 50.0 + 1e-9);
    }
}
