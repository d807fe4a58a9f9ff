//! Structures and starts of one drive: which are tried, and what each gives.
//!
//! The template's structure is climbed from the best of several draws from the prior. Then every
//! single change of it is tried, and a Latin hypercube of combinations (M. McKay, R. Beckman, W.
//! Conover, Technometrics 21, 1979), each from a start of its own and from the mode, by steps with
//! the derivatives of the climbed structure, which cost one simulation each. Those of most weight
//! are climbed with their own derivatives, and so are those around the best of them. All that was
//! tried explains the figures with its weight; none is chosen.

use std::collections::BTreeSet;

use assay_units::Rng;

use crate::alternatives::Alternatives;
use crate::learn::{Explanation, STEPS};
use assay_calibrate::inference::posterior::{
    Mode, Predictions, Prior, climb, cost, step_by, stratified,
};
use assay_calibrate::observed::Observed;
use assay_calibrate::structures::Structure;
use assay_calibrate::template::Template;

/// Draws from the prior, of which the best are climbed.
const DRAWS: usize = 14;
const CLIMBED: usize = 2;
const COMBINATIONS: usize = 16;
/// Steps with the derivatives of another structure.
const SCREENING_STEPS: usize = 3;
/// Structures climbed around the template's and around the best one, and steps of each.
const TRIED: [usize; 2] = [4, 2];
const FURTHER_STEPS: usize = 2;

/// A value of each structural number, by its place.
type Choice = Vec<usize>;

/// Cost, point and figures of the best start of a structure.
type Screened = (f64, Vec<f64>, Vec<f64>);

pub(super) struct Structures<'a> {
    pub template: &'a Template,
    pub alternatives: &'a [Alternatives],
    pub prior: &'a Prior,
    pub observed: &'a Observed,
    pub threads: usize,
}

fn chosen(all: &[Alternatives], choice: &Choice) -> (Structure, f64) {
    let mut structure = Structure::new();
    let mut log_prior = 0.0;
    for (alternatives, &place) in all.iter().zip(choice) {
        let (changes, probability) = &alternatives.values[place];
        structure.extend(changes.clone());
        log_prior += probability.ln();
    }
    (structure, log_prior)
}

/// Every choice with one other value.
fn neighbours(all: &[Alternatives], choice: &Choice) -> Vec<Choice> {
    let mut out = Vec::new();
    for (at, alternatives) in all.iter().enumerate() {
        for place in (0..alternatives.values.len()).filter(|place| *place != choice[at]) {
            let mut other = choice.clone();
            other[at] = place;
            out.push(other);
        }
    }
    out
}

