//! The twin of a measured drive: a profile whose structure and numbers are both chosen by the
//! drive's own figures.
//!
//! [`crate::fit`] varies the numbers of one profile; a drive of another structure is then met only
//! where it was measured. A twin starts from every shipped profile, keeps the ones that explain the
//! figures best, tries alternative structures one at a time, then in pairs, and repeats that from
//! the structure of the highest evidence while the evidence rises. Priors are log-normal around the
//! shipped numbers.
//!
//! # Non-goals
//! Heat, writes and power of the drive: they are those of the nearest profile, and so marked.

mod finished;
mod structure;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_ssd::Profile;

use crate::CalibrateError;
use crate::fit::{FitResult, FittedNumber};
use crate::inference::posterior::{Mode, Predictions, climb, cost, step_by};
use crate::measurement::{Measurement, Procedure, Role, Tolerance};
use crate::observed::Observed;
use crate::structures::{Structure, apply};
use crate::template::{ReferenceDrive, Template};
use finished::finished;
use structure::{Change, changes, core_limits, template};

/// Profiles that are climbed, and those of them whose structure is varied.
const CLIMBED: usize = 4;
const VARIED: usize = 2;
/// Rounds of alternative structures at most, alternatives that are climbed in each, and steps.
const ROUNDS: usize = 10;
const TRIED: usize = 3;
const STEPS: usize = 4;
const SCREENING_STEPS: usize = 3;
/// Climbs, one after the other, of a structure with another limit.
const FAR_CLIMBS: usize = 3;
/// Error of a figure as a share of its tolerance: measurement noise and the model's deficiencies.
const ERROR_SHARE: f64 = 0.3;
/// Alternatives of which pairs are tried where none helps alone.
const PAIRED: usize = 12;
/// Mean difference of figures (logarithms) below which two profiles are the same starting point.
const ALIKE: f64 = 0.05;
/// Evidence that another structure must gain, a logarithm: strong by H. Jeffreys' scale.
const LEAST_EVIDENCE: f64 = 2.3;
const MEDIAN_PER_MILLION: u32 = 500_000;

#[derive(Clone, Debug)]
pub struct TwinSettings {
    pub name: String,
    /// Where the figures are from.
    pub label: String,
    /// Capacity of the measured drive, where known.
    pub capacity_bytes: Option<u64>,
    /// Shipped profiles to begin from; empty: all.
    pub bases: Vec<String>,
    /// The result does not depend on the number of threads.
    pub threads: usize,
}

/// The first stage: which shipped profiles explain the figures best.
pub const STAGE_PROFILES: &str = "profiles";

#[derive(Clone, Copy, Debug)]
pub struct TwinProgress<'a> {
    /// [`STAGE_PROFILES`], or the name of the profile whose structure is varied.
    pub stage: &'a str,
    pub evaluations: u64,
    /// Logarithm; the difference of two structures is that of their probabilities.
    pub log_evidence: f64,
}

#[derive(Clone, Debug)]
pub struct Twin {
    /// The shipped profile from which the search began.
    pub nearest: String,
    /// Structural numbers that differ from that profile's: path, before, after.
    pub structure: Vec<FittedNumber>,
    /// Text, numbers and what the figures determine of them.
    pub fit: FitResult,
}

fn measured_error(m: &Measurement) -> f64 {
    match m.tolerance {
        Tolerance::Relative(share) | Tolerance::Absolute(share) => share * ERROR_SHARE,
    }
}

#[derive(Clone)]
struct Candidate {
    nearest: String,
    template: Template,
    mode: Mode,
}

struct Search<'a> {
    observed: &'a Observed,
    threads: usize,
    stop: &'a AtomicBool,
    evaluations: Cell<u64>,
}

