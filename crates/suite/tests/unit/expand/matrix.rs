use super::*;

#[test]
fn a_depth_is_spread_evenly_over_as_many_threads_as_may_be() {
    let spread: Vec<u32> = [1, 2, 4, 6, 7, 8, 64].map(|d| spread(d, 4)).to_vec();
    assert_eq!(spread, [1, 2, 4, 3, 1, 4, 4]);
}

#[test]
fn values_are_compared_by_what_they_mean() {
    assert!(same_value("4k", "4096") && same_value("zipf:1", "zipf:1"));
    assert!(!same_value("4k", "4000") && !same_value("as-it-is", "0"));
}
