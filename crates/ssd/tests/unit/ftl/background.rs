use assay_units::Rng;

use crate::ftl::Ftl;
use crate::ftl::tests::{assumed, small};
use crate::nand::geometries;
use crate::options::Age;
use crate::profile::{GcProfile, Profile, SlcOverflow};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;

/// A drive of 80 superblocks of 32 rows.
fn profile(slc: bool) -> Profile {
    let mut profile = small(slc);
    profile.nand.pages_per_block.value = if slc { 96 } else { 32 };
    if let Some(slc) = &mut profile.slc {
        slc.bytes.value = 40 << 20;
        slc.overflow = Some(assumed(SlcOverflow::Direct));
        slc.fold_parallel.value = 4;
        slc.fold_ns.value = MS;
    }
    profile
}

/// Filled, and overwritten at random so many times.
fn overwritten(profile: &Profile, age: Age, times: u32) -> (Ftl, u64) {
    let (geometry, _) = geometries(&profile.nand);
    let user_units = geometry.superblock_units * 62;
    let mut ftl = Ftl::new(profile, user_units, true, 1).unwrap();
    ftl.set_age(&profile.nand, age, 1);
    let mut rng = Rng::new(5);
    let mut now = 0;
    for _ in 0..user_units * times {
        let unit = rng.below(u64::from(user_units)) as u32;
        now = ftl.write(now, unit, now, now).unwrap().max(now);
    }
    (ftl, now)
}

/// For how long the dies are busy when the idle period ends, at the worst of many instants; and the
/// units moved until the last of them.
fn worst_backlog_ns(ftl: &Ftl, since_ns: u64) -> (u64, u64) {
    let (mut worst_ns, mut moved) = (0, 0);
    for step in 0..50 {
        let mut ftl = ftl.clone();
        let until_ns = ftl.nand.idle_ns().max(since_ns) + SECOND + step * 20 * MS;
        let before = ftl.counters().relocated_units;
        while ftl.run_background(since_ns, until_ns).is_some() {}
        worst_ns = worst_ns.max(ftl.nand.idle_ns().saturating_sub(until_ns));
        moved = ftl.counters().relocated_units - before;
    }
    (worst_ns, moved)
}

/// Engines fold faster than the flash can collect garbage for it: the flash sets the pace.
#[test]
fn folding_leaves_the_dies_little_behind() {
    let (ftl, end_ns) = overwritten(&profile(true), Age::default(), 2);
    let (worst_ns, moved) = worst_backlog_ns(&ftl, end_ns);
    // The backlog at which a fold may begin, and what that adds.
    assert!(worst_ns < 3 * super::MOST_BACKLOG_NS, "{worst_ns}");
    assert!(moved > 2000, "{moved}");
}

#[test]
fn collection_and_refresh_leave_the_dies_little_behind() {
    let mut collects = profile(false);
    collects.gc = Some(GcProfile {
        victim: None,
        pace: None,
        high_superblocks: Some(assumed(12)),
        surplus_permille: None,
        unit_ns: None,
        idle_after_ns: Some(assumed(100 * MS)),
        wear_gap_erases: None,
    });
    let old = Age { cycles: 3000, retention_hours: 8760, ..Age::default() };
    for (profile, age, times) in [(collects, Age::default(), 2), (profile(false), old, 0)] {
        let (mut ftl, end_ns) = overwritten(&profile, age, times);
        for superblock in 0..ftl.blocks.multi {
            if ftl.nand.wear.examine(superblock, end_ns) {
                ftl.request_refresh(superblock);
            }
        }
        let units = u64::from(ftl.superblock_units);
        let (worst_ns, moved) = worst_backlog_ns(&ftl, end_ns);
        let program_ns = profile.nand.program_ns.value[0];
        let quantum_ns = program_ns * u64::from(super::QUANTUM_ROWS + 1);
        assert!(worst_ns < quantum_ns + 10 * MS, "{worst_ns}");
        assert!(moved > units, "{moved} of {units}");
    }
}
