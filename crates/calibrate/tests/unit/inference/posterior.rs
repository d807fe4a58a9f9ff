//! Modes, evidence and draws against linear models with normal errors, whose posterior is known,
//! and against simulated truths.

use super::*;
use crate::inference::linear::{dot, inverse, times};

/// Three figures, two parameters.
const ROWS: [[f64; 2]; 3] = [[1.0, 0.5], [-0.3, 1.0], [0.8, 0.8]];

fn linear(points: &[Vec<f64>]) -> Predictions {
    let at = |point: &Vec<f64>| Some(ROWS.iter().map(|row| dot(row, point)).collect());
    points.iter().map(at).collect()
}

fn prior() -> Prior {
    Prior { mean: vec![0.5, -0.2], width: vec![1.0, 2.0] }
}

#[test]
fn a_linear_model_with_small_residuals_has_the_known_posterior() {
    let truth = [0.9, 0.4];
    let observed: Vec<Observation> =
        ROWS.iter().map(|row| Observation { value: dot(row, &truth), scale: 0.01 }).collect();
    let mode = climb(&prior(), &observed, &[0.0, 0.0], 20, &mut linear).unwrap();
    // Normal equations; near the centre a Student-t error has the variance scale^2 nu / (nu + 1).
    let information = (FREEDOM + 1.0) / FREEDOM / 1e-4;
    let mut precision = vec![vec![1.0, 0.0], vec![0.0, 0.25]];
    let mut right = vec![0.5, -0.05];
    for (row, o) in ROWS.iter().zip(&observed) {
        for i in 0..2 {
            right[i] += information * row[i] * o.value;
            for j in 0..2 {
                precision[i][j] += information * row[i] * row[j];
            }
        }
    }
    let wanted = times(&inverse(&precision).unwrap(), &right);
    for j in 0..2 {
        assert!((mode.point[j] - wanted[j]).abs() < 1e-4, "{:?} {wanted:?}", mode.point);
        for (found, by_hand) in mode.precision[j].iter().zip(&precision[j]) {
            assert!((found / by_hand - 1.0).abs() < 0.01);
        }
    }
    // Evidence of the same model with half the prior's density at the mode differs by its
    // logarithm.
    let wider = Prior { mean: prior().mean, width: vec![2.0, 2.0] };
    let other = climb(&wider, &observed, &[0.0, 0.0], 20, &mut linear).unwrap();
    let by_hand = 2.0_f64.ln() - (0.4_f64.powi(2) / 2.0) * (1.0 - 0.25);
    assert!((mode.log_evidence - other.log_evidence - by_hand).abs() < 0.01);
}

#[test]
fn one_wrong_figure_does_not_bend_the_others() {
    let truth = [0.9, 0.4];
    let mut observed: Vec<Observation> = ROWS
        .iter()
        .chain(&ROWS)
        .map(|row| Observation { value: dot(row, &truth), scale: 0.02 })
        .collect();
    observed[0].value += 1.0;
    let mut twice = |points: &[Vec<f64>]| -> Predictions {
        let double = |p: Option<Vec<f64>>| p.map(|p| [p.clone(), p].concat());
        linear(points).into_iter().map(double).collect()
    };
    let mode = climb(&prior(), &observed, &[0.0, 0.0], 30, &mut twice).unwrap();
    assert!((mode.point[0] - 0.9).abs() < 0.02, "{:?}", mode.point);
}

#[test]
fn an_invalid_start_has_no_mode() {
    let mut nothing = |points: &[Vec<f64>]| vec![None; points.len()];
    let observed = [Observation { value: 0.0, scale: 1.0 }];
    assert!(climb(&prior(), &observed, &[0.0, 0.0], 3, &mut nothing).is_none());
}

#[test]
fn shares_and_quantiles() {
    let shares = shares(&[-1000.0, -1000.0 + 3.0_f64.ln()]);
    assert!((shares[0] - 0.25).abs() < 1e-12 && (shares[1] - 0.75).abs() < 1e-12);
    assert_eq!(quantile(&[(3.0, 0.1), (1.0, 0.5), (2.0, 0.4)], 0.6), Some(2.0));
    assert_eq!(quantile(&[], 0.5), None);
}
