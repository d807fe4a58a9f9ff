//! A simulation finds a drive from the figures that it gives.

use super::*;
use crate::template::by_facts;
use assay_calibrate::hardware::Hardware;
use assay_calibrate::measurement::{AccessPattern, ReferenceWorkload};
use assay_calibrate::template::ReferenceDrive;

#[test]
fn a_drive_of_the_templates_kind_is_predicted_from_a_few_of_its_figures() {
    let drives = ["wd-black", "samsung-951", "toshiba-rd400", "plextor-m8pe-g"];
    let drives = drives.map(|name| ReferenceDrive::new(name).unwrap());
    let others: Vec<&ReferenceDrive> = drives[1..].iter().collect();
    let (template, alternatives) = by_facts(&drives[0], &others, &Hardware::embedded().unwrap());
    // The truth has other numbers than the prior's mean.
    let point: Vec<f64> = template.wide.mean.iter().map(|x| x + 0.3).collect();
    let truth = template.profile(&Structure::new(), &point).unwrap();
    let read = |(threads, bytes)| {
        let read = ReferenceWorkload::read(AccessPattern::Random, threads, bytes);
        Measurement::to_simulate(read, "truth")
    };
    let known = [(1, 4096), (4, 16_384), (16, 4096), (64, 4096), (64, 65_536)].map(read);
    let asked = [(16, 16_384), (64, 16_384)].map(read);
    let all = [known.to_vec(), asked.to_vec()].concat();
    let values = figures_of(vec![Some(truth)], &all, 1).remove(0).unwrap();
    let mut figures = known.to_vec();
    for (figure, value) in figures.iter_mut().zip(&values) {
        figure.value = value.unwrap().exp();
    }
    let observed = Observed::with_scale(&figures, &|_| 0.05);
    let simulation = Simulation {
        template: &template,
        alternatives: &alternatives[..1],
        observed: &observed,
        threads: 1,
    };
    for (found, truth) in simulation.predict(&asked).iter().zip(&values[known.len()..]) {
        let error = found.unwrap() - truth.unwrap();
        assert!(error.abs() < 0.15, "{error}");
    }
}
