use super::*;

#[test]
fn limits_rise_with_the_number_of_drives_and_continue_beyond_the_table() {
    assert_eq!(limit(5), None);
    assert_eq!(limit(6), Some(LIMITS[0].1));
    let of = |drives| limit(drives).expect("a limit");
    for pair in [[40, 42], [42, 45], [100, 1000], [1000, 5000], [5000, 80_000]] {
        assert!(of(pair[0]) < of(pair[1]), "{pair:?}");
    }
}

#[test]
fn the_farthest_comes_first_and_equal_values_have_no_distances() {
    let found = distances(&[1.0, 1.1, 0.9, 1.05, 0.95, 1.02, 0.98, 9.0, -29.0]).expect("distances");
    assert_eq!(found.beyond(), [8, 7]);
    assert_eq!(found.median, 1.0);
    assert_eq!(distances(&[2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 7.0]), None);
}
