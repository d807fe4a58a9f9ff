use super::*;
use crate::Profile;
use proptest::prelude::*;

const CLASSES: [FlashClass; 6] = [
    FlashClass::Slc3d,
    FlashClass::PlanarMlc,
    FlashClass::Mlc3d,
    FlashClass::PlanarTlc,
    FlashClass::Tlc3d,
    FlashClass::Qlc3d,
];

fn law_of(class: FlashClass) -> AgeingLaw {
    let mut nand = Profile::builtin("samsung-951").unwrap().nand;
    nand.ageing = Some(crate::profile::AgeingProfile {
        class: Some(crate::sourced::tests::assumed(class)),
        rated_cycles: None,
    });
    AgeingLaw::new(&nand)
}

/// Reads of a page that need a retry, and retries per read, rebuilding counted as the seventh.
fn retries(law: &AgeingLaw, growth: f64) -> (f64, f64) {
    let shares = law.shares(law.row(growth));
    let share = |&share: &u32| f64::from(share) / WHOLE as f64;
    (share(&shares[0]), shares.iter().map(share).sum())
}

/// JESD218: a year at 30 C is 500 hours at 52 C and 96 hours at 66 C for client drives.
#[test]
fn retention_is_accelerated_as_jesd218_states() {
    let years = |retention_hours, retention_celsius| {
        AgeingLaw::retention_years(Age { cycles: 0, retention_hours, retention_celsius })
    };
    assert!((years(8760, 30) - 1.0).abs() < 1e-12);
    assert!((years(500, 52) - 1.0).abs() < 0.05, "{}", years(500, 52));
    assert!((years(96, 66) - 1.0).abs() < 0.10, "{}", years(96, 66));
}

/// New flash needs no retries; at the rated cycles and JESD218's retention of client drives most
/// reads of a class that stores several bits need some, and next to none is rebuilt.
#[test]
fn classes_are_between_a_new_drive_and_the_end_of_their_rated_life() {
    for class in CLASSES {
        let law = law_of(class);
        assert_eq!(law.shares(0), &[0; LEVELS], "{class:?}");
        let rated = u64::from(law.rated_cycles());
        let (worn, _) = retries(&law, law.growth(rated, 0.0, 0.0));
        let old = law.growth(rated, 1.0, 0.0);
        let (kept, steps) = retries(&law, old);
        assert!(worn < 0.2 && kept >= worn, "{class:?}: {worn} {kept}");
        assert!(steps < 4.0, "{class:?}: {steps} retries");
        let rebuilt = law.shares(law.row(old))[RETRIES];
        assert!(f64::from(rebuilt) / WHOLE as f64 <= 0.25, "{class:?}");
    }
    // Ye et al.: about three retries per read of 3D TLC at 3,000 cycles and high retention time.
    let law = law_of(FlashClass::Tlc3d);
    let (_, steps) = retries(&law, law.growth(3000, 1.0, 0.0));
    assert!((2.0..4.0).contains(&steps), "{steps}");
}

/// Cai et al., DSN 2015: errors per read of planar MLC at these cycles.
#[test]
fn read_disturb_of_planar_mlc_follows_the_measured_slopes() {
    let law = law_of(FlashClass::PlanarMlc);
    let per_read = |cycles| law.disturb_of(cycles) * 2.5e-6;
    for (cycles, measured) in [
        (2_000, 1.00e-9),
        (3_000, 1.63e-9),
        (4_000, 2.37e-9),
        (5_000, 3.74e-9),
        (8_000, 7.50e-9),
        (10_000, 9.10e-9),
        (15_000, 1.90e-8),
    ] {
        let ratio = per_read(cycles) / measured;
        assert!((0.75..1.25).contains(&ratio), "{cycles}: {ratio}");
    }
}

#[test]
fn rows_of_the_table_begin_where_the_one_before_ends() {
    let law = law_of(FlashClass::Tlc3d);
    for row in 0..ROWS - 1 {
        let end = law.end_of_row(row);
        assert_eq!(law.row(end * (1.0 + 1e-9)), row + 1);
        assert_eq!(law.row(end * (1.0 - 1e-9)), row);
    }
    assert_eq!(law.row(1e300), ROWS - 1);
}

proptest! {
    /// More of anything never improves a page.
    #[test]
    fn errors_and_retries_grow(
        class in prop::sample::select(&CLASSES[..]),
        cycles in 0_u64..20_000, years in 0.0_f64..3.0, reads in 0.0_f64..1e6,
        (more_cycles, more_years, more_reads) in (0_u64..5_000, 0.0_f64..1.0, 0.0_f64..1e5),
    ) {
        let law = law_of(class);
        let young = law.growth(cycles, years, reads);
        let old = law.growth(cycles + more_cycles, years + more_years, reads + more_reads);
        prop_assert!(young >= 1.0 && old >= young * (1.0 - 1e-12));
        let (young, old) = (law.shares(law.row(young)), law.shares(law.row(old * (1.0 + 1e-9))));
        for level in 0..LEVELS {
            prop_assert!(young[level] <= old[level]);
        }
        prop_assert!(old.is_sorted_by(|a, b| a >= b));
        prop_assert!(law.failed_share(cycles) <= law.failed_share(cycles + more_cycles));
    }
}
