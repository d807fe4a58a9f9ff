use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn extremes_and_ends_are_kept(values in prop::collection::vec(-1e9..1e9f64, 0..5000), most in 4usize..1200) {
        let kept = min_max(&values, most);
        prop_assert!(kept.len() <= most.max(values.len().min(most)));
        prop_assert!(kept.windows(2).all(|w| w[0] < w[1]));
        if !values.is_empty() {
            let fold = |f: fn(f64, f64) -> f64, start| values.iter().copied().fold(start, f);
            let of_kept = |f: fn(f64, f64) -> f64, start| kept.iter().map(|&i| values[i]).fold(start, f);
            prop_assert_eq!(fold(f64::max, f64::MIN), of_kept(f64::max, f64::MIN));
            prop_assert_eq!(fold(f64::min, f64::MAX), of_kept(f64::min, f64::MAX));
            prop_assert_eq!(kept[0], 0);
            prop_assert_eq!(*kept.last().unwrap(), values.len() - 1);
        }
    }
}

#[test]
fn a_thinned_curve_keeps_its_ends_and_one_point_per_step() {
    let x: Vec<f64> = (0..50_000).map(|i| (f64::from(i) / 50_000.0).sqrt()).collect();
    let kept = rising(&x, 400);
    assert!(kept.len() <= 400, "{}", kept.len());
    assert_eq!((kept[0], *kept.last().unwrap()), (0, x.len() - 1));
    let widest = kept.windows(2).map(|w| x[w[1]] - x[w[0]]).fold(0.0, f64::max);
    assert!(widest < 2.0 / 199.0, "{widest}");
    assert_eq!(rising(&[1.0, 1.0], 400), vec![0, 1]);
}

proptest! {
    #[test]
    fn a_thinned_cloud_covers_the_same_dots(
        points in prop::collection::vec((0.0..3600.0f64, 1.0..1e6f64), 1..3000),
        log: bool,
    ) {
        let kept = cloud(&points, 200, 50, log);
        prop_assert!(kept.windows(2).all(|w| w[0] < w[1]));
        // Every point has a kept one within a dot of it.
        let height = |y: f64| if log { y.log10() } else { y };
        let span = |of: &dyn Fn(usize) -> f64| {
            let all = || (0..points.len()).map(of);
            all().fold(f64::MIN, f64::max) - all().fold(f64::MAX, f64::min)
        };
        let wide = span(&|i| points[i].0) / 199.0 + 1e-9;
        let tall = span(&|i| height(points[i].1)) / 49.0 + 1e-9;
        for p in &points {
            prop_assert!(kept.iter().any(|&k| (points[k].0 - p.0).abs() <= wide
                && (height(points[k].1) - height(p.1)).abs() <= tall));
        }
    }
}

#[test]
fn non_positive_values_are_not_drawn_on_a_logarithmic_axis() {
    assert_eq!(cloud(&[(0.0, 5.0), (1.0, 0.0)], 10, 10, true), vec![0]);
    assert_eq!(cloud(&[(0.0, 5.0), (1.0, 0.0)], 10, 10, false), vec![0, 1]);
}

#[test]
fn short_series_are_unchanged() {
    assert_eq!(min_max(&[3.0, 1.0, 2.0], 1000), vec![0, 1, 2]);
    assert_eq!(min_max(&[0.0; 1001], 1000).len(), 501);
}
