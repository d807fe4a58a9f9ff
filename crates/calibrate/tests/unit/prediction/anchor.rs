//! Anchors: ratings in the unit of a cell, ratios learned from other drives.

use super::*;

#[test]
fn a_rating_is_the_lesser_of_iops_and_bandwidth() {
    let hardware = Hardware::embedded().unwrap();
    let [small, long] = cells();
    let of = |cell| rated(&hardware, "samsung-951", cell).unwrap();
    assert!((of(&small) - 300_000.0 * 4096.0 / MIB as f64).abs() < 1e-6);
    assert!((of(&long) - 2e9 / MIB as f64).abs() < 1e-6);
    assert_eq!(rated(&hardware, "mydigitalssd-bpx", &small), None);
}

#[test]
fn ratios_are_those_of_the_other_drives() {
    let hardware = Hardware::embedded().unwrap();
    let [small, _] = cells();
    let two = ["samsung-951", "samsung-960-evo"];
    let (mean, spread) = ratio(&hardware, &two, &small).unwrap().unwrap();
    let logs = [
        1070.0 / (300_000.0 * 4096.0 / MIB as f64),
        1003.0 / (330_000.0 * 4096.0 / MIB as f64),
    ]
    .map(f64::ln);
    assert!((mean - (logs[0] + logs[1]) / 2.0).abs() < 1e-9);
    assert!((spread - (LEAST_SPREAD.powi(2) * 1.5).sqrt()).abs() < 1e-9);
    assert_eq!(ratio(&hardware, &two[..1], &small).unwrap(), None);
    let found = anchors(&hardware, "plextor-m8pe-g", &two, &[]).unwrap();
    let claimed = 210_000.0 * 4096.0 / MIB as f64;
    assert!((found[0].measurement.value - claimed * mean.exp()).abs() < 1e-6);
    // A measured cell needs no anchor.
    let found = anchors(&hardware, "plextor-m8pe-g", &two, &[small]).unwrap();
    assert_eq!(found.len(), 1);
}
