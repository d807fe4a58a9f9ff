//! What figures say of one drive: modes over starts and [`crate::structures`], and the figures of
//! members drawn from them.
//!
//! Members are drawn from the Laplace approximations in the proportion of prior times evidence of
//! their structures and weighted by the likelihood of their own figures, so that a prediction is an
//! average over structures (J. Hoeting and others, "Bayesian Model Averaging: A Tutorial",
//! Statistical Science 14, 1999). The likelihood is coarsened ([`crate::discrepancy`]), so that ten
//! cells of a column do not choose a structure with the weight of ten; for normal errors, an
//! exponent of the likelihood divides the variance.
//!
//! A member's prediction of a random read is its simulated figure and the discrepancy that follows
//! from the known cells. The centre of the members is the median of their distribution weighted by
//! the inverse of the figure: the point of least expected relative error (T. Gneiting, "Making and
//! Evaluating Point Forecasts", JASA 106, 2011, section 3.3).

use assay_calibrate::inference::linear::{Matrix, inverse};
use assay_calibrate::inference::posterior::{
    Mode, Prior, cost, importance, quantile, shares, stratified,
};
use assay_calibrate::measurement::{Measurement, ReferenceMetric};
use assay_calibrate::observed::{Observed, figures_of};
use assay_calibrate::structures::Structure;
use assay_calibrate::template::Template;
use assay_units::Rng;

use crate::alternatives::Alternatives;
use crate::anchor::Anchor;
use crate::discrepancy::{Discrepancy, ReadCell};
use crate::hierarchy::{Estimate, without_prior};
use crate::structures::Structures;

/// Error scale without a learned discrepancy: reading off, rounding, the model's deficiencies.
pub const FIGURE_SCALE: f64 = 0.07;
/// [`FIGURE_SCALE`] of temperatures, in kelvin.
pub const KELVIN_SCALE: f64 = 3.0;
pub(super) const STEPS: usize = 4;
/// Explanations of less probability do not count in estimates.
const LEAST_SHARE: f64 = 1e-4;

/// From the scale of the inference to the unit of the figure.
pub fn in_unit(measurement: &Measurement, value: f64) -> f64 {
    match measurement.metric {
        ReferenceMetric::Celsius => value,
        _ => value.exp(),
    }
}

/// Scale of the errors of a figure, on the scale of the inference.
pub fn error_scale(measurement: &Measurement) -> f64 {
    match measurement.metric {
        ReferenceMetric::Celsius => KELVIN_SCALE,
        _ => FIGURE_SCALE,
    }
}

#[derive(Clone, Debug)]
pub struct Evidence {
    pub observed: Observed,
    lacks: Discrepancy,
    /// How many of the first figures were measured; the others are anchors.
    measured: usize,
}

impl Evidence {
    /// Random reads count as the number that the discrepancy leaves independent.
    pub fn new(training: &[Measurement], anchors: &[Anchor], lacks: &Discrepancy) -> Evidence {
        let cells: Vec<ReadCell> = training.iter().filter_map(ReadCell::of).collect();
        let exponent = lacks.effective(&cells) / cells.len().max(1) as f64;
        let scale = |m: &Measurement| match ReadCell::of(m) {
            Some(_) => lacks.scale / exponent.sqrt(),
            None => error_scale(m),
        };
        let measured = training.iter().map(|m| (m, scale(m)));
        let anchored = anchors.iter().map(|a| (&a.measurement, a.scale));
        Evidence {
            observed: Observed::new(measured.chain(anchored)),
            lacks: *lacks,
            measured: training.len(),
        }
    }

    /// Mean and variance of a figure's discrepancy, given `simulated` for the observed ones.
    fn lacking(&self, simulated: &[f64], figure: &Measurement) -> (f64, f64) {
        let Some(cell) = ReadCell::of(figure) else {
            return (0.0, 0.0);
        };
        let (figures, observations) = (self.observed.figures(), self.observed.observations());
        let all = figures.iter().zip(observations).zip(simulated);
        let known = all
            .take(self.measured)
            .filter_map(|((m, o), simulated)| Some((ReadCell::of(m)?, o.value - simulated)));
        self.lacks.conditional(&known.collect::<Vec<_>>(), &cell)
    }
}

/// A mode of one structure.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Relative to the template's.
    pub structure: Structure,
    pub log_prior: f64,
    pub mode: Mode,
}

impl Explanation {
    pub fn log_weight(&self) -> f64 {
        self.log_prior + self.mode.log_evidence
    }
}

#[derive(Clone, Debug)]
pub struct Learned {
    /// Where the numbers are.
    pub template: Template,
    pub prior: Prior,
    pub evidence: Evidence,
    /// Modes, most probable first.
    pub explanations: Vec<Explanation>,
}

#[derive(Clone, Debug)]
pub struct SimulatedMember {
    /// Share of the probability.
    pub weight: f64,
    pub structure: Structure,
    /// Logarithms.
    pub point: Vec<f64>,
    /// On the scale of the inference; `None` where the member has no such figure.
    pub figures: Vec<Option<f64>>,
}

/// `starts` are climbed, structures of `search` tried anew. `None` without a valid start.
pub fn learn(
    template: Template,
    prior: Prior,
    evidence: Evidence,
    starts: &[(Structure, Vec<f64>)],
    search: Option<&[Alternatives]>,
    (seed, threads): (u64, usize),
) -> Option<Learned> {
    let tried = Structures {
        template: &template,
        prior: &prior,
        alternatives: search.unwrap_or_default(),
        observed: &evidence.observed,
        threads,
    };
    let mut found: Vec<Explanation> = Vec::new();
    for (structure, start) in starts {
        found.extend(tried.climb(structure, 0.0, start, STEPS));
    }
    if search.is_some() {
        found.extend(tried.explain(&mut Rng::stream(seed, "starts"))?);
    }
    found.sort_by(|a, b| b.log_weight().total_cmp(&a.log_weight()));
    (!found.is_empty()).then_some(Learned {
        template,
        prior,
        evidence,
        explanations: found,
    })
}

