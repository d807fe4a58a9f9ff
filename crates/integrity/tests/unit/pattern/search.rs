use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn distances_are_found(seed: u64, beat in 0_u64..1 << 50, unit in 1_u64..9000, most in 0_u64..3000, way: i64) {
        let steps = way.rem_euclid(2 * most as i64 + 1) - most as i64;
        let there = beat.wrapping_add_signed(steps * unit as i64);
        prop_assume!(there < 1 << 51);
        let pattern = Pattern::new(seed);
        let (here, there) = (pattern.beat(beat), pattern.beat(there));
        prop_assert_eq!(distance(here, there, unit, most), Some(steps * unit as i64));
        let out = most as i64 - steps.abs() + 1;
        let beyond = pattern.beat((beat + (1 << 50)).wrapping_add_signed(if steps < 0 { -out } else { out } * unit as i64 + steps * unit as i64));
        prop_assert_eq!(distance(pattern.beat(beat + (1 << 50)), beyond, unit, most), None);
    }
}

#[test]
fn the_whole_range_is_searched() {
    let pattern = Pattern::new(77);
    let (here, chunk) = (123_456_789, 8192);
    for chunks in [-(1 << 24), -5_000_000, 0, 1, (1 << 24) - 1, 1 << 24] {
        let there = (here + (1 << 40)) as i64 + chunks * chunk;
        let found = distance(
            pattern.beat(here + (1 << 40)),
            pattern.beat(there as u64),
            chunk as u64,
            MAX_CHUNKS,
        );
        assert_eq!(found, Some(chunks * chunk));
    }
    assert_eq!(distance(5, 0, 1, 10), None);
    assert_eq!(distance(5, 7, u64::MAX, 10), None);
    assert_eq!(distance(5, 7, 1, u64::MAX), None);
}

#[test]
fn the_location_in_another_seed_is_found() {
    let other = Pattern::new(0xdead_beef);
    let beat = 37 + 256 * 70_000;
    assert_eq!(elsewhere(other.beat(beat), 37, 256, 70_001), Some((other, beat)));
    assert_eq!(elsewhere(other.beat(beat), 37, 256, 70_000), None);
    assert_eq!(elsewhere(other.beat(beat), 38, 256, 100), None);
    assert_eq!(elsewhere(0, 5, 256, 100), None);
}
