//! Reads of data that lie beside an SLC cache, compared with a data sheet that rates the cache.
//!
//! Drives with three or more bits per cell write into a cache of one bit per cell, and their data
//! sheets rate reads of it: sensing one bit takes a fraction of the time of a page of three. Data
//! that were written earlier have been moved out of the cache. How much of the rated reads is left
//! of them is a number `I` of such drives, normal around [`Share::mean`].

use super::{DriveReads, IOPS, Mode, Population, logs};

/// What is added to the logarithm of `I`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share {
    pub mean: f64,
    /// Added to that of drives whose data sheet rates what is read.
    pub variance: f64,
    pub drives: usize,
}

/// Before any such drive is known: any share up to a factor of three either way.
const START: Share = Share {
    mean: 0.0,
    variance: 1.0,
    drives: 0,
};
const ROUNDS: usize = 12;

impl Population {
    /// Learns the share from drives whose known reads lie beside their caches; from fewer than two
    /// nothing.
    pub fn beside_cache(mut self, drives: &[DriveReads]) -> Population {
        let is = |d: &&DriveReads| d.rated.is_some_and(|rated| rated.is_beside_cache);
        let drives: Vec<&DriveReads> = drives.iter().filter(is).collect();
        if drives.len() < 2 {
            return self;
        }
        self.share = Some(START);
        for _ in 0..ROUNDS {
            let of = |drive: &&DriveReads| {
                let Mode {
                    theta, covariance, ..
                } = self.mode(drive);
                let rated = drive.rated.as_ref().map_or(0.0, |rated| logs(rated)[0]);
                (
                    theta[IOPS] - self.mean[IOPS] - rated,
                    covariance[IOPS][IOPS],
                )
            };
            let own: Vec<(f64, f64)> = drives.iter().map(of).collect();
            let n = own.len() as f64;
            let mean = own.iter().map(|(at, _)| at).sum::<f64>() / n;
            let squares = own.iter().map(|(at, own)| (at - mean).powi(2) + own);
            let variance = squares.sum::<f64>() / n - self.covariance[IOPS][IOPS];
            self.share = Some(Share {
                mean,
                variance: variance.max(0.0),
                drives: own.len(),
            });
        }
        self
    }

    /// The drives that teach what is predicted of this one.
    pub fn teachers(&self, drive: &DriveReads) -> usize {
        let is_beside_cache = drive.rated.is_some_and(|rated| rated.is_beside_cache);
        let share = self.share.filter(|_| is_beside_cache);
        self.drives + share.map_or(0, |share| share.drives)
    }
}
