use super::*;
use crate::Profile;
use proptest::prelude::*;

fn nand() -> NandProfile {
    Profile::builtin("samsung-951").unwrap().nand
}

fn aged(cycles: u32, retention_hours: u32) -> Wear {
    let age = Age { cycles, retention_hours, ..Age::default() };
    Wear::new(&nand(), (10, 4), age, 1)
}

#[test]
fn percentage_used_follows_from_erases_over_the_rated_cycles() {
    let used = |cycles| aged(cycles, 0).counters().used_percent;
    assert_eq!((used(0), used(300), used(3000), used(4500)), (0, 10, 100, 150));
    let mut wear = aged(2999, 0);
    for superblock in 0..9 {
        wear.erase(superblock);
    }
    let counters = wear.counters();
    assert_eq!((counters.mean_cycles, counters.used_percent), (2999, 99));
    assert_eq!((counters.least_cycles, counters.most_cycles), (2999, 3000));
    wear.erase(9);
    assert_eq!(wear.counters().used_percent, 100);
}

#[test]
fn spare_blocks_run_out_beyond_twice_the_rated_cycles() {
    let spare = |cycles| {
        let age = Age { cycles, ..Age::default() };
        Wear::new(&nand(), (1000, 0), age, 1).counters().spare_percent
    };
    assert_eq!(spare(0), 100);
    assert!((85..=95).contains(&spare(3000)), "{}", spare(3000));
    // The tenfold of the failures at the rated cycles: 10^(1/3) of those.
    assert!(spare(6400) > 0 && spare(6600) == 0);
    assert_eq!(aged(6000, 0).lost_superblocks(), 0);
    assert!(aged(10_000, 0).lost_superblocks() > 0);
}

/// Flash in SLC mode endures ten times as many cycles: its own superblocks count for themselves,
/// borrowed ones wear those that lend them.
#[test]
fn slc_mode_wears_a_tenth() {
    let mut wear = aged(300, 0);
    let before = wear.counters();
    assert_eq!((before.slc_cycles, before.used_percent), (3_000, 10));
    for _ in 0..9 {
        wear.erase_lent(7);
    }
    assert_eq!(wear.counters(), before);
    wear.erase_lent(7);
    let lent = wear.counters();
    assert_eq!((lent.most_cycles, lent.least_cycles), (301, 300));
    for _ in 0..27_000 {
        (10..14).for_each(|superblock| wear.erase(superblock));
    }
    let worn = wear.counters();
    assert_eq!((worn.slc_cycles, worn.used_percent), (30_000, 100));
    assert_eq!(worn.most_cycles, lent.most_cycles);
    // A share of 0.002 of the cache's blocks has failed.
    assert!(worn.bad_blocks <= lent.bad_blocks + 2 && worn.spare_percent >= 50);
    assert_eq!(wear.lost_slc_superblocks(), 0);
    for _ in 0..150_000 {
        (10..14).for_each(|superblock| wear.erase(superblock));
    }
    assert!(wear.lost_slc_superblocks() > 0);
    assert_eq!((wear.counters().spare_percent, wear.lost_superblocks()), (0, 0));
}

/// Blocks fail in a run at the rate with which they had failed at power-on.
#[test]
fn blocks_fail_in_a_run_as_before_power_on() {
    let mut wear = aged(0, 0);
    for _ in 0..6000 {
        (0..10).for_each(|superblock| wear.erase(superblock));
    }
    let expected = aged(6000, 0).pool.bad as f64;
    let off = (wear.pool.bad as f64 - expected).abs();
    assert!(off <= 4.0 * expected.sqrt() + 1.0, "{} {expected}", wear.pool.bad);
}

#[test]
fn reads_make_a_worn_superblock_due_and_writing_it_again_does_not_leave_it_so() {
    let mut wear = aged(6000, 0);
    let (mut reads, mut examined) = (0_u64, 0);
    let fresh = wear.row(3);
    while !wear.is_due(3) {
        reads += 1;
        if wear.count_read(3) {
            examined += 1;
            wear.examine(3, 0);
        }
        assert!(reads < 100_000_000, "never due");
    }
    // Computed about once per row that is passed.
    assert!(examined <= wear.row(3) - fresh + 3, "{examined}");
    // Per block: hundreds of thousands (Cai et al. read up to a million times).
    let dies = u64::from(nand().dies.value);
    assert!((10_000..1_000_000).contains(&(reads / dies)), "{}", reads / dies);
    assert!(!wear.is_due(2));
    wear.erase(3);
    wear.open(3, 5);
    assert!(!wear.is_due(3) && wear.row(3) <= fresh + 1);
}

#[test]
fn retention_counts_from_the_time_of_writing() {
    let mut wear = aged(3000, 8760);
    let old = wear.row(0);
    assert!(wear.is_due(0));
    wear.erase(0);
    wear.open(0, 1_000_000);
    let written = wear.row(0);
    assert!(written < old && !wear.is_due(0));
    wear.examine(0, 1_000_000 + 365 * 86_400_000_000_000);
    assert!(wear.row(0) >= old - 1, "{} {old}", wear.row(0));
}

proptest! {
    /// Whatever happens to a superblock, its row is that of a computation from scratch, counters
    /// agree, and spare only falls.
    #[test]
    fn states_follow_from_what_happened(
        cycles in 0_u32..12_000, hours in 0_u32..20_000,
        events in prop::collection::vec((0_u32..10, 0_u8..4, 1_u64..1_000_000_000_000_000), 1..60),
    ) {
        let mut wear = aged(cycles, hours);
        let before = wear.years;
        let mut now_ns = 0;
        let mut naive = [(u64::from(cycles), BEFORE, 0_u64); 10];
        let mut spare = wear.counters().spare_percent;
        for (superblock, event, wait_ns) in events {
            now_ns += wait_ns;
            let state = &mut naive[superblock as usize];
            match event {
                0 => {
                    wear.erase(superblock);
                    wear.open(superblock, now_ns);
                    *state = (state.0 + 1, now_ns, 0);
                }
                1 => {
                    for _ in 0..wait_ns % 5_000 {
                        state.2 += 1;
                        if wear.count_read(superblock) {
                            wear.examine(superblock, now_ns);
                        }
                    }
                }
                _ => {
                    wear.examine(superblock, now_ns);
                    let years = match state.1 {
                        BEFORE => before + now_ns as f64 / YEAR_NS,
                        at_ns => (now_ns - at_ns) as f64 / YEAR_NS,
                    };
                    let growth = wear.law.growth(state.0, years, state.2 as f64 / wear.dies);
                    prop_assert_eq!(wear.row(superblock), wear.law.row(growth));
                }
            }
            let counters = wear.counters();
            prop_assert!(counters.spare_percent <= spare);
            spare = counters.spare_percent;
            prop_assert_eq!(counters.most_cycles, naive.iter().map(|n| n.0).max().unwrap());
            prop_assert_eq!(counters.least_cycles, naive.iter().map(|n| n.0).min().unwrap());
        }
    }
}
