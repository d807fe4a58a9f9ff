use super::*;
use crate::Profile;
use crate::ageing::LEVELS;
use crate::sourced::tests::assumed;

fn levels(ppm: &[u32], extra_ns: &[u64]) -> RetryProfile {
    RetryProfile { probability_ppm: assumed(ppm.to_vec()), extra_ns: assumed(extra_ns.to_vec()) }
}

fn law() -> AgeingLaw {
    AgeingLaw::new(&Profile::builtin("samsung-983-dct").unwrap().nand)
}

#[test]
fn retry_levels_have_their_probability() {
    let profile = levels(&[20_000, 500], &[40_000, 2_000_000]);
    let mut variation = ReadVariation::new(None, Some(&profile), 1);
    let mut counts = [0_u32; 3];
    for _ in 0..1_000_000 {
        counts[match variation.around_ns(7) - 7 {
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

/// The levels of aged flash have the shares of the table, and those of the profile what is left.
#[test]
fn retries_of_aged_flash_come_to_those_of_a_new_drive() {
    let law = law();
    let row = law.row(24.0);
    let profile = levels(&[20_000], &[1]);
    let mut variation = ReadVariation::new(None, Some(&profile), 1);
    let mut counts = [0_u32; LEVELS + 2];
    for _ in 0..200_000 {
        let extra_ns = variation.of_flash_ns(0, &law, row) - law.decode_ns(row);
        let level = (0..LEVELS).find(|&level| law.level_ns(level) == extra_ns);
        counts[level.unwrap_or_else(|| LEVELS + extra_ns as usize)] += 1;
    }
    let shares = law.shares(row);
    for level in 0..LEVELS {
        let next = shares.get(level + 1).copied().unwrap_or(0);
        let expected = f64::from(shares[level] - next) / WHOLE as f64 * 200_000.0;
        let off = (f64::from(counts[level]) - expected).abs();
        assert!(off <= 5.0 * expected.sqrt() + 1.0, "{level}: {counts:?}");
    }
    let (own, expected) = (f64::from(counts[LEVELS + 1]), 4_000.0);
    assert!((own - expected).abs() < 5.0 * expected.sqrt(), "{own}");
    assert!(shares[0] > WHOLE as u32 * 2 / 5);
}

#[test]
fn a_new_block_draws_as_the_profile_says() {
    let profile = levels(&[20_000, 500], &[40_000, 2_000_000]);
    let law = law();
    let mut flash = ReadVariation::new(None, Some(&profile), 1);
    let mut other = flash.clone();
    for _ in 0..10_000 {
        assert_eq!(flash.of_flash_ns(50_000, &law, 0), other.around_ns(50_000));
    }
}
