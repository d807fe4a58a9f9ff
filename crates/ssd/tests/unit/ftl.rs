//! Conservation: no unit lost or duplicated, counts correct, flash never exhausted.

use assay_units::Rng;

use super::blocks::SuperblockState;
use super::*;
use crate::map::UNMAPPED;
use crate::nand::geometries;
use crate::profile::SlcOverflow;
use crate::sourced::{Provenance, Sourced};

#[path = "ftl/gc.rs"]
mod gc;
#[path = "ftl/purge.rs"]
mod purge;

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
        ftl.blocks.valid_units(superblock << ftl.shift, written, &mut owners);
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
    assert!(ftl.resident_bytes() <= units.div_ceil(8), "{} bytes", ftl.resident_bytes());
    // Repeated writes are collected and folded without loss; map chunks in several superblocks are
    // listed.
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

pub(super) fn assumed<T>(value: T) -> Sourced<T> {
    Sourced { value, provenance: Provenance::Assumed, source: "test".to_owned() }
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

/// The cache is its own flash plus what may be borrowed: all of it on an empty drive, what
/// over-provisioning leaves on a full one.
#[test]
fn the_borrowed_part_of_a_cache_shrinks_as_the_drive_fills() {
    let profile = small_borrowing(5 << 19, SlcOverflow::Direct);
    let (geometry, slc) = geometries(&profile.nand);
    // 80 superblocks in all, 5 of them SLC; 16 may be borrowed.
    assert_eq!(cached_units(&profile, false), (5 + 16) * slc.superblock_units);
    // 62 of 75 are full, 5 stay free for garbage collection.
    let spare = 75 - 62 - 5;
    assert_eq!(cached_units(&profile, true), (5 + spare) * slc.superblock_units);
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

/// Runs equal single writes: same slots, addresses and flash times, through garbage collection,
/// trim, flush and fold.
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
            // Mostly over the whole drive, then repeatedly at a few addresses, some of them being
            // collected.
            let span = if n % 8 < 5 { user_units } else { 300 };
            let unit = rng.below(u64::from(span)) as u32;
            let slots = [late.write(now, unit, now, now), at_once.write(now, unit, now, now)];
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

/// Least and greatest erase count of multi-bit superblocks.
fn wear_of(ftl: &Ftl) -> (u32, u32) {
    let erases = &ftl.blocks.erases[..ftl.blocks.multi as usize];
    (*erases.iter().min().unwrap(), *erases.iter().max().unwrap())
}
