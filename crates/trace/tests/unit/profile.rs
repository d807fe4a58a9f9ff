use std::fs;

use assay_units::Rng;

use super::*;

/// A trace in Alibaba's format: (microseconds, write, offset, length).
fn profile(requests: impl Iterator<Item = (u64, bool, u64, u64)>) -> (TraceSurvey, TraceProfile) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let line = |(micros, write, offset, len): (u64, bool, u64, u64)| {
        let letter = if write { "W" } else { "R" };
        format!("1,{letter},{offset},{len},{micros}\n")
    };
    fs::write(&path, requests.map(line).collect::<String>()).unwrap();
    let source = TraceSource { path, format: None, device: None };
    let survey = TraceSurvey::load(&source).unwrap();
    let profile = TraceProfile::new(&source, &survey).unwrap();
    (TraceSurvey::clone(&survey), profile)
}

/// `sum r^-s` term by term.
#[test]
fn the_harmonic_sum_is_exact_enough() {
    for s in [0.0, 0.3, 0.99, 1.0, 1.2, 2.4] {
        for n in [1_u32, 10, 1000, 1001, 50_000, 1_000_000] {
            let exact: f64 = (1..=n).map(|r| f64::from(r).powf(-s)).sum();
            let found = harmonic(u64::from(n), s);
            assert!((found / exact - 1.0).abs() < 1e-9, "{n} {s}: {found} {exact}");
        }
    }
}

/// The exponent is the inverse of the concentration.
#[test]
fn theta_is_the_inverse_of_the_concentration() {
    for blocks in [1000, 1 << 20, 1 << 34] {
        for wanted in [0.2, 0.5, 0.9, 1.0, 1.2, 2.0] {
            let concentration = harmonic(blocks, 2.0 * wanted) / harmonic(blocks, wanted).powi(2);
            let found = theta(Some(concentration), 1e30, blocks);
            assert!((found - wanted).abs() < 1e-6, "{blocks}: {wanted} {found}");
        }
        assert_eq!(theta(Some(0.5 / blocks as f64), 1e30, blocks), 0.0);
    }
    assert_eq!(theta(None, 0.0, 1000), 0.0);
    // 12 of 10 expected pairs are chance, 30 are not.
    assert_eq!(theta(Some(12e-4), 1e4, 1000), 0.0);
    assert!(theta(Some(30e-4), 1e4, 1000) > 0.3);
}

#[test]
fn runs_are_counted_across_interleaved_streams() {
    // Three streams of 100 requests each, interleaved: three runs.
    let requests = (0..300).map(|n| (n, n % 2 == 0, (n % 3) * (1 << 30) + n / 3 * 8192, 8192));
    let (_, found) = profile(requests);
    assert_eq!((found.requests, found.runs), (300, 3));
    // No two random requests follow one another.
    let mut rng = Rng::stream(1, "test");
    let (_, random) = profile((0..1000).map(|n| (n, false, rng.below(1 << 20) * 8192, 4096)));
    assert_eq!(random.runs, 1000);
    assert_eq!(random.read_sizes, BTreeMap::from([(4096, 1000)]));
}

#[test]
fn arrivals_have_a_rate_and_a_variation() {
    let (_, equal) = profile((0..1001).map(|n| (n * 1000, false, 0, 4096)));
    assert!((equal.rate - 1000.0).abs() < 1e-6 && equal.gap_variation < 1e-9);
    let mut rng = Rng::stream(7, "gaps");
    let mut at = 0.0;
    let (_, poisson) = profile((0..20_000).map(|_| {
        at += rng.exponential(500.0);
        (at as u64, false, 0, 4096)
    }));
    assert!((poisson.rate / 2000.0 - 1.0).abs() < 0.02, "{}", poisson.rate);
    assert!((poisson.gap_variation - 1.0).abs() < 0.03, "{}", poisson.gap_variation);
}

/// Little's law: 2000 requests per second that take 3 ms each are 6 in flight.
#[test]
fn depth_is_by_littles_law() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let lines = (0..=4000_u64).map(|n| format!("{},h,0,Read,{},4096,30000\n", n * 5000, n * 4096));
    fs::write(&path, lines.collect::<String>()).unwrap();
    let source = TraceSource { path, format: None, device: None };
    let survey = TraceSurvey::load(&source).unwrap();
    let found = TraceProfile::new(&source, &survey).unwrap().in_flight.unwrap();
    assert!((found - 6.0).abs() < 0.01, "{found}");
}

/// A sample of the blocks keeps estimates of all.
#[test]
fn sampled_blocks_stand_for_all() {
    let mut all = BlockCounts::default();
    let mut sampled = BlockCounts { shift: 3, ..BlockCounts::default() };
    let mut rng = Rng::stream(3, "blocks");
    for _ in 0..400_000 {
        let block = rng.below(50_000);
        all.add(block);
        sampled.add(block);
    }
    let of = |counts: &BlockCounts| counts.concentration().unwrap();
    assert!((of(&sampled) / of(&all) - 1.0).abs() < 0.05);
    assert!((sampled.distinct() as f64 / all.distinct() as f64 - 1.0).abs() < 0.05);
    let [_, _, hottest] = all.hottest_pct();
    assert!((20.0..35.0).contains(&hottest), "{hottest}");
}
