//! The model's discrepancy: its error at the best numbers, and how alike the errors of neighbouring
//! cells are.
//!
//! The logarithm of a published random read is the model's plus a discrepancy (M. Kennedy, A.
//! O'Hagan, "Bayesian calibration of computer models", JRSS B 63, 2001), normal of one scale, with
//! correlation `(1 - own) exp(-d / length) across^[other threads]` between cells of one drive whose
//! block sizes differ by a factor of e^d; the share `own` belongs to each cell alone. The four
//! numbers maximise the marginal likelihood on a grid, from the residuals of *other* drives at
//! their shipped numbers: covariance `J S J' + K` with the derivatives `J` and the variances `S` of
//! the numbers' priors, so that what fitting removed from the residuals does not count as accuracy
//! (linearised).
//!
//! `N` cells of a column count as [`Discrepancy::effective`] ones: the exponent of their likelihood
//! is the effective share (a coarsened posterior; J. Miller, D. Dunson, JASA 114, 2019). And what
//! the best numbers leave of the known cells is carried over to their neighbours
//! ([`Discrepancy::conditional`]; C. Rasmussen, C. Williams, "Gaussian Processes for Machine
//! Learning", section 2.2).

use std::collections::BTreeMap;

use crate::learn::FIGURE_SCALE;
use crate::template::{SHIPPED_WIDTH, shipped};
use assay_calibrate::CalibrateError;
use assay_calibrate::inference::linear::{Matrix, cholesky, dot, log_determinant, solve};
use assay_calibrate::inference::posterior::climb;
use assay_calibrate::measurement::{AccessPattern, Measurement, Procedure, ReferenceMetric};
use assay_calibrate::observed::Observed;
use assay_calibrate::published::published;
use assay_calibrate::structures::Structure;
use assay_calibrate::template::ReferenceDrive;
use assay_units::Op;

/// Candidates of the four numbers. The scale is not below that of figures, because the structures
/// of the shipped profiles were chosen with the residuals in view, which makes these small.
const SCALES: [f64; 5] = [FIGURE_SCALE, 0.1, 0.15, 0.22, 0.33];
const OWN: [f64; 4] = [0.05, 0.15, 0.4, 1.0];
const LENGTHS: [f64; 5] = [0.35, 0.7, 1.4, 2.8, 5.6];
const ACROSS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 0.95];

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadCell {
    ln_block: f64,
    threads: u32,
}

impl ReadCell {
    /// `None` where the figure is no rate of random reads.
    pub fn of(measurement: &Measurement) -> Option<ReadCell> {
        match measurement.procedure {
            Procedure::Steady(w)
                if w.op == Op::Read
                    && w.access == AccessPattern::Random
                    && measurement.metric == ReferenceMetric::MibPerS =>
            {
                Some(ReadCell {
                    ln_block: f64::from(w.block_bytes).ln(),
                    threads: w.threads,
                })
            }
            _ => None,
        }
    }
}

/// Residuals of a drive's published random reads at its shipped numbers.
#[derive(Clone, Debug)]
pub struct FittedResiduals {
    cells: Vec<ReadCell>,
    errors: Vec<f64>,
    /// `J S J'`.
    absorbed: Matrix,
}

impl FittedResiduals {
    /// `None` where the profile has no such figures, or is no valid drive.
    pub fn of(name: &str, threads: usize) -> Result<Option<FittedResiduals>, CalibrateError> {
        let drive = ReferenceDrive::new(name)?;
        let template = shipped(&drive)?;
        let prior = &template.wide;
        let mut figures = published(name)?;
        figures.retain(|m| ReadCell::of(m).is_some());
        let observed = Observed::with_scale(&figures, &|_| FIGURE_SCALE);
        let base = Structure::new();
        let mut model = |points: &[Vec<f64>]| {
            let profiles = points.iter().map(|p| template.profile(&base, p).ok());
            observed.predictions(profiles.collect(), threads)
        };
        let at = climb(prior, observed.observations(), &prior.mean, 0, &mut model);
        let Some(mode) = at.filter(|_| !figures.is_empty()) else {
            return Ok(None);
        };
        let both = observed.observations().iter().zip(&mode.predictions);
        let row = |a: &Vec<f64>| {
            let entries = mode
                .jacobian
                .iter()
                .map(|b| SHIPPED_WIDTH * SHIPPED_WIDTH * dot(a, b));
            entries.collect()
        };
        Ok(Some(FittedResiduals {
            cells: figures.iter().filter_map(ReadCell::of).collect(),
            errors: both.map(|(o, p)| o.value - p).collect(),
            absorbed: mode.jacobian.iter().map(row).collect(),
        }))
    }
}

