//! Purge (sanitize, format): nothing is left but wear and statistics.

use super::*;

/// A purge test: `(with a cache, filled, writes, of them after the purge)`.
fn purged(slc: bool, filled: bool, before: u32, after: u32, seed: u64) {
    let profile = if slc { small_borrowing(5 << 19, SlcOverflow::Direct) } else { small(false) };
    let (geometry, _) = geometries(&profile.nand);
    let user_units = geometry.superblock_units * 62;
    let mut ftl = Ftl::new(&profile, user_units, filled, 1).unwrap();
    let fresh = Ftl::new(&profile, user_units, false, 1).unwrap();
    let mut rng = Rng::new(seed);
    let mut now = 0;
    let mut write = |ftl: &mut Ftl, now: &mut u64, count: u32| {
        for _ in 0..count {
            let unit = rng.below(u64::from(user_units)) as u32;
            let slot = ftl.write(*now, unit, *now, *now);
            *now = (*now).max(slot.expect("the drive has spare area"));
        }
    };
    write(&mut ftl, &mut now, before);
    let (counters, wear) = (ftl.counters, wear_of(&ftl));
    let used = (0..ftl.blocks.len() as u32)
        .filter(|&n| ftl.blocks.state[n as usize] != SuperblockState::Free);
    let used = used.count() as u64;
    let end = ftl.purge(now);
    assert!(end >= now + used * profile.nand.erase_ns.value || used == 0);
    assert_eq!(
        ftl.counters,
        FtlCounters { erased_superblocks: counters.erased_superblocks + used, ..counters },
        "the statistics go on"
    );
    assert!(wear_of(&ftl).1 <= wear.1 + 1 && wear_of(&ftl).1 >= wear.1);
    check(&mut ftl);
    for unit in 0..user_units {
        assert_eq!(ftl.map.get(unit), UNMAPPED);
    }
    assert_eq!(ftl.free, fresh.free);
    assert_eq!(ftl.buffer.unprogrammed_units(), 0);
    let free = |ftl: &Ftl| ftl.slc.as_ref().map(|slc| (slc.free.clone(), slc.bare.clone()));
    assert_eq!(free(&ftl), free(&fresh));
    now = end;
    write(&mut ftl, &mut now, after);
    check(&mut ftl);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]
    /// A purge at any point leaves nothing, and later writes are kept.
    #[test]
    fn a_purge_leaves_a_fresh_drive_with_its_wear(
        slc: bool, filled: bool, before in 0_u32..60_000, after in 0_u32..30_000, seed: u64
    ) {
        purged(slc, filled, before, after, seed);
    }
}

/// No relocation on a purged drive until its flash was written once.
#[test]
fn a_purged_drive_writes_without_amplification() {
    let mut ftl = overwrite(false, true, 3);
    let end = ftl.purge(u64::from(u32::MAX) << 8);
    let before = ftl.counters;
    for unit in 0..ftl.map.units {
        ftl.write(end, unit, end, end).unwrap();
    }
    assert_eq!(ftl.counters.relocated_units, before.relocated_units);
    check(&mut ftl);
}
