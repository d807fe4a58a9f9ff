use super::*;
use proptest::prelude::*;

proptest! {
    /// Members are always found, and none once all are removed.
    #[test]
    fn holds_what_it_was_given_until_all_is_taken_out(units: Vec<u32>, other: u32) {
        let mut filter = UnitFilter::new();
        for &unit in &units {
            filter.insert(unit);
        }
        for &unit in &units {
            prop_assert!(filter.may_hold(&[other, unit]));
        }
        for &unit in &units {
            filter.remove(unit);
        }
        prop_assert!(!filter.may_hold(&units) && !filter.may_hold(&[other]));
    }
}

#[test]
fn seldom_claims_what_it_does_not_hold() {
    let mut filter = UnitFilter::new();
    for n in 0..64 {
        filter.insert(n * 7919);
    }
    let claimed = (0..100_000).filter(|&n| filter.may_hold(&[1_000_000 + n]));
    assert!(claimed.count() < 200);
}
