//! Symmetric positive definite matrices of a dozen rows, by Cholesky factors.

pub type Matrix = Vec<Vec<f64>>;

pub fn diagonal(values: &[f64]) -> Matrix {
    let row = |i: usize| (0..values.len()).map(|j| if i == j { values[i] } else { 0.0 }).collect();
    (0..values.len()).map(row).collect()
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

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
fn backward(l: &[Vec<f64>], y: &[f64]) -> Vec<f64> {
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

pub fn inverse(a: &[Vec<f64>]) -> Option<Matrix> {
    let l = cholesky(a)?;
    let unit = |i: usize| (0..a.len()).map(|j| f64::from(u8::from(i == j))).collect::<Vec<_>>();
    Some((0..a.len()).map(|i| solve(&l, &unit(i))).collect())
}

/// Eigenvalues and eigenvectors (as columns) of a symmetric matrix, by Jacobi's cyclic rotations.
pub fn eigen(matrix: &[Vec<f64>]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = matrix.len();
    let mut a = matrix.to_vec();
    let mut v = diagonal(&vec![1.0; n]);
    for _ in 0..60 {
        let off: f64 =
            (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
        let size: f64 = (0..n).map(|i| a[i][i] * a[i][i]).sum();
        if off <= 1e-24 * size {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q] == 0.0 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let t = if theta == 0.0 { 1.0 } else { t };
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                let rotated = |x: f64, y: f64| (c * x - s * y, s * x + c * y);
                for row in &mut a {
                    (row[p], row[q]) = rotated(row[p], row[q]);
                }
                let (above, below) = a.split_at_mut(q);
                for (upper, lower) in above[p].iter_mut().zip(&mut below[0]) {
                    (*upper, *lower) = rotated(*upper, *lower);
                }
                for row in &mut v {
                    (row[p], row[q]) = rotated(row[p], row[q]);
                }
            }
        }
    }
    ((0..n).map(|i| a[i][i]).collect(), v)
}

#[cfg(test)]
#[path = "../../tests/unit/inference/linear.rs"]
mod tests;
