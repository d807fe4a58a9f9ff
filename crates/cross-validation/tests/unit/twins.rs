//! Twins of known truths: cells, and the table.

use super::*;
use assay_calibrate::twin_cells::{embedded, parse, table};

#[test]
fn no_cell_is_both_measured_and_predicted() {
    let measured: Vec<String> = measured().iter().map(Measurement::key).collect();
    let unmeasured = unmeasured();
    assert!(unmeasured.len() >= 30);
    for cell in unmeasured {
        assert!(!measured.contains(&cell.key()), "{}", cell.key());
    }
}

#[test]
fn no_truth_is_among_the_profiles_of_its_twin() {
    for truth in TRUTHS {
        let others = other_families(truth);
        assert!(others.len() >= 10 && !others.iter().any(|name| name == truth));
    }
    assert!(!other_families("plextor-m8pe-g").iter().any(|n| n.starts_with("plextor-m8pe")));
}

#[test]
fn the_table_reads_back() {
    let cell = TwinCell {
        truth: "wd-black".to_owned(),
        nearest: "samsung-951".to_owned(),
        kind: FigureKind::RandomRead,
        key: "randread bs=4k threads=8 depth=1, mib_per_s".to_owned(),
        unit: "MiB/s".to_owned(),
        actual: 100.0,
        predicted: 106.0,
        spread: 0.02,
    };
    let far = TwinCell { predicted: 110.0, ..cell.clone() };
    let all = [cell, far];
    assert_eq!(parse(&table(&all)).unwrap(), all);
    assert!((share_within(&all) - 0.5).abs() < 1e-9);
    let page = markdown(&all);
    assert!(page.contains("| wd-black | samsung-951 | 2 | 50 % | 10 % |"), "{page}");
    assert!(page.contains("**not met**"));
}

#[test]
fn intervals_are_multiples_of_the_distance_from_the_measured_figures() {
    let cell = |truth: &str, spread: f64, error: f64| TwinCell {
        truth: truth.to_owned(),
        nearest: "samsung-951".to_owned(),
        kind: FigureKind::RandomRead,
        key: String::new(),
        unit: "MiB/s".to_owned(),
        actual: 100.0 * (spread * error).exp(),
        predicted: 100.0,
        spread,
    };
    let errors: Vec<f64> = (1..=10).map(|n| f64::from(n) / 5.0).collect();
    let mut all = Vec::new();
    for (truth, spread) in [("a", 0.01), ("b", 0.1)] {
        all.extend(errors.iter().map(|error| cell(truth, spread, *error)));
    }
    let every: Vec<&TwinCell> = all.iter().collect();
    // Nine of ten errors are at most 1.8 spreads.
    assert!((half_width(&every).unwrap() - 1.8).abs() < 1e-9);
    let (share, width) = coverage(&all).unwrap();
    assert!((0.85..=0.95).contains(&share), "{share}");
    assert!((0.018..0.2).contains(&width), "{width}");
    assert_eq!(coverage(&all[..10]), None, "one truth says nothing of another");
    assert!(markdown(&all).contains(" % of the cells lie within theirs"));
}

#[test]
fn the_intervals_of_this_repository_hold() {
    let cells = embedded().unwrap();
    let (share, _) = coverage(&cells).unwrap();
    assert!((0.8..=0.97).contains(&share), "{share}");
}
