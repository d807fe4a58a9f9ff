use super::*;
use proptest::prelude::*;

proptest! {
    /// Members are always found, and none once all are removed.
    #[test]
    fn entries_are_kept_until_removed(units: Vec<u32>, other: u32) {
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
fn false_positives_are_rare() {
    let mut filter = UnitFilter::new();
    for n in 0..64 {
        filter.insert(n * 7919);
    }
    let claimed = (0..100_000).filter(|&n| filter.may_hold(&[1_000_000 + n]));
    assert!(claimed.count() < 200);
}