impl Search<'_> {
    /// Nothing is simulated once the search is to stop.
    fn predictions(&self, profiles: Vec<Option<Profile>>) -> Predictions {
        if self.stop.load(Ordering::Relaxed) {
            return vec![None; profiles.len()];
        }
        let count = profiles.len() as u64;
        self.evaluations.set(self.evaluations.get() + count);
        self.observed.predictions(profiles, self.threads)
    }

    fn climb(&self, template: Template, nearest: &str, start: &[f64]) -> Option<Candidate> {
        let prior = &template.wide;
        let base = Structure::new();
        let mut model = |points: &[Vec<f64>]| {
            let profiles = points.iter().map(|p| template.profile(&base, p).ok());
            self.predictions(profiles.collect())
        };
        let mode = climb(prior, self.observed.observations(), start, STEPS, &mut model)?;
        Some(Candidate { nearest: nearest.to_owned(), template, mode })
    }

    /// Several climbs, for a structure from which many numbers have far to go.
    fn climb_far(&self, from: &Screened, nearest: &str) -> Option<Candidate> {
        let mut at = self.climb(from.template.clone(), nearest, &from.point)?;
        for _ in 1..FAR_CLIMBS {
            let start = at.mode.point.clone();
            at = self.climb(at.template.clone(), nearest, &start).unwrap_or(at);
        }
        Some(at)
    }

    /// The lowest cost of a candidate with each change, at its point and after steps by the
    /// derivatives of the candidate, lowest first.
    fn screen(&self, from: &Candidate, changes: &[Change]) -> Vec<Screened> {
        let observations = self.observed.observations();
        let changed = |change: &Change| {
            let mut template = from.template.clone();
            apply(&mut template.table, &change.structure);
            template
        };
        let templates: Vec<Template> = changes.iter().map(changed).collect();
        let start = |change: &Change| change.start(&from.template, &from.mode.point);
        let mut points: Vec<Vec<f64>> = changes.iter().map(start).collect();
        let mut lowest: Vec<(f64, Vec<f64>)> = vec![(f64::INFINITY, Vec::new()); templates.len()];
        let base = Structure::new();
        for _ in 0..SCREENING_STEPS {
            let both = templates.iter().zip(&points);
            let profiles = both.map(|(template, point)| template.profile(&base, point).ok());
            let all = self.predictions(profiles.collect());
            for ((template, found), (point, lowest)) in
                templates.iter().zip(all).zip(points.iter_mut().zip(&mut lowest))
            {
                let Some(figures) = found else {
                    continue;
                };
                let cost = cost(&template.wide, observations, point, &figures);
                if cost < lowest.0 {
                    *lowest = (cost, point.clone());
                }
                *point =
                    step_by(&template.wide, observations, point, &figures, &from.mode.jacobian);
            }
        }
        let all = lowest.into_iter().zip(templates).enumerate();
        let all =
            all.map(|(place, ((cost, point), template))| Screened { cost, place, template, point });
        let mut all: Vec<Screened> = all.filter(|s| s.cost.is_finite()).collect();
        all.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        all
    }

    /// The best alternative structure around a candidate (or pair of them) that gains enough.
    fn vary(&self, here: &Candidate) -> Option<Candidate> {
        let now = here.template.table_at(&Structure::new(), &here.mode.point);
        let all = changes(&now);
        let screened = self.screen(here, &all);
        let best = self.best_of(here, &screened);
        if best.is_some() {
            return best;
        }
        // Another limit pays only once many numbers follow, so screening ranks it too low.
        let limits = core_limits(&now);
        let limits = self.screen(here, &limits);
        let climbed = limits.iter().take(TRIED);
        let mut climbed = climbed.filter_map(|s| self.climb_far(s, &here.nearest));
        let other_limit = climbed.find(|far| gains(here, far));
        if other_limit.is_some() {
            return other_limit;
        }
        // The numbers may be at a local optimum, or not yet there.
        for start in [&here.mode.point, &here.template.wide.mean] {
            let anew = self.climb(here.template.clone(), &here.nearest, start);
            let anew = anew.filter(|anew| gains(here, anew));
            if anew.is_some() {
                return anew;
            }
        }
        // Changes that only help together, of those that cost least alone.
        let promising = screened.iter().take(PAIRED).map(|s| &all[s.place]);
        let promising: Vec<&Change> = promising.collect();
        let mut pairs = Vec::new();
        for (n, first) in promising.iter().enumerate() {
            pairs.extend(promising[..n].iter().filter_map(|second| first.with(second)));
        }
        let screened = self.screen(here, &pairs);
        self.best_of(here, &screened)
    }

    /// The best of the structures that screening favours, climbed, if it gains enough.
    fn best_of(&self, here: &Candidate, screened: &[Screened]) -> Option<Candidate> {
        let tried = screened.iter().take(TRIED);
        let better = tried.filter_map(|s| self.climb(s.template.clone(), &here.nearest, &s.point));
        let best = better.max_by(|a, b| evidence(a).total_cmp(&evidence(b)))?;
        gains(here, &best).then_some(best)
    }
}

struct Ranked<'a> {
    cost: f64,
    name: &'a str,
    template: Template,
    figures: Vec<f64>,
}

/// Numbers reached by steps along the derivatives of another structure.
struct Screened {
    cost: f64,
    /// Index in the list that was screened.
    place: usize,
    template: Template,
    point: Vec<f64>,
}

fn evidence(candidate: &Candidate) -> f64 {
    candidate.mode.log_evidence
}

fn gains(here: &Candidate, other: &Candidate) -> bool {
    evidence(other) - evidence(here) > LEAST_EVIDENCE
}

/// The templates of the profiles to begin with, the one nearest to the figures first.
fn ranked<'s>(
    settings: &'s TwinSettings,
    search: &Search<'_>,
) -> Result<Vec<Ranked<'s>>, CalibrateError> {
    let mut names: Vec<&str> = settings.bases.iter().map(String::as_str).collect();
    if names.is_empty() {
        names = Profile::names();
    }
    let mut ranked = Vec::new();
    for name in names {
        let template = template(&ReferenceDrive::new(name)?, settings.capacity_bytes);
        let mean = template.wide.mean.clone();
        let profile = template.profile(&Structure::new(), &mean).ok();
        if let Some(Some(figures)) = search.predictions(vec![profile]).pop() {
            let cost = cost(&template.wide, search.observed.observations(), &mean, &figures);
            ranked.push(Ranked { cost, name, template, figures });
        }
    }
    ranked.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    Ok(ranked)
}

