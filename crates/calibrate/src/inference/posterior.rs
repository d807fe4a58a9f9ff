//! Maximum a posteriori with a normal prior and Student-t errors, and its Laplace approximation.
//!
//! Parameters are logarithms, so a normal prior is a log-normal one of the number. Errors have a
//! Student-t distribution of [`FREEDOM`] degrees of freedom, so that outliers do not bend the fit
//! (K. Lange, R. Little, J. Taylor, "Robust Statistical Modeling Using the t Distribution", JASA
//! 84, 1989: weights (nu + 1) / (nu + r^2) of iteratively reweighted least squares). Steps are
//! damped as by D. Marquardt, SIAM J. 11, 1963. The Laplace approximation has the mode's curvature
//! (D. MacKay, "Information Theory, Inference, and Learning Algorithms", chapter 27); its evidence
//! compares modes and structures.

use assay_units::Rng;

use super::linear::{Matrix, cholesky, log_determinant, solve};

/// Degrees of freedom of the errors.
pub const FREEDOM: f64 = 4.0;
/// Step of the finite differences: changes a figure by more than its sampling noise.
const DIFFERENCE: f64 = 0.06;
/// Largest change of a parameter in one step.
const LONGEST_STEP: f64 = 0.7;
/// Damping of a single step by the derivatives of another model.
const STEP_DAMPING: f64 = 0.3;
/// A step that lowers the cost by less ends the search.
const LEAST_GAIN: f64 = 0.05;

/// Independent normal distributions, one per parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    pub mean: Vec<f64>,
    /// Standard deviations, above 0.
    pub width: Vec<f64>,
}

impl Prior {
    pub fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let both = self.mean.iter().zip(&self.width);
        both.map(|(mean, width)| mean + width * rng.normal()).collect()
    }

    fn cost(&self, point: &[f64]) -> f64 {
        let squares = (0..point.len()).map(|j| ((point[j] - self.mean[j]) / self.width[j]).powi(2));
        squares.sum::<f64>() / 2.0
    }
}

/// An observed figure on the model's scale (a logarithm; kelvin for temperatures).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    pub value: f64,
    /// Scale of its error: measuring, reading off a plot, and what the model lacks.
    pub scale: f64,
}

/// Per point; `None` where a point is not valid.
pub type Predictions = Vec<Option<Vec<f64>>>;

#[derive(Clone, Debug)]
pub struct Mode {
    pub point: Vec<f64>,
    /// Minus the logarithm of prior times likelihood, without constants.
    pub cost: f64,
    /// The observed figures, then any further ones.
    pub predictions: Vec<f64>,
    /// Derivatives of all predictions, a row per figure.
    pub jacobian: Matrix,
    /// Information of the figures alone (Fisher).
    pub fisher: Matrix,
    /// Fisher information plus that of the prior: the inverse of the Laplace covariance.
    pub precision: Matrix,
    /// By Laplace's method, without constants of the figures.
    pub log_evidence: f64,
}

fn weight(residual: f64) -> f64 {
    (FREEDOM + 1.0) / (FREEDOM + residual * residual)
}

/// Minus the logarithm of prior times likelihood.
pub fn cost(prior: &Prior, observed: &[Observation], point: &[f64], predictions: &[f64]) -> f64 {
    let terms = observed.iter().zip(predictions).map(|(o, p)| {
        let r = (p - o.value) / o.scale;
        (FREEDOM + 1.0) / 2.0 * (1.0 + r * r / FREEDOM).ln()
    });
    terms.sum::<f64>() + prior.cost(point)
}

/// The mode that at most `steps` damped Gauss-Newton steps reach; `None` for an invalid start.
pub fn climb(
    prior: &Prior,
    observed: &[Observation],
    start: &[f64],
    steps: usize,
    model: &mut dyn FnMut(&[Vec<f64>]) -> Predictions,
) -> Option<Mode> {
    let mut point = start.to_vec();
    let mut here = model(std::slice::from_ref(&point)).pop()??;
    let mut lowest = cost(prior, observed, &point, &here);
    let mut damping = 0.1;
    let mut jacobian = differences(&point, &here, prior, model);
    for _ in 0..steps {
        let (fisher, gradient) = curvature(prior, observed, &point, &here, &jacobian);
        // Three damped steps from the same derivatives; the model is asked for all at once.
        let tries = [damping, damping * 10.0, damping * 100.0]
            .map(|damping| damped_step(prior, &point, &fisher, &gradient, damping));
        let outcomes = model(&tries).into_iter().zip(tries).enumerate();
        let outcomes = outcomes.filter_map(|(n, (figures, at))| {
            let figures = figures?;
            Some((cost(prior, observed, &at, &figures), n, at, figures))
        });
        let best = outcomes.min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((reached, n, at, figures)) = best.filter(|b| b.0 < lowest) else {
            damping *= 100.0;
            if damping > 1e4 {
                break;
            }
            continue;
        };
        let gain = lowest - reached;
        (point, here, lowest) = (at, figures, reached);
        damping = (damping * [0.1, 1.0, 10.0][n]).max(1e-3);
        jacobian = differences(&point, &here, prior, model);
        if gain < LEAST_GAIN {
            break;
        }
    }
    Mode::at(prior, observed, point, here, jacobian)
}

