use super::*;

#[test]
fn a_depth_is_divided_evenly_among_the_most_threads() {
    let threads: Vec<u32> = [1, 2, 4, 6, 7, 8, 64]
        .map(|d| threads_for_depth(d, 4))
        .to_vec();
    assert_eq!(threads, [1, 2, 4, 3, 1, 4, 4]);
}

#[test]
fn values_are_compared_by_what_they_mean() {
    assert!(same_value("4k", "4096") && same_value("zipf:1", "zipf:1"));
    assert!(!same_value("4k", "4000") && !same_value("as-it-is", "0"));
}
