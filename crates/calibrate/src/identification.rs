//! What the figures of a fit determine of its numbers, and which further figure would say most.
//!
//! The posterior around the fitted numbers is approximated as in [`crate::inference`], with a
//! log-normal prior of width [`PRIOR_WIDTH`] around each. Both ends of each 90 % interval are
//! checked by the likelihood; where the figures change less than approximated, the interval is
//! widened.

use crate::CalibrateError;
use crate::inference::identify::{SIGMAS_90, knowledge, next_figures, spectrum};
use crate::inference::linear::inverse;
use crate::inference::posterior::{Mode, Observation, Predictions, Prior, climb, cost};
use crate::measurement::{AccessPattern, Measurement, ReferenceWorkload};
use crate::observed::predictions_of;
use crate::parameter::{FreeParameter, ParameterSpace};

/// Width of the prior of a number, a logarithm: a factor of two.
const PRIOR_WIDTH: f64 = 0.7;
/// Error of a measured figure, because the model is not exact.
const FIGURE_ERROR: f64 = 0.03;
/// Widest correction of an interval by the check at its ends.
const MOST_WIDER: f64 = 3.0;
const SUGGESTIONS: usize = 3;
/// Share of the variance that a further suggestion must remove.
const LEAST_REMOVED: f64 = 0.01;

