//! Conservation: no unit lost or duplicated, counts correct, flash never exhausted.

use assay_units::Rng;

use super::blocks::SuperblockState;
use super::*;
use crate::profile::{GcPace, GcProfile, SlcOverflow, VictimPolicy};
use crate::sourced::{Provenance, Sourced};

/// A drive small enough to be overwritten many times in a test.
pub(super) fn small(slc: bool) -> Profile {
    let name = if slc { "intel-600p" } else { "samsung-951" };
    let mut profile = Profile::builtin(name).unwrap();
    let nand = &mut profile.nand;
    nand.channels.value = 2;
    nand.dies.value = 4;
    nand.planes.value = 2;
    nand.page_bytes.value = 16384;
    nand.pages_per_block.value = 12;
    nand.blocks_per_plane.value = 80;
    profile.buffer.bytes.value = 1 << 20;
    profile.ftl.gc_low_superblocks.value = 3;
    if let Some(slc) = &mut profile.slc {
        slc.bytes.value = 5 << 19; // 5 superblocks of 4 dies x 4 word lines x 32 KiB
    }
    profile
}

/// Map and reverse map agree, each address has one unit, and the valid counts are correct.
pub(super) fn check(ftl: &mut Ftl) {
    ftl.apply_map_updates();
    let mut valid = vec![0; ftl.blocks.len()];
    let mut seen = std::collections::BTreeSet::new();
    for unit in 0..ftl.map.units {
        let physical = ftl.map.get(unit);
        if physical == UNMAPPED {
            continue;
        }
        let superblock = physical >> ftl.shift;
        assert!(seen.insert(physical), "two units at {physical:#x}");
        assert_eq!(ftl.blocks.valid_unit(physical), Some(unit));
        valid[superblock as usize] += 1;
    }
    for (superblock, &valid) in (0..).zip(&valid) {
        assert_eq!(ftl.blocks.valid[superblock as usize], valid, "{superblock}");
        assert!(ftl.blocks.state[superblock as usize] != SuperblockState::Free || valid == 0);
        let mut owners = Vec::new();
        let written = ftl.blocks.written[superblock as usize];
        ftl.blocks
            .valid_units(superblock << ftl.shift, written, &mut owners);
        assert!(owners.len() as u32 <= valid, "owners without units");
    }
}

fn overwrite(slc: bool, filled: bool, rounds: u32) -> Ftl {
    overwrite_on(&small(slc), filled, rounds)
}

fn overwrite_on(profile: &Profile, filled: bool, rounds: u32) -> Ftl {
    let (geometry, _) = geometries(&profile.nand);
    let user_units = geometry.superblock_units * 62;
    let mut ftl = Ftl::new(profile, user_units, filled, 1).unwrap();
    let mut rng = Rng::new(3);
    let mut now = 0;
    for n in 0..user_units * rounds {
        let unit = rng.below(u64::from(user_units)) as u32;
        let slot = ftl.write(now, unit, now, now);
        now = now.max(slot.expect("the drive has spare area"));
        if n % 50_000 == 0 {
            ftl.flush(now);
            ftl.unmap(unit, unit + 1000);
            check(&mut ftl);
        }
    }
    check(&mut ftl);
    ftl
}

/// Write everything in order, `rounds` times, as a host's fill with large blocks does.
fn fill_in_order(slc: bool, pages_per_block: u32, rounds: u32) -> Ftl {
    let mut profile = small(slc);
    profile.nand.pages_per_block.value = pages_per_block;
    let (geometry, _) = geometries(&profile.nand);
    let user_units = geometry.superblock_units * 62;
    let mut ftl = Ftl::new(&profile, user_units, false, 1).unwrap();
    let mut now = 0;
    for _ in 0..rounds {
        for first in (0..user_units).step_by(32) {
            let (slot, all) = ftl.write_run(now, first, 32.min(user_units - first), now);
            assert!(all, "the drive has spare area");
            now = now.max(slot);
        }
        check(&mut ftl);
    }
    ftl
}

#[test]
fn sequential_writes_need_no_tables() {
    // Superblocks of several chunks of the map.
    let ftl = fill_in_order(false, 512, 1);
    // A bit per unit of the superblocks that were opened, and no table at all.
    let units = u64::from(ftl.superblock_units) * 63;
    assert!(
        ftl.resident_bytes() <= units.div_ceil(8),
        "{} bytes",
        ftl.resident_bytes()
    );
    // Repeated writes are collected and folded without loss; map chunks in several superblocks are listed.
    for pages_per_block in [12, 192, 516] {
        fill_in_order(false, pages_per_block, 4);
        fill_in_order(true, pages_per_block, 2);
    }
}

