use assay_units::Rng;
use proptest::prelude::*;

use super::*;

/// Levels with how many points each, and multiplicative noise.
fn made(levels: &[(f64, usize)], sigma: f64, seed: u64) -> Vec<f64> {
    let mut rng = Rng::stream(seed, "noise");
    let points = levels.iter().flat_map(|&(level, len)| std::iter::repeat_n(level, len));
    points.map(|level| level * (sigma * rng.normal()).exp()).collect()
}

fn bounds(segments: &[Segment]) -> Vec<(usize, usize)> {
    segments.iter().map(|s| (s.from, s.to)).collect()
}

#[test]
fn a_step_is_found_at_its_place_with_both_levels() {
    let found = segments(&made(&[(1000.0, 40), (250.0, 60)], 0.02, 1));
    assert_eq!(bounds(&found), [(0, 40), (40, 100)]);
    assert!((found[0].level / 1000.0 - 1.0).abs() < 0.02, "{found:?}");
    assert!((found[1].level / 250.0 - 1.0).abs() < 0.02, "{found:?}");
    assert!((0.01..0.04).contains(&found[0].spread), "{found:?}");
    assert!(found[1].slope.abs() < 0.001, "{found:?}");
}

#[test]
fn single_outliers_are_not_a_change() {
    let mut rates = made(&[(22_000.0, 300)], 0.01, 2);
    (rates[70], rates[150], rates[151]) = (110_000.0, 90_000.0, 2_000.0);
    assert_eq!(bounds(&segments(&rates)), [(0, 300)]);
}

#[test]
fn a_small_difference_is_not_a_change() {
    assert_eq!(segments(&made(&[(100.0, 500), (103.0, 500)], 0.005, 3)).len(), 1);
    assert_eq!(segments(&made(&[(100.0, 500), (115.0, 500)], 0.005, 3)).len(), 2);
}

#[test]
fn empty_and_very_short_series() {
    assert!(segments(&[]).is_empty());
    assert_eq!(bounds(&segments(&[5.0])), [(0, 1)]);
    assert_eq!(bounds(&segments(&[0.0; 9])), [(0, 9)]);
    assert_eq!(bounds(&segments(&[f64::NAN, 1.0, -1.0])), [(0, 3)]);
    // A stall is a change point.
    assert_eq!(
        bounds(&segments(&made(&[(50.0, 20), (0.0, 10), (50.0, 20)], 0.01, 4))),
        [(0, 20), (20, 30), (30, 50)]
    );
}

#[test]
fn a_step_has_two_segments_in_99_of_100_series() {
    for ratio in [1.3, 3.0, 50.0] {
        let found = |seed| segments(&made(&[(100.0 * ratio, 120), (100.0, 80)], 0.03, seed));
        let two = (0..100).filter(|&seed| found(seed).len() == 2).count();
        assert!(two >= 99, "{two} of 100 at a ratio of {ratio}");
    }
}

#[test]
fn the_slope_of_a_decline_is_reported() {
    // 1 % less at each point: in a single segment when it is short.
    let rates: Vec<f64> = (0..4).map(|n| 1000.0 * 0.99f64.powi(n)).collect();
    let found = describe_all(&rates, &logarithms(&rates), &[0, 4])[0];
    assert!((found.slope - 0.99f64.ln()).abs() < 1e-9, "{found:?}");
}

#[test]
fn an_alternation_has_its_levels_dwells_and_duty() {
    // M8Pe(G) of DragonFly NVMe tests: 30 s fast, 10 s slow.
    let cycle = [(1400.0, 30), (177.0, 10)];
    let rates = made(&[cycle, cycle, cycle, cycle].concat(), 0.02, 5);
    let found = alternation(&rates).unwrap();
    assert_eq!(found.falls, [30, 70, 110, 150]);
    assert_eq!((found.dwell_high, found.dwell_low), (30.0, 10.0));
    assert_eq!((found.duty_low, found.period), (0.25, 40.0));
    assert!((found.high / 1400.0 - 1.0).abs() < 0.02 && (found.low / 177.0 - 1.0).abs() < 0.03);
    assert_eq!(alternation(&made(&[cycle[0], cycle[1]], 0.02, 5)), None, "a single step");
    assert_eq!(alternation(&[]), None);
}

/// The minimum cost, by dynamic programming over all positions of the last cut.
fn optimum(values: &[f64], noise: f64, penalty: f64) -> f64 {
    let cost_of = segment_costs(values, noise);
    let mut best = vec![f64::INFINITY; values.len() + 1];
    best[0] = -penalty;
    for to in 1..best.len() {
        for from in 0..to {
            if to - from >= LEAST_LEN {
                best[to] = best[to].min(best[from] + cost_of(from, to) + penalty);
            }
        }
    }
    best[values.len()]
}