/// A Latin hypercube of choices in the proportion of their prior probabilities.
fn combinations(all: &[Alternatives], count: usize, rng: &mut Rng) -> Vec<Choice> {
    let mut out = vec![Choice::new(); count];
    for alternatives in all {
        let mut order: Vec<(f64, usize)> = (0..count).map(|k| (rng.unit_f64(), k)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (choice, (_, stratum)) in out.iter_mut().zip(order) {
            let probabilities = alternatives.values.iter().map(|value| value.1);
            choice.push(stratified(probabilities, (stratum, count)));
        }
    }
    out
}

impl Structures<'_> {
    fn simulated(&self, points: &[(&Structure, &Vec<f64>)]) -> Predictions {
        let profiles = points
            .iter()
            .map(|(structure, p)| self.template.profile(structure, p).ok());
        self.observed.predictions(profiles.collect(), self.threads)
    }

    fn cost(&self, point: &[f64], figures: &[f64]) -> f64 {
        cost(self.prior, self.observed.observations(), point, figures)
    }

    pub fn climb(
        &self,
        structure: &Structure,
        log_prior: f64,
        start: &[f64],
        steps: usize,
    ) -> Option<Explanation> {
        let mut model = |points: &[Vec<f64>]| {
            let all: Vec<_> = points.iter().map(|p| (structure, p)).collect();
            self.simulated(&all)
        };
        let observations = self.observed.observations();
        let mode = climb(self.prior, observations, start, steps, &mut model)?;
        Some(Explanation {
            structure: structure.clone(),
            log_prior,
            mode,
        })
    }

    /// Steps with the derivatives of `from`, from the better start: the mode of `from` or a draw.
    fn screen(
        &self,
        from: &Mode,
        structures: &[(Structure, f64)],
        rng: &mut Rng,
    ) -> Vec<Option<Explanation>> {
        let points = vec![from.point.clone(); structures.len()];
        let mut best: Vec<Option<Screened>> = vec![None; structures.len()];
        let mut further: Vec<Vec<f64>> = points.iter().map(|_| self.prior.draw(rng)).collect();
        for step in 0..=SCREENING_STEPS + 1 {
            let tried = if step == 0 { &points } else { &further };
            let both: Vec<_> = structures.iter().map(|(s, _)| s).zip(tried).collect();
            let all = self.simulated(&both);
            for ((best, point), figures) in best.iter_mut().zip(tried).zip(all) {
                let Some(figures) = figures else { continue };
                let cost = self.cost(point, &figures);
                if best.as_ref().is_none_or(|b| cost < b.0) {
                    *best = Some((cost, point.clone(), figures));
                }
            }
            if step > 0 {
                let observations = self.observed.observations();
                for (point, best) in further.iter_mut().zip(&best) {
                    let Some((_, at, figures)) = best else {
                        continue;
                    };
                    *point = step_by(self.prior, observations, at, figures, &from.jacobian);
                }
            }
        }
        let explained = best
            .into_iter()
            .zip(structures)
            .map(|(best, (structure, log_prior))| {
                let (_, point, figures) = best?;
                let observations = self.observed.observations();
                let jacobian = from.jacobian.clone();
                Some(Explanation {
                    structure: structure.clone(),
                    log_prior: *log_prior,
                    mode: Mode::at(self.prior, observations, point, figures, jacobian)?,
                })
            });
        explained.collect()
    }

    /// The template's structure from the best of draws from the prior.
    fn base(&self, log_prior: f64, rng: &mut Rng) -> Vec<Explanation> {
        let base = Structure::new();
        let mut points = vec![self.prior.mean.clone()];
        points.extend((0..DRAWS).map(|_| self.prior.draw(rng)));
        let all: Vec<_> = points.iter().map(|p| (&base, p)).collect();
        let costs = points.iter().zip(self.simulated(&all));
        let costs = costs.filter_map(|(p, figures)| Some((self.cost(p, figures.as_ref()?), p)));
        let mut ranked: Vec<(f64, &Vec<f64>)> = costs.collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        let best = ranked.into_iter().take(CLIMBED);
        let climbed = best.filter_map(|(_, p)| self.climb(&base, log_prior, p, STEPS));
        let highest = climbed.max_by(|a, b| a.log_weight().total_cmp(&b.log_weight()));
        highest.into_iter().collect()
    }

    /// All that was tried; `None` where the template has no valid start.
    pub fn explain(&self, rng: &mut Rng) -> Option<Vec<Explanation>> {
        let all = self.alternatives;
        let own: Choice = vec![0; all.len()];
        let mut found = self.base(chosen(all, &own).1, rng);
        let mut choices = vec![own.clone()];
        let mut seen: BTreeSet<Choice> = BTreeSet::from([own]);
        for (round, tried) in TRIED.into_iter().enumerate() {
            let best = (0..found.len())
                .max_by(|&a, &b| found[a].log_weight().total_cmp(&found[b].log_weight()))?;
            let mut here = neighbours(all, &choices[best]);
            if round == 0 {
                here.extend(combinations(all, COMBINATIONS, rng));
            }
            here.retain(|choice| seen.insert(choice.clone()));
            let structures: Vec<_> = here.iter().map(|choice| chosen(all, choice)).collect();
            let from = found[best].mode.clone();
            let screened = self.screen(&from, &structures, rng).into_iter().zip(here);
            let mut screened: Vec<(Explanation, Choice)> = screened
                .filter_map(|(one, choice)| Some((one?, choice)))
                .collect();
            screened.sort_by(|a, b| b.0.log_weight().total_cmp(&a.0.log_weight()));
            for (one, _) in screened.iter_mut().take(tried) {
                let start = &one.mode.point;
                let climbed = self.climb(&one.structure, one.log_prior, start, FURTHER_STEPS);
                if let Some(climbed) = climbed {
                    *one = climbed;
                }
            }
            for (one, choice) in screened {
                found.push(one);
                choices.push(choice);
            }
        }
        Some(found)
    }
}

#[cfg(test)]
#[path = "../tests/unit/structures.rs"]
mod tests;
