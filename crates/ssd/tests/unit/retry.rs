use super::*;
use crate::sourced::tests::assumed;
use proptest::prelude::*;

fn levels(ppm: &[u32], extra_ns: &[u64]) -> RetryProfile {
    RetryProfile {
        probability_ppm: assumed(ppm.to_vec()),
        extra_ns: assumed(extra_ns.to_vec()),
        doubling_cycles: Some(assumed(1000)),
        doubling_hours: Some(assumed(100)),
    }
}

#[test]
fn shares_double_with_wear_and_with_retention() {
    let profile = levels(&[100], &[1]);
    for (cycles, hours, ppm) in [
        (0, 0, 100),
        (500, 0, 150),
        (1000, 0, 200),
        (3000, 0, 800),
        (0, 250, 600),
        (1000, 100, 400),
        (u32::MAX, u32::MAX, 1_000_000),
    ] {
        let age = Age {
            cycles,
            retention_hours: hours,
        };
        assert_eq!(aged_ppm(&profile, 100, age), ppm, "{cycles} {hours}");
    }
    let mut plain = profile;
    plain.doubling_cycles = None;
    plain.doubling_hours = None;
    let old = Age {
        cycles: 5000,
        retention_hours: 5000,
    };
    assert_eq!(aged_ppm(&plain, 100, old), 100);
}

#[test]
fn retry_levels_have_their_probability() {
    let profile = levels(&[20_000, 500], &[40_000, 2_000_000]);
    let mut retry = ReadRetry::new(&profile, Age::default(), 1);
    let mut counts = [0_u32; 3];
    for _ in 0..1_000_000 {
        counts[match retry.draw_ns() {
            0 => 0,
            40_000 => 1,
            2_000_000 => 2,
            other => panic!("{other}"),
        }] += 1;
    }
    // Within four standard deviations of a binomial count.
    assert!((19_440..=20_560).contains(&counts[1]), "{counts:?}");
    assert!((410..=590).contains(&counts[2]), "{counts:?}");
}

#[test]
fn the_last_retry_level_displaces_the_others_at_high_wear() {
    let old = Age {
        cycles: 1_000_000,
        retention_hours: 0,
    };
    let mut retry = ReadRetry::new(&levels(&[10, 10], &[1, 2]), old, 1);
    assert!((0..1000).all(|_| retry.draw_ns() == 2));
}

proptest! {
    /// Age never improves, and shares never exceed every read.
    #[test]
    fn shares_grow_with_age(ppm in 0_u64..1_000_000, steps in 0_u64..100_000, more in 0_u64..5000, doubling in 1_u64..3000) {
        let (young, old) = (grown(ppm, steps, doubling), grown(ppm, steps + more, doubling));
        prop_assert!(ppm <= young && young <= old && old <= WHOLE_PPM);
    }
}
