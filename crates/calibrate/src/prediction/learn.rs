//! What figures say of one drive: modes over starts and structures, and the figures of members drawn from them.
//!
//! Starts are drawn from the prior; the best are climbed ([`crate::inference::posterior`]). Alternative structures are tried one at a time
//! from the best mode and then together, in the order of their evidence, while the evidence rises. Members are drawn from the Laplace
//! approximations in the proportion of the modes' evidence and weighted by the likelihood of their own figures.

use assay_ssd::Profile;
use assay_units::Rng;

use crate::inference::hierarchy::Estimate;
use crate::inference::hierarchy::without_prior;
use crate::inference::linear::inverse;
use crate::inference::posterior::{
    Mode, Observation, Predictions, Prior, climb, cost, importance, quantile, shares,
};
use crate::measurement::{Measurement, ReferenceMetric};
use crate::prediction::anchor::Anchor;
use crate::prediction::template::{Structure, Template};
use crate::simulate::{Effort, Figures, simulate_valid};

/// Scale of the errors of a figure that the model could meet: reading off, rounding, and what the model lacks. Neighbouring cells of a
/// sweep err alike, so a cell counts less than its error alone would say.
pub const FIGURE_SCALE: f64 = 0.07;
/// The same of temperatures, in kelvin.
pub const KELVIN_SCALE: f64 = 3.0;
/// Draws from the prior, of which the best are climbed.
const DRAWS: usize = 14;
const CLIMBED: usize = 2;
/// Gauss-Newton steps of a start, and of an alternative structure.
const STEPS: usize = 4;
const ALTERNATIVE_STEPS: usize = 2;
/// Evidence that an alternative must gain, a logarithm: where the figures say nothing of it, noise would choose.
const LEAST_EVIDENCE: f64 = 1.0;
/// Alternatives tried together at most.
const MOST_TOGETHER: usize = 3;

/// Figure on the scale of the inference: a logarithm, kelvin for temperatures.
pub fn on_scale(measurement: &Measurement, value: f64) -> f64 {
    match measurement.metric {
        ReferenceMetric::Celsius => value,
        _ => value.max(1e-12).ln(),
    }
}

/// Back in the unit of the figure.
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

/// What is observed of a drive.
#[derive(Clone, Debug)]
pub struct Observed {
    figures: Vec<Measurement>,
    observations: Vec<Observation>,
}

impl Observed {
    /// Measured figures and anchors.
    pub fn new(training: &[Measurement], anchors: &[Anchor]) -> Observed {
        let measured = training.iter().map(|m| (m, error_scale(m)));
        Observed::of(measured.chain(anchors.iter().map(|a| (&a.measurement, a.scale))))
    }

    /// Measured figures with errors of their own.
    pub fn with_scale(figures: &[Measurement], scale: &dyn Fn(&Measurement) -> f64) -> Observed {
        Observed::of(figures.iter().map(|m| (m, scale(m))))
    }

    fn of<'a>(all: impl Iterator<Item = (&'a Measurement, f64)>) -> Observed {
        let (figures, observations) = all
            .map(|(m, scale)| {
                let value = on_scale(m, m.value);
                (m.clone(), Observation { value, scale })
            })
            .unzip();
        Observed {
            figures,
            observations,
        }
    }

    /// What drives give for these figures, on the scale of the inference; `None` where one is not valid or lacks a figure.
    pub fn predictions(&self, profiles: Vec<Option<Profile>>, threads: usize) -> Predictions {
        predictions_of(profiles, &self.figures, threads)
    }

    /// The figures on the scale of the inference, with their errors.
    pub fn observations(&self) -> &[Observation] {
        &self.observations
    }
}

/// A mode of one structure.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The structure, beside the template's.
    pub structure: Structure,
    /// The mode of its numbers.
    pub mode: Mode,
}

/// The posterior of a drive.
#[derive(Clone, Debug)]
pub struct Learned {
    /// Where the numbers are.
    pub template: Template,
    /// Their prior.
    pub prior: Prior,
    /// What was observed.
    pub observed: Observed,
    /// Modes, most probable first.
    pub explanations: Vec<Explanation>,
}

