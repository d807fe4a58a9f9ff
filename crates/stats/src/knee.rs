//! Where does more load stop paying?
//!
//! # Rules
//! - Closed loop ([`lowest_depth_reaching`]): the lowest queue depth whose rate reaches a share (95 %) of the best rate of the sweep, as AnandTech
//!   reports enterprise drives ("Memblaze PBlaze5 C916", 13 Mar 2019), instead of figures at a fixed depth that one drive is past and
//!   another has not reached.
//! - Open loop ([`load_knee`]): the highest offered load up to which mean latency stays within [`LATENCY_FACTOR`] times that of the lowest load *and*
//!   what was done keeps up with what was offered. Twice is where a single server with exponential service stands at half its capacity, and
//!   where a queue is as long as the service itself. Chosen over curve-shape rules (Kneedle, V. Satopaa et al., 2011), because those depend on how
//!   far the sweep goes: the same drive has another knee when the last point moves.
//!
//! # Non-goals
//! No interpolation: a knee is a load that was measured, and the next one that was measured too.

use serde::{Deserialize, Serialize};

/// Share of the best rate that the knee of a sweep over depth reaches.
pub const SHARE: f64 = 0.95;
/// Latency at the knee of a load curve, as a multiple of the lowest load's.
pub const LATENCY_FACTOR: f64 = 2.0;
/// Rate over offered rate below which a drive no longer keeps up.
pub const KEEPS_UP: f64 = 0.98;
/// Standard deviations of a Poisson count that chance is allowed beside that: beyond three, it is one in a thousand.
const CHANCE: f64 = 3.0;

/// How much less than offered may be done, as a share, because fewer arrivals than the rate says fell into so many seconds: a Poisson count of
/// mean n has the standard deviation sqrt(n).
pub fn chance_share(offered_per_s: f64, seconds: f64) -> f64 {
    let arrivals = offered_per_s * seconds;
    if arrivals > 0.0 {
        CHANCE / arrivals.sqrt()
    } else {
        0.0
    }
}

/// The knee of a sweep over queue depth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DepthKnee {
    /// Where in the points given.
    pub index: usize,
    /// The lowest depth that reaches the share.
    pub depth: u32,
    /// Rate there.
    pub rate: f64,
    /// Best rate of the sweep.
    pub best: f64,
    /// The lowest depth at which that was measured.
    pub best_depth: u32,
    /// The best rate is at the deepest point and the point before is more than the share away: the sweep may have ended too early.
    pub still_rising: bool,
}

/// The lowest depth whose rate is at least `share` of the best. Points in any order; points without a finite positive rate are passed
/// over; `None` when none is left.
pub fn lowest_depth_reaching(points: &[(u32, f64)], share: f64) -> Option<DepthKnee> {
    let usable = || {
        points
            .iter()
            .enumerate()
            .filter(|(_, (_, rate))| rate.is_finite() && *rate > 0.0)
            .map(|(index, (depth, rate))| (index, *depth, *rate))
    };
    let best = usable().map(|(_, _, rate)| rate).fold(0.0, f64::max);
    let best_depth = usable().filter(|p| p.2 == best).map(|p| p.1).min()?;
    let (index, depth, rate) = usable()
        .filter(|(_, _, rate)| *rate >= share * best)
        .min_by_key(|(_, depth, _)| *depth)?;
    let deepest = usable().map(|p| p.1).max()?;
    Some(DepthKnee {
        index,
        depth,
        rate,
        best,
        best_depth,
        still_rising: depth == deepest && usable().count() > 1,
    })
}

/// One point of a load curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadPoint {
    /// Offered, I/Os per second.
    pub offered: f64,
    /// Done, I/Os per second.
    pub done: f64,
    /// Mean latency from the intended start, nanoseconds.
    pub latency_ns: f64,
    /// How long it was offered, seconds.
    pub seconds: f64,
}

impl LoadPoint {
    /// Was what was offered also done: at least [`KEEPS_UP`] of it, but for what chance accounts for?
    pub fn is_kept_up_with(&self) -> bool {
        let least = KEEPS_UP - chance_share(self.offered, self.seconds);
        self.done >= least * self.offered
    }
}

