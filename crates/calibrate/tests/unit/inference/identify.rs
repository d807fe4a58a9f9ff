//! Identifiability of a product of two parameters, and the choice of the next figure.

use super::*;
use crate::inference::posterior::{Observation, Predictions, climb};

fn prior() -> Prior {
    Prior {
        mean: vec![0.0, 0.0],
        width: vec![1.0, 1.0],
    }
}

/// The logarithm of a product (observed), of the first factor, and of the product again.
fn product(points: &[Vec<f64>]) -> Predictions {
    let at = |p: &Vec<f64>| Some(vec![p[0] + p[1], p[0], p[0] + p[1]]);
    points.iter().map(at).collect()
}

#[test]
fn a_product_determines_one_direction_and_neither_factor() {
    let observed = [Observation {
        value: 0.6,
        scale: 0.01,
    }];
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
    let observed = [Observation {
        value: 0.6,
        scale: 0.01,
    }];
    let mode = climb(&prior(), &observed, &[0.0, 0.0], 10, &mut product).unwrap();
    let candidates: Vec<(Vec<f64>, f64)> = mode.jacobian[1..]
        .iter()
        .map(|row| (row.clone(), 0.05))
        .collect();
    let gains = gains(&mode, &candidates);
    assert!(gains[0] > 0.9 && gains[1] < 0.1, "{gains:?}");
    let determined = [
        observed[0],
        Observation {
            value: 0.2,
            scale: 0.01,
        },
    ];
    let mode = climb(&prior(), &determined, &[0.0, 0.0], 10, &mut product).unwrap();
    assert!(
        knowledge(&mode, &prior())
            .iter()
            .all(|k| !k.is_undetermined())
    );
}
