use assay_units::Rng;
use proptest::prelude::*;

use super::*;
use crate::confidence;
use crate::confidence::tests::autoregressive;

fn plain(value: f64) -> RunValue {
    RunValue { value, estimate: None }
}

/// A run of ten minutes of seconds (half an hour, where they are much alike) at `level` with a
/// relative standard deviation of 5 % and memory `phi`.
fn run(rng: &mut Rng, phi: f64, level: f64) -> RunValue {
    let seconds = if phi > 0.8 { 1800 } else { 600 };
    let values: Vec<f64> =
        autoregressive(rng, phi, seconds, 0.0).iter().map(|x| level * (1.0 + 0.05 * x)).collect();
    confidence::mean(&values, LEVEL).unwrap().into()
}

fn more(a: &[RunValue], b: &[RunValue]) -> Comparison {
    compare(a, b, Quantity::Mean, Better::More, ComparisonSettings::default())
}

/// By hand: logs of 100, 102 and 110, 112.2 (both sides: spread ln 1.02). Pooled variance = (ln
/// 1.02)^2 / 2 over two sides of one degree each: s^2 = (ln 1.02)^2 / 2; error sqrt(s^2 (1/2 +
/// 1/2)) = 0.0140; t of 2 degrees 4.303: half-width 0.06025.
#[test]
fn two_runs_a_side_by_hand() {
    let c = more(&[plain(100.0), plain(102.0)], &[plain(110.0), plain(112.2)]);
    assert_eq!((c.answer, c.basis, c.runs), (Difference::Faster, Some(Basis::BetweenRuns), (2, 2)));
    assert!((c.ratio.unwrap() - 1.1).abs() < 1e-12);
    let half = 4.302_65 * 1.02_f64.ln() / 2.0_f64.sqrt();
    let (low, high) = c.interval.unwrap();
    assert!((low - (1.1_f64.ln() - half).exp()).abs() < 1e-5);
    assert!((high - (1.1_f64.ln() + half).exp()).abs() < 1e-5);
    // d = ln 1.1 / s.
    let d = 1.1_f64.ln() / (1.02_f64.ln() / 2.0_f64.sqrt());
    assert!((c.effect_size.unwrap() - d).abs() < 1e-9);
    let slower = more(&[plain(110.0), plain(112.2)], &[plain(100.0), plain(102.0)]);
    assert_eq!(slower.answer, Difference::Slower);
    let latency = compare(
        &[plain(110.0), plain(112.2)],
        &[plain(100.0), plain(102.0)],
        Quantity::Mean,
        Better::Less,
        ComparisonSettings::default(),
    );
    assert_eq!(latency.answer, Difference::Faster, "less latency is faster");
}

#[test]
fn single_runs_use_the_variation_within_the_run() {
    let mut rng = Rng::new(1);
    let (a, b) = (run(&mut rng, 0.5, 100.0), run(&mut rng, 0.5, 105.0));
    let c = more(&[a], &[b]);
    assert_eq!((c.answer, c.basis), (Difference::RunsDiffer, Some(Basis::WithinRuns)));
    // 5 % of spread, 5 % of difference.
    assert!((0.7..1.3).contains(&c.effect_size.unwrap()), "{c:?}");
    // The same two figures without an error estimate.
    let c = more(&[plain(100.0)], &[plain(105.0)]);
    assert_eq!((c.answer, c.interval), (Difference::CannotTell, None));
    assert!(c.why.unwrap().contains("no interval within"));
}

/// Long runs with a small variation within and a large one between them: the latter must decide.
#[test]
fn disagreeing_repetitions_make_the_result_inconclusive() {
    let mut rng = Rng::new(2);
    let mut at = |level: f64| run(&mut rng, 0.0, level);
    let (a, b) = ([at(100.0), at(104.0)], [at(103.0), at(108.0)]);
    assert_eq!(more(&a[..1], &b[..1]).answer, Difference::RunsDiffer);
    let c = more(&a, &b);
    assert_eq!((c.answer, c.basis), (Difference::CannotTell, Some(Basis::BetweenRuns)));
    assert!(c.why.unwrap().contains("no difference"));
    // One repeated side suffices to show the variation between runs.
    assert_eq!(more(&a, &b[..1]).answer, Difference::CannotTell);
}

