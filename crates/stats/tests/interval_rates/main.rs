//! Coverage of intervals and rates of false answers that docs/statistics.md states, by simulation
//! with fewer series.

mod answers;
mod series;

use answers::{Sides, with_difference, without_difference};
use assay_stats::compare::Quantity;
use series::{Coverage, Family, OTHERS, PROMISED};

/// Lengths, values.
const LENGTHS: [usize; 6] = [10, 40, 60, 300, 600, 2400];
/// Series of each family and length.
const SERIES: u32 = 400;

/// 93 to 97 %, and two standard errors of so many intervals, wherever most series of a length have
/// one.
#[test]
fn intervals_cover_what_they_state() {
    let mut broken = Vec::new();
    let mut tested = 0;
    for family in PROMISED {
        for n in LENGTHS {
            let found = Coverage::new(family, n, SERIES);
            let Some(covering) = found.covering_pct() else {
                continue;
            };
            tested += 1;
            let error = 200.0 * (0.05 * 0.95 / f64::from(found.printed)).sqrt();
            if !(93.0 - error..=97.0 + error).contains(&covering) {
                broken.push(format!("{}, {n} values: {covering:.1} %", family.label()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(tested >= 14, "intervals at only {tested} lengths");
}

/// Series too short for their memory have no interval, instead of one that is too narrow.
#[test]
fn series_shorter_than_their_memory_allows_have_no_interval() {
    for (family, n) in [
        (Family::Autoregressive(0.0), 10),
        (Family::Autoregressive(0.8), 60),
        (Family::Autoregressive(0.9), 180),
        (Family::Autoregressive(0.97), 600),
        (Family::RareBursts, 600),
        (Family::TwoLevels, 180),
    ] {
        let found = Coverage::new(family, n, SERIES);
        assert!(found.printed_pct() <= 4.0, "{}, {n}: {found:?}", family.label());
    }
}

/// Most series that do not fit the first-order model are recognised once they are long enough.
#[test]
fn other_memories_are_found_in_long_series() {
    for family in OTHERS {
        let found = Coverage::new(family, 3600, SERIES / 2);
        let covering = found.covering_pct();
        assert!(covering.is_some_and(|pct| pct > 90.0), "{}: {found:?}", family.label());
    }
}

/// At most 5 %, and two standard errors.
#[test]
fn false_answers_are_rare() {
    for sides in without_difference() {
        let comparisons = match sides.seconds.1 {
            0..=600 => 500,
            _ => 150,
        };
        let found = sides.answers(comparisons);
        let between = found.faster + found.slower;
        let error = 200.0 * (0.05 * 0.95 / f64::from(comparisons)).sqrt();
        assert!(between <= 5.0 + error, "{}: {found:?}", sides.label());
        if sides.runs == (1, 1) {
            // Only beyond what repetition is known to give.
            assert!(between <= 1.0, "{}: one run of each drive", sides.label());
        }
        if sides.between == 0.0 {
            assert!(found.runs_differ <= 5.0 + error, "{}: {found:?}", sides.label());
        }
    }
}

/// A tail percentile has no answer within runs, nor between fewer than three.
#[test]
fn tail_percentiles_need_three_runs() {
    for runs in [(1, 1), (2, 2), (3, 2), (1, 5)] {
        let sides = Sides { quantity: Quantity::TailPercentile, runs, ratio: 2.0, ..Sides::ALIKE };
        let found = sides.answers(20);
        assert_eq!(found.faster + found.slower + found.runs_differ + found.decidable, 0.0);
    }
    let enough =
        Sides { quantity: Quantity::TailPercentile, runs: (3, 3), ratio: 2.0, ..Sides::ALIKE };
    assert_eq!(enough.answers(20).faster.round(), 100.0);
}

#[test]
fn true_differences_are_found() {
    for (sides, least) in with_difference() {
        let found = sides.answers(300);
        assert!(found.faster + found.runs_differ >= least, "{}: {found:?}", sides.label());
        assert_eq!(found.slower, 0.0, "{}", sides.label());
    }
}
