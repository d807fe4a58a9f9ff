//! What a simulated drive says of figures that were left out: hardware facts, the other drives and
//! the figures that were kept choose its numbers and structure.
//!
//! The template's structure is climbed from the best of draws from the prior. Every single change
//! of it follows by steps with the same derivatives, and those of most weight are climbed with
//! their own; then every change of the best one. A
//! prediction is the mean of the logarithms over all that was tried, by prior times evidence (J.
//! Hoeting and others, "Bayesian Model Averaging: A Tutorial", Statistical Science 14, 1999).

use assay_calibrate::inference::posterior::{Mode, climb, cost, shares, step_by};
use assay_calibrate::measurement::Measurement;
use assay_calibrate::observed::{Observed, figures_of};
use assay_calibrate::structures::Structure;
use assay_calibrate::template::Template;
use assay_units::Rng;

use crate::alternatives::Alternatives;

const STEPS: usize = 4;
/// Steps with the derivatives of another structure, and of the best ones with their own.
const FURTHER_STEPS: usize = 2;
/// Structures that are climbed with their own derivatives.
const CLIMBED: usize = 3;
/// Changes that a structure has at most.
const ROUNDS: usize = 2;
/// Draws from the prior.
const DRAWS: usize = 14;
const SEED: u64 = 18;
/// Explanations of less probability do not count.
const LEAST_SHARE: f64 = 0.02;

/// Cost, point and figures.
type Tried = (f64, Vec<f64>, Vec<f64>);

struct Explanation {
    structure: Structure,
    log_prior: f64,
    mode: Mode,
}

impl Explanation {
    fn log_weight(&self) -> f64 {
        self.log_prior + self.mode.log_evidence
    }
}

pub struct Simulation<'a> {
    pub template: &'a Template,
    pub alternatives: &'a [Alternatives],
    pub observed: &'a Observed,
    pub threads: usize,
}

impl Simulation<'_> {
    fn climb(&self, structure: &Structure, start: &[f64], steps: usize) -> Option<Mode> {
        let mut model = |points: &[Vec<f64>]| {
            let profiles = points.iter().map(|p| self.template.profile(structure, p).ok());
            self.observed.predictions(profiles.collect(), self.threads)
        };
        let (prior, observations) = (&self.template.wide, self.observed.observations());
        climb(prior, observations, start, steps, &mut model)
    }

    /// The best of the prior's mean and draws from it.
    fn start(&self) -> Vec<f64> {
        let (prior, observations) = (&self.template.wide, self.observed.observations());
        let mut rng = Rng::stream(SEED, "starts");
        let mut points = vec![prior.mean.clone()];
        points.extend((0..DRAWS).map(|_| prior.draw(&mut rng)));
        let profiles = points.iter().map(|p| self.template.profile(&Structure::new(), p).ok());
        let all = self.observed.predictions(profiles.collect(), self.threads);
        let cost = |(point, figures): (Vec<f64>, Option<Vec<f64>>)| {
            Some((cost(prior, observations, &point, &figures?), point))
        };
        let best = points.into_iter().zip(all).filter_map(cost);
        let best = best.min_by(|a, b| a.0.total_cmp(&b.0));
        best.map_or_else(|| prior.mean.clone(), |(_, point)| point)
    }

    /// The structures with one change, each at the best point that steps from the mode reach.
    fn changed(&self, explanation: &Explanation) -> Vec<Explanation> {
        let (prior, observations) = (&self.template.wide, self.observed.observations());
        let from = &explanation.mode;
        // A change's prior probability is relative to that of none.
        let changes = self.alternatives.iter().flat_map(|a| {
            let none = a.values[0].1;
            let further = a.values[1..].iter();
            further.map(move |(structure, share)| (structure, (share / none).ln()))
        });
        let changed = &explanation.structure;
        let is_new = |s: &Structure| !s.keys().any(|path| changed.contains_key(path));
        let changes = changes.filter(|(structure, _)| is_new(structure));
        let changes = changes.map(|(structure, log_prior)| {
            let mut both = structure.clone();
            both.extend(changed.clone());
            (both, explanation.log_prior + log_prior)
        });
        let changes: Vec<(Structure, f64)> = changes.collect();
        let mut best: Vec<Option<Tried>> = vec![None; changes.len()];
        let mut points = vec![from.point.clone(); changes.len()];
        for _ in 0..=FURTHER_STEPS {
            let both = changes.iter().zip(&points);
            let profiles = both.map(|((s, _), point)| self.template.profile(s, point).ok());
            let all = self.observed.predictions(profiles.collect(), self.threads);
            for ((best, point), figures) in best.iter_mut().zip(&mut points).zip(all) {
                let Some(figures) = figures else { continue };
                let cost = cost(prior, observations, point, &figures);
                if best.as_ref().is_none_or(|b| cost < b.0) {
                    *best = Some((cost, point.clone(), figures));
                }
                if let Some((_, at, figures)) = best {
                    *point = step_by(prior, observations, at, figures, &from.jacobian);
                }
            }
        }
        let explained = best.into_iter().zip(changes).filter_map(|(best, change)| {
            let (_, point, figures) = best?;
            Some(Explanation {
                structure: change.0,
                log_prior: change.1,
                mode: Mode::at(prior, observations, point, figures, from.jacobian.clone())?,
            })
        });
        explained.collect()
    }

    /// Logarithms of the figures `asked`; `None` where no valid drive has one.
    pub fn predict(&self, asked: &[Measurement]) -> Vec<Option<f64>> {
        let Some(mode) = self.climb(&Structure::new(), &self.start(), STEPS) else {
            return vec![None; asked.len()];
        };
        let mut found = vec![Explanation { structure: Structure::new(), log_prior: 0.0, mode }];
        for _ in 0..ROUNDS {
            let mut changed = self.changed(&found[0]);
            changed.retain(|one| found.iter().all(|known| known.structure != one.structure));
            changed.sort_by(|a, b| b.log_weight().total_cmp(&a.log_weight()));
            for one in changed.iter_mut().take(CLIMBED) {
                if let Some(mode) = self.climb(&one.structure, &one.mode.point, FURTHER_STEPS) {
                    one.mode = mode;
                }
            }
            found.extend(changed);
            found.sort_by(|a, b| b.log_weight().total_cmp(&a.log_weight()));
        }
        let weights: Vec<f64> = found.iter().map(Explanation::log_weight).collect();
        let counted = found.iter().zip(shares(&weights));
        let counted: Vec<_> = counted.filter(|(_, share)| *share >= LEAST_SHARE).collect();
        let profiles = counted
            .iter()
            .map(|(one, _)| self.template.profile(&one.structure, &one.mode.point).ok());
        let figures = figures_of(profiles.collect(), asked, self.threads);
        let mean = |place: usize| {
            let of = |(found, (_, share)): (&Option<Vec<Option<f64>>>, &(_, f64))| {
                Some((found.as_ref()?[place]? * share, *share))
            };
            let all: Vec<(f64, f64)> = figures.iter().zip(&counted).filter_map(of).collect();
            let total: f64 = all.iter().map(|a| a.1).sum();
            (total > 0.0).then(|| all.iter().map(|a| a.0).sum::<f64>() / total)
        };
        (0..asked.len()).map(mean).collect()
    }
}

#[cfg(test)]
#[path = "../tests/unit/simulation.rs"]
mod tests;