/// The minimum cost, by exhaustive search over all sets of cuts, for a dozen points.
fn exhaustive(values: &[f64], noise: f64, penalty: f64) -> f64 {
    let cost_of = segment_costs(values, noise);
    let inner = values.len() - 1;
    let mut least = f64::INFINITY;
    for chosen in 0u32..1 << inner {
        let mut cuts = vec![0];
        cuts.extend((0..inner).filter(|bit| chosen >> bit & 1 == 1).map(|bit| bit + 1));
        cuts.push(values.len());
        if cuts.windows(2).all(|w| w[1] - w[0] >= LEAST_LEN) {
            let cost: f64 = cuts.windows(2).map(|w| cost_of(w[0], w[1]) + penalty).sum();
            least = least.min(cost - penalty);
        }
    }
    least
}

fn cost_of(values: &[f64], noise: f64, penalty: f64, cuts: &[usize]) -> f64 {
    let cost_of = segment_costs(values, noise);
    cuts.windows(2).map(|w| cost_of(w[0], w[1]) + penalty).sum::<f64>() - penalty
}

proptest! {
    #[test]
    fn pelt_is_optimal(values in prop::collection::vec(-3.0f64..3.0, 3..90), noise in 0.1f64..2.0, penalty in 0.0f64..30.0) {
        let cuts = pelt(&values, noise, penalty);
        let cost = cost_of(&values, noise, penalty, &cuts);
        let least = optimum(&values, noise, penalty);
        prop_assert!((cost - least).abs() < 1e-6 * (1.0 + least.abs()), "{cost} {least} {cuts:?}");
        prop_assert!(cuts.windows(2).all(|w| w[1] - w[0] >= LEAST_LEN), "{cuts:?}");
    }

    #[test]
    fn pelt_beats_every_other_cut(values in prop::collection::vec(-3.0f64..3.0, 3..12), penalty in 0.0f64..10.0) {
        let cuts = pelt(&values, 0.5, penalty);
        let least = exhaustive(&values, 0.5, penalty);
        prop_assert!((cost_of(&values, 0.5, penalty, &cuts) - least).abs() < 1e-6 * (1.0 + least.abs()));
    }

    #[test]
    fn segments_cover_everything_in_order(rates in prop::collection::vec(prop_oneof![0.0f64..1e6, Just(f64::NAN), Just(0.0)], 0..200)) {
        let found = segments(&rates);
        let mut at = 0;
        for segment in &found {
            prop_assert!(segment.from == at && !segment.is_empty());
            at = segment.to;
        }
        prop_assert_eq!(at, rates.len());
    }

    #[test]
    fn a_clear_step_is_found_wherever_it_is(at in 5usize..195, seed: u64, ratio in 1.3f64..50.0, up: bool) {
        let (before, after) = if up { (100.0, 100.0 * ratio) } else { (100.0 * ratio, 100.0) };
        let found = segments(&made(&[(before, at), (after, 200 - at)], 0.03, seed));
        prop_assert!(found.iter().any(|s| s.to < 200 && s.to.abs_diff(at) <= 1), "{:?}", found);
        // Rarely (see the test of even noise), a few values differ by chance on one side; they are
        // near its level.
        prop_assert!(found.len() <= 3, "{:?}", found);
        for segment in &found {
            let level = if segment.to <= at + 1 { before } else { after };
            prop_assert!((segment.level / level - 1.0).abs() < 0.1, "{:?}", found);
        }
    }

    #[test]
    fn levels_scale_with_the_unit(seed: u64, unit in 1e-3f64..1e6) {
        let rates = made(&[(1000.0, 30), (400.0, 30)], 0.05, seed);
        let other: Vec<f64> = rates.iter().map(|r| r * unit).collect();
        prop_assert_eq!(bounds(&segments(&rates)), bounds(&segments(&other)));
    }
}

#[test]
fn even_noise_has_no_change_in_99_of_100_series() {
    for (len, sigma) in [(60, 0.02), (60, 0.2), (600, 0.05), (600, 0.4)] {
        let cut = (0..1000).filter(|&seed| segments(&made(&[(500.0, len)], sigma, seed)).len() > 1);
        let cut = cut.count();
        assert!(cut <= 10, "{cut} of 1000 series of {len} points with noise {sigma}");
    }
}

#[test]
fn changes_of_a_long_series_are_found_to_within_one_median_of_neighbours() {
    let rates = made(&[(1000.0, 60_000), (700.0, 50_001)], 0.02, 4);
    let each = rates.len().div_ceil(MOST_POINTS) | 1;
    let found = segments(&rates);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].to.abs_diff(60_000) <= each, "{found:?}");
    assert_eq!((found[0].from, found[1].to), (0, rates.len()));
    assert!((found[1].level / 700.0 - 1.0).abs() < 0.01, "{found:?}");
}
