use assay_units::Rng;

use super::*;
use crate::attribution::ObservedInterval;
use crate::fixtures;

/// The M8Pe(G) of AnandTech M8Pe: a fast and a throttled state, for any phase of the cycle at the
/// start.
fn alternating(seconds: u32, phase: u32) -> Vec<f64> {
    let rate = |s| {
        if (s + phase) % 40 < 10 { 2_400.0 } else { 18_000.0 }
    };
    (0..seconds).map(rate).collect()
}

#[test]
fn alternation_and_outliers_are_not_drift_and_a_slow_decline_is() {
    for phase in 0..40 {
        assert_eq!(drifts(&alternating(400, phase)), None, "{phase}");
    }
    let mut rng = Rng::stream(3, "noise");
    let mut noisy: Vec<f64> = (0..400).map(|_| 22_000.0 * (0.9 + 0.2 * rng.unit_f64())).collect();
    assert_eq!(drifts(&noisy), None);
    for at in [7, 90, 360] {
        noisy[at] = 110_000.0;
    }
    assert_eq!(drifts(&noisy), None);
    let falling: Vec<f64> =
        noisy.iter().enumerate().map(|(i, rate)| rate * (1.0 - i as f64 / 2_000.0)).collect();
    let why = drifts(&falling).unwrap();
    assert!(why.contains("falls by"), "{why}");
    let step: Vec<f64> = (0..400).map(|i| if i < 200 { 9.0 } else { 7.0 }).collect();
    assert!(drifts(&step).is_some());
    assert!(drifts(&[0.0; 20]).unwrap().contains("no I/O"));
}

#[test]
fn a_changed_level_is_not_steady() {
    let hour = |level: fn(usize) -> u64| ObservedCell {
        intervals: (0..60)
            .map(|second| ObservedInterval {
                sample: fixtures::sample(second, level(second), 0, false),
                ..ObservedInterval::default()
            })
            .collect(),
        ..ObservedCell::default()
    };
    assert_eq!(moving(&hour(|_| 10), 40.0, 60.0), None);
    let why = moving(&hour(|i| if i < 40 { 15 } else { 10 }), 40.0, 60.0);
    assert!(why.unwrap().contains("50 %"));
}

#[test]
fn only_cells_declared_steady_are_tested() {
    let mut run = fixtures::run(vec![fixtures::drive("sim:x")]);
    let cell =
        fixtures::cell(fixtures::plan("s", fixtures::reads(4096, 1, 1)), 5.0, 1.0, 5, 0.0, 1);
    run.cells.push(cell);
    assert_eq!(not_steady_reason(&run, &run.cells[0], 0), None);
    run.cells[0].plan.steady = true;
    let why = not_steady_reason(&run, &run.cells[0], 0).unwrap();
    assert!(why.contains("too few"), "{why}");
    assert_eq!(not_steady_reason(&run, &run.cells[0], 1), None, "it does not take part");
}
