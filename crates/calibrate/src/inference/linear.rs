//! Symmetric positive definite matrices of a dozen rows, by Cholesky factors.

/// A square matrix, row by row.
pub type Matrix = Vec<Vec<f64>>;

pub fn diagonal(values: &[f64]) -> Matrix {
    let row = |i: usize| {
        (0..values.len())
            .map(|j| if i == j { values[i] } else { 0.0 })
            .collect()
    };
    (0..values.len()).map(row).collect()
}

/// The scalar product.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Matrix times vector.
pub fn times(a: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    a.iter().map(|row| dot(row, x)).collect()
}

/// Lower Cholesky factor; `None` when the matrix is not positive definite.
pub fn cholesky(a: &[Vec<f64>]) -> Option<Matrix> {
    let n = a.len();
    let mut l = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let rest = a[i][j] - dot(&l[i][..j], &l[j][..j]);
            if i == j {
                if !(rest > 0.0 && rest.is_finite()) {
                    return None;
                }
                l[i][i] = rest.sqrt();
            } else {
                l[i][j] = rest / l[j][j];
            }
        }
    }
    Some(l)
}

/// `x` with `l l' x = b`.
pub fn solve(l: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let mut y = b.to_vec();
    for i in 0..y.len() {
        y[i] = (b[i] - dot(&l[i][..i], &y[..i])) / l[i][i];
    }
    backward(l, &y)
}

/// `x` with `l' x = y`.
pub fn backward(l: &[Vec<f64>], y: &[f64]) -> Vec<f64> {
    let n = y.len();
    let mut x = y.to_vec();
    for i in (0..n).rev() {
        let above: f64 = (i + 1..n).map(|k| l[k][i] * x[k]).sum();
        x[i] = (y[i] - above) / l[i][i];
    }
    x
}

/// Logarithm of the determinant of the matrix whose factor this is.
pub fn log_determinant(l: &[Vec<f64>]) -> f64 {
    (0..l.len()).map(|i| 2.0 * l[i][i].ln()).sum()
}

/// The inverse of a symmetric positive definite matrix.
pub fn inverse(a: &[Vec<f64>]) -> Option<Matrix> {
    let l = cholesky(a)?;
    let unit = |i: usize| {
        (0..a.len())
            .map(|j| f64::from(u8::from(i == j)))
            .collect::<Vec<_>>()
    };
    Some((0..a.len()).map(|i| solve(&l, &unit(i))).collect())
}

#[cfg(test)]
#[path = "../../tests/unit/inference/linear.rs"]
mod tests;
