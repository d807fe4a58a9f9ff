//! Reads that need more than one sense.
//!
//! # Mechanism
//! Error correction fails on some reads; the controller then senses again with shifted thresholds, then decodes softly from
//! several senses, and at last rebuilds the page from its parity group. Each level takes longer and is rarer. A read draws
//! one number that decides whether it needs a level, and which.
//!
//! Every probability grows with the drive's age. Raw bit errors grow by a power of the program/erase cycles and about with the
//! logarithm of retention, and the chance that a page exceeds what the code corrects grows far faster than its raw errors (Y. Cai et
//! al., "Error characterization, mitigation, and recovery in flash-memory-based solid-state drives", Proceedings of the IEEE 105(9),
//! 2017, sections III and IV). What is known of a given drive is at best one point of that, so the model takes the simplest
//! law that has the shape: a probability doubles with every `doubling_cycles` and every `doubling_hours`, in straight lines
//! between the doublings.
//!
//! # Non-goals
//! No state per page: reads draw independently. Age is that of the drive at power-on and does not grow in a run, which is short
//! beside a drive's life. Nothing becomes unreadable; for that see [`crate::faults`].

use assay_units::Rng;

use crate::options::Age;
use crate::profile::RetryProfile;

/// Draws are compared with shares of this.
const WHOLE_PPM: u64 = 1_000_000;
/// No share is doubled more often: by then every read is at the last level.
const MOST_DOUBLINGS: u64 = 40;

/// The levels of one drive at one age, and its draws.
#[derive(Clone, Debug)]
pub struct Retry {
    /// Below which draw (of 10^6) a read needs which extra time, in nanoseconds: rarest level first.
    levels: Vec<(u64, u64)>,
    draws: Rng,
}

impl Retry {
    /// The levels of a profile at this age.
    pub fn new(profile: &RetryProfile, age: Age, seed: u64) -> Retry {
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
        Retry {
            levels,
            draws: Rng::stream(seed, "read retry"),
        }
    }

    /// How much longer the next read takes, in nanoseconds.
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

/// A level's share at this age in parts per million, not yet held below the whole.
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

/// `ppm * 2^(steps / doubling)`, straight between whole powers.
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
