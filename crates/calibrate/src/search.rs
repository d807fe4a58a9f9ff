//! CMA-ES: the covariance matrix adaptation evolution strategy in a unit box, with restarts.
//!
//! A profile's parameters interact, the figures are quantised and noisy, and there is no gradient;
//! CMA-ES uses only the ranking of its candidates. Formulae and default constants: N. Hansen, "The
//! CMA Evolution Strategy: A Tutorial", arXiv:1604.00772, equations (49) to (58) for the weights
//! and rates, (24) to (37) for the updates (without negative weights). A candidate outside the box
//! is projected onto it, with a penalty for the distance. A converged search restarts, alternately
//! near the best point with small steps and at a random point with twice the candidates (A. Auger,
//! N. Hansen, "A restart CMA evolution strategy with increasing population size", CEC 2005).
//!
//! The same costs give the same candidates, so a search is resumed by telling it the recorded
//! costs.

use assay_units::Rng;

use crate::inference::linear::{diagonal, dot, eigen};

/// First step, as a share of the box.
const FIRST_STEP: f64 = 0.12;
const NEAR_STEP: f64 = 0.05;
const FAR_STEP: f64 = 0.25;
/// Converged: steps below this share of the box are below the rounding of the parameters.
const LAST_STEP: f64 = 3e-4;
/// Penalty per squared distance from the box. Costs are of the order of 1.
const OUTSIDE: f64 = 10.0;

pub struct CmaEs {
    rng: Rng,
    pub best: Vec<f64>,
    /// [`f64::MAX`] before the first [`CmaEs::tell`].
    pub best_cost: f64,
    restarts: u32,
    strategy: Strategy,
    /// Before projection into the box.
    candidates: Vec<Vec<f64>>,
}

struct Strategy {
    mean: Vec<f64>,
    step: f64,
    lambda: usize,
    covariance: Vec<Vec<f64>>,
    /// Columns are eigenvectors.
    axes: Vec<Vec<f64>>,
    lengths: Vec<f64>,
    path_step: Vec<f64>,
    path_covariance: Vec<f64>,
    generation: u64,
    best_cost: f64,
    /// Generations since the last improvement.
    idle: u64,
}

impl Strategy {
    fn new(mean: Vec<f64>, step: f64, lambda: usize) -> Strategy {
        let n = mean.len();
        Strategy {
            mean,
            step,
            lambda,
            covariance: diagonal(&vec![1.0; n]),
            axes: diagonal(&vec![1.0; n]),
            lengths: vec![1.0; n],
            path_step: vec![0.0; n],
            path_covariance: vec![0.0; n],
            generation: 0,
            best_cost: f64::MAX,
            idle: 0,
        }
    }
}

/// Equation (48).
fn usual_lambda(dimensions: usize) -> usize {
    4 + (3.0 * (dimensions.max(1) as f64).ln()).floor() as usize
}

impl CmaEs {
    /// The first candidate is `start`, a point of the unit box.
    pub fn new(start: &[f64], rng: Rng) -> CmaEs {
        CmaEs {
            rng,
            best: start.to_vec(),
            best_cost: f64::MAX,
            restarts: 0,
            strategy: Strategy::new(start.to_vec(), FIRST_STEP, usual_lambda(start.len())),
            candidates: Vec::new(),
        }
    }

    /// The next candidates, inside the box.
    pub fn ask(&mut self) -> Vec<Vec<f64>> {
        let state = &self.strategy;
        let candidate = |_| {
            let lengths = state.lengths.iter();
            let z: Vec<f64> = lengths.map(|length| self.rng.normal() * length).collect();
            let rows = state.mean.iter().zip(&state.axes);
            rows.map(|(mean, row)| mean + state.step * dot(row, &z)).collect()
        };
        self.candidates = (0..state.lambda).map(candidate).collect();
        if self.restarts == 0 && state.generation == 0 {
            self.candidates[0] = self.strategy.mean.clone();
        }
        self.candidates.iter().map(|point| inside(point)).collect()
    }

    /// The costs of the last candidates, in their order. NaN counts as the worst.
    pub fn tell(&mut self, costs: &[f64]) {
        let mut ranked: Vec<(f64, usize)> = Vec::with_capacity(costs.len());
        for (index, (point, &cost)) in self.candidates.iter().zip(costs).enumerate() {
            let cost = if cost.is_nan() { f64::MAX } else { cost };
            if cost < self.best_cost {
                self.best_cost = cost;
                self.best = inside(point);
            }
            let distances = point.iter().zip(inside(point)).map(|(x, y)| (x - y).powi(2));
            ranked.push((cost + OUTSIDE * distances.sum::<f64>(), index));
        }
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let Some(&(least, _)) = ranked.first() else {
            return;
        };
        let better =
            least < self.strategy.best_cost - 1e-4 * self.strategy.best_cost.abs().min(1.0);
        self.strategy.idle = if better { 0 } else { self.strategy.idle + 1 };
        self.strategy.best_cost = self.strategy.best_cost.min(least);
        let order = ranked.iter().map(|&(_, index)| self.candidates[index].as_slice());
        let order: Vec<&[f64]> = order.collect();
        update(&mut self.strategy, &order);
        if self.has_converged() {
            self.restart();
        }
    }