/// A member and its figures.
#[derive(Clone, Debug)]
pub struct SimulatedMember {
    /// Share of the probability.
    pub weight: f64,
    /// Its structure.
    pub structure: Structure,
    /// Its numbers, logarithms.
    pub point: Vec<f64>,
    /// The asked figures on the scale of the inference; `None` where it has no such figure.
    pub figures: Vec<Option<f64>>,
}

/// [`simulate_valid`], on the scale of the inference.
fn figures_of(
    profiles: Vec<Option<Profile>>,
    figures: &[Measurement],
    threads: usize,
) -> Vec<Option<Figures>> {
    let scaled = |found: Figures| {
        let pairs = found.into_iter().zip(figures);
        pairs.map(|(value, m)| Some(on_scale(m, value?))).collect()
    };
    let all = simulate_valid(profiles, figures, Effort::Fit, threads);
    all.into_iter().map(|one| one.map(scaled)).collect()
}

/// The figures of profiles on the scale of the inference; `None` where a profile is not valid or one of its figures is missing.
pub fn predictions_of(
    profiles: Vec<Option<Profile>>,
    figures: &[Measurement],
    threads: usize,
) -> Predictions {
    let all = figures_of(profiles, figures, threads);
    all.into_iter()
        .map(|one| one?.into_iter().collect())
        .collect()
}

/// The posterior of a drive from figures; `starts` are tried beside the draws from the prior, and structures anew when `search`.
/// `None` where no start is a valid drive.
pub fn learn(
    template: Template,
    prior: Prior,
    observed: Observed,
    starts: &[(Structure, Vec<f64>)],
    search: bool,
    (seed, threads): (u64, usize),
) -> Option<Learned> {
    let mut rng = Rng::stream(seed, "starts");
    let model = |structure: &Structure, points: &[Vec<f64>]| -> Predictions {
        let profiles = points.iter().map(|p| template.profile(structure, p).ok());
        predictions_of(profiles.collect(), &observed.figures, threads)
    };
    let up = |structure: &Structure, start: &[f64], steps| {
        let mut at = |points: &[Vec<f64>]| model(structure, points);
        climb(&prior, &observed.observations, start, steps, &mut at).map(|mode| Explanation {
            structure: structure.clone(),
            mode,
        })
    };
    let mut found: Vec<Explanation> = Vec::new();
    for (structure, start) in starts {
        found.extend(up(structure, start, STEPS));
    }
    if search {
        let base = Structure::new();
        let mut points = vec![prior.mean.clone()];
        points.extend((0..DRAWS).map(|_| prior.draw(&mut rng)));
        let figures = model(&base, &points);
        let costs = points.iter().zip(&figures);
        let mut ranked: Vec<(f64, &Vec<f64>)> = costs
            .filter_map(|(point, figures)| {
                let cost = cost(&prior, &observed.observations, point, figures.as_ref()?);
                Some((cost, point))
            })
            .collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, point) in ranked.iter().take(CLIMBED) {
            found.extend(up(&base, point, STEPS));
        }
        let best = best(&found)?.clone();
        let mut better: Vec<Explanation> = Vec::new();
        for structure in &template.alternatives {
            better.extend(up(structure, &best.mode.point, ALTERNATIVE_STEPS));
        }
        better.sort_by(|a, b| b.mode.log_evidence.total_cmp(&a.mode.log_evidence));
        let base_evidence = best.mode.log_evidence;
        let mut reached = best;
        for one in better.iter().take(MOST_TOGETHER) {
            if one.mode.log_evidence <= base_evidence + LEAST_EVIDENCE {
                break;
            }
            let mut structure = reached.structure.clone();
            structure.extend(one.structure.clone());
            let start = if reached.structure.is_empty() {
                &one.mode.point
            } else {
                &reached.mode.point
            };
            if let Some(both) = up(&structure, start, STEPS)
                && both.mode.log_evidence > reached.mode.log_evidence
            {
                found.push(both.clone());
                reached = both;
            }
        }
        found.extend(better);
    }
    found.sort_by(|a, b| b.mode.log_evidence.total_cmp(&a.mode.log_evidence));
    (!found.is_empty()).then_some(Learned {
        template,
        prior,
        observed,
        explanations: found,
    })
}

