//! Read retry.
//!
//! When error correction fails, the controller senses again with shifted thresholds, decodes
//! softly, then rebuilds the page from its parity group: ever slower and rarer levels, one random
//! draw per read. A profile gives what a new drive shows; [`crate::ageing`] adds the retries of
//! aged flash.
//!
//! # Non-goals
//! State per page; unreadable data ([`crate::faults`]).

use std::iter::zip;

use assay_units::Rng;

use crate::ageing::{AgeingLaw, WHOLE};
use crate::profile::RetryProfile;
use crate::sourced::Sourced;
use crate::spread::ReadTimeSpread;

const PER_MILLION: u64 = WHOLE / 1_000_000;

#[derive(Clone, Debug)]
pub struct ReadVariation {
    spread: Option<ReadTimeSpread>,
    retry: Option<ReadRetry>,
    draws: Rng,
}

impl ReadVariation {
    pub fn new(
        sigma_ns: Option<&Sourced<u64>>,
        retry: Option<&RetryProfile>,
        seed: u64,
    ) -> ReadVariation {
        ReadVariation {
            spread: sigma_ns.map(|sigma_ns| ReadTimeSpread::new(sigma_ns.value, seed)),
            retry: retry.map(ReadRetry::new),
            draws: Rng::stream(seed, "read retry"),
        }
    }

    /// With the retries of a new drive.
    #[inline]
    pub fn around_ns(&mut self, mean_ns: u64) -> u64 {
        let mut read_ns = mean_ns;
        if let Some(spread) = &mut self.spread {
            read_ns = spread.around_ns(read_ns);
        }
        if let Some(retry) = &self.retry {
            read_ns += retry.extra_ns(self.draws.below(WHOLE));
        }
        read_ns
    }

    /// Time of a read of flash in this row of the law's table that takes `read_ns` without retries.
    #[inline]
    pub fn of_flash_ns(&mut self, read_ns: u64, law: &AgeingLaw, row: usize) -> u64 {
        if row == 0 {
            return self.around_ns(read_ns);
        }
        self.of_aged_flash_ns(read_ns + law.decode_ns(row), law, row)
    }

    #[inline(never)]
    fn of_aged_flash_ns(&mut self, read_ns: u64, law: &AgeingLaw, row: usize) -> u64 {
        if law.shares(row)[0] == 0 {
            return self.around_ns(read_ns);
        }
        let draw = self.draws.below(WHOLE);
        let shares = law.shares(row);
        let reached = shares.iter().take_while(|&&share| draw < share.into());
        match reached.count() {
            0 => {
                let rest = draw - u64::from(shares[0]);
                let retry = self.retry.as_ref();
                read_ns + retry.map_or(0, |retry| retry.extra_ns(rest))
            }
            levels => read_ns + law.level_ns(levels - 1),
        }
    }
}

#[derive(Clone, Debug)]
pub struct ReadRetry {
    /// Cumulative probability (of [`WHOLE`]) and additional nanoseconds, rarest level first.
    levels: Vec<(u64, u64)>,
}

impl ReadRetry {
    pub fn new(profile: &RetryProfile) -> ReadRetry {
        let mut below = 0;
        let levels = zip(&profile.probability_ppm.value, &profile.extra_ns.value);
        let cumulative = |(&ppm, &extra_ns): (&u32, &u64)| {
            below += u64::from(ppm) * PER_MILLION;
            (below.min(WHOLE), extra_ns)
        };
        ReadRetry { levels: levels.rev().map(cumulative).collect() }
    }

    #[inline]
    pub fn extra_ns(&self, draw: u64) -> u64 {
        if self.levels.last().is_none_or(|&(below, _)| draw >= below) {
            return 0;
        }
        let level = self.levels.iter().find(|&&(below, _)| draw < below);
        level.map_or(0, |&(_, extra_ns)| extra_ns)
    }
}

#[cfg(test)]
#[path = "../tests/unit/retry.rs"]
mod tests;
