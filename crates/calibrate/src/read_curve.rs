//! Rates of random reads by five numbers of a drive, for any drive with or without a profile.
//!
//! ```text
//! rate  = softmin_q(threads / host, in flight / (t0 + block / b1), ((1/I)^p + (block/B)^p)^(-1/p))
//! theta = log(t0, b1, I, B, host) ~ N(mean + log(rated IOPS) in I, log(rated bytes/s) in B; S)
//! log rate = f(theta) + Gaussian process over (log block, log in flight) + noise
//! ```
//!
//! `t0` and `b1` are latency and rate of a single read, `I` and `B` the most reads and bytes per
//! second, `host` the host's time per read and thread. Mean, covariance and the shape of the curve
//! have the highest marginal likelihood given drives whose reads are known (empirical Bayes), and a
//! drive's own numbers are normal around the mode (Laplace's method; D. MacKay, "Information
//! Theory, Inference, and Learning Algorithms", chapter 27). What the curve lacks is a Gaussian
//! process (C. Rasmussen, C. Williams, "Gaussian Processes for Machine Learning", section 2.7).
//!
//! A half-width is that of Student's distribution with a degree of freedom per further drive, since
//! the cells of a drive err together; it grows where the drive's known cells are further from the
//! curve than those of other drives, as in a multivariate t (section 9.9 there).

use assay_ssd::Profile;
use assay_stats::student;

use crate::CalibrateError;
use crate::hardware::Hardware;
use crate::inference::linear::{Matrix, cholesky, diagonal, dot, inverse, log_determinant, solve};
use crate::published::published;

mod beside_cache;
pub mod kind;
mod matrix;
mod reads;

use beside_cache::{Share, served};
use kind::{Kind, share_given};
pub use matrix::PredictedReads;
pub use reads::{Cell, DriveReads, Rated};

/// `t0` (s), `b1` (bytes/s), `I` over rated IOPS, `B` over rated bytes/s, `host` (s).
const NUMBERS: usize = 5;
/// Places of `t0` and `I`.
const LATENCY: usize = 0;
const IOPS: usize = 2;
type Theta = [f64; NUMBERS];
const START: Theta = [1e-4, 1e9, 0.85, 0.75, 6e-6];
/// Widths before any drive is known: a factor of 1.6 for times, ratings are met to a fifth.
const WIDTHS: Theta = [0.5, 0.7, 0.25, 0.25, 0.5];
/// As many drives as [`WIDTHS`] count for.
const WIDTHS_WEIGHT: f64 = 3.0;
/// As many cells as the usual misfit counts for.
const MISFIT_WEIGHT: f64 = 6.0;
const MEAN_ROUNDS: usize = 6;
const STEPS: usize = 12;
const DIFFERENCE: f64 = 1e-4;
/// A drive of which fewer random reads are known teaches nothing.
pub const LEAST_CELLS: usize = 8;
/// Probability outside of an interval, at each of its ends.
const TAIL: f64 = 0.05;

/// What is predicted of a cell: logarithms of reads per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogRate {
    pub centre: f64,
    /// Half of the 90 % interval.
    pub half_width: f64,
}

/// Shape of the curve and of what it lacks; equal for all drives.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shape {
    /// Sharpness of the bend between reads and bytes.
    p: f64,
    /// Sharpness of the bend between the three limits.
    q: f64,
    /// Deviation of the Gaussian process, and its lengths in log block and log in flight.
    lack: f64,
    lengths: [f64; 2],
}

const SHAPE: Shape = Shape { p: 3.0, q: 3.0, lack: 0.12, lengths: [1.0, 1.0] };
/// Deviation of a measured rate: repeated runs, and figures read off a plot.
const NOISE: f64 = 0.02;
/// Factors by which a number of the shape is changed in search of more evidence.
const FACTORS: [f64; 4] = [0.5, 0.8, 1.25, 2.0];
const SHAPE_NUMBERS: usize = 5;
const SHAPE_ROUNDS: usize = 3;
/// A round that adds less evidence ends the search.
const LEAST_GAIN: f64 = 0.1;