    fn has_converged(&self) -> bool {
        let state = &self.strategy;
        let longest = state.lengths.iter().copied().fold(0.0, f64::max);
        let stall_limit = 10 + (30 * self.best.len() / state.lambda) as u64;
        !state.step.is_finite() || state.step * longest < LAST_STEP || state.idle > stall_limit
    }

    fn restart(&mut self) {
        self.restarts += 1;
        let lambda = usual_lambda(self.best.len());
        self.strategy = if self.restarts % 2 == 1 {
            Strategy::new(self.best.clone(), NEAR_STEP, lambda)
        } else {
            let anywhere = (0..self.best.len()).map(|_| self.rng.unit_f64()).collect();
            let wider = lambda << (self.restarts / 2).min(4);
            Strategy::new(anywhere, FAR_STEP, wider)
        };
    }
}

fn inside(point: &[f64]) -> Vec<f64> {
    let inside = |x: &f64| {
        if x.is_finite() { x.clamp(0.0, 1.0) } else { 0.5 }
    };
    point.iter().map(inside).collect()
}

/// One generation's update from the candidates, best first.
fn update(state: &mut Strategy, order: &[&[f64]]) {
    let n = state.mean.len();
    let dim = n as f64;
    let mu = (order.len() / 2).max(1);
    let raw: Vec<f64> =
        (0..mu).map(|i| ((order.len() as f64 + 1.0) / 2.0).ln() - ((i + 1) as f64).ln()).collect();
    let total: f64 = raw.iter().sum();
    let weights: Vec<f64> = raw.iter().map(|w| w / total).collect();
    let mu_eff = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
    let c_sigma = (mu_eff + 2.0) / (dim + mu_eff + 5.0);
    let damping = 1.0 + 2.0 * (((mu_eff - 1.0) / (dim + 1.0)).sqrt() - 1.0).max(0.0) + c_sigma;
    let c_c = (4.0 + mu_eff / dim) / (dim + 4.0 + 2.0 * mu_eff / dim);
    let c_1 = 2.0 / ((dim + 1.3).powi(2) + mu_eff);
    let c_mu =
        (2.0 * (mu_eff - 2.0 + 1.0 / mu_eff) / ((dim + 2.0).powi(2) + mu_eff)).min(1.0 - c_1);
    let expected = dim.sqrt() * (1.0 - 1.0 / (4.0 * dim) + 1.0 / (21.0 * dim * dim));

    let old = state.mean.clone();
    let steps: Vec<Vec<f64>> = order
        .iter()
        .take(mu)
        .map(|x| (0..n).map(|i| (x[i] - old[i]) / state.step).collect())
        .collect();
    let moved: Vec<f64> =
        (0..n).map(|i| steps.iter().zip(&weights).map(|(y, w)| w * y[i]).sum()).collect();
    for (mean, along) in state.mean.iter_mut().zip(&moved) {
        *mean += state.step * along;
    }
    // C^(-1/2) times the mean's step, in the eigenbasis.
    let along = (0..n).map(|j| {
        let projection: f64 = (0..n).map(|i| state.axes[i][j] * moved[i]).sum();
        projection / state.lengths[j].max(1e-12)
    });
    let along: Vec<f64> = along.collect();
    let rate = (c_sigma * (2.0 - c_sigma) * mu_eff).sqrt();
    for (path, axis) in state.path_step.iter_mut().zip(&state.axes) {
        *path = (1.0 - c_sigma) * *path + rate * dot(axis, &along);
    }
    let length = dot(&state.path_step, &state.path_step).sqrt();
    state.generation += 1;
    let bias = (1.0 - (1.0 - c_sigma).powf(2.0 * state.generation as f64)).sqrt();
    let short = length / bias < (1.4 + 2.0 / (dim + 1.0)) * expected;
    let h = if short { 1.0 } else { 0.0 };
    let rate = h * (c_c * (2.0 - c_c) * mu_eff).sqrt();
    for (path, along) in state.path_covariance.iter_mut().zip(&moved) {
        *path = (1.0 - c_c) * *path + rate * along;
    }
    let lost = (1.0 - h) * c_c * (2.0 - c_c);
    for i in 0..n {
        for j in 0..=i {
            let one = state.path_covariance[i] * state.path_covariance[j];
            let terms = steps.iter().zip(&weights);
            let many: f64 = terms.map(|(y, w)| w * y[i] * y[j]).sum();
            let value =
                (1.0 + c_1 * lost - c_1 - c_mu) * state.covariance[i][j] + c_1 * one + c_mu * many;
            state.covariance[i][j] = value;
            state.covariance[j][i] = value;
        }
    }
    state.step *= ((c_sigma / damping) * (length / expected - 1.0)).min(1.0).exp();
    let (values, vectors) = eigen(&state.covariance);
    state.axes = vectors;
    state.lengths = values.iter().map(|v| v.max(1e-20).sqrt()).collect();
}

#[cfg(test)]
#[path = "../tests/unit/search.rs"]
mod tests;
