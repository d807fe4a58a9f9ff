//! Ratings of public drives: complete, known, and enough of them; groups and scores.

use std::collections::BTreeSet;

use super::*;

const NUMBERS: [&str; 5] = [
    "sequential_read_mb_s",
    "sequential_write_mb_s",
    "random_read_iops",
    "random_write_iops",
    "cell_bits",
];
const NAMES: [&str; 4] = ["model", "controller", "flash", "profile"];

#[test]
fn every_fact_is_of_a_public_drive_has_a_source_and_stands_once() {
    let table = CsvTable::parse(FILE, TEXT).unwrap();
    let hardware = Hardware::embedded().unwrap();
    let known: BTreeSet<&str> =
        PublicTable::built_in().drives.iter().map(|d| d.drive.as_str()).collect();
    let (mut drives, mut facts) = (BTreeSet::new(), BTreeSet::new());
    let mut of_profile = 0;
    for row in &table.rows {
        let [drive, figure, value, source] =
            ["drive", "figure", "value", "source"].map(|name| row.text(name).unwrap());
        assert!(known.contains(drive), "{drive}");
        assert!(facts.insert((drive, figure)), "{drive}: {figure} twice");
        assert!(!source.is_empty());
        match figure {
            "profile" => {
                assert!(hardware.drive(value).is_some(), "{value}");
                of_profile += 1;
            }
            _ if NUMBERS.contains(&figure) => assert!(row.figure("value").unwrap() > 0.0),
            _ => assert!(NAMES.contains(&figure), "{figure}"),
        }
        let scope = row.text("scope").unwrap_or_default();
        assert!(["", "family", "class"].contains(&scope), "{scope}");
        drives.insert(drive);
    }
    let modelled = assay_ssd::Profile::names().len();
    assert!(modelled + drives.len() - of_profile >= 40);
}

fn read(iops: f64, predicted: [f64; 3]) -> PublicRead {
    PublicRead {
        kind: Kind::Cached,
        is_by_host: false,
        drive: "one".to_owned(),
        capacity_gb: None,
        rated_iops: 3e5,
        rated_mb: 3000.0,
        is_of_family: false,
        in_flight: 64,
        iops,
        by_flash: predicted,
        predicted,
    }
}

#[test]
fn errors_and_held_intervals_are_counted() {
    let inside = read(100.0, [110.0, 90.0, 120.0]);
    let outside = read(100.0, [150.0, 120.0, 180.0]);
    let Held { errors, inside, of } = held(&[&inside, &outside], |r| r.predicted).unwrap();
    assert!((errors[0] - 30.0).abs() < 1e-9 && (errors[2] - 50.0).abs() < 1e-9);
    assert_eq!((inside, of), (1, 2));
    assert_eq!(held(&[], |r| r.predicted), None);
}

#[test]
fn figures_of_a_host_are_apart_and_drives_of_one_model_do_not_teach_each_other() {
    let all = measured().unwrap();
    let host = of_kind(&all, None);
    assert!(host.iter().any(|r| r.drive == "Samsung_SSD_990_EVO_1TB"));
    assert!(all.iter().all(|r| r.in_flight >= 16));
    let number = |kind| of_kind(&all, Some(kind)).len();
    assert!(number(Kind::Cached) >= 9 && number(Kind::Sata) >= 3 && number(Kind::XPoint) >= 2);
    let [small, large, other] = [
        "WDC_CL_SN720_SDAQNTW-256G-1020",
        "WDC_CL_SN720_SDAQNTW-512G-2000",
        "WDC_CL_SN730_SDBQNTY-512G-2020",
    ];
    assert!(is_same_model(small, large) && !is_same_model(small, other));
}