impl Shape {
    fn number(&mut self, place: usize) -> &mut f64 {
        let [block, in_flight] = &mut self.lengths;
        match place {
            0 => &mut self.p,
            1 => &mut self.q,
            2 => &mut self.lack,
            3 => block,
            _ => in_flight,
        }
    }

    /// The shape with a number times `factor`; `None` beyond what is plausible.
    fn scaled(mut self, place: usize, factor: f64) -> Option<Shape> {
        const LEAST: [f64; SHAPE_NUMBERS] = [1.0, 1.0, 0.03, 0.5, 0.5];
        const MOST: [f64; SHAPE_NUMBERS] = [16.0, 16.0, 0.4, 4.0, 4.0];
        let number = self.number(place);
        *number *= factor;
        (LEAST[place]..=MOST[place]).contains(number).then_some(self)
    }

    fn log_rate(&self, theta: &Theta, cell: &Cell) -> f64 {
        let [t0, b1, iops, bytes, host] = theta.map(f64::exp);
        let sum = |a: f64, b: f64, power: f64| (a.powf(power) + b.powf(power)).powf(1.0 / power);
        let by_drive = sum(1.0 / iops, cell.block_bytes / bytes, self.p);
        let by_latency = (t0 + cell.block_bytes / b1) / cell.in_flight;
        let by_host = host / cell.threads;
        -sum(sum(by_drive, by_latency, self.q), by_host, self.q).ln()
    }

    /// Derivatives of the curve in each cell.
    fn jacobian(&self, theta: &Theta, cells: &[Cell]) -> Matrix {
        let row = |cell: &Cell| {
            let of = |j: usize| {
                let [mut up, mut down] = [*theta; 2];
                up[j] += DIFFERENCE;
                down[j] -= DIFFERENCE;
                (self.log_rate(&up, cell) - self.log_rate(&down, cell)) / (2.0 * DIFFERENCE)
            };
            (0..NUMBERS).map(of).collect()
        };
        cells.iter().map(row).collect()
    }

    fn kernel(&self, a: &Cell, b: &Cell) -> f64 {
        let block = (a.block_bytes / b.block_bytes).ln() / self.lengths[0];
        let in_flight = (a.in_flight / b.in_flight).ln() / self.lengths[1];
        self.lack.powi(2) * (-(block * block + in_flight * in_flight) / 2.0).exp()
    }

    /// Cholesky factor of the covariance of what the curve lacks, noise included.
    fn lack_factor(&self, cells: &[Cell]) -> Matrix {
        let entry = |i: usize, j: usize| {
            let noise = if i == j { NOISE * NOISE } else { 0.0 };
            self.kernel(&cells[i], &cells[j]) + noise
        };
        let all = 0..cells.len();
        let matrix: Matrix =
            all.clone().map(|i| all.clone().map(|j| entry(i, j)).collect()).collect();
        cholesky(&matrix).expect("noise on the diagonal makes it positive definite")
    }
}

/// A drive's numbers given its known cells.
struct Mode {
    theta: Theta,
    covariance: Matrix,
    cells: Vec<Cell>,
    lack_factor: Matrix,
    /// The known rates less the curve, times the inverse of their covariance.
    weights: Vec<f64>,
    /// Squared distance of the known cells and the numbers from what is usual.
    misfit: f64,
    log_evidence: f64,
}

/// What drives of which reads are known say of a further one.
#[derive(Clone, Debug)]
pub struct Population {
    shape: Shape,
    mean: Theta,
    covariance: Matrix,
    /// Mean and variances of the logarithms of ratings, for drives without.
    rated: [(f64, f64); 2],
    drives: usize,
    /// The most that a drive gave of what its ratings allow.
    given: f64,
    /// The same, at least 1.
    exceeded: f64,
    /// Degrees of freedom of the intervals.
    freedom: f64,
    /// The most I/Os that a drive takes at once.
    queue: f64,
    /// Of reads beside an SLC cache; `None` where nothing is known of them.
    share: Option<Share>,
    /// Of kinds of which these drives say nothing, by [`Rated::key`].
    kinds: Vec<((Kind, bool), Population)>,
}

