//! Read retry.
//!
//! # Mechanism
//! When error correction fails, the controller senses again with shifted thresholds, then decodes softly from
//! several senses, then rebuilds the page from its parity group. Each level takes longer and is rarer. One
//! random draw per read selects the level.
//!
//! Probabilities grow with age: raw bit errors grow as a power of the program/erase cycles and about with the
//! logarithm of retention, and uncorrectable pages far faster (Y. Cai et al., "Error characterization,
//! mitigation, and recovery in flash-memory-based solid-state drives", Proceedings of the IEEE 105(9), 2017,
//! sections III and IV). At best one point of that law is known of a drive, so the model uses the simplest one:
//! a probability doubles with every `doubling_cycles` and every `doubling_hours`, linear between.
//!
//! # Non-goals
//! State per page: reads draw independently. Ageing during a run. Unreadable data: see [`crate::faults`].

use assay_units::Rng;

use crate::options::Age;
use crate::profile::RetryProfile;

const WHOLE_PPM: u64 = 1_000_000;
/// Limit of doublings: by then every read is at the last level.
const MOST_DOUBLINGS: u64 = 40;

/// Read retry levels at a given age.
#[derive(Clone, Debug)]
pub struct ReadRetry {
    /// Cumulative probability (of 10^6) and additional time in nanoseconds, rarest level first.
    levels: Vec<(u64, u64)>,
    draws: Rng,
}

impl ReadRetry {
    pub fn new(profile: &RetryProfile, age: Age, seed: u64) -> ReadRetry {
        let mut below = 0;
        let levels = profile
            .probability_ppm
            .value
            .iter()
            .zip(&profile.extra_ns.value)
            .rev()
            .map(|(&ppm, &extra_ns)| {
                below += aged_ppm(profile, u64::from(ppm), age);
                (below.min(WHOLE_PPM), extra_ns)
            })
            .collect();
        ReadRetry {
            levels,
            draws: Rng::stream(seed, "read retry"),
        }
    }

    /// Additional time of the next read in nanoseconds.
    #[inline]
    pub fn draw_ns(&mut self) -> u64 {
        let draw = self.draws.below(WHOLE_PPM);
        match self.levels.last() {
            Some(&(below, _)) if draw < below => self.extra_ns(draw),
            _ => 0,
        }
    }

    fn extra_ns(&self, draw: u64) -> u64 {
        self.levels
            .iter()
            .find(|&&(below, _)| draw < below)
            .map_or(0, |&(_, extra_ns)| extra_ns)
    }
}

/// A level's share at this age in parts per million, unlimited.
fn aged_ppm(profile: &RetryProfile, ppm: u64, age: Age) -> u64 {
    let factor = |times: u64, doubling: &Option<crate::Sourced<u32>>, ppm: u64| match doubling {
        Some(doubling) => grown(ppm, times, u64::from(doubling.value.max(1))),
        None => ppm,
    };
    let worn = factor(u64::from(age.cycles), &profile.doubling_cycles, ppm);
    factor(
        u64::from(age.retention_hours),
        &profile.doubling_hours,
        worn,
    )
}

/// `ppm * 2^(steps / doubling)`, linear between whole powers.
fn grown(ppm: u64, steps: u64, doubling: u64) -> u64 {
    let doublings = steps / doubling;
    if ppm == 0 || doublings >= MOST_DOUBLINGS {
        return if ppm == 0 { 0 } else { WHOLE_PPM };
    }
    let whole = (u128::from(ppm) << doublings).min(u128::from(WHOLE_PPM)) as u64;
    (whole + whole * (steps % doubling) / doubling).min(WHOLE_PPM)
}

#[cfg(test)]
#[path = "../tests/unit/retry.rs"]
mod tests;
