//! Cholesky factors against products by hand.

use super::*;

#[test]
fn solutions_solve_and_inverses_invert() {
    let a = vec![vec![4.0, 2.0, 0.6], vec![2.0, 5.0, 1.5], vec![0.6, 1.5, 3.0]];
    let l = cholesky(&a).unwrap();
    let x = solve(&l, &[1.0, -2.0, 0.5]);
    for (got, wanted) in times(&a, &x).iter().zip([1.0, -2.0, 0.5]) {
        assert!((got - wanted).abs() < 1e-12);
    }
    let inverse = inverse(&a).unwrap();
    for (i, row) in a.iter().enumerate() {
        for (j, column) in inverse.iter().enumerate() {
            // The inverse is symmetric.
            let product = dot(row, column);
            assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12);
        }
    }
    let by_hand = 4.0 * (15.0 - 2.25) - 2.0 * (6.0 - 0.9) + 0.6 * (3.0 - 3.0);
    assert!((log_determinant(&l) - f64::ln(by_hand)).abs() < 1e-12);
    assert_eq!(diagonal(&[2.0, 3.0]), [[2.0, 0.0], [0.0, 3.0]]);
}

#[test]
fn an_indefinite_matrix_has_no_factor() {
    assert!(cholesky(&[vec![1.0, 2.0], vec![2.0, 1.0]]).is_none());
    assert!(cholesky(&[vec![f64::NAN]]).is_none());
}

#[test]
fn eigenvectors_diagonalise() {
    let matrix = vec![vec![4.0, 1.0, 0.5], vec![1.0, 3.0, -0.2], vec![0.5, -0.2, 1.0]];
    let (values, vectors) = eigen(&matrix);
    for j in 0..3 {
        for i in 0..3 {
            let image: f64 = (0..3).map(|k| matrix[i][k] * vectors[k][j]).sum();
            assert!((image - values[j] * vectors[i][j]).abs() < 1e-10);
        }
    }
    assert!((values.iter().sum::<f64>() - 8.0).abs() < 1e-10);
}
