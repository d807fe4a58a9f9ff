//! Read retry.
//!
//! When error correction fails, the controller senses again with shifted thresholds, decodes softly, then rebuilds the
//! page from its parity group: levels ever slower and rarer, one random draw per read. Probabilities grow with wear and
//! retention (Y. Cai et al., "Error characterization, mitigation, and recovery in flash-memory-based solid-state
//! drives", Proceedings of the IEEE 105(9), 2017, sections III and IV). At best one point of that law is known of a
//! drive, so a probability doubles with every `doubling_cycles` and every `doubling_hours`, linear between.
//!
//! # Non-goals
//! State per page; ageing during a run; unreadable data ([`crate::faults`]).

use std::iter::zip;

use assay_units::Rng;

use crate::options::Age;
use crate::profile::RetryProfile;
use crate::sourced::Sourced;
use crate::spread::ReadTimeSpread;

const WHOLE_PPM: u64 = 1_000_000;
/// Limit of doublings: by then every read is at the last level.
const MOST_DOUBLINGS: u64 = 40;

/// Variation of read times: within a page type, and by retries.
#[derive(Clone, Debug)]
pub struct ReadVariation {
    spread: Option<ReadTimeSpread>,
    retry: Option<ReadRetry>,
}

impl ReadVariation {
    pub fn new(
        sigma_ns: Option<&Sourced<u64>>,
        retry: Option<&RetryProfile>,
        age: Age,
        seed: u64,
    ) -> ReadVariation {
        ReadVariation {
            spread: sigma_ns.map(|sigma_ns| ReadTimeSpread::new(sigma_ns.value, seed)),
            retry: retry.map(|retry| ReadRetry::new(retry, age, seed)),
        }
    }

    #[inline]
    pub fn around_ns(&mut self, mean_ns: u64) -> u64 {
        let mut read_ns = mean_ns;
        if let Some(spread) = &mut self.spread {
            read_ns = spread.around_ns(read_ns);
        }
        if let Some(retry) = &mut self.retry {
            read_ns += retry.draw_ns();
        }
        read_ns
    }
}

#[derive(Clone, Debug)]
pub struct ReadRetry {
    /// Cumulative probability (of 10^6) and additional time in nanoseconds, rarest level first.
    levels: Vec<(u64, u64)>,
    draws: Rng,
}

impl ReadRetry {
    pub fn new(profile: &RetryProfile, age: Age, seed: u64) -> ReadRetry {
        let mut below = 0;
        let levels = zip(&profile.probability_ppm.value, &profile.extra_ns.value);
        let cumulative = |(&ppm, &extra_ns): (&u32, &u64)| {
            below += aged_ppm(profile, u64::from(ppm), age);
            (below.min(WHOLE_PPM), extra_ns)
        };
        ReadRetry {
            levels: levels.rev().map(cumulative).collect(),
            draws: Rng::stream(seed, "read retry"),
        }
    }

    #[inline]
    pub fn draw_ns(&mut self) -> u64 {
        let draw = self.draws.below(WHOLE_PPM);
        // Most reads need none.
        if self.levels.last().is_none_or(|&(below, _)| draw >= below) {
            return 0;
        }
        let level = self.levels.iter().find(|&&(below, _)| draw < below);
        level.map_or(0, |&(_, extra_ns)| extra_ns)
    }
}

/// A level's share at this age in parts per million, unlimited.
fn aged_ppm(profile: &RetryProfile, ppm: u64, age: Age) -> u64 {
    let factor = |times: u32, doubling: &Option<Sourced<u32>>, ppm: u64| match doubling {
        Some(doubling) => grown(ppm, u64::from(times), u64::from(doubling.value.max(1))),
        None => ppm,
    };
    let worn = factor(age.cycles, &profile.doubling_cycles, ppm);
    factor(age.retention_hours, &profile.doubling_hours, worn)
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
