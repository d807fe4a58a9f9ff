use super::*;

#[test]
fn the_median_is_independent_of_order() {
    assert_eq!(median([]), None);
    assert_eq!(median([7.0]), Some(7.0));
    assert_eq!(median([3.0, -1.0, 2.0]), Some(2.0));
    assert_eq!(median([4.0, 1.0, 3.0, 2.0]), Some(2.5));
}
