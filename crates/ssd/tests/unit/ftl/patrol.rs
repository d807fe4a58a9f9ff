use assay_units::Rng;
use proptest::prelude::*;

use crate::ftl::Ftl;
use crate::ftl::tests::{check, small};
use crate::nand::geometries;
use crate::options::Age;

/// A filled drive of 80 superblocks, of which 11 are spare.
fn aged(slc: bool, cycles: u32, retention_hours: u32) -> Ftl {
    let profile = small(slc);
    let (geometry, _) = geometries(&profile.nand);
    let mut ftl = Ftl::new(&profile, geometry.superblock_units * 62, true, 1).unwrap();
    let age = Age { cycles, retention_hours, ..Age::default() };
    ftl.set_age(&profile.nand, age, 1);
    ftl
}

fn idle(ftl: &mut Ftl, since_ns: u64, until_ns: u64) {
    while ftl.run_background(since_ns, until_ns).is_some() {}
}

#[test]
fn patrol_finds_old_data_and_renews_it_once() {
    let mut ftl = aged(false, 3000, 8760);
    let filled = ftl.superblock_units as u64 * 62;
    idle(&mut ftl, 0, 2 * super::PERIOD_NS);
    check(&mut ftl);
    let moved = ftl.counters().relocated_units;
    // All but the superblock that is being filled at the end.
    assert!((filled..filled + filled / 20).contains(&moved), "{moved} of {filled}");
    idle(&mut ftl, 0, 5 * super::PERIOD_NS);
    assert!(ftl.counters().relocated_units < moved + filled / 10);
}

#[test]
fn nothing_is_renewed_on_a_new_or_merely_worn_drive() {
    for (cycles, hours) in [(0, 0), (3000, 0), (0, 1)] {
        let mut ftl = aged(false, cycles, hours);
        idle(&mut ftl, 0, 3 * super::PERIOD_NS);
        assert_eq!(ftl.counters().relocated_units, 0, "{cycles} {hours}");
    }
}

/// A visit is one sense. The first comes after the least idle time, then one per interval.
#[test]
fn a_new_drive_reads_a_page_of_every_superblock_that_holds_data() {
    let mut ftl = aged(false, 0, 0);
    let per_visit = u64::from(ftl.nand.sense_units(0) * ftl.unit.sectors());
    let period_ns = super::IDLE_AFTER_NS + u64::from(ftl.blocks.multi) * ftl.patrol.interval_ns;
    let visits = |ftl: &mut Ftl, until_ns: u64| {
        idle(ftl, 0, until_ns);
        ftl.counters().read_sectors / per_visit
    };
    assert_eq!(visits(&mut ftl, super::IDLE_AFTER_NS), 0);
    assert_eq!(visits(&mut ftl, super::IDLE_AFTER_NS + 1), 1);
    // Superblocks without data have no visit, so the others come round more often.
    assert_eq!(visits(&mut ftl, period_ns), u64::from(ftl.blocks.multi));
    let is_due = (0..62).any(|superblock| ftl.nand.wear.is_due(superblock));
    assert!(!is_due);
    assert_eq!(ftl.counters().programmed_units, 0);
}

/// A cache with flash of its own loses superblocks when more of its blocks failed than it has spare
/// ones, and the drive goes on with the rest.
#[test]
fn a_worn_cache_shrinks() {
    for (cycles, lost) in [(3_000, 0), (9_000, 1)] {
        let mut ftl = aged(true, cycles, 0);
        let own = ftl.blocks.multi..ftl.blocks.len() as u32;
        let before = ftl.nand.wear.counters();
        let mut now_ns = 0;
        for _ in 0..8 {
            for unit in 0..ftl.map.units / 8 {
                let slot_ns = ftl.write(now_ns, unit, now_ns, now_ns);
                now_ns = slot_ns.expect("flash is left");
            }
            check(&mut ftl);
        }
        let after = ftl.nand.wear.counters();
        assert!(after.slc_cycles > before.slc_cycles);
        assert_eq!(after.used_percent, u64::from(cycles) / 30);
        assert_eq!(ftl.nand.wear.lost_slc_superblocks(), lost);
        let retired = own.filter(|&s| ftl.blocks.is_retired(s)).count();
        assert_eq!(retired as u64, lost, "{cycles}");
        assert!(!ftl.is_read_only());
    }
}

#[test]
fn reads_of_one_superblock_have_it_moved_in_step_with_them() {
    let mut ftl = aged(false, 12_000, 0);
    let units = u64::from(ftl.superblock_units);
    let mut rng = Rng::new(1);
    let mut now_ns = 0;
    let mut reads = 0_u64;
    while ftl.counters().erased_superblocks == 0 {
        let unit = rng.below(units) as u32;
        let physical = ftl.map.get(unit);
        now_ns = ftl.read(now_ns, now_ns, physical, (1, 1)).max(now_ns + 1);
        reads += 1;
        assert!(reads < 10_000_000, "never moved");
    }
    check(&mut ftl);
    assert!((units..2 * units).contains(&ftl.counters().relocated_units));
    assert!((0..62).any(|superblock| ftl.blocks.erases[superblock] == 1));
}

#[test]
fn a_drive_that_lost_too_many_blocks_refuses_writes_and_serves_reads() {
    let mut ftl = aged(false, 60_000, 0);
    assert!(ftl.is_read_only());
    assert_eq!(ftl.write(0, 5, 0, 0), None);
    let physical = ftl.map.get(5);
    assert!(ftl.read(0, 0, physical, (1, 1)) > 0);
    check(&mut ftl);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Worn drives lose no data while blocks fail, superblocks go out of use, and old data is
    /// renewed between writes.
    #[test]
    fn units_are_kept_while_superblocks_are_renewed_and_go_out_of_use(
        slc: bool, cycles in 0_u32..20_000, hours in 0_u32..20_000, seed: u64,
    ) {
        let mut ftl = aged(slc, cycles, hours);
        let units = u64::from(ftl.map.units);
        let mut rng = Rng::new(seed);
        let mut now_ns = 0;
        let mut read_only = false;
        for n in 0..40_000 {
            let unit = rng.below(units) as u32;
            match rng.below(8) {
                0..5 => match ftl.write(now_ns, unit, now_ns, now_ns) {
                    Some(slot_ns) => {
                        prop_assert!(!read_only, "a write after the drive was read-only");
                        now_ns = now_ns.max(slot_ns);
                    }
                    None => {
                        prop_assert!(ftl.is_read_only());
                        read_only = true;
                    }
                },
                _ => {
                    ftl.apply_map_updates();
                    let physical = ftl.map.get(unit);
                    now_ns = now_ns.max(ftl.read(now_ns, now_ns, physical, (1, 1)));
                }
            }
            if n % 10_000 == 0 {
                let since_ns = now_ns.max(ftl.flush(now_ns));
                now_ns = since_ns + super::PERIOD_NS / 4;
                idle(&mut ftl, since_ns, now_ns);
                check(&mut ftl);
            }
        }
        check(&mut ftl);
        let retired = (0..ftl.blocks.multi).filter(|&s| ftl.blocks.is_retired(s)).count();
        prop_assert_eq!(retired as u32, ftl.retired);
        prop_assert!(ftl.retired <= ftl.spare_superblocks);
    }
}
