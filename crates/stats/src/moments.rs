/// 0 of none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Mean and variance (over n - 1) of at least two values; `None` when not finite.
pub(crate) fn moments(values: &[f64]) -> Option<(f64, f64)> {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let variance = squares / (values.len() as f64 - 1.0);
    (mean.is_finite() && variance.is_finite()).then_some((mean, variance))
}

/// Of the least-squares line, per point; 0 of fewer than two points.
pub(crate) fn slope(values: &[f64]) -> f64 {
    let (middle, mean) = ((values.len() as f64 - 1.0) / 2.0, mean(values));
    let (mut product, mut squares) = (0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        let x = at as f64 - middle;
        product += x * (value - mean);
        squares += x * x;
    }
    if squares > 0.0 { product / squares } else { 0.0 }
}