/// The best candidate after all rounds of varied structures.
fn varied(
    climbed: Vec<Candidate>,
    search: &Search<'_>,
    progress: &mut dyn FnMut(TwinProgress<'_>),
) -> Option<Candidate> {
    // Each candidate and the evidence that its last round gained.
    let mut beam: Vec<(Candidate, f64)> = climbed.into_iter().map(|c| (c, f64::INFINITY)).collect();
    for round in 1..=ROUNDS {
        for (candidate, gained) in beam.iter_mut().filter(|(_, gained)| *gained > 0.0) {
            let before = evidence(candidate);
            if let Some(better) = search.vary(candidate) {
                *candidate = better;
            }
            *gained = evidence(candidate) - before;
            progress(TwinProgress {
                stage: &candidate.nearest,
                evaluations: search.evaluations.get(),
                log_evidence: evidence(candidate),
            });
        }
        beam.sort_by(|a, b| evidence(&b.0).total_cmp(&evidence(&a.0)));
        let best = beam.first().map_or(f64::NEG_INFINITY, |b| evidence(&b.0));
        // A candidate stays while it gains enough to lead in the end.
        let rounds = (ROUNDS - round) as f64;
        beam.retain(|(candidate, gained)| evidence(candidate) + gained * rounds >= best);
        if !beam.iter().any(|(_, gained)| *gained > 0.0) {
            break;
        }
    }
    beam.into_iter().map(|(candidate, _)| candidate).next()
}

/// [`CalibrateError::NoTargets`] without a target that a profile has; `None` when stopped.
pub fn twin(
    measurements: &[Measurement],
    settings: &TwinSettings,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(TwinProgress<'_>),
) -> Result<Option<Twin>, CalibrateError> {
    let targets = measurements.iter().filter(|m| m.role == Role::Target);
    let targets: Vec<Measurement> = targets.filter(|m| !m.procedure.is_heat()).cloned().collect();
    let targets = searched(targets);
    let nothing =
        |why: &str| CalibrateError::NoTargets { what: settings.label.clone(), why: why.to_owned() };
    if targets.is_empty() {
        return Err(nothing("there is no rate or latency to fit to"));
    }
    let observed = Observed::with_scale(&targets, &measured_error);
    let search =
        Search { observed: &observed, threads: settings.threads, stop, evaluations: Cell::new(0) };
    let ranked = ranked(settings, &search)?;
    let mut climbed: Vec<Candidate> = Vec::new();
    for start in distinct(ranked).into_iter().take(CLIMBED) {
        let mean = start.template.wide.mean.clone();
        climbed.extend(search.climb(start.template, start.name, &mean));
        progress(TwinProgress {
            stage: STAGE_PROFILES,
            evaluations: search.evaluations.get(),
            log_evidence: climbed.last().map_or(f64::NEG_INFINITY, evidence),
        });
    }
    climbed.sort_by(|a, b| evidence(b).total_cmp(&evidence(a)));
    climbed.truncate(VARIED);
    let best = varied(climbed, &search, progress);
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let best = best.ok_or_else(|| nothing("no shipped profile has figures for these cells"))?;
    let evaluations = search.evaluations.get();
    finished(&best, measurements, &targets, settings, evaluations).map(Some)
}

/// Profiles by cost, without those like a better one (the same drive with another heat sink).
fn distinct(ranked: Vec<Ranked<'_>>) -> Vec<Ranked<'_>> {
    let mut kept: Vec<Ranked<'_>> = Vec::new();
    for one in ranked {
        let is_alike = |other: &Ranked<'_>| {
            let both = one.figures.iter().zip(&other.figures);
            let differences: f64 = both.map(|(a, b)| (a - b).abs()).sum();
            differences < ALIKE * one.figures.len() as f64
        };
        if !kept.iter().any(is_alike) {
            kept.push(one);
        }
    }
    kept
}

/// Percentiles above the median only of the shortest I/Os: they need many I/Os, all alike.
fn searched(targets: Vec<Measurement>) -> Vec<Measurement> {
    let block = |m: &Measurement| match m.procedure {
        Procedure::Steady(w) => w.block_bytes,
        _ => 0,
    };
    let is_high = |m: &Measurement| m.metric.per_million().is_some_and(|q| q > MEDIAN_PER_MILLION);
    let shortest = targets.iter().filter(|m| is_high(m)).map(block).min();
    let keep = |m: &Measurement| !is_high(m) || Some(block(m)) == shortest;
    targets.into_iter().filter(keep).collect()
}

#[cfg(test)]
#[path = "../tests/unit/twin.rs"]
mod tests;