/// The knee of a load curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadKnee {
    /// Where in the points given: the highest load that is still borne.
    pub index: usize,
    /// Offered there, I/Os per second.
    pub offered: f64,
    /// Mean latency there, nanoseconds.
    pub latency_ns: f64,
    /// Mean latency of the lowest load, nanoseconds.
    pub unloaded_ns: f64,
    /// The next load that was measured, which is no longer borne; `None` when all are.
    pub beyond: Option<f64>,
}

/// The highest offered load that is borne together with every lower one: latency at most `factor` times that of the lowest load, and at
/// least [`KEEPS_UP`] of what is offered done, but for chance. Points in any order; those that are no finite positive numbers are passed over. `None` with fewer
/// than two points, or when not even the lowest load is kept up with.
pub fn load_knee(points: &[LoadPoint], factor: f64) -> Option<LoadKnee> {
    let mut order: Vec<usize> = (0..points.len())
        .filter(|index| {
            let p = &points[*index];
            [p.offered, p.done, p.latency_ns]
                .iter()
                .all(|v| v.is_finite() && *v > 0.0)
        })
        .collect();
    order.sort_by(|a, b| points[*a].offered.total_cmp(&points[*b].offered));
    let unloaded_ns = points[*order.first()?].latency_ns;
    if order.len() < 2 {
        return None;
    }
    let borne = order
        .iter()
        .take_while(|index| {
            let p = &points[**index];
            p.latency_ns <= factor * unloaded_ns && p.is_kept_up_with()
        })
        .count();
    let index = order[borne.checked_sub(1)?];
    Some(LoadKnee {
        index,
        offered: points[index].offered,
        latency_ns: points[index].latency_ns,
        unloaded_ns,
        beyond: order.get(borne).map(|next| points[*next].offered),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_lowest_depth_within_five_percent() {
        let sweep = [
            (1, 11e3),
            (2, 21e3),
            (4, 40e3),
            (8, 77e3),
            (16, 95.1e3),
            (32, 99e3),
            (64, 100e3),
        ];
        let knee = lowest_depth_reaching(&sweep, SHARE).unwrap();
        assert_eq!(
            (knee.depth, knee.rate, knee.best, knee.best_depth),
            (16, 95.1e3, 100e3, 64)
        );
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
        assert_eq!(
            (knee.depth, knee.best_depth, knee.still_rising),
            (8, 8, false)
        );
    }

    #[test]
    fn points_without_a_rate_are_passed_over() {
        assert_eq!(lowest_depth_reaching(&[], SHARE), None);
        assert_eq!(
            lowest_depth_reaching(&[(1, 0.0), (2, f64::NAN)], SHARE),
            None
        );
        let knee = lowest_depth_reaching(&[(1, f64::INFINITY), (2, 5.0)], SHARE).unwrap();
        assert_eq!((knee.index, knee.depth, knee.still_rising), (1, 2, false));
    }

    /// The queue with one server, Poisson arrivals and exponential service: latency s / (1 - load), so twice the unloaded latency at
    /// half of what leaves the lowest load's.
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
        assert_eq!(
            (knee.offered.round(), knee.beyond.map(f64::round)),
            (50_000.0, Some(55_000.0))
        );
    }

    #[test]
    fn a_drive_that_does_not_keep_up_is_past_its_knee() {
        let point = |offered, done| LoadPoint {
            offered,
            done,
            latency_ns: 1e5,
            seconds: 1e6,
        };
        let knee = load_knee(
            &[point(10.0, 10.0), point(20.0, 19.9), point(30.0, 25.0)],
            2.0,
        )
        .unwrap();
        assert_eq!((knee.offered, knee.beyond), (20.0, Some(30.0)));
        let all = load_knee(&[point(10.0, 10.0), point(20.0, 20.0)], 2.0).unwrap();
        assert_eq!((all.offered, all.beyond), (20.0, None));
        assert_eq!(load_knee(&[point(10.0, 5.0), point(20.0, 5.0)], 2.0), None);
        assert_eq!(load_knee(&[point(10.0, 10.0)], 2.0), None);
        assert_eq!(load_knee(&[], 2.0), None);
    }

    /// A drive that does all that comes, at rates at which little comes: the draw of arrivals must not decide.
    #[test]
    fn few_arrivals_are_not_the_drives_fault() {
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
                let slow = LoadPoint {
                    done: point.done * 0.66,
                    ..point
                };
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
        fn no_lower_load_is_unborne(latencies in prop::collection::vec(1.0_f64..10.0, 2..12)) {
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
}
