use assay_units::Rng;

use super::AccessError;
use super::zipf::Zipf;

/// The law of a random order whose offsets are not equally likely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RankLaw {
    /// Theta over 0 and up to `MAX_THETA` (fio's `zipf:theta`).
    Zipf { theta: f64 },
    /// Rank `n u^k` of `n`, `u` uniform, `k = ln h / ln(1 - h)`, as fio 3.33's `lib/zipf.c`.
    Pareto {
        /// Between 0 and 1.
        h: f64,
    },
    Normal {
        /// Standard deviation in percent of the number of offsets, over 0 and below 100.
        deviation_percent: f64,
    },
}

#[derive(Clone, Debug)]
pub(super) enum Ranks {
    Zipf(Zipf),
    Pareto { count: f64, exponent: f64 },
    Normal { count: f64, deviation: f64 },
}

impl Ranks {
    pub(super) fn new(law: RankLaw, count: u64) -> Result<Ranks, AccessError> {
        let whole = count.max(1) as f64;
        match law {
            RankLaw::Zipf { theta } => Ok(Ranks::Zipf(Zipf::new(count, theta)?)),
            RankLaw::Pareto { h } if h > 0.0 && h < 1.0 => {
                Ok(Ranks::Pareto { count: whole, exponent: h.ln() / (-h).ln_1p() })
            }
            RankLaw::Pareto { h } => Err(AccessError::BadPareto(h)),
            RankLaw::Normal { deviation_percent }
                if deviation_percent > 0.0 && deviation_percent < 100.0 =>
            {
                Ok(Ranks::Normal { count: whole, deviation: whole * deviation_percent / 100.0 })
            }
            RankLaw::Normal { deviation_percent } => {
                Err(AccessError::BadDeviation(deviation_percent))
            }
        }
    }

    #[inline]
    pub(super) fn sample(&self, rng: &mut Rng) -> u64 {
        match *self {
            Ranks::Zipf(ref zipf) => zipf.sample(rng) - 1,
            Ranks::Pareto { count, exponent } => {
                let rank = count * rng.unit_f64().powf(exponent);
                rank.min(count - 1.0) as u64
            }
            Ranks::Normal { count, deviation } => loop {
                // At the largest deviation 38 % of the draws are inside.
                let rank = count / 2.0 + deviation * rng.normal();
                if (0.0..count).contains(&rank) {
                    return rank as u64;
                }
            },
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/access/ranks.rs"]
mod tests;