fn logs(rated: &Rated) -> [f64; 2] {
    [rated.random_iops.ln(), rated.sequential_bytes_per_s.ln()]
}

fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean, variance * (1.0 + 1.0 / n))
}

impl Population {
    fn start(drives: &[DriveReads]) -> Population {
        let rated = drives.iter().filter_map(|d| d.rated.as_ref());
        let all: Vec<[f64; 2]> = rated.map(logs).collect();
        let of = |k: usize| mean_and_variance(&all.iter().map(|l| l[k]).collect::<Vec<_>>());
        let given = drives.iter().map(share_given).fold(0.0, f64::max);
        Population {
            shape: SHAPE,
            mean: START.map(f64::ln),
            covariance: diagonal(&WIDTHS.map(|w| w * w)),
            rated: [0, 1].map(of),
            drives: drives.len(),
            given: if given > 0.0 { given } else { 1.0 },
            exceeded: given.max(1.0),
            freedom: drives.len().max(2) as f64 - 1.0,
            queue: f64::INFINITY,
            share: None,
            kinds: Vec::new(),
        }
    }

    /// The drives of this repository's published figures, and the public ones.
    pub fn of_all() -> Result<Population, CalibrateError> {
        let public = crate::public_reads::embedded()?;
        let public: Vec<DriveReads> = public.iter().filter_map(|p| p.teaches()).collect();
        Ok(Population::of_published()?.with_kinds(&public))
    }

    /// The drives of this repository's published figures.
    pub fn of_published() -> Result<Population, CalibrateError> {
        let hardware = Hardware::embedded()?;
        let mut drives = Vec::new();
        for name in Profile::names() {
            let drive = DriveReads::new(&hardware, name, &published(name)?);
            if drive.known.len() >= LEAST_CELLS {
                drives.push(drive);
            }
        }
        Ok(Population::searched(&drives))
    }

    /// With the shape of most evidence around the usual one. Drives with ratings teach mean and
    /// covariance; without any, the widths stay as wide as they were assumed.
    pub fn searched(drives: &[DriveReads]) -> Population {
        let (mut best, mut evidence) = Population::start(drives).taught(drives);
        for _ in 0..SHAPE_ROUNDS {
            let before = evidence;
            for place in 0..SHAPE_NUMBERS {
                let from = best.shape;
                for shape in FACTORS.iter().filter_map(|f| from.scaled(place, *f)) {
                    let tried = Population { shape, ..best.clone() };
                    let (tried, found) = tried.taught(drives);
                    if found > evidence {
                        (best, evidence) = (tried, found);
                    }
                }
            }
            if evidence - before < LEAST_GAIN {
                break;
            }
        }
        best
    }

    /// Mean and covariance by expectation and maximisation, and the evidence of the drives.
    fn taught(mut self, drives: &[DriveReads]) -> (Population, f64) {
        let rated: Vec<&DriveReads> = drives.iter().filter(|d| d.rated.is_some()).collect();
        for _ in 0..MEAN_ROUNDS {
            let own: Vec<(Theta, Matrix)> = rated
                .iter()
                .map(|d| {
                    let (mean, _) = self.prior(d);
                    let mode = self.mode(d);
                    let offset = std::array::from_fn(|j| mode.theta[j] - mean[j] + self.mean[j]);
                    (offset, mode.covariance)
                })
                .collect();
            if own.is_empty() {
                break;
            }
            let n = own.len() as f64;
            let mean: Theta = std::array::from_fn(|j| own.iter().map(|o| o.0[j]).sum::<f64>() / n);
            let entry = |i: usize, j: usize| {
                let spread =
                    own.iter().map(|(at, c)| (at[i] - mean[i]) * (at[j] - mean[j]) + c[i][j]);
                let wide = if i == j { WIDTHS_WEIGHT * WIDTHS[i].powi(2) } else { 0.0 };
                (spread.sum::<f64>() + wide) / (n + WIDTHS_WEIGHT)
            };
            self.covariance =
                (0..NUMBERS).map(|i| (0..NUMBERS).map(|j| entry(i, j)).collect()).collect();
            self.mean = mean;
        }
        let evidence = drives.iter().map(|d| self.mode(d).log_evidence).sum();
        (self, evidence)
    }

