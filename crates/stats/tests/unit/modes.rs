use assay_units::Rng;
use proptest::prelude::*;

use super::*;

/// Levels with these mean dwell times and relative noise, visited in turn; the path as well.
fn alternating(
    levels: &[(f64, f64)],
    noise: f64,
    count: usize,
    rng: &mut Rng,
) -> (Vec<f64>, Vec<usize>) {
    let (mut at, mut values, mut path) = (0, Vec::new(), Vec::new());
    while values.len() < count {
        let (level, dwell) = levels[at];
        values.push(level * (1.0 + noise * rng.normal()));
        path.push(at);
        if rng.unit_f64() < 1.0 / dwell {
            at = (at + 1) % levels.len();
        }
    }
    (values, path)
}

/// Noise of first order with this memory, standard deviation 1.
fn with_memory(memory: f64, count: usize, rng: &mut Rng) -> Vec<f64> {
    let mut value = rng.normal();
    let mut next = || {
        value = memory * value + (1.0 - memory * memory).sqrt() * rng.normal();
        value
    };
    (0..count).map(|_| next()).collect()
}

/// The shares of the modes that were drawn, percent, and the mean length of their visits.
fn truth(path: &[usize], level: usize) -> (f64, f64) {
    let share = path.iter().filter(|at| **at == level).count() as f64;
    let runs: Vec<&[usize]> = path.chunk_by(|a, b| a == b).collect();
    let whole = runs[1..runs.len() - 1].iter().filter(|run| run[0] == level);
    let whole: Vec<f64> = whole.map(|run| run.len() as f64).collect();
    (share / path.len() as f64 * 100.0, crate::mean(&whole))
}

#[test]
fn two_levels_are_found_with_their_shares_and_dwell_times() {
    for (slow_s, fast_s) in [(12.0, 28.0), (20.0, 20.0), (24.0, 16.0), (3.0, 2.0)] {
        for seed in 0..20 {
            let mut rng = Rng::stream(seed, "two levels");
            let (values, path) =
                alternating(&[(18e3, fast_s), (2.4e3, slow_s)], 0.05, 600, &mut rng);
            let found = modes(&values).unwrap();
            let [slow, fast] = found[..] else {
                panic!("{slow_s}/{fast_s}, seed {seed}: {found:?}");
            };
            for (mode, at, level) in [(slow, 1, 2.4e3), (fast, 0, 18e3)] {
                let (share_pct, dwell) = truth(&path, at);
                assert!((mode.level / level - 1.0).abs() < 0.05, "{mode:?}");
                assert!((mode.share_pct - share_pct).abs() < 0.5, "{mode:?}: {share_pct} %");
                assert!((mode.dwell / dwell - 1.0).abs() < 0.05, "{mode:?}: {dwell}");
            }
        }
    }
}

/// The hour of AnandTech's review in small: 28 s at 18,000, 12 s at 2,400, exactly.
#[test]
fn by_hand() {
    let second = |i: usize| if i % 40 < 28 { 18e3 } else { 2.4e3 };
    let values: Vec<f64> = (0..400).map(second).collect();
    let [slow, fast] = modes(&values).unwrap()[..] else {
        panic!("two modes");
    };
    assert_eq!((slow.level, slow.share_pct, slow.visits, slow.longest), (2.4e3, 30.0, 10, 12.0));
    assert_eq!((fast.level, fast.share_pct, fast.visits, fast.dwell), (18e3, 70.0, 10, 28.0));
    assert_eq!(slow.dwell, 12.0);
    assert_eq!((slow.stddev, fast.stddev), (0.0, 0.0));
}

#[test]
fn three_levels_are_three_modes() {
    for seed in 0..20 {
        let mut rng = Rng::stream(seed, "three levels");
        let levels = [(1000.0, 10.0), (550.0, 15.0), (200.0, 8.0)];
        let (values, path) = alternating(&levels, 0.04, 900, &mut rng);
        let found = modes(&values).unwrap();
        assert_eq!(found.len(), 3, "{found:?}");
        for (mode, at) in found.iter().zip([2, 1, 0]) {
            let (share_pct, _) = truth(&path, at);
            assert!((mode.level / levels[at].0 - 1.0).abs() < 0.05, "{mode:?}");
            assert!((mode.share_pct - share_pct).abs() < 1.0, "{mode:?}");
        }
    }
}

