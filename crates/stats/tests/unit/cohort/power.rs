use super::*;

#[test]
fn numbers_of_drives_are_those_of_printed_tables() {
    // Cohen 1988, table 2.4.1: d = 0.5, 80 %: 64 a side; d = 0.8: 26; d = 0.2: 393.
    for (effect, drives) in [(0.5, 64), (0.8, 26), (0.2, 394)] {
        let found = drives_needed(Design::Independent, effect, 1.0, 0.95, 0.8);
        assert_eq!(found, Some(drives), "{effect}");
    }
    // 1 % of the same drives with 0.5 % between runs.
    assert_eq!(drives_needed(Design::Paired, 0.01, 0.005, 0.95, 0.8), Some(7));
}

#[test]
fn power_rises_with_drives_and_is_undefined_without_spread() {
    let of = |drives| power(Design::Independent, drives, 0.5, 1.0, 0.95).expect("power");
    assert!(of(10) < of(20) && of(20) < of(200) && of(1000) > 0.999);
    assert_eq!(power(Design::Independent, 1, 0.5, 1.0, 0.95), None);
    assert_eq!(power(Design::Paired, 10, 0.5, 0.0, 0.95), None);
    assert_eq!(drives_needed(Design::Paired, f64::NAN, 1.0, 0.95, 0.8), None);
    assert_eq!(drives_needed(Design::Independent, 1e-9, 1.0, 0.95, 0.8), None);
}