    /// Mean and covariance of a drive's numbers before any of its cells is known.
    fn prior(&self, drive: &DriveReads) -> (Theta, Matrix) {
        let (mut mean, mut covariance) = (self.mean, self.covariance.clone());
        for (k, j) in [2, 3].into_iter().enumerate() {
            mean[j] += drive.rated.as_ref().map_or(self.rated[k].0, |r| logs(r)[k]);
            if drive.rated.is_none() {
                covariance[j][j] += self.rated[k].1;
            }
        }
        if let Some(share) = self.share {
            share.apply(&mut mean, &mut covariance);
        }
        (mean, covariance)
    }

    /// Damped Gauss-Newton steps to the mode of a drive's numbers.
    fn mode(&self, drive: &DriveReads) -> Mode {
        let (mean, prior) = self.prior(drive);
        let precision = inverse(&prior).expect("the widths make it positive definite");
        let known = drive.known.iter();
        let cells: Vec<Cell> = known.map(|(cell, _)| self.queued(drive, cell)).collect();
        let lack_factor = self.shape.lack_factor(&cells);
        let residuals = |theta: &Theta| -> Vec<f64> {
            let rates = drive.known.iter().map(|(_, rate)| rate.ln());
            let lack = |(rate, cell)| rate - self.shape.log_rate(theta, cell);
            rates.zip(&cells).map(lack).collect()
        };
        let cost = |theta: &Theta| {
            let (r, away) = (residuals(theta), away(theta, &mean));
            let of_prior: f64 =
                precision.iter().zip(away).map(|(row, a)| a * dot(row, &away)).sum();
            dot(&r, &solve(&lack_factor, &r)) + of_prior
        };
        let (mut theta, mut misfit) = (mean, cost(&mean));
        let mut damping = 0.01;
        let mut information = precision.clone();
        for _ in 0..STEPS {
            let jacobian = self.shape.jacobian(&theta, &cells);
            let weights = solve(&lack_factor, &residuals(&theta));
            information = self.information(&precision, &jacobian, &lack_factor);
            let offset = away(&theta, &mean);
            let gradient: Vec<f64> = (0..NUMBERS)
                .map(|j| {
                    let column: Vec<f64> = jacobian.iter().map(|row| row[j]).collect();
                    dot(&column, &weights) - dot(&precision[j], &offset)
                })
                .collect();
            let mut damped = information.clone();
            (0..NUMBERS).for_each(|j| damped[j][j] *= 1.0 + damping);
            let Some(factor) = cholesky(&damped) else {
                break;
            };
            let step = solve(&factor, &gradient);
            let tried = std::array::from_fn(|j| theta[j] + step[j].clamp(-1.0, 1.0));
            let reached = cost(&tried);
            if reached < misfit {
                let gain = misfit - reached;
                (theta, misfit, damping) = (tried, reached, damping * 0.1);
                if gain < 1e-6 {
                    break;
                }
            } else {
                damping = (damping * 10.0).max(1e-3);
            }
        }
        let covariance = inverse(&information).unwrap_or_else(|| prior.clone());
        let determinant = |m: &Matrix| cholesky(m).map_or(0.0, |l| log_determinant(&l));
        let volumes =
            log_determinant(&lack_factor) + determinant(&prior) - determinant(&covariance);
        Mode {
            weights: solve(&lack_factor, &residuals(&theta)),
            log_evidence: -(misfit + volumes) / 2.0,
            theta,
            covariance,
            cells,
            lack_factor,
            misfit,
        }
    }

