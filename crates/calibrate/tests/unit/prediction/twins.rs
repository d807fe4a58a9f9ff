//! Twins of known truths: cells, and the table.

use super::*;

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
    assert!(
        !other_families("plextor-m8pe-g")
            .iter()
            .any(|n| n.starts_with("plextor-m8pe"))
    );
}

#[test]
fn the_table_reads_back() {
    let cell = TwinCell {
        truth: "wd-black".to_owned(),
        nearest: "samsung-951".to_owned(),
        key: "randread bs=4k threads=8 depth=1, mib_per_s".to_owned(),
        unit: "MiB/s".to_owned(),
        actual: 100.0,
        predicted: 106.0,
    };
    let far = TwinCell {
        predicted: 110.0,
        ..cell.clone()
    };
    let all = [cell, far];
    assert_eq!(parse(&table(&all)).unwrap(), all);
    assert!((share_within(&all) - 0.5).abs() < 1e-9);
    let page = markdown(&all);
    assert!(
        page.contains("| wd-black | samsung-951 | 2 | 50 % | 10 % |"),
        "{page}"
    );
    assert!(page.contains("**not met**"));
}