fn best(found: &[Explanation]) -> Option<&Explanation> {
    let evidence = |e: &&Explanation| e.mode.log_evidence;
    found
        .iter()
        .max_by(|a, b| evidence(a).total_cmp(&evidence(b)))
}

impl Learned {
    /// `count` members with their figures, in the proportion of the explanations; `vary` are structures that nothing observed depends on,
    /// taken in turn. Deterministic by the seed, whatever the number of threads.
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
            .map(|e| e.mode.log_evidence)
            .collect();
        let shares = shares(&evidences);
        let mut rng = Rng::stream(seed, "members");
        let (mut members, mut proposal, mut profiles) = (Vec::new(), Vec::new(), Vec::new());
        for k in 0..count {
            let at = (k as f64 + 0.5) / count as f64;
            let mut below = 0.0;
            let chosen = shares.iter().position(|share| {
                below += share;
                below >= at
            });
            let explanation = &self.explanations[chosen.unwrap_or(0)];
            let (point, density) = explanation.mode.draw(&mut rng);
            let mut structure = explanation.structure.clone();
            if !vary.is_empty() {
                structure.extend(vary[k % vary.len()].clone());
            }
            profiles.push(self.template.profile(&structure, &point).ok());
            proposal.push(density - explanation.mode.cost);
            members.push(SimulatedMember {
                weight: 0.0,
                structure,
                point,
                figures: Vec::new(),
            });
        }
        let asked = [self.observed.figures.as_slice(), figures].concat();
        let all = figures_of(profiles, &asked, threads);
        let known = self.observed.figures.len();
        let mut targets = Vec::new();
        for (member, found) in members.iter_mut().zip(all) {
            let complete: Option<Vec<f64>> = found
                .as_ref()
                .and_then(|f| f[..known].iter().copied().collect());
            let cost =
                complete.map(|c| cost(&self.prior, &self.observed.observations, &member.point, &c));
            targets.push(cost.unwrap_or(1e6));
            member.figures = found.map_or(vec![None; figures.len()], |f| f[known..].to_vec());
        }
        for (member, weight) in members.iter_mut().zip(importance(&targets, &proposal)) {
            member.weight = weight;
        }
        members
    }

    /// What the figures say of each free number, without the prior, by the most probable explanation.
    pub fn estimates(&self, class: &dyn Fn(&str) -> Option<String>) -> Vec<(String, Estimate)> {
        let mode = &self.explanations[0].mode;
        let covariance = inverse(&mode.precision).unwrap_or_default();
        let one = |(j, path): (usize, &String)| {
            let width = covariance.get(j)?[j].max(0.0).sqrt();
            let prior = (self.prior.mean[j], self.prior.width[j]);
            let estimate = without_prior((mode.point[j], width), prior, class(path))?;
            Some((path.clone(), estimate))
        };
        self.template
            .paths
            .iter()
            .enumerate()
            .filter_map(one)
            .collect()
    }
}

/// Weighted median and half the distance of the weighted 16th and 84th percentiles, on the scale of the inference; `None` where no
/// member has the figure.
pub fn centre_and_spread(members: &[SimulatedMember], figure: usize) -> Option<(f64, f64)> {
    let values = members
        .iter()
        .filter_map(|m| Some((m.figures[figure]?, m.weight)));
    let values: Vec<(f64, f64)> = values.collect();
    let at = |share| quantile(&values, share);
    Some((at(0.5)?, (at(0.84)? - at(0.16)?) / 2.0))
}

#[cfg(test)]
#[path = "../../tests/unit/prediction/learn.rs"]
mod tests;