#[test]
fn no_data_is_lost_in_garbage_collection() {
    let ftl = overwrite(false, true, 4);
    assert!(ftl.counters.relocated_units > 0);
    assert!(ftl.counters.erased_superblocks > 100);
    overwrite(false, false, 2);
}

#[test]
fn no_data_is_lost_in_the_slc_cache() {
    let ftl = overwrite(true, true, 2);
    assert!(ftl.counters.relocated_units > 0);
}

/// Sequential overwriting invalidates whole superblocks in order: no victim has valid units.
#[test]
fn sequential_overwrites_have_no_write_amplification() {
    let profile = small(false);
    let (geometry, _) = geometries(&profile.nand);
    let user_units = geometry.superblock_units * 62;
    let mut ftl = Ftl::new(&profile, user_units, true, 1).unwrap();
    let mut now = 0;
    for n in 0..user_units * 3 {
        now = now.max(ftl.write(now, n % user_units, now, now).unwrap());
    }
    check(&mut ftl);
    let moved = ftl.counters.relocated_units as f64 / f64::from(user_units * 3);
    assert!(moved < 0.02, "moved {moved} per unit written");
}

/// All background work by `now_ns`; returns begin and end of each task.
fn run_background(ftl: &mut Ftl, quiet_since_ns: u64, now_ns: u64) -> Vec<(u64, u64)> {
    std::iter::from_fn(|| ftl.run_background(quiet_since_ns, now_ns)).collect()
}

#[test]
fn an_idle_drive_folds_its_cache() {
    let profile = small(true);
    let (geometry, _) = geometries(&profile.nand);
    let mut ftl = Ftl::new(&profile, geometry.superblock_units * 62, true, 1).unwrap();
    for unit in 0..400 {
        ftl.write(0, unit, 0, 0).unwrap();
    }
    let before = ftl.counters.relocated_units;
    run_background(&mut ftl, 0, 60_000_000_000);
    assert!(ftl.counters.relocated_units > before);
    let slc = ftl.slc.as_ref().unwrap();
    assert!(ftl.blocks.state[slc.first as usize] == SuperblockState::Free);
    check(&mut ftl);
}

fn assumed<T>(value: T) -> Sourced<T> {
    Sourced {
        value,
        provenance: Provenance::Assumed,
        source: "test".to_owned(),
    }
}

/// A cache that overflows into multi-bit flash and borrows flash of free superblocks.
fn small_borrowing(own_bytes: u64, overflow: SlcOverflow) -> Profile {
    let mut profile = small(true);
    let slc = profile.slc.as_mut().unwrap();
    slc.bytes.value = own_bytes;
    slc.borrowed_bytes = Some(assumed(16 << 19));
    slc.overflow = Some(assumed(overflow));
    profile
}

#[test]
fn no_data_is_lost_in_a_dynamic_slc_cache_that_overflows() {
    for (own_bytes, overflow) in [
        (0, SlcOverflow::Direct),
        (5 << 19, SlcOverflow::Direct),
        (0, SlcOverflow::Fold),
        (5 << 19, SlcOverflow::Fold),
    ] {
        let profile = small_borrowing(own_bytes, overflow);
        let ftl = overwrite_on(&profile, true, 2);
        assert!(ftl.counters.relocated_units > 0);
        let ftl = overwrite_on(&profile, false, 3);
        assert!(ftl.counters.relocated_units > 0);
    }
}

/// Units written to SLC flash before the first that is not, on a drive that never idles.
fn cached_units(profile: &Profile, filled: bool) -> u32 {
    let (geometry, _) = geometries(&profile.nand);
    let user_units = geometry.superblock_units * 62;
    let mut ftl = Ftl::new(profile, user_units, filled, 1).unwrap();
    let slc = ftl.slc.as_ref().unwrap().first;
    for unit in 0..user_units {
        ftl.write(0, unit, 0, 0).unwrap();
        ftl.apply_map_updates();
        if ftl.map.get(unit) >> ftl.shift < slc {
            return unit;
        }
    }
    user_units
}

