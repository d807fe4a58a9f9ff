use proptest::prelude::*;

use super::*;

#[test]
fn the_lowest_depth_within_five_percent() {
    let sweep = [(1, 11e3), (2, 21e3), (4, 40e3), (8, 77e3), (16, 95.1e3), (32, 99e3), (64, 100e3)];
    let knee = lowest_depth_reaching(&sweep, SHARE).unwrap();
    assert_eq!((knee.depth, knee.rate, knee.best, knee.best_depth), (16, 95.1e3, 100e3, 64));
    assert!(!knee.still_rising);
    let mut shuffled = sweep;
    shuffled.reverse();
    assert_eq!(lowest_depth_reaching(&shuffled, SHARE).unwrap().depth, 16);
    let rising = lowest_depth_reaching(&sweep[..4], SHARE).unwrap();
    assert_eq!((rising.depth, rising.still_rising), (8, true));
}

#[test]
fn a_rate_that_falls_again_keeps_its_knee() {
    let knee = lowest_depth_reaching(&[(1, 50.0), (8, 100.0), (64, 70.0)], SHARE).unwrap();
    assert_eq!((knee.depth, knee.best_depth, knee.still_rising), (8, 8, false));
}

#[test]
fn points_without_a_rate_are_skipped() {
    assert_eq!(lowest_depth_reaching(&[], SHARE), None);
    assert_eq!(lowest_depth_reaching(&[(1, 0.0), (2, f64::NAN)], SHARE), None);
    let knee = lowest_depth_reaching(&[(1, f64::INFINITY), (2, 5.0)], SHARE).unwrap();
    assert_eq!((knee.index, knee.depth, knee.still_rising), (1, 2, false));
}

/// The queue with one server, Poisson arrivals and exponential service: latency s / (1 - load), so
/// twice the unloaded latency at half of what leaves the lowest load's.
#[test]
fn a_single_server_has_its_knee_at_half_its_capacity() {
    let capacity = 100_000.0;
    let points: Vec<LoadPoint> = (1..=19)
        .map(|i| {
            let load = f64::from(i) * 0.05;
            LoadPoint {
                offered: capacity * load,
                done: capacity * load,
                latency_ns: 1e4 / (1.0 - load),
                seconds: 60.0,
            }
        })
        .collect();
    let knee = load_knee(&points, LATENCY_FACTOR).unwrap();
    // 1 / (1 - x) <= 2 / 0.95: x <= 0.525.
    assert_eq!((knee.offered.round(), knee.beyond.map(f64::round)), (50_000.0, Some(55_000.0)));
}

#[test]
fn a_drive_below_the_offered_rate_is_past_its_knee() {
    let point = |offered, done| LoadPoint { offered, done, latency_ns: 1e5, seconds: 1e6 };
    let knee = load_knee(&[point(10.0, 10.0), point(20.0, 19.9), point(30.0, 25.0)], 2.0).unwrap();
    assert_eq!((knee.offered, knee.beyond), (20.0, Some(30.0)));
    let all = load_knee(&[point(10.0, 10.0), point(20.0, 20.0)], 2.0).unwrap();
    assert_eq!((all.offered, all.beyond), (20.0, None));
    assert_eq!(load_knee(&[point(10.0, 5.0), point(20.0, 5.0)], 2.0), None);
    assert_eq!(load_knee(&[point(10.0, 10.0)], 2.0), None);
    assert_eq!(load_knee(&[], 2.0), None);
}

/// A drive that serves all requests, at low rates: random arrivals must not cause a knee.
#[test]
fn few_arrivals_do_not_cause_a_knee() {
    let mut rng = assay_units::Rng::new(7);
    let (mut unjust, mut runs) = (0, 0);
    for (offered, seconds) in [(250.0, 4.0), (5000.0, 1.0), (2000.0, 60.0)] {
        for _ in 0..300 {
            let (mut at, mut arrived) = (0.0, 0);
            while at < seconds {
                at += rng.exponential(1.0 / offered);
                arrived += 1;
            }
            let point = LoadPoint {
                offered,
                done: f64::from(arrived - 1) / seconds,
                latency_ns: 1e5,
                seconds,
            };
            runs += 1;
            unjust += u32::from(!point.is_kept_up_with());
            // Two thirds are too little at any of these.
            let slow = LoadPoint { done: point.done * 0.66, ..point };
            assert!(!slow.is_kept_up_with(), "{slow:?}");
        }
    }
    assert!(unjust <= runs / 200, "{unjust} of {runs}");
}

proptest! {
    #[test]
    fn the_depth_is_the_lowest_that_qualifies(rates in prop::collection::vec(1.0_f64..1e6, 1..20)) {
        let points: Vec<(u32, f64)> = rates.iter().enumerate().map(|(i, r)| (1 << i, *r)).collect();
        let knee = lowest_depth_reaching(&points, SHARE).unwrap();
        let best = rates.iter().copied().fold(0.0, f64::max);
        prop_assert_eq!(knee.best, best);
        prop_assert!(knee.rate >= SHARE * best);
        for (depth, rate) in &points {
            prop_assert!(*depth >= knee.depth || *rate < SHARE * best);
        }
    }

    #[test]
    fn loads_below_the_knee_are_sustained(latencies in prop::collection::vec(1.0_f64..10.0, 2..12)) {
        let points: Vec<LoadPoint> = latencies.iter().enumerate()
            .map(|(i, l)| LoadPoint { offered: (i + 1) as f64, done: (i + 1) as f64, latency_ns: *l, seconds: 60.0 })
            .collect();
        let knee = load_knee(&points, 2.0).unwrap();
        for p in &points {
            if p.offered <= knee.offered {
                prop_assert!(p.latency_ns <= 2.0 * latencies[0]);
            }
            if Some(p.offered) == knee.beyond {
                prop_assert!(p.latency_ns > 2.0 * latencies[0]);
            }
        }
    }
}
