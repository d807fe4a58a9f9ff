//! Learning from the figures of a simulated drive whose numbers are known.

use super::*;
use assay_calibrate::Effort;
use assay_calibrate::measurement::{AccessPattern, ReferenceWorkload};
use assay_calibrate::numbers::{get, leader};
use assay_calibrate::observed::on_scale;
use assay_calibrate::template::ReferenceDrive;

fn cell(threads: u32, block_bytes: u32) -> Measurement {
    let read = ReferenceWorkload::read(AccessPattern::Random, threads, block_bytes);
    Measurement::to_simulate(read, "a simulated drive")
}

#[test]
fn numbers_and_an_unseen_column_of_a_simulated_drive_are_found() {
    let drive = ReferenceDrive::new("samsung-951").unwrap();
    let paths = ["firmware.read_command_ns", "nand.read_ns"];
    let shipped = paths.map(|path| get(&drive.table, path).and_then(leader).unwrap().ln());
    let prior = Prior {
        mean: vec![shipped[0] + 0.5, shipped[1] - 0.4],
        width: vec![0.6, 0.6],
    };
    let template = Template {
        table: drive.table.clone(),
        paths: paths.map(str::to_owned).into(),
        wide: prior.clone(),
    };
    let profile = template.profile(&Structure::new(), &shipped).unwrap();
    let mut cells = [cell(1, 4096), cell(8, 4096), cell(64, 4096), cell(32, 8192)];
    let figures = assay_calibrate::simulate(&profile, &cells, Effort::Full, 1).unwrap();
    for (cell, figure) in cells.iter_mut().zip(figures) {
        cell.value = figure.unwrap();
    }
    let (training, left_out) = cells.split_at(3);
    let evidence = Evidence::new(training, &[], &Discrepancy::learned(&[]));
    let learned = learn(template, prior, evidence, &[], Some(&[]), (5, 1)).unwrap();
    let point = &learned.explanations[0].mode.point;
    for j in 0..2 {
        assert!(
            (point[j] - shipped[j]).abs() < 0.12,
            "{point:?} {shipped:?}"
        );
    }
    let members = learned.members(left_out, 20, &[], (5, 1));
    assert!((members.iter().map(|m| m.weight).sum::<f64>() - 1.0).abs() < 1e-9);
    let (centre, spread) = centre_and_spread(&members, (0, &left_out[0])).unwrap();
    let truth = left_out[0].value.ln();
    assert!(
        (centre - truth).abs() < 0.08 && spread < 0.2,
        "{centre} {truth} {spread}"
    );
    // The same on two threads.
    let again = learned.members(left_out, 20, &[], (5, 2));
    assert!(
        members
            .iter()
            .zip(&again)
            .all(|(a, b)| a.figures == b.figures && a.weight == b.weight)
    );
    let estimates = learned.estimates(&|_| None);
    assert_eq!(estimates.len(), 2);
}

#[test]
fn scales_are_logarithms_except_for_temperatures() {
    let mut figure = cell(1, 4096);
    assert!((in_unit(&figure, on_scale(&figure, 250.0)) - 250.0).abs() < 1e-9);
    figure.metric = ReferenceMetric::Celsius;
    assert_eq!(on_scale(&figure, 71.0), 71.0);
}

#[test]
fn the_centre_is_the_point_of_least_expected_relative_error() {
    // Half of the members say 100, half 400: 100 errs by 0 or 75 %, 400 by 0 or 300 %.
    let member = |value: f64| SimulatedMember {
        weight: 0.5,
        structure: Structure::new(),
        point: Vec::new(),
        figures: vec![Some(value)],
    };
    let figure = cell(1, 4096);
    let both = [member(400.0_f64.ln()), member(100.0_f64.ln())];
    let (centre, spread) = centre_and_spread(&both, (0, &figure)).unwrap();
    assert!((centre.exp() - 100.0).abs() < 1e-9);
    assert!((spread - 4.0_f64.ln() / 2.0).abs() < 1e-9);
}

#[test]
fn cells_that_err_alike_count_less_and_tell_of_their_neighbours() {
    let mut training = [cell(16, 512), cell(16, 1024), cell(16, 2048)];
    for (figure, value) in training.iter_mut().zip([110.0, 220.0, 440.0]) {
        figure.value = value;
    }
    let alike = Discrepancy {
        scale: 0.1,
        own: 0.05,
        length: 5.6,
        across: 0.95,
    };
    let alone = Discrepancy { own: 1.0, ..alike };
    let scale = |lacks| {
        Evidence::new(&training, &[], &lacks)
            .observed
            .observations()[0]
            .scale
    };
    assert!((scale(alone) - 0.1).abs() < 1e-12);
    assert!(
        scale(alike) > 0.14 && scale(alike) < 0.18,
        "{}",
        scale(alike)
    );
    // A tenth more than simulated at 16 threads: nearly so at 64.
    let simulated = [100.0_f64, 200.0, 400.0].map(f64::ln);
    let evidence = Evidence::new(&training, &[], &alike);
    let (mean, variance) = evidence.lacking(&simulated, &cell(64, 1024));
    assert!(
        (0.07..0.1).contains(&mean) && variance < 0.005,
        "{mean} {variance}"
    );
    let evidence = Evidence::new(&training, &[], &alone);
    assert_eq!(evidence.lacking(&simulated, &cell(64, 1024)).0, 0.0);
}