#[derive(Clone, Debug, Default)]
pub struct ShippedResiduals {
    by_name: BTreeMap<String, FittedResiduals>,
}

impl ShippedResiduals {
    pub fn of<'a>(
        names: impl IntoIterator<Item = &'a str>,
        threads: usize,
    ) -> Result<ShippedResiduals, CalibrateError> {
        let mut by_name = BTreeMap::new();
        for name in names {
            let fitted = FittedResiduals::of(name, threads)?;
            by_name.extend(fitted.map(|fitted| (name.to_owned(), fitted)));
        }
        Ok(ShippedResiduals { by_name })
    }

    /// Discrepancy of a drive, from the other drives only, because its own residuals were fitted.
    pub fn lacks(&self, name: &str) -> Discrepancy {
        let others = self.by_name.iter().filter(|(other, _)| *other != name);
        Discrepancy::learned(&others.map(|(_, fitted)| fitted).collect::<Vec<_>>())
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Discrepancy {
    /// Standard deviation, a logarithm.
    pub scale: f64,
    /// Share of the variance that belongs to each cell alone.
    pub own: f64,
    /// Distance of block sizes, a logarithm, within which errors are alike.
    pub length: f64,
    /// Correlation between cells of the same block and other numbers of threads.
    pub across: f64,
}

impl Discrepancy {
    /// From the residuals of others; without any, [`FIGURE_SCALE`] and independent cells.
    pub fn learned(others: &[&FittedResiduals]) -> Discrepancy {
        let mut best = (
            f64::NEG_INFINITY,
            Discrepancy {
                scale: FIGURE_SCALE,
                own: 1.0,
                length: LENGTHS[0],
                across: 0.0,
            },
        );
        if others.is_empty() {
            return best.1;
        }
        for scale in SCALES {
            for own in OWN {
                for length in LENGTHS {
                    for across in ACROSS {
                        let one = Discrepancy {
                            scale,
                            own,
                            length,
                            across,
                        };
                        let likelihood = others.iter().map(|r| one.log_likelihood(r)).sum();
                        if likelihood > best.0 {
                            best = (likelihood, one);
                        }
                    }
                }
            }
        }
        best.1
    }

    /// Correlation of two cells of a drive.
    fn correlation(&self, a: &ReadCell, b: &ReadCell) -> f64 {
        if a == b {
            return 1.0;
        }
        let across = if a.threads == b.threads {
            1.0
        } else {
            self.across
        };
        (1.0 - self.own) * across * (-(a.ln_block - b.ln_block).abs() / self.length).exp()
    }

    fn log_likelihood(&self, residuals: &FittedResiduals) -> f64 {
        let variance = self.scale * self.scale;
        let rows = residuals.cells.iter().zip(&residuals.absorbed);
        let matrix: Matrix = rows
            .map(|(a, absorbed)| {
                let entries = residuals.cells.iter().zip(absorbed);
                entries
                    .map(|(b, absorbed)| absorbed + variance * self.correlation(a, b))
                    .collect()
            })
            .collect();
        let Some(factor) = cholesky(&matrix) else {
            return f64::NEG_INFINITY;
        };
        let errors = &residuals.errors;
        -(dot(errors, &solve(&factor, errors)) + log_determinant(&factor)) / 2.0
    }

    fn factor(&self, cells: &[ReadCell]) -> Option<Matrix> {
        let row = |a| cells.iter().map(|b| self.correlation(a, b)).collect();
        cholesky(&cells.iter().map(row).collect::<Matrix>())
    }

    /// Number of independent cells with as much information on a common error: `1' R^-1 1`.
    pub fn effective(&self, cells: &[ReadCell]) -> f64 {
        let ones = vec![1.0; cells.len()];
        let known = self.factor(cells).map(|l| dot(&ones, &solve(&l, &ones)));
        known.unwrap_or(1.0).clamp(1.0, cells.len().max(1) as f64)
    }

    /// Mean and variance of the discrepancy of a cell where those of others are known.
    pub fn conditional(&self, known: &[(ReadCell, f64)], asked: &ReadCell) -> (f64, f64) {
        let cells: Vec<ReadCell> = known.iter().map(|k| k.0).collect();
        let errors: Vec<f64> = known.iter().map(|k| k.1).collect();
        let variance = self.scale * self.scale;
        let shared: Vec<f64> = cells.iter().map(|c| self.correlation(c, asked)).collect();
        let Some(factor) = self.factor(&cells) else {
            return (0.0, variance);
        };
        let weights = solve(&factor, &shared);
        let left = (1.0 - dot(&weights, &shared)).max(0.0);
        (dot(&weights, &errors), variance * left)
    }
}

#[cfg(test)]
#[path = "../tests/unit/discrepancy.rs"]
mod tests;