/// The rate of false modes among so many series.
fn false_modes(count: u64, draw: impl Fn(&mut Rng) -> Vec<f64>) -> f64 {
    let several = |seed: &u64| {
        let values = draw(&mut Rng::stream(*seed, "one mode"));
        modes(&values).is_some_and(|found| found.len() > 1)
    };
    (0..count).filter(several).count() as f64 / count as f64
}

#[test]
fn noise_of_any_shape_is_one_mode() {
    type Shape = fn(&mut Rng) -> f64;
    let shapes: [(&str, Shape); 5] = [
        ("normal", Rng::normal),
        ("uniform", Rng::unit_f64),
        ("exponential", |rng| rng.exponential(1.0)),
        ("lognormal", |rng| (0.5 * rng.normal()).exp()),
        ("with rare outliers", |rng| match rng.unit_f64() < 0.02 {
            true => 50.0,
            false => rng.normal(),
        }),
    ];
    for (name, shape) in shapes {
        for length in [60, 400] {
            let rate =
                false_modes(150, |rng| (0..length).map(|_| 100.0 + 10.0 * shape(rng)).collect());
            assert!(rate <= 0.02, "{name}, {length} values: {rate}");
        }
    }
}

/// The claim of docs/statistics.md, in small: at most 2 % of series with a memory.
/// `examples/mode-rates.rs` draws more.
#[test]
fn noise_with_a_memory_is_one_mode() {
    for memory in [0.5, 0.8, 0.9, 0.97] {
        for length in [60, 400] {
            let rate = false_modes(150, |rng| {
                let noise = with_memory(memory, length, rng).into_iter();
                noise.map(|x| 1000.0 + 200.0 * x).collect()
            });
            assert!(rate <= 0.02, "memory {memory}, {length} values: {rate}");
        }
    }
}

#[test]
fn trends_and_cliffs_are_not_modes() {
    type Shape = fn(f64) -> f64;
    let shapes: [(&str, Shape); 5] = [
        ("linear", |x| 1000.0 - 500.0 * x),
        ("decay", |x| 300.0 + 700.0 * (-5.0 * x).exp()),
        ("hump", |x| 500.0 + 400.0 * (std::f64::consts::PI * x).sin()),
        ("cliff", |x| if x < 0.4 { 1000.0 } else { 300.0 }),
        ("two cliffs", |x| if (0.3..0.6).contains(&x) { 300.0 } else { 1000.0 }),
    ];
    for (name, shape) in shapes {
        for noise in [0.0, 2.0, 20.0, 100.0] {
            let rate = false_modes(50, |rng| {
                let value = |t: u32| shape(f64::from(t) / 300.0) + noise * rng.normal();
                (0..300).map(value).collect()
            });
            assert!(rate <= 0.02, "{name}, noise {noise}: {rate}");
        }
    }
}

#[test]
fn what_has_no_modes() {
    assert_eq!(modes(&[1.0; 29]), None);
    let mut values = [1.0; 40];
    assert_eq!(modes(&values).unwrap().len(), 1);
    assert_eq!(modes(&[0.0; 40]).unwrap()[0].level, 0.0);
    values[3] = f64::NAN;
    assert_eq!(modes(&values), None);
    // Levels closer than one in twenty are not worth a name.
    let near: Vec<f64> = (0..400).map(|i| if i % 20 < 10 { 100.0 } else { 103.0 }).collect();
    assert_eq!(modes(&near).unwrap().len(), 1);
}

/// A day of seconds: means over parts, dwell times still in values.
#[test]
fn long_series_are_looked_at_in_parts() {
    let second = |i: u32| if i % 7200 < 3600 { 900.0 } else { 300.0 };
    let values: Vec<f64> = (0..86_400).map(second).collect();
    let [slow, fast] = modes(&values).unwrap()[..] else {
        panic!("two modes");
    };
    assert!(
        (slow.share_pct - 50.0).abs() < 0.5 && (fast.longest - 3600.0).abs() < 30.0,
        "{slow:?} {fast:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn modes_ascend_and_share_the_values(values in prop::collection::vec(prop_oneof![0.0_f64..1e6, Just(5.0), Just(9e5)], 30..90)) {
        let found = modes(&values).unwrap();
        prop_assert!(!found.is_empty() && found.len() < MOST_LEVELS + 1);
        prop_assert!(found.windows(2).all(|pair| pair[0].level < pair[1].level));
        prop_assert!(found.iter().map(|mode| mode.share_pct).sum::<f64>() < 100.0 + 1e-9);
        for mode in found {
            prop_assert!(mode.visits >= 1 && mode.longest >= 1.0 && mode.dwell.is_finite());
        }
    }
}
