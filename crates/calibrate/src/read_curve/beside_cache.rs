//! Reads of data that lie beside an SLC cache, compared with a data sheet that rates the cache.
//!
//! Drives with three or more bits per cell write into a cache of one bit per cell, and their data
//! sheets rate reads of it: sensing one bit takes a fraction of the time of a page of three. Data
//! that were written earlier have been moved out of the cache, and a read of them keeps its die
//! busy for nearly as long as it takes, which hardly differs between drives ([`SINGLE_READ`]). So
//! reads and dies form a closed network of equal servers: of `n` reads in flight on `d` dies
//! `n d / (n + d - 1)` are served, the others wait (E. Lazowska et al., "Quantitative System
//! Performance", chapter 5: balanced systems).
//!
//! Where the capacity is known, so is about how many dies there are, and `I` is what the controller
//! can do. Where it is not, `I` is what the dies can do, and the curve has the bend of such a
//! network ([`SHARPNESS`]). Of both the share of the rating is learned.

use super::kind::Kind;
use super::{DriveReads, IOPS, LATENCY, Matrix, Mode, NUMBERS, Population, Theta, logs};

/// Of the bend between what the reads in flight allow and what unknown dies do: a network's.
const SHARPNESS: f64 = 1.0;
/// Seconds of a single read of 4 KiB, and the deviation of its logarithm. Measured at a depth of 1
/// are 71 us (`Sabrent_Rocket4Plus_2TB`) and 82 us (`Samsung_EVO_2TB_zns-study`, both
/// reference/public/measurements.csv.zst); the deviation is half of what is assumed of drives of
/// any kind.
const SINGLE_READ: (f64, f64) = (76e-6, 0.25);

/// What is left of a rating.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share {
    /// Mean of the logarithm of `I` over the rated reads, less that of other drives.
    pub mean: f64,
    /// Added to that of drives whose data sheet rates what is read.
    pub variance: f64,
    pub drives: usize,
}

/// Before any such drive is known: any share up to a factor of three either way.
const START: Share = Share { mean: 0.0, variance: 1.0, drives: 0 };
const ROUNDS: usize = 100;

impl Share {
    /// Moves and widens what is expected of a drive's numbers.
    pub(super) fn apply(&self, mean: &mut Theta, covariance: &mut Matrix) {
        mean[LATENCY] = SINGLE_READ.0.ln();
        covariance[LATENCY] = vec![0.0; NUMBERS];
        covariance.iter_mut().for_each(|row| row[LATENCY] = 0.0);
        covariance[LATENCY][LATENCY] = SINGLE_READ.1.powi(2);
        mean[IOPS] += self.mean;
        covariance[IOPS][IOPS] += self.variance;
    }
}

/// As many of the reads in flight as dies serve.
pub(super) fn served(in_flight: f64, dies: f64) -> f64 {
    in_flight * dies / (in_flight + dies - 1.0)
}

impl Population {
    /// What drives teach whose known reads lie beside their caches, with their dies or as if these
    /// were not known; `None` from fewer than two.
    pub(super) fn beside_cache(&self, drives: &[DriveReads], of_dies: bool) -> Option<Population> {
        let mut drives = drives.to_vec();
        if !of_dies {
            let rated = drives.iter_mut().filter_map(|drive| drive.rated.as_mut());
            rated.for_each(|rated| rated.capacity_gb = None);
        }
        drives.retain(|drive| drive.key() == (Kind::Cached, of_dies));
        if drives.len() < 2 {
            return None;
        }
        let mut own = Population { share: Some(START), kinds: Vec::new(), ..self.clone() };
        if !of_dies {
            own.shape.q = SHARPNESS;
        }
        let n = drives.len() as f64;
        for _ in 0..ROUNDS {
            let of = |drive: &DriveReads| {
                let Mode { theta, covariance, .. } = own.mode(drive);
                let rated = drive.rated.as_ref().map_or(0.0, |rated| logs(rated)[0]);
                (theta[IOPS] - own.mean[IOPS] - rated, covariance[IOPS][IOPS])
            };
            let beside: Vec<(f64, f64)> = drives.iter().map(of).collect();
            let mean = beside.iter().map(|b| b.0).sum::<f64>() / n;
            let squares = beside.iter().map(|b| (b.0 - mean).powi(2) + b.1);
            let variance = (squares.sum::<f64>() / n - own.covariance[IOPS][IOPS]).max(0.0);
            own.share = Some(Share { mean, variance, drives: drives.len() });
        }
        Some(own)
    }
}
