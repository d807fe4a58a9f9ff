//! Garbage collection: victims, watermarks, cost, idle time, wear levelling.

use super::*;
use crate::profile::{GcPace, GcProfile, VictimPolicy};

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

/// Nine of ten writes go to a tenth of the units; the rest to any unit, or there too, so that the
/// others stay cold.
fn overwrite_skewed(profile: &Profile, rounds: u32, cold: bool) -> Ftl {
    let (geometry, _) = geometries(&profile.nand);
    let user_units = geometry.superblock_units * 62;
    let mut ftl = Ftl::new(profile, user_units, true, 1).unwrap();
    let mut rng = Rng::new(9);
    let mut now = 0;
    for _ in 0..user_units * rounds {
        let range = if cold || rng.below(10) > 0 { user_units / 10 } else { user_units };
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
    let (greedy, aged) = (greedy.counters.relocated_units, aged.counters.relocated_units);
    assert!(aged * 10 < greedy * 9, "{aged} against {greedy}");
}

#[test]
fn wear_levelling_keeps_cold_superblocks_in_the_rotation() {
    let without = overwrite_skewed(&collecting(|_| {}), 12, true);
    let with = overwrite_skewed(&collecting(|of| of.wear_gap_erases = Some(assumed(10))), 12, true);
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
    assert_eq!(ftl.counters.relocated_units, moved, "not idle for long enough");
    run_background(&mut ftl, 0, 3_600_000_000_000);
    assert_eq!(ftl.free.len(), 9);
    check(&mut ftl);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]
    /// An idle period polled at once or in pieces gives the same tasks at the same times and the
    /// same flash state: for folding, collecting, and both.
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