impl Learned {
    /// `count` members in the proportion of the explanations; `vary` are structures on which
    /// nothing observed depends, taken in turn. Deterministic by the seed, whatever the number of
    /// threads.
    pub fn members(
        &self,
        figures: &[Measurement],
        count: usize,
        vary: &[Structure],
        (seed, threads): (u64, usize),
    ) -> Vec<SimulatedMember> {
        let evidences: Vec<f64> = self
            .explanations
            .iter()
            .map(Explanation::log_weight)
            .collect();
        let shares = shares(&evidences);
        let mut rng = Rng::stream(seed, "members");
        let (mut members, mut proposal, mut profiles) = (Vec::new(), Vec::new(), Vec::new());
        for k in 0..count {
            let chosen = stratified(shares.iter().copied(), (k, count));
            let explanation = &self.explanations[chosen];
            let (point, density) = explanation.mode.draw(&mut rng);
            let mut structure = explanation.structure.clone();
            if !vary.is_empty() {
                structure.extend(vary[k % vary.len()].clone());
            }
            profiles.push(self.template.profile(&structure, &point).ok());
            // The share of the mode times the density of the draw, where determinants cancel.
            proposal.push(density + explanation.mode.cost);
            members.push(SimulatedMember {
                weight: 0.0,
                structure,
                point,
                figures: Vec::new(),
            });
        }
        let asked = [self.evidence.observed.figures(), figures].concat();
        let all = figures_of(profiles, &asked, threads);
        let known = self.evidence.observed.figures().len();
        let mut targets = Vec::new();
        for (member, found) in members.iter_mut().zip(all) {
            let complete: Option<Vec<f64>> = found
                .as_ref()
                .and_then(|f| f[..known].iter().copied().collect());
            let Some((simulated, found)) = complete.zip(found) else {
                targets.push(1e6);
                member.figures = vec![None; figures.len()];
                continue;
            };
            targets.push(cost(
                &self.prior,
                self.evidence.observed.observations(),
                &member.point,
                &simulated,
            ));
            let predicted = found[known..].iter().zip(figures);
            let predicted =
                predicted.map(|(f, m)| Some((*f)? + self.evidence.lacking(&simulated, m).0));
            member.figures = predicted.collect();
        }
        for (member, weight) in members.iter_mut().zip(importance(&targets, &proposal)) {
            member.weight = weight;
        }
        members
    }

    /// Standard deviation of a figure's discrepancy, given the observed figures.
    pub fn unexplained(&self, figure: &Measurement) -> f64 {
        let none = vec![0.0; self.evidence.observed.figures().len()];
        self.evidence.lacking(&none, figure).1.sqrt()
    }

    /// Per free number, mean and variance over the explanations, without the prior.
    pub fn estimates(&self, class: &dyn Fn(&str) -> Option<String>) -> Vec<(String, Estimate)> {
        let weights: Vec<f64> = self
            .explanations
            .iter()
            .map(Explanation::log_weight)
            .collect();
        let mut all: Vec<(f64, &Mode, Matrix)> = Vec::new();
        for (share, explanation) in shares(&weights).into_iter().zip(&self.explanations) {
            let mode = &explanation.mode;
            if let (true, Some(covariance)) = (share > LEAST_SHARE, inverse(&mode.precision)) {
                all.push((share, mode, covariance));
            }
        }
        let total: f64 = all.iter().map(|one| one.0).sum();
        let one = |(j, path): (usize, &String)| {
            let mean = all
                .iter()
                .map(|(w, mode, _)| w * mode.point[j])
                .sum::<f64>()
                / total;
            let squares = all.iter().map(|(share, mode, covariance)| {
                share * (covariance[j][j].max(0.0) + (mode.point[j] - mean).powi(2))
            });
            let width = (squares.sum::<f64>() / total).sqrt();
            let prior = (self.prior.mean[j], self.prior.width[j]);
            let estimate = without_prior((mean, width), prior, class(path))?;
            Some((path.clone(), estimate))
        };
        let paths = self.template.paths.iter().enumerate();
        paths.filter_map(one).collect()
    }
}

/// The point of least expected relative error (of temperatures the weighted median) and half the
/// distance of the weighted 16th and 84th percentiles, on the scale of the inference; `None` where
/// members of less than half of the probability have the figure.
pub fn centre_and_spread(
    members: &[SimulatedMember],
    (place, figure): (usize, &Measurement),
) -> Option<(f64, f64)> {
    let values = members
        .iter()
        .filter_map(|m| Some((m.figures[place]?, m.weight)));
    let values: Vec<(f64, f64)> = values.collect();
    if values.iter().map(|v| v.1).sum::<f64>() < 0.5 {
        return None;
    }
    let at = |share| quantile(&values, share);
    let spread = (at(0.84)? - at(0.16)?) / 2.0;
    let relative = |&(value, weight): &(f64, f64)| match figure.metric {
        ReferenceMetric::Celsius => (value, weight),
        _ => (value, weight * (-value).exp()),
    };
    let centre = quantile(&values.iter().map(relative).collect::<Vec<_>>(), 0.5)?;
    Some((centre, spread))
}

#[cfg(test)]
#[path = "../tests/unit/learn.rs"]
mod tests;
