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
#[path = "../tests/unit/thin.rs"]
mod tests;
