//! Student's t distribution for real degrees of freedom.
//!
//! The distribution function is the regularised incomplete beta function (DLMF 8.17), by its
//! continued fraction (DLMF 8.17.22) in Lentz's form, with the logarithm of the gamma function by
//! Stirling's series (DLMF 5.11.1); quantiles by bisection. Accurate to about nine digits.

/// From here on the distribution equals the normal one to six digits.
const NORMAL_DEGREES: f64 = 1e5;
/// Most steps of the continued fraction; it needs about the square root of the parameters.
const MOST_STEPS: usize = 2000;

/// `None` unless `0 < probability < 1` and `degrees > 0`.
pub fn quantile(probability: f64, degrees: f64) -> Option<f64> {
    if !(probability > 0.0 && probability < 1.0 && degrees > 0.0) {
        return None;
    }
    if probability == 0.5 {
        return Some(0.0);
    }
    let upper = probability.min(1.0 - probability);
    let mut high = 1.0;
    while tail(high, degrees) > upper {
        high *= 2.0;
        if high > 1e150 {
            return None;
        }
    }
    let mut low = 0.0;
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if tail(middle, degrees) > upper {
            low = middle;
        } else {
            high = middle;
        }
    }
    let size = f64::midpoint(low, high);
    Some(if probability < 0.5 { -size } else { size })
}

/// Half-width in standard errors: 1.96 at a `level` of 0.95 and many degrees of freedom.
pub fn two_sided(level: f64, degrees: f64) -> Option<f64> {
    quantile(f64::midpoint(level, 1.0), degrees)
}

/// Probability of a value at least as far from zero as `t`; 1 where `t` is not a number.
pub fn two_sided_probability(t: f64, degrees: f64) -> f64 {
    if t.is_nan() {
        return 1.0;
    }
    2.0 * tail(t.abs(), degrees)
}

/// Probability of a ratio of variances above `f`, with these degrees of freedom of numerator and
/// denominator (F distribution, DLMF 8.17 with x = denominator / (denominator + numerator f)).
pub fn f_probability(f: f64, numerator: f64, denominator: f64) -> f64 {
    if f.is_nan() || f <= 0.0 {
        return 1.0;
    }
    let x = denominator / (denominator + numerator * f);
    incomplete_beta(denominator / 2.0, numerator / 2.0, x)
}

/// Probability of a standard normal value above `z`.
pub fn normal_above(z: f64) -> f64 {
    let above = tail(z.abs(), NORMAL_DEGREES);
    if z >= 0.0 { above } else { 1.0 - above }
}

/// Probability of a value above `t`, for `t >= 0`.
fn tail(t: f64, degrees: f64) -> f64 {
    let degrees = degrees.min(NORMAL_DEGREES);
    0.5 * incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + t * t))
}

/// The regularised incomplete beta function I_x(a, b).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front =
        (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // The fraction converges quickly on this side of the mean, and the function is symmetric.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, 1.0 - x) / b
    }
}

/// DLMF 8.17.22 from the front (modified Lentz).
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let tiny = 1e-300;
    let nonzero = |v: f64| if v.abs() < tiny { tiny } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for step in 1..MOST_STEPS {
        let m = step as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / nonzero(1.0 + even * d);
        c = nonzero(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / nonzero(1.0 + odd * d);
        c = nonzero(1.0 + odd / c);
        let change = d * c;
        value *= change;
        if (change - 1.0).abs() < 1e-14 {
            break;
        }
    }
    value
}

/// For positive arguments.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    // Stirling's series is accurate from ten on; below, the recurrence shifts the argument.
    let mut shift = 0.0;
    let mut x = x;
    while x < 10.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series =
        inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)));
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

#[cfg(test)]
#[path = "../tests/unit/student.rs"]
mod tests;
