//! Identifiability of a product of two parameters, and the choice of the next figure.

use super::*;
use crate::inference::posterior::{Observation, Predictions, climb};

fn prior() -> Prior {
    Prior { mean: vec![0.0, 0.0], width: vec![1.0, 1.0] }
}

/// The logarithm of a product (observed), of the first factor, and of the product again.
fn product(points: &[Vec<f64>]) -> Predictions {
    let at = |p: &Vec<f64>| Some(vec![p[0] + p[1], p[0], p[0] + p[1]]);
    points.iter().map(at).collect()
}

#[test]
fn a_product_determines_one_direction_and_neither_factor() {
    let observed = [Observation { value: 0.6, scale: 0.01 }];
    let mode = climb(&prior(), &observed, &[0.0, 0.0], 10, &mut product).unwrap();
    let values = spectrum(&mode, &prior());
    assert!(values[0] > 1000.0 && values[1].abs() < 1e-6, "{values:?}");
    for one in knowledge(&mode, &prior()) {
        assert!(one.is_undetermined(), "{one:?}");
        // Half of the prior's variance is along the product.
        assert!((one.width.powi(2) - 0.5).abs() < 0.01, "{one:?}");
        let (low, high) = one.interval();
        assert!(low < 1.0 && high > 1.0);
    }
}

#[test]
fn the_factor_is_the_next_figure_to_measure() {
    let observed = [Observation { value: 0.6, scale: 0.01 }];
    let mode = climb(&prior(), &observed, &[0.0, 0.0], 10, &mut product).unwrap();
    let candidates: Vec<(Vec<f64>, f64)> =
        mode.jacobian[1..].iter().map(|row| (row.clone(), 0.05)).collect();
    let next = next_figures(&mode, &candidates, 2);
    assert_eq!([next[0].0, next[1].0], [0, 1]);
    assert!(next[0].1 > 0.9 && next[1].1 < next[0].1 + 0.1, "{next:?}");
    let determined = [observed[0], Observation { value: 0.2, scale: 0.01 }];
    let mode = climb(&prior(), &determined, &[0.0, 0.0], 10, &mut product).unwrap();
    assert!(knowledge(&mode, &prior()).iter().all(|k| !k.is_undetermined()));
}

/// Two figures that say the same are not both among the first.
#[test]
fn the_second_figure_says_what_the_first_does_not() {
    let mut model = |points: &[Vec<f64>]| -> Predictions {
        let at = |p: &Vec<f64>| Some(vec![p[0], 0.99 * p[0], 0.5 * p[1]]);
        points.iter().map(at).collect()
    };
    let mode = climb(&prior(), &[], &[0.0, 0.0], 1, &mut model).unwrap();
    let candidates: Vec<(Vec<f64>, f64)> =
        mode.jacobian.iter().map(|row| (row.clone(), 0.1)).collect();
    let next = next_figures(&mode, &candidates, 5);
    let order: Vec<usize> = next.iter().map(|n| n.0).collect();
    assert_eq!(order, [0, 2, 1]);
    // By hand: a variance v of a figure becomes v / (1 + v / 0.1^2).
    let before = 1.0 + 0.99_f64.powi(2) + 0.25;
    let first = (1.0 + 0.99_f64.powi(2)) * (1.0 - 1.0 / 101.0) / before;
    let both = first + 0.25 * (1.0 - 1.0 / 26.0) / before;
    assert!((next[0].1 - first).abs() < 1e-9, "{next:?}");
    assert!((next[1].1 - both).abs() < 1e-9, "{next:?}");
}