#[derive(Clone, Debug, PartialEq)]
pub struct DeterminedNumber {
    /// Path, with its place in a list.
    pub path: String,
    /// The 90 % interval is from the number divided by this factor to the number times it.
    pub factor: f64,
    /// Whether the interval is more than half as wide as the prior's.
    pub is_undetermined: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identification {
    pub numbers: Vec<DeterminedNumber>,
    /// Directions, products of powers of numbers, of which the figures say more than the prior.
    pub directions: usize,
    pub next: Vec<NextMeasurement>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NextMeasurement {
    pub title: String,
    /// Options of `assay job` that run the workload.
    pub options: String,
    /// Share of the predictive variance of all candidates removed so far, 0 to 1.
    pub removed: f64,
}

/// Workloads that `assay run quick` or a job can measure, without those whose rate is known.
fn candidates(known: &[Measurement]) -> (Vec<ReferenceWorkload>, Vec<Measurement>) {
    let random = [1, 4, 16, 64, 256].into_iter().flat_map(|threads| {
        let read =
            move |kib: u32| ReferenceWorkload::read(AccessPattern::Random, threads, kib << 10);
        [4, 16, 64, 128].map(read)
    });
    let sequential = ReferenceWorkload::read(AccessPattern::Sequential, 1, 128 << 10);
    let all = random.chain([sequential]);
    let figures = all.map(|workload| (workload, Measurement::to_simulate(workload, "")));
    let is_new = |m: &Measurement| known.iter().all(|k| k.key() != m.key());
    figures.filter(|(_, figure)| is_new(figure)).unzip()
}

/// The measurements that would determine the drive most, the best first. Predictions from `first`
/// on are those of the `further` figures, which `workloads` measure.
fn suggestions(
    mode: &Mode,
    first: usize,
    further: &[Measurement],
    workloads: &[ReferenceWorkload],
) -> Vec<NextMeasurement> {
    let rows: Vec<(Vec<f64>, f64)> =
        mode.jacobian[first..].iter().map(|row| (row.clone(), FIGURE_ERROR)).collect();
    let mut before = 0.0;
    let next = next_figures(mode, &rows, SUGGESTIONS).into_iter();
    let next = next.take_while(|&(_, removed)| {
        removed - std::mem::replace(&mut before, removed) >= LEAST_REMOVED
    });
    next.map(|(at, removed)| NextMeasurement {
        title: further[at].procedure.title(),
        options: workloads[at].job_options(),
        removed,
    })
    .collect()
}

/// Empty when the fitted profile has no figure or no number to vary.
pub fn identify(
    text: &str,
    free: &[FreeParameter],
    targets: &[Measurement],
    threads: usize,
) -> Result<Identification, CalibrateError> {
    let targets: Vec<Measurement> =
        targets.iter().filter(|m| !m.procedure.is_heat()).cloned().collect();
    let free: Vec<FreeParameter> = free.iter().filter(|f| !f.is_heat()).cloned().collect();
    if targets.is_empty() || free.is_empty() {
        return Ok(Identification::default());
    }
    let space = ParameterSpace::new(text, &free)?;
    let spans = space.log_spans();
    let start = space.start();
    let prior =
        Prior { mean: start.clone(), width: spans.iter().map(|span| PRIOR_WIDTH / span).collect() };
    let (workloads, further) = candidates(&targets);
    let asked = [targets.clone(), further.clone()].concat();
    let mut model = |points: &[Vec<f64>]| -> Predictions {
        let profiles = points.iter().map(|p| space.profile_at(p).ok());
        predictions_of(profiles.collect(), &asked, threads)
    };
    // Residuals of the fit do not matter: the fitted drive's own figures are taken as observed.
    let Some(here) = model(std::slice::from_ref(&start)).pop().flatten() else {
        return Ok(Identification::default());
    };
    let observed: Vec<Observation> = here[..targets.len()]
        .iter()
        .map(|&value| Observation { value, scale: FIGURE_ERROR })
        .collect();
    let Some(mode) = climb(&prior, &observed, &start, 0, &mut model) else {
        return Ok(Identification::default());
    };
    let widened = widened(&mode, &prior, &observed, &mut model);
    let known = knowledge(&mode, &prior);
    let numbers = free.iter().zip(&known).zip(spans.iter().zip(widened));
    let numbers = numbers.map(|((free, known), (span, wider))| {
        let width = (known.width * wider).min(known.prior_width);
        DeterminedNumber {
            path: free.name(),
            factor: (SIGMAS_90 * width * span).exp(),
            is_undetermined: width > crate::inference::identify::UNDETERMINED * known.prior_width,
        }
    });
    Ok(Identification {
        numbers: numbers.collect(),
        directions: spectrum(&mode, &prior).iter().filter(|v| **v > 1.0).count(),
        next: suggestions(&mode, targets.len(), &further, &workloads),
    })
}

/// Per number, how much wider its interval is than approximated, by the likelihood at both ends.
fn widened(
    mode: &Mode,
    prior: &Prior,
    observed: &[Observation],
    model: &mut dyn FnMut(&[Vec<f64>]) -> Predictions,
) -> Vec<f64> {
    let n = mode.point.len();
    let Some(covariance) = inverse(&mode.precision) else {
        return vec![1.0; n];
    };
    let end = |j: usize, sign: f64| {
        // The other numbers follow with the conditional mean of a normal distribution.
        let step = sign * SIGMAS_90 / covariance[j][j].sqrt();
        let moved = mode.point.iter().zip(&covariance[j]);
        moved.map(|(x, c)| (x + step * c).clamp(0.0, 1.0)).collect::<Vec<f64>>()
    };
    let points: Vec<Vec<f64>> = (0..n).flat_map(|j| [end(j, -1.0), end(j, 1.0)]).collect();
    let figures = model(&points);
    let expected = SIGMAS_90 * SIGMAS_90 / 2.0;
    let wider = |j: usize| {
        let rises = [2 * j, 2 * j + 1].map(|at| {
            let figures = figures[at].as_ref()?;
            Some(cost(prior, observed, &points[at], figures) - mode.cost)
        });
        let least = rises.into_iter().flatten().fold(f64::INFINITY, f64::min);
        (expected / least.max(1e-3)).sqrt().clamp(1.0, MOST_WIDER)
    };
    (0..n).map(wider).collect()
}

#[cfg(test)]
#[path = "../tests/unit/identification.rs"]
mod tests;
