//! Thinning of long series for drawing; tables are never thinned.

/// Largest number of points of a drawn series.
pub const MAX_POINTS: usize = 1000;

/// Min-max decimation: indices of the points to draw, ascending, so that every peak and dip stays
/// visible.
///
/// The series is cut into `most / 2` equal groups; of each the smallest and the largest value are
/// kept, in their order. The first and the last point are always kept. A series of at most `most`
/// points is kept whole.
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

/// Thinning of a rising curve: the first and the last point of each of `most / 2` equal steps of
/// `x`, so that the drawn curve deviates by at most one step. Indices, ascending, ends included.
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

/// Thinning of a scatter plot: of the points on the same dot of a drawing of `columns` by `rows`
/// dots, the first. `log`: the vertical axis is logarithmic and has no place for points that are
/// not positive. Indices, ascending.
pub fn cloud(points: &[(f64, f64)], columns: usize, rows: usize, log: bool) -> Vec<usize> {
    let height = |y: f64| if log { y.log10() } else { y };
    let shown = |p: &(f64, f64)| !log || p.1 > 0.0;
    let extent = |of: &dyn Fn(&(f64, f64)) -> f64| {
        let values = points.iter().filter(|p| shown(p)).map(of);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
    };
    let dot = |v: f64, (low, high): (f64, f64), dots: usize| {
        ((v - low) / (high - low).max(f64::MIN_POSITIVE) * (dots.max(1) - 1) as f64).round()
            as usize
    };
    let (across, up) = (extent(&|p| p.0), extent(&|p| height(p.1)));
    let mut taken = std::collections::HashSet::new();
    (0..points.len())
        .filter(|&i| {
            let p = &points[i];
            shown(p) && taken.insert((dot(p.0, across, columns), dot(height(p.1), up, rows)))
        })
        .collect()
}

#[cfg(test)]
#[path = "../tests/unit/thin.rs"]
mod tests;