/// The cache is its own flash plus what may be borrowed: all of it on an empty drive, what over-provisioning
/// leaves on a full one.
#[test]
fn the_borrowed_part_of_a_cache_shrinks_as_the_drive_fills() {
    let profile = small_borrowing(5 << 19, SlcOverflow::Direct);
    let (geometry, slc) = geometries(&profile.nand);
    // 80 superblocks in all, 5 of them SLC; 16 may be borrowed.
    assert_eq!(
        cached_units(&profile, false),
        (5 + 16) * slc.superblock_units
    );
    // 62 of 75 are full, 5 stay free for garbage collection.
    let spare = 75 - 62 - 5;
    assert_eq!(
        cached_units(&profile, true),
        (5 + spare) * slc.superblock_units
    );
    // With fold overflow nothing bypasses SLC.
    let through = small_borrowing(5 << 19, SlcOverflow::Fold);
    assert_eq!(cached_units(&through, true), geometry.superblock_units * 62);
}

#[test]
fn flash_without_over_provisioning_is_refused() {
    let profile = small(false);
    let (geometry, _) = geometries(&profile.nand);
    let error = Ftl::new(&profile, geometry.superblock_units * 76, true, 1).unwrap_err();
    assert!(error.to_string().contains("80"), "{error}");
}

/// Runs equal single writes: same slots, addresses and flash times, through garbage collection, trim, flush and
/// fold.
#[test]
fn a_run_equals_its_single_units() {
    for slc in [false, true] {
        let profile = small(slc);
        let (geometry, _) = geometries(&profile.nand);
        let user_units = geometry.superblock_units * 62;
        let mut runs = Ftl::new(&profile, user_units, true, 1).unwrap();
        let mut singles = runs.clone();
        let mut rng = Rng::new(5);
        let mut now = 0;
        for step in 0..12_000 {
            let first = rng.below(u64::from(user_units) - 200) as u32;
            let count = 1 + rng.below(if step % 3 == 0 { 120 } else { 3 }) as u32;
            let together = runs.write_run(now, first, count, now);
            let mut apart = (now, true);
            for unit in first..first + count {
                match singles.write(now, unit, now, now) {
                    Some(slot) => apart.0 = apart.0.max(slot),
                    None => apart.1 = false,
                }
            }
            assert_eq!(together, apart, "step {step}");
            now = together.0;
            match rng.below(40) {
                0 => assert_eq!(runs.flush(now), singles.flush(now)),
                1 => {
                    runs.unmap(first + 5, first + 90);
                    singles.unmap(first + 5, first + 90);
                }
                2 => {
                    runs.apply_map_updates();
                    let physical = runs.map.get(first);
                    assert_eq!(runs.read(now, now, physical, (1, 1)), {
                        singles.apply_map_updates();
                        singles.read(now, now, singles.map.get(first), (1, 1))
                    });
                }
                _ => {}
            }
        }
        assert!(runs.counters.relocated_units > 0);
        assert_eq!(runs.counters, singles.counters);
        check(&mut runs);
        check(&mut singles);
        for unit in 0..user_units {
            assert_eq!(runs.map.get(unit), singles.map.get(unit));
        }
    }
}

/// Deferring map updates changes nothing, even for units being collected.
#[test]
fn deferred_and_immediate_background_work_are_equal() {
    for slc in [false, true] {
        let profile = small(slc);
        let (geometry, _) = geometries(&profile.nand);
        let user_units = geometry.superblock_units * 62;
        let mut late = Ftl::new(&profile, user_units, true, 1).unwrap();
        let mut at_once = late.clone();
        let mut rng = Rng::new(5);
        let mut now = 0;
        let mut hits = 0;
        for n in 0..user_units * 3 {
            // Mostly over the whole drive, then repeatedly at a few addresses, some of them being collected.
            let span = if n % 8 < 5 { user_units } else { 300 };
            let unit = rng.below(u64::from(span)) as u32;
            let slots = [
                late.write(now, unit, now, now),
                at_once.write(now, unit, now, now),
            ];
            hits += u32::from(late.has_pending_update(&[unit]));
            at_once.apply_map_updates();
            assert_eq!(slots[0], slots[1], "write {n}");
            now = now.max(slots[0].unwrap());
        }
        assert!(hits > user_units, "{hits} waited");
        assert_eq!(late.counters(), at_once.counters());
        assert!(late.counters().relocated_units > 1000);
        check(&mut late);
        for unit in 0..user_units {
            assert_eq!(late.map.get(unit), at_once.map.get(unit));
        }
    }
}