    /// What a drive serves of the reads in flight: the others wait in the host, or for a die.
    fn queued(&self, drive: &DriveReads, cell: &Cell) -> Cell {
        let in_flight = cell.in_flight.min(self.queue);
        let dies = self.share.and_then(|_| drive.rated?.dies());
        Cell { in_flight: dies.map_or(in_flight, |dies| served(in_flight, dies)), ..*cell }
    }

    fn information(&self, precision: &Matrix, jacobian: &Matrix, factor: &Matrix) -> Matrix {
        let columns: Vec<Vec<f64>> =
            (0..NUMBERS).map(|j| jacobian.iter().map(|row| row[j]).collect()).collect();
        let solved: Vec<Vec<f64>> = columns.iter().map(|c| solve(factor, c)).collect();
        let entry = |i: usize, j: usize| precision[i][j] + dot(&columns[i], &solved[j]);
        (0..NUMBERS).map(|i| (0..NUMBERS).map(|j| entry(i, j)).collect()).collect()
    }

    /// What another model lacks in a cell, by what it lacks (a logarithm) in known ones.
    pub fn lacking(&self, known: &[(Cell, f64)], cell: &Cell) -> f64 {
        let (cells, lacks): (Vec<Cell>, Vec<f64>) = known.iter().copied().unzip();
        let near: Vec<f64> = cells.iter().map(|k| self.shape.kernel(cell, k)).collect();
        dot(&near, &solve(&self.shape.lack_factor(&cells), &lacks))
    }

    /// Predictions of cells of a drive, from its known cells and ratings, if any.
    pub fn predict(&self, drive: &DriveReads, cells: &[Cell]) -> Vec<LogRate> {
        let mut rates = self.of_kind(drive.key()).predict_own(drive, cells);
        for (rate, cell) in rates.iter_mut().zip(cells) {
            rate.centre = rate.centre.min(self.likeliest(drive, cell).ln());
        }
        rates
    }

    /// Of a drive of these drives' kind.
    fn predict_own(&self, drive: &DriveReads, cells: &[Cell]) -> Vec<LogRate> {
        let cells: Vec<Cell> = cells.iter().map(|cell| self.queued(drive, cell)).collect();
        let mode = self.mode(drive);
        let known = self.shape.jacobian(&mode.theta, &mode.cells);
        let asked = self.shape.jacobian(&mode.theta, &cells);
        let drives = self.freedom + 1.0;
        let student = student::quantile(1.0 - TAIL, self.freedom).unwrap_or(f64::INFINITY);
        let n = mode.cells.len() as f64;
        let misfit = ((MISFIT_WEIGHT + mode.misfit) / (MISFIT_WEIGHT + n)).sqrt();
        let times = student * (1.0 + 1.0 / drives).sqrt() * misfit;
        let one = |(cell, row): (&Cell, &Vec<f64>)| {
            let near: Vec<f64> = mode.cells.iter().map(|k| self.shape.kernel(cell, k)).collect();
            let shares = solve(&mode.lack_factor, &near);
            // How far the numbers of the drive still move the prediction, known cells given.
            let felt: Vec<f64> = (0..NUMBERS)
                .map(|j| {
                    let column: Vec<f64> = known.iter().map(|k| k[j]).collect();
                    row[j] - dot(&shares, &column)
                })
                .collect();
            let by_numbers: f64 =
                mode.covariance.iter().zip(&felt).map(|(r, f)| f * dot(r, &felt)).sum();
            let lack = self.shape.kernel(cell, cell) - dot(&shares, &near);
            let variance = by_numbers + lack.max(0.0) + NOISE * NOISE;
            LogRate {
                centre: self.shape.log_rate(&mode.theta, cell) + dot(&near, &mode.weights),
                half_width: times * variance.sqrt(),
            }
        };
        cells.iter().zip(&asked).map(one).collect()
    }
}

fn away(theta: &Theta, mean: &Theta) -> Theta {
    std::array::from_fn(|j| theta[j] - mean[j])
}

#[cfg(test)]
#[path = "../tests/unit/read_curve.rs"]
mod tests;
