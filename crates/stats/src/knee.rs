//! Knees: the lowest sufficient queue depth, and the highest sustainable load. A knee is a measured
//! load (rules and sources: docs/statistics.md, "Knees").

use serde::{Deserialize, Serialize};

/// Share of the best rate that the knee of a sweep over depth reaches.
pub const SHARE: f64 = 0.95;
/// Latency at the knee of a load curve, as a multiple of the lowest load's.
pub const LATENCY_FACTOR: f64 = 2.0;
/// Least share of the offered rate that is done at a sustainable load.
pub const KEEPS_UP: f64 = 0.98;
/// Standard deviations of a Poisson count attributed to chance (beyond three: one in a thousand).
const CHANCE: f64 = 3.0;

/// A Poisson count of mean n has the standard deviation sqrt(n).
pub fn chance_share(offered_per_s: f64, seconds: f64) -> f64 {
    let arrivals = offered_per_s * seconds;
    if arrivals > 0.0 { CHANCE / arrivals.sqrt() } else { 0.0 }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DepthKnee {
    pub index: usize,
    /// The lowest depth that reaches the share.
    pub depth: u32,
    pub rate: f64,
    pub best: f64,
    /// The lowest depth with the best rate.
    pub best_depth: u32,
    /// The best rate is at the deepest point, well above the last: the sweep may be too short.
    pub still_rising: bool,
}

/// Lowest depth with at least `share` of the best rate; points without a positive rate are ignored.
pub fn lowest_depth_reaching(points: &[(u32, f64)], share: f64) -> Option<DepthKnee> {
    let usable = || {
        let all = points.iter().copied().enumerate();
        all.filter(|(_, (_, rate))| rate.is_finite() && *rate > 0.0)
    };
    let best = usable().map(|(_, (_, rate))| rate).fold(0.0, f64::max);
    let lowest = |least: f64| {
        let reaching = usable().filter(|(_, (_, rate))| *rate >= least);
        reaching.min_by_key(|(_, (depth, _))| *depth)
    };
    let (_, (best_depth, _)) = lowest(best)?;
    let (index, (depth, rate)) = lowest(share * best)?;
    let deepest = usable().map(|(_, (depth, _))| depth).max()?;
    Some(DepthKnee {
        index,
        depth,
        rate,
        best,
        best_depth,
        still_rising: depth == deepest && usable().count() > 1,
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadPoint {
    /// I/Os per second.
    pub offered: f64,
    /// I/Os per second.
    pub done: f64,
    /// Mean from the intended start.
    pub latency_ns: f64,
    pub seconds: f64,
}

impl LoadPoint {
    /// [`KEEPS_UP`] of the offered load was done, less the statistical uncertainty.
    pub fn is_kept_up_with(&self) -> bool {
        let least = KEEPS_UP - chance_share(self.offered, self.seconds);
        self.done >= least * self.offered
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadKnee {
    /// Index of the highest sustainable load.
    pub index: usize,
    /// I/Os per second at the knee.
    pub offered: f64,
    /// Mean at the knee.
    pub latency_ns: f64,
    /// Mean of the lowest load.
    pub unloaded_ns: f64,
    /// The next measured load, which is not sustainable; `None` when all are.
    pub beyond: Option<f64>,
}

/// The highest load sustainable together with every lower one: latency at most `factor` times that
/// of the lowest load, and [`LoadPoint::is_kept_up_with`]. `None` with fewer than two usable
/// points, or when the lowest is not sustainable.
pub fn load_knee(points: &[LoadPoint], factor: f64) -> Option<LoadKnee> {
    let is_rate = |v: f64| v.is_finite() && v > 0.0;
    let is_usable = |p: &LoadPoint| [p.offered, p.done, p.latency_ns].into_iter().all(is_rate);
    let usable = points.iter().enumerate().filter(|(_, p)| is_usable(p));
    let mut order: Vec<(usize, &LoadPoint)> = usable.collect();
    order.sort_by(|(_, a), (_, b)| a.offered.total_cmp(&b.offered));
    let [(_, lowest), _, ..] = order[..] else {
        return None;
    };
    let unloaded_ns = lowest.latency_ns;
    let is_sustainable =
        |p: &LoadPoint| p.latency_ns <= factor * unloaded_ns && p.is_kept_up_with();
    let sustainable = order.iter().take_while(|(_, p)| is_sustainable(p)).count();
    let (index, knee) = order[sustainable.checked_sub(1)?];
    Some(LoadKnee {
        index,
        offered: knee.offered,
        latency_ns: knee.latency_ns,
        unloaded_ns,
        beyond: order.get(sustainable).map(|(_, next)| next.offered),
    })
}

#[cfg(test)]
#[path = "../tests/unit/knee.rs"]
mod tests;
