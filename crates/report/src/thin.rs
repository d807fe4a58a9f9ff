//! Thinning long series for drawing, never for tables.

/// Most points a drawn series has.
pub const MOST_POINTS: usize = 1000;

/// Which points of a series to draw so that every peak and dip stays visible: the indices, ascending.
///
/// The series is cut into `most / 2` equal groups; of each the smallest and the largest value are kept, in their
/// order. The first and the last point are always kept. A series of at most `most` points is kept whole.
pub fn min_max(values: &[f64], most: usize) -> Vec<usize> {
    let n = values.len();
    if n <= most || most < 4 {
        return (0..n).collect();
    }
    let groups = (most - 2) / 2;
    let inner = n - 2;
    let mut kept = vec![0];
    for g in 0..groups {
        let (from, to) = (1 + g * inner / groups, 1 + (g + 1) * inner / groups);
        let (mut low, mut high) = (from, from);
        for i in from..to {
            if values[i] < values[low] {
                low = i;
            }
            if values[i] > values[high] {
                high = i;
            }
        }
        kept.push(low.min(high));
        if low != high {
            kept.push(low.max(high));
        }
    }
    kept.push(n - 1);
    kept
}

/// Which points of a rising curve to draw: of each of `most / 2` equal steps of `x` the first and the last, so that the
/// drawn curve is nowhere further from the true one than a step is wide. Indices, ascending, ends included.
pub fn rising(x: &[f64], most: usize) -> Vec<usize> {
    let n = x.len();
    if n <= most || most < 4 {
        return (0..n).collect();
    }
    let (from, to) = (x[0], x[n - 1]);
    let steps = (most / 2 - 1) as f64;
    let step_of = |v: f64| ((v - from) / (to - from).max(f64::MIN_POSITIVE) * steps) as usize;
    (0..n)
        .filter(|&i| {
            i == 0
                || i == n - 1
                || step_of(x[i]) != step_of(x[i - 1])
                || step_of(x[i]) != step_of(x[i + 1])
        })
        .collect()
}

/// Which points of a cloud to draw so that it looks the same: of those that would fall on the same dot of a drawing of `columns` by `rows`
/// dots, the first. `log`: the vertical axis is logarithmic, and points that are not positive are not on it. Indices, ascending.
pub fn cloud(points: &[(f64, f64)], columns: usize, rows: usize, log: bool) -> Vec<usize> {
    let height = |y: f64| if log { y.log10() } else { y };
    let shown = |p: &(f64, f64)| !log || p.1 > 0.0;
    let extent = |of: &dyn Fn(&(f64, f64)) -> f64| {
        let values = points.iter().filter(|p| shown(p)).map(of);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        })
    };
    let place = |v: f64, (low, high): (f64, f64), dots: usize| {
        ((v - low) / (high - low).max(f64::MIN_POSITIVE) * (dots.max(1) - 1) as f64).round()
            as usize
    };
    let (across, up) = (extent(&|p| p.0), extent(&|p| height(p.1)));
    let mut taken = std::collections::HashSet::new();
    (0..points.len())
        .filter(|&i| {
            let p = &points[i];
            shown(p) && taken.insert((place(p.0, across, columns), place(height(p.1), up, rows)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn extremes_and_ends_survive(values in prop::collection::vec(-1e9..1e9f64, 0..5000), most in 4usize..1200) {
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
        let x: Vec<f64> = (0..50_000)
            .map(|i| (f64::from(i) / 50_000.0).sqrt())
            .collect();
        let kept = rising(&x, 400);
        assert!(kept.len() <= 400, "{}", kept.len());
        assert_eq!((kept[0], *kept.last().unwrap()), (0, x.len() - 1));
        let widest = kept
            .windows(2)
            .map(|w| x[w[1]] - x[w[0]])
            .fold(0.0, f64::max);
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
    fn what_is_not_on_a_logarithmic_axis_is_not_drawn() {
        assert_eq!(cloud(&[(0.0, 5.0), (1.0, 0.0)], 10, 10, true), vec![0]);
        assert_eq!(cloud(&[(0.0, 5.0), (1.0, 0.0)], 10, 10, false), vec![0, 1]);
    }

    #[test]
    fn short_series_stay_whole() {
        assert_eq!(min_max(&[3.0, 1.0, 2.0], 1000), vec![0, 1, 2]);
        assert_eq!(min_max(&[0.0; 1001], 1000).len(), 501);
    }
}
