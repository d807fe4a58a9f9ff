//! The model of one mode: a linear trend, and noise with a memory.

use std::f64::consts::TAU;

/// Bayesian information criterion of `x(t) = a + b t + c x(t - 1) + noise` with normal noise, c not
/// negative; the first value is given.
pub(super) fn criterion(series: &[f64], least_spread: f64) -> f64 {
    let with_memory = regression(series, true).filter(|fit| fit.memory >= 0.0);
    let fit = with_memory.or_else(|| regression(series, false));
    let count = (series.len() - 1) as f64;
    // A series without noise fits any trend, so no residual is smaller than the least spread.
    let squares = fit.map_or(0.0, |fit| fit.squares);
    let variance = (squares / count).max(least_spread.powi(2));
    let log_likelihood = -0.5 * (count * (TAU * variance).ln() + squares / variance);
    // Level, trend, memory, variance.
    -2.0 * log_likelihood + 4.0 * count.ln()
}

struct Fit {
    /// Coefficient of the value before.
    memory: f64,
    /// Sum of the squared residuals.
    squares: f64,
}

/// By Gram-Schmidt orthogonalisation of the regressors.
fn regression(series: &[f64], with_memory: bool) -> Option<Fit> {
    let count = series.len() - 1;
    let mut residual: Vec<f64> = series[1..].to_vec();
    let mut bases: Vec<Vec<f64>> = vec![vec![1.0; count], (0..count).map(|t| t as f64).collect()];
    if with_memory {
        bases.push(series[..count].to_vec());
    }
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut memory = 0.0;
    for at in 0..bases.len() {
        let (before, rest) = bases.split_at_mut(at);
        let basis = &mut rest[0];
        let length = dot(basis, basis);
        for earlier in before.iter() {
            let share = dot(basis, earlier) / dot(earlier, earlier);
            basis.iter_mut().zip(earlier).for_each(|(b, e)| *b -= share * e);
        }
        let own = dot(basis, basis);
        // The earlier regressors explain this one: a constant series.
        if own <= length * 1e-12 {
            return None;
        }
        let share = dot(&residual, basis) / own;
        residual.iter_mut().zip(basis.iter()).for_each(|(r, b)| *r -= share * b);
        // The last regressor's coefficient is that of the whole regression.
        memory = share;
    }
    Some(Fit { memory: if with_memory { memory } else { 0.0 }, squares: dot(&residual, &residual) })
}