fn collecting(change: impl FnOnce(&mut GcProfile)) -> Profile {
    let mut profile = small(false);
    let mut collection = GcProfile {
        victim: None,
        pace: None,
        high_superblocks: None,
        surplus_permille: None,
        unit_ns: None,
        idle_after_ns: None,
        wear_gap_erases: None,
    };
    change(&mut collection);
    profile.gc = Some(collection);
    profile
}

/// Nine of ten writes go to a tenth of the units; the rest to any unit, or there too, so that the others stay
/// cold.
fn overwrite_skewed(profile: &Profile, rounds: u32, cold: bool) -> Ftl {
    let (geometry, _) = geometries(&profile.nand);
    let user_units = geometry.superblock_units * 62;
    let mut ftl = Ftl::new(profile, user_units, true, 1).unwrap();
    let mut rng = Rng::new(9);
    let mut now = 0;
    for _ in 0..user_units * rounds {
        let range = if cold || rng.below(10) > 0 {
            user_units / 10
        } else {
            user_units
        };
        let unit = rng.below(u64::from(range)) as u32;
        now = now.max(ftl.write(now, unit, now, now).unwrap());
    }
    check(&mut ftl);
    ftl
}

#[test]
fn cost_benefit_moves_less_than_greedy_when_writes_are_skewed() {
    let greedy = overwrite_skewed(&collecting(|_| {}), 6, false);
    let aged = overwrite_skewed(
        &collecting(|of| of.victim = Some(assumed(VictimPolicy::CostBenefit))),
        6,
        false,
    );
    let (greedy, aged) = (
        greedy.counters.relocated_units,
        aged.counters.relocated_units,
    );
    assert!(aged * 10 < greedy * 9, "{aged} against {greedy}");
}

#[test]
fn wear_levelling_keeps_cold_superblocks_in_the_rotation() {
    let without = overwrite_skewed(&collecting(|_| {}), 12, true);
    let with = overwrite_skewed(
        &collecting(|of| of.wear_gap_erases = Some(assumed(10))),
        12,
        true,
    );
    let spread = |ftl: &Ftl| {
        let (least, most) = wear_of(ftl);
        most - least
    };
    assert!(spread(&without) > 30, "{}", spread(&without));
    // The gap of 10, plus erases of hot superblocks while each cold one waits.
    assert!(spread(&with) <= 26, "{}", spread(&with));
}

/// Free superblocks after each unit written, in the steady state.
fn free_over_time(profile: &Profile) -> Vec<usize> {
    let mut ftl = overwrite_on(profile, true, 4);
    let mut rng = Rng::new(4);
    let user_units = ftl.map.units;
    let mut now = 0;
    (0..user_units * 2)
        .map(|_| {
            let unit = rng.below(u64::from(user_units)) as u32;
            now = now.max(ftl.write(now, unit, now, now).unwrap());
            ftl.free.len()
        })
        .collect()
}

#[test]
fn free_superblocks_accumulate_to_the_high_watermark() {
    let even = free_over_time(&collecting(|_| {}));
    assert!(even.iter().all(|free| (1..=3).contains(free)));
    let profile = collecting(|of| {
        of.high_superblocks = Some(assumed(6));
        of.surplus_permille = Some(assumed(100));
    });
    let free = free_over_time(&profile);
    assert!(free.contains(&6));
    assert!(free.iter().all(|free| (1..=6).contains(free)));
    // Down in a burst, up slowly: far fewer units are written while it falls.
    let quick = free.windows(2).filter(|pair| pair[1] > pair[0]).count();
    assert!(quick > 10, "{quick}");
}

#[test]
fn gc_bursts_run_from_the_low_to_the_high_watermark() {
    let profile = collecting(|of| {
        of.high_superblocks = Some(assumed(8));
        of.pace = Some(assumed(GcPace::Burst));
    });
    let free = free_over_time(&profile);
    let leaps = free.windows(2).filter(|pair| pair[1] > pair[0] + 3);
    assert!(leaps.count() > 5);
    assert!(free.contains(&2) && free.iter().all(|&free| free <= 8));
}

#[test]
fn relocation_has_a_firmware_cost() {
    let profile = collecting(|of| of.unit_ns = Some(assumed(700)));
    let mut ftl = overwrite_on(&profile, true, 3);
    assert_eq!(
        ftl.take_firmware_ns(),
        700 * ftl.counters.relocated_units,
        "the firmware time of all relocations"
    );
    assert_eq!(ftl.take_firmware_ns(), 0);
}

