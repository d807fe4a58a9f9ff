use super::*;

#[test]
fn the_unit_is_the_smallest_size_that_is_not_amplified() {
    let of = |factors: [f64; 4]| {
        let sizes = [4096, 8192, 16384, 65536];
        unit(&sizes.into_iter().zip(factors).collect::<Vec<_>>())
    };
    assert_eq!(of([4.0, 2.0, 1.0, 1.0]), Some(Unit::Bytes(16384)));
    assert_eq!(of([4.1, 2.05, 1.08, 1.02]), Some(Unit::Bytes(16384)));
    assert_eq!(of([2.0, 1.0, 1.0, 1.0]), Some(Unit::Bytes(8192)));
    assert_eq!(of([1.0, 1.0, 1.0, 1.0]), Some(Unit::AtMost(4096)));
    // Still falling at the end: the unit is not among the sizes, or it is the last.
    assert_eq!(of([16.0, 8.0, 4.0, 1.0]), Some(Unit::Bytes(65536)));
    // Garbage collection: no law of units.
    assert_eq!(of([1.4, 1.3, 1.2, 1.0]), None);
    assert_eq!(of([1.0, 2.0, 1.0, 1.0]), None);
    assert_eq!(unit(&[(4096, 1.0)]), None);
}