#[test]
fn irrelevant_differences_are_equal() {
    let constant = |value: f64| RunValue::from(confidence::mean(&[value; 60], LEVEL).unwrap());
    let same = more(&[constant(100.0)], &[constant(100.5)]);
    assert_eq!((same.answer, same.effect_size), (Difference::RunsAgree, None));
    assert_eq!(more(&[constant(100.0)], &[constant(100.0)]).answer, Difference::RunsAgree);
    assert_eq!(more(&[constant(100.0)], &[constant(101.5)]).answer, Difference::RunsDiffer);
    let strict = ComparisonSettings { minimum_effect: 0.0, ..ComparisonSettings::default() };
    assert_eq!(
        compare(&[constant(100.0)], &[constant(100.5)], Quantity::Mean, Better::More, strict)
            .answer,
        Difference::RunsDiffer
    );
    assert_eq!(
        compare(&[constant(100.0)], &[constant(100.0)], Quantity::Mean, Better::More, strict)
            .answer,
        Difference::RunsAgree
    );
    let two = |value: f64| [constant(value), constant(value * 1.001)];
    assert_eq!(more(&two(100.0), &two(100.2)).answer, Difference::Same);
    // Significant, but possibly below the minimum effect.
    let mut rng = Rng::new(9);
    let c = more(&[run(&mut rng, 0.0, 100.0)], &[run(&mut rng, 0.0, 100.9)]);
    assert_eq!(c.answer, Difference::CannotTell, "{c:?}");
}

#[test]
fn sides_without_a_figure() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let c = more(&[plain(bad), plain(1.0)], &[plain(1.0), plain(1.0)]);
        assert_eq!((c.answer, c.ratio), (Difference::CannotTell, None));
        assert!(c.why.is_some());
    }
    assert_eq!(more(&[], &[plain(1.0)]).answer, Difference::CannotTell);
}

/// Percentiles of runs, whose errors within runs are ignored.
#[test]
fn a_tail_percentile_is_decided_between_three_runs_a_side() {
    let tail = |a: &[RunValue], b: &[RunValue]| {
        let terms = ComparisonSettings::default();
        compare(a, b, Quantity::TailPercentile, Better::Less, terms)
    };
    let exact = |value: f64| RunValue::from(confidence::mean(&[value; 60], LEVEL).unwrap());
    let (a, b) = ([100.0, 101.0, 102.0], [200.0, 201.0, 202.0]);
    let (a, b) = (a.map(exact), b.map(exact));
    for (left, right) in [(1, 1), (2, 2), (2, 3), (3, 2), (1, 3)] {
        let c = tail(&a[..left], &b[..right]);
        assert_eq!((c.answer, c.interval), (Difference::CannotTell, None));
        assert!(c.ratio.unwrap() > 1.9, "the ratio is still shown");
        assert!(c.why.unwrap().contains("at least 3 runs on each side"));
    }
    let c = tail(&a, &b);
    assert_eq!((c.answer, c.basis), (Difference::Slower, Some(Basis::BetweenRuns)));
}

proptest! {
    /// With swapped sides, faster becomes slower and the interval its reciprocal.
    #[test]
    fn swapping_the_sides_inverts_the_result(
        a in prop::collection::vec(1.0_f64..1000.0, 1..5),
        b in prop::collection::vec(1.0_f64..1000.0, 1..5),
    ) {
        let side = |v: &[f64]| v.iter().copied().map(plain).collect::<Vec<_>>();
        let (x, y) = (more(&side(&a), &side(&b)), more(&side(&b), &side(&a)));
        let turned = match x.answer {
            Difference::Faster => Difference::Slower,
            Difference::Slower => Difference::Faster,
            other => other,
        };
        prop_assert_eq!(turned, y.answer);
        prop_assert!((x.ratio.unwrap() * y.ratio.unwrap() - 1.0).abs() < 1e-9);
        if let (Some(x), Some(y)) = (x.interval, y.interval) {
            prop_assert!((x.0 * y.1 - 1.0).abs() < 1e-6, "{:?} {:?}", x, y);
        }
        prop_assert_eq!(x.why.is_some(), x.answer == Difference::CannotTell);
    }
}