#[test]
fn idle_gc_runs_up_to_the_high_watermark() {
    let profile = collecting(|of| {
        of.high_superblocks = Some(assumed(9));
        of.idle_after_ns = Some(assumed(1_000_000_000));
    });
    let mut ftl = overwrite_on(&profile, true, 3);
    while ftl.is_gc_active() {
        ftl.gc_in_step(8, 0, 0);
    }
    for unit in 0..ftl.superblock_units * 5 {
        ftl.write(0, unit, 0, 0).unwrap();
    }
    assert!(ftl.free.len() < 9);
    let moved = ftl.counters.relocated_units;
    run_background(&mut ftl, 0, 1_000_000_000);
    assert_eq!(
        ftl.counters.relocated_units, moved,
        "not idle for long enough"
    );
    run_background(&mut ftl, 0, 3_600_000_000_000);
    assert_eq!(ftl.free.len(), 9);
    check(&mut ftl);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]
    /// An idle period polled at once or in pieces gives the same tasks at the same times and the same flash
    /// state: for folding, collecting, and both.
    #[test]
    fn idle_time_is_additive(
        folds: bool, collects: bool, writes in 2_000_u32..12_000, seed: u64,
        pieces in proptest::collection::vec(1_u64..700, 1..60),
    ) {
        let mut profile = if folds { small_borrowing(5 << 19, SlcOverflow::Direct) } else { small(false) };
        if collects {
            let mut collection = collecting(|of| {
                of.high_superblocks = Some(assumed(9));
                of.idle_after_ns = Some(assumed(900_000_000));
                of.wear_gap_erases = Some(assumed(2));
            }).gc.unwrap();
            collection.unit_ns = Some(assumed(700));
            profile.gc = Some(collection);
        }
        let (geometry, _) = geometries(&profile.nand);
        let user_units = geometry.superblock_units * 62;
        let mut once = Ftl::new(&profile, user_units, true, 1).unwrap();
        let (mut rng, mut now) = (Rng::new(seed), 0);
        for _ in 0..writes {
            let unit = rng.below(u64::from(user_units)) as u32;
            now = now.max(once.write(now, unit, now, now).unwrap());
        }
        let mut pieced = once.clone();
        let end = now + pieces.iter().sum::<u64>() * 1_000_000 + 1_000_000_000;
        let all = run_background(&mut once, now, end);
        let (mut at, mut seen) = (now, Vec::new());
        for piece in pieces {
            at += piece * 1_000_000;
            seen.extend(run_background(&mut pieced, now, at));
        }
        seen.extend(run_background(&mut pieced, now, end));
        proptest::prop_assert!(all.is_sorted_by_key(|&(from_ns, _)| from_ns));
        proptest::prop_assert_eq!(&all, &seen);
        proptest::prop_assert_eq!(once.counters, pieced.counters);
        proptest::prop_assert_eq!(once.take_energy(), pieced.take_energy());
        proptest::prop_assert_eq!(once.nand.idle_ns(), pieced.nand.idle_ns());
        proptest::prop_assert_eq!(&once.free, &pieced.free);
        for unit in 0..user_units {
            proptest::prop_assert_eq!(once.map.get(unit), pieced.map.get(unit));
        }
        check(&mut pieced);
    }
}

/// A purge test: `(with a cache, filled, writes, of them after the purge)`.
fn purged(slc: bool, filled: bool, before: u32, after: u32, seed: u64) {
    let profile = if slc {
        small_borrowing(5 << 19, SlcOverflow::Direct)
    } else {
        small(false)
    };
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
        FtlCounters {
            erased_superblocks: counters.erased_superblocks + used,
            ..counters
        },
        "the statistics go on"
    );
    assert!(wear_of(&ftl).1 <= wear.1 + 1 && wear_of(&ftl).1 >= wear.1);
    check(&mut ftl);
    for unit in 0..user_units {
        assert_eq!(ftl.map.get(unit), UNMAPPED);
    }
    assert_eq!(ftl.free, fresh.free);
    assert_eq!(ftl.buffer.unprogrammed_units(), 0);
    let free = |ftl: &Ftl| {
        ftl.slc
            .as_ref()
            .map(|slc| (slc.free.clone(), slc.bare.clone()))
    };
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

/// Least and greatest erase count of multi-bit superblocks.
fn wear_of(ftl: &Ftl) -> (u32, u32) {
    let erases = &ftl.blocks.erases[..ftl.blocks.multi as usize];
    (*erases.iter().min().unwrap(), *erases.iter().max().unwrap())
}
