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
    let is_small = |m: &Measurement| m.key() == small.key();
    let (mean, spread) = ratio(&hardware, &two, &is_small).unwrap().unwrap();
    let logs = [
        1070.0 / (300_000.0 * 4096.0 / MIB as f64),
        1003.0 / (330_000.0 * 4096.0 / MIB as f64),
    ]
    .map(f64::ln);
    assert!((mean - (logs[0] + logs[1]) / 2.0).abs() < 1e-9);
    assert!((spread - (LEAST_SPREAD.powi(2) * 1.5).sqrt()).abs() < 1e-9);
    assert_eq!(ratio(&hardware, &two[..1], &is_small).unwrap(), None);
    let found = anchors(&hardware, "plextor-m8pe-g", &two, &[]).unwrap();
    let claimed = 210_000.0 * 4096.0 / MIB as f64;
    assert!((found[0].measurement.value - claimed * mean.exp()).abs() < 1e-6);
    // A measured cell needs no anchor.
    let found = anchors(&hardware, "plextor-m8pe-g", &two, &[small]).unwrap();
    assert_eq!(found.len(), 1);
}

#[test]
fn figures_of_a_kind_share_a_ratio_in_which_every_drive_counts_once() {
    let hardware = Hardware::embedded().unwrap();
    let is_write =
        |m: &Measurement| matches!(m.procedure, Procedure::Fill(f) if f != FillFigure::Cache);
    // The 600p has a rating of its cached writes alone.
    let drives = ["intel-600p", "wd-black", "mydigitalssd-bpx"];
    let (mean, _) = ratio(&hardware, &drives, &is_write).unwrap().unwrap();
    let by_hand = ((170.0_f64 / 540.0).ln() + (233.0_f64 / 700.0).ln()) / 2.0;
    assert!((mean - by_hand).abs() < 1e-9, "{mean} {by_hand}");
    // No single figure of writes has a rating of two of them.
    let is_steady = |m: &Measurement| m.procedure == Procedure::Fill(FillFigure::Steady);
    assert_eq!(ratio(&hardware, &drives, &is_steady).unwrap(), None);
}