fn damped_step(
    prior: &Prior,
    point: &[f64],
    fisher: &[Vec<f64>],
    gradient: &[f64],
    damping: f64,
) -> Vec<f64> {
    let mut damped = with_prior(fisher, prior);
    for (j, row) in damped.iter_mut().enumerate() {
        row[j] *= 1.0 + damping;
    }
    let step = cholesky(&damped).map(|l| solve(&l, gradient));
    let step = step.unwrap_or_else(|| vec![0.0; point.len()]);
    let moved = point.iter().zip(step);
    moved.map(|(x, s)| x - s.clamp(-LONGEST_STEP, LONGEST_STEP)).collect()
}

/// One Gauss-Newton step with the derivatives `jacobian` of a similar model and own figures `here`.
pub fn step_by(
    prior: &Prior,
    observed: &[Observation],
    point: &[f64],
    here: &[f64],
    jacobian: &[Vec<f64>],
) -> Vec<f64> {
    let (fisher, gradient) = curvature(prior, observed, point, here, jacobian);
    damped_step(prior, point, &fisher, &gradient, STEP_DAMPING)
}

/// One-sided differences, towards the prior's mean, where the model is most likely valid.
fn differences(
    point: &[f64],
    here: &[f64],
    prior: &Prior,
    model: &mut dyn FnMut(&[Vec<f64>]) -> Predictions,
) -> Matrix {
    let step = |j: usize| {
        let towards = if prior.mean[j] < point[j] { -1.0 } else { 1.0 };
        towards * DIFFERENCE.min(prior.width[j])
    };
    let moved = (0..point.len()).map(|j| {
        let mut at = point.to_vec();
        at[j] += step(j);
        at
    });
    let there = model(&moved.collect::<Vec<_>>());
    let derivative = |figure: usize, j: usize| match &there[j] {
        Some(there) => (there[figure] - here[figure]) / step(j),
        None => 0.0,
    };
    let row = |figure| (0..point.len()).map(|j| derivative(figure, j)).collect();
    (0..here.len()).map(row).collect()
}

/// Fisher information of the figures and gradient of the cost.
fn curvature(
    prior: &Prior,
    observed: &[Observation],
    point: &[f64],
    here: &[f64],
    jacobian: &[Vec<f64>],
) -> (Matrix, Vec<f64>) {
    let n = point.len();
    let mut fisher = vec![vec![0.0; n]; n];
    let mut gradient: Vec<f64> =
        (0..n).map(|j| (point[j] - prior.mean[j]) / prior.width[j].powi(2)).collect();
    for ((o, p), row) in observed.iter().zip(here).zip(jacobian) {
        let r = (p - o.value) / o.scale;
        let information = weight(r) / (o.scale * o.scale);
        for i in 0..n {
            gradient[i] += information * row[i] * (p - o.value);
            for j in 0..n {
                fisher[i][j] += information * row[i] * row[j];
            }
        }
    }
    (fisher, gradient)
}

fn with_prior(fisher: &[Vec<f64>], prior: &Prior) -> Matrix {
    let mut out = fisher.to_vec();
    for (j, row) in out.iter_mut().enumerate() {
        row[j] += 1.0 / prior.width[j].powi(2);
    }
    out
}

impl Mode {
    /// Laplace approximation from `predictions` and `jacobian` of this or a similar model; `None`
    /// where the precision is not positive definite.
    pub fn at(
        prior: &Prior,
        observed: &[Observation],
        point: Vec<f64>,
        predictions: Vec<f64>,
        jacobian: Matrix,
    ) -> Option<Mode> {
        let cost = cost(prior, observed, &point, &predictions);
        let (fisher, _) = curvature(prior, observed, &point, &predictions, &jacobian);
        let precision = with_prior(&fisher, prior);
        let widths: f64 = prior.width.iter().map(|w| w.ln()).sum();
        let log_evidence = -cost - widths - log_determinant(&cholesky(&precision)?) / 2.0;
        Some(Mode { point, cost, predictions, jacobian, fisher, precision, log_evidence })
    }
}

/// Shares of modes in the mixture by their evidence.
pub fn shares(log_evidences: &[f64]) -> Vec<f64> {
    let most = log_evidences.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let raw: Vec<f64> = log_evidences.iter().map(|e| (e - most).exp()).collect();
    let total: f64 = raw.iter().sum();
    raw.iter().map(|r| r / total).collect()
}

/// Of weighted values.
pub fn quantile(values: &[(f64, f64)], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = sorted.iter().map(|v| v.1).sum();
    let mut below = 0.0;
    let found = sorted.iter().find(|(_, weight)| {
        below += weight;
        below >= share * total
    });
    found.or(sorted.last()).map(|v| v.0)
}

#[cfg(test)]
#[path = "../../tests/unit/inference/posterior.rs"]
mod tests;
