//! Reads of data that lie beside an SLC cache, compared with a data sheet that rates the cache.
//!
//! Drives with three or more bits per cell write into a cache of one bit per cell, and their data
//! sheets rate reads of it: sensing one bit takes a fraction of the time of a page of three. Data
//! that were written earlier have been moved out of the cache. So a single read takes longer than
//! that of drives with fewer bits, and less is left of the rated reads, the less the more dies it
//! takes to give them: 64 reads of 200 us in flight are 320,000 per second at most. Both numbers of
//! such drives are normal around those of the others plus [`Share::mean`].
//!
//! Where the capacity is known, so is about how many dies there are, and their reads per second say
//! as much of `I` as the rating does: two normal distributions, multiplied.

use super::kind::Kind;
use super::{
    DriveReads, IOPS, LATENCY, Matrix, Mode, NUMBERS, Population, Theta, logs, mean_and_variance,
};

/// Places of the numbers of which beside a cache something is left.
const PLACES: [usize; 2] = [LATENCY, IOPS];

/// What is added to their logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share {
    pub mean: [f64; 2],
    /// Added to that of drives whose data sheet rates what is read.
    pub variance: [f64; 2],
    /// Mean and variance of the logarithm of a die's reads per second.
    pub of_die: Option<(f64, f64)>,
    pub drives: usize,
}

/// Before any such drive is known: any share up to a factor of three either way.
const START: Share = Share { mean: [0.0; 2], variance: [1.0; 2], of_die: None, drives: 0 };
const ROUNDS: usize = 100;

impl Share {
    /// Moves and widens what is expected of a drive's numbers.
    pub(super) fn apply(&self, drive: &DriveReads, mean: &mut Theta, covariance: &mut Matrix) {
        for (k, place) in PLACES.into_iter().enumerate() {
            mean[place] += self.mean[k];
            covariance[place][place] += self.variance[k];
        }
        let dies = drive.rated.and_then(|rated| rated.dies());
        let Some((dies, (log_rate, variance))) = dies.zip(self.of_die) else {
            return;
        };
        // Bayes' rule for a normal observation of one number.
        let lack = dies.ln() + log_rate - mean[IOPS];
        let before = covariance.clone();
        let gain: Theta =
            std::array::from_fn(|j| before[j][IOPS] / (before[IOPS][IOPS] + variance));
        for i in 0..NUMBERS {
            mean[i] += gain[i] * lack;
            for j in 0..NUMBERS {
                covariance[i][j] -= gain[i] * before[IOPS][j];
            }
        }
    }
}

/// By the first known cell: of `n` reads in flight on `d` dies, so many of these are busy that they
/// give `n / (n + d - 1)` of their rate (a closed network of equal servers).
fn log_rate_of_die(drive: &DriveReads) -> Option<f64> {
    let dies = drive.rated.and_then(|rated| rated.dies())?;
    let (cell, rate) = drive.known.first()?;
    let busy = dies * cell.in_flight / (cell.in_flight + dies - 1.0);
    Some((rate / busy).ln())
}

impl Population {
    /// Learns the share from drives whose known reads lie beside their caches; from fewer than two
    /// nothing.
    pub(super) fn beside_cache(mut self, drives: &[DriveReads]) -> Population {
        let is = |d: &&DriveReads| d.kind() == Kind::Cached;
        let drives: Vec<&DriveReads> = drives.iter().filter(is).collect();
        if drives.len() < 2 {
            return self;
        }
        self.share = Some(START);
        for _ in 0..ROUNDS {
            let of = |drive: &&DriveReads| {
                let Mode { theta, covariance, .. } = self.mode(drive);
                let rated = drive.rated.as_ref().map_or(0.0, |rated| logs(rated)[0]);
                let of_rated = |place| if place == IOPS { rated } else { 0.0 };
                PLACES.map(|place| {
                    let beside = theta[place] - self.mean[place] - of_rated(place);
                    (beside, covariance[place][place])
                })
            };
            let own: Vec<[(f64, f64); 2]> = drives.iter().map(of).collect();
            let n = own.len() as f64;
            let mean = [0, 1].map(|k| own.iter().map(|o| o[k].0).sum::<f64>() / n);
            let spread = |k: usize| {
                let squares = own.iter().map(|o| (o[k].0 - mean[k]).powi(2) + o[k].1);
                squares.sum::<f64>() / n - self.covariance[PLACES[k]][PLACES[k]]
            };
            self.share = Some(Share {
                mean,
                variance: [0, 1].map(|k| spread(k).max(0.0)),
                of_die: None,
                drives: own.len(),
            });
        }
        if let Some(share) = &mut self.share {
            let rates: Vec<f64> = drives.iter().filter_map(|d| log_rate_of_die(d)).collect();
            share.of_die = (rates.len() >= 2).then(|| mean_and_variance(&rates));
        }
        self
    }
}
