//! Model calibration: a profile's free parameters fitted to measured figures.
//!
//! # Cost
//! The mean over the targets of a loss of `x`, the error in units of the tolerance (relative errors
//! as logarithms, so that half and twice are equally wrong): `x + 6 * clamp(x - 0.6, 0, 1)^2`. It
//! is linear so that a figure that the model cannot meet does not dominate, and steep near the
//! tolerance so that figures that can be met are met.
//!
//! # Stages
//! Rates and latencies first, then heat with the parameters of heat and energy alone: a soak costs
//! a hundred times as much as a cell, and short runs are not sensitive to its parameters. Before
//! each stage, one step of each parameter in both directions shows the sensitivities. A parameter
//! to which no figure is sensitive keeps its value, and figures sensitive to none are left out.
//!
//! # Starts
//! One search can end in a local optimum. A fit from many starts is many fits, which differ in
//! [`FitSettings::start`] alone; the best has the lowest [`FitResult::cost`]. Start 0 begins at the
//! profile's values, the others at a random point that follows from seed and number of the start,
//! so that starts can be computed anywhere, in any order.
//!
//! # Repeating and resuming
//! A fit is a function of the profile's text, the targets, the free parameters, the seed and the
//! number of evaluations, whatever the number of threads. Its state file holds the costs of all
//! candidates so far and is replaced after every generation; the same fit reads them and continues.

mod state;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_ssd::Profile;
use assay_ssd::profile::ProfileNumber;
use assay_units::Rng;
use assay_units::rng::mix;

use crate::CalibrateError;
use crate::hardware::{Hardware, known_numbers};
use crate::identification::{DeterminedNumber, Identification, identify};
use crate::measurement::{Measurement, Role, Tolerance};
use crate::parameter::{FreeParameter, ParameterSpace, free_by_default};
use crate::profile_text::remarked;
use crate::residual::Residuals;
use crate::search::CmaEs;
use crate::simulate::{Effort, Figures, simulate, simulate_valid};
use crate::spread::{spreads, with_spreads};
use state::StateLog;

/// Loss of a figure that the simulated drive does not have.
const MISSING_LOSS: f64 = 12.0;
/// One in so many evaluations belongs to the heat stage.
const HEAT_SHARE: u64 = 8;
/// Random points tried as a start, before the profile's values are taken instead.
const START_DRAWS: usize = 100;
/// Step of the sensitivity analysis, as a share of a parameter's range.
const SENSITIVITY_STEP: f64 = 0.08;

#[derive(Clone, Debug)]
pub struct FitSettings {
    /// Empty: [`free_by_default`].
    pub free: Vec<FreeParameter>,
    /// Candidates to try; the last generation is completed.
    pub evaluations: u64,
    pub seed: u64,
    /// Number of the start: 0 begins at the profile's values.
    pub start: u64,
    pub threads: usize,
    /// `None`: an interrupted fit is lost.
    pub state_file: Option<PathBuf>,
    /// What the parameters are fitted to, for the profile's text.
    pub label: String,
    /// Whether parameters that were fitted before keep their label.
    pub keep_sources: bool,
}

impl FitSettings {
    /// [`FitSettings::seed`] for start 0.
    pub fn seed_of_start(&self) -> u64 {
        match self.start {
            0 => self.seed,
            start => mix(self.seed, start),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct FitProgress<'a> {
    pub stage: &'a str,
    /// Candidates tried, all stages.
    pub done: u64,
    pub of: u64,
    /// Cost at the stage's start point.
    pub first_cost: f64,
    pub best_cost: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FittedNumber {
    pub path: String,
    /// Number before the fit, in the profiles' notation.
    pub from: String,
    pub to: String,
}

#[derive(Clone, Debug)]
pub struct FitResult {
    pub text: String,
    /// Every measurement with the fitted drive's figure at [`Effort::Full`]; none when stopped.
    pub residuals: Residuals,
    pub evaluations: u64,
    /// Per stage: name, cost at its start, cost at its end.
    pub costs: Vec<(String, f64, f64)>,
    pub moved: Vec<FittedNumber>,
    pub at_bounds: Vec<String>,
    /// Parameters to which no figure is sensitive; not changed.
    pub insensitive: Vec<String>,
    /// What the targets determine of the free numbers of rates and latencies; empty when stopped.
    pub identification: Identification,
    /// Whether all evaluations were done; otherwise the same fit continues when started again.
    pub complete: bool,
}

impl FitResult {
    /// Mean loss of all targets at [`Effort::Full`], which compares starts. NaN when stopped.
    pub fn cost(&self) -> f64 {
        let losses = self.residuals.with_role(Role::Target);
        let losses: Vec<f64> = losses.map(|r| loss(&r.measurement, r.simulated)).collect();
        losses.iter().sum::<f64>() / losses.len() as f64
    }
}

/// Random points that are no valid drive are drawn again.
fn begin(space: &ParameterSpace, start: u64, rng: &mut Rng) -> Vec<f64> {
    let centre = space.start();
    if start == 0 {
        return centre;
    }
    let mut anywhere = || -> Vec<f64> { centre.iter().map(|_| rng.unit_f64()).collect() };
    let mut drawn = (0..START_DRAWS).map(|_| anywhere());
    let valid = drawn.find(|point| space.profile_at(point).is_ok());
    valid.unwrap_or(centre)
}

/// What the fit has determined and how far the figures are off, both remarked in the profile.
fn judged(
    text: &mut String,
    free: &[FreeParameter],
    targets: &[Measurement],
    measurements: &[Measurement],
    settings: &FitSettings,
) -> Result<(Identification, Residuals), CalibrateError> {
    let identification = identify(text, free, targets, settings.threads)?;
    let profile = Profile::from_toml(text)?;
    let figures = simulate(&profile, measurements, Effort::Full, settings.threads)?;
    let residuals = Residuals::new(measurements, figures);
    if !settings.keep_sources {
        *text = remarked(text, &remarks(&identification))?;
        *text = with_spreads(text, &spreads(&residuals, free.len()), &settings.label)?;
    }
    Ok((identification, residuals))
}

/// A fit in progress.
struct FitRun<'a> {
    state: StateLog,
    threads: usize,
    /// Evaluations of all stages, and those that are done.
    of: u64,
    done: u64,
    complete: bool,
    stop: &'a AtomicBool,
    progress: &'a mut dyn FnMut(FitProgress<'_>),
}

impl FitRun<'_> {
    /// Searches one stage; returns the cost at its start.
    fn search(
        &mut self,
        stage: &Stage,
        space: &ParameterSpace,
        targets: &[Measurement],
        search: &mut CmaEs,
    ) -> Result<f64, CalibrateError> {
        let (mut first_cost, mut tried) = (f64::NAN, 0);
        while tried < stage.evaluations {
            let points = search.ask();
            let here = self.done as usize..self.done as usize + points.len();
            // Costs that an earlier run recorded are not simulated again.
            if self.state.costs.len() < here.end {
                let figures = figures_at(space, &points, targets, self.threads);
                let costs = figures.iter().map(|figures| match figures {
                    Some(figures) => cost(targets, figures),
                    None => 2.0 * MISSING_LOSS,
                });
                self.state.append(here.start, costs)?;
            }
            let costs_here = &self.state.costs[here];
            if tried == 0 {
                first_cost = costs_here[0];
            }
            search.tell(costs_here);
            tried += costs_here.len() as u64;
            self.done += costs_here.len() as u64;
            (self.progress)(FitProgress {
                stage: stage.name,
                done: self.done,
                of: self.of,
                first_cost,
                best_cost: search.best_cost,
            });
            if self.stop.load(Ordering::Relaxed) && self.done < self.of {
                self.complete = false;
                break;
            }
        }
        Ok(first_cost)
    }
}

/// Fit a profile (its text) to measurements. `progress` is called after every generation; when
/// `stop` is set, the fit ends after the current generation with the best candidate so far.
pub fn fit(
    text: &str,
    measurements: &[Measurement],
    settings: &FitSettings,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(FitProgress<'_>),
) -> Result<FitResult, CalibrateError> {
    Profile::from_toml(text)?;
    let targets = measurements.iter().filter(|m| m.role == Role::Target);
    let targets: Vec<Measurement> = targets.cloned().collect();
    if targets.is_empty() {
        return Err(no_targets(settings, "every figure is held out, or there are none"));
    }
    let stages = stages(text, &targets, settings)?;
    let mut run = FitRun {
        state: StateLog::open(settings, text, &targets, &stages)?,
        threads: settings.threads,
        of: stages.iter().map(|stage| stage.evaluations).sum(),
        done: 0,
        complete: true,
        stop,
        progress,
    };
    let before = text;
    let mut text = text.to_owned();
    let (mut costs, mut at_bounds, mut insensitive) = (Vec::new(), Vec::new(), Vec::new());
    let mut free = Vec::new();
    for stage in &stages {
        let (free_here, targets) = sensitive(&text, stage, settings)?;
        let fixed = stage.free.iter().filter(|f| !free_here.contains(f));
        insensitive.extend(fixed.map(FreeParameter::name));
        let space = ParameterSpace::new(&text, &free_here)?;
        free.extend(free_here);
        let name = stage.name;
        let mut rng = Rng::stream(settings.seed_of_start(), name);
        let start = begin(&space, settings.start, &mut rng);
        let mut search = CmaEs::new(&start, rng);
        let first_cost = run.search(stage, &space, &targets, &mut search)?;
        text = space.write(&search.best, &settings.label, settings.keep_sources)?;
        at_bounds.extend(space.at_bounds(&search.best));
        costs.push((name.to_owned(), first_cost, search.best_cost));
        if !run.complete {
            break;
        }
    }
    let (identification, residuals) = match run.complete {
        true => judged(&mut text, &free, &targets, measurements, settings)?,
        false => Default::default(),
    };
    Ok(FitResult {
        residuals,
        moved: moved(before, &text, &free)?,
        text,
        evaluations: run.done,
        costs,
        at_bounds,
        insensitive,
        identification,
        complete: run.complete,
    })
}

pub(crate) fn remarks(identification: &Identification) -> BTreeMap<String, String> {
    let open = identification.numbers.iter().filter(|n| n.is_undetermined);
    let remark = |n: &DeterminedNumber| {
        let path = n.path.split('[').next().unwrap_or_default().to_owned();
        (path, format!("undetermined by it: 90 % within a factor of {:.1}", n.factor))
    };
    open.map(remark).collect()
}

struct Stage {
    name: &'static str,
    free: Vec<FreeParameter>,
    targets: Vec<Measurement>,
    evaluations: u64,
}

fn no_targets(settings: &FitSettings, why: &str) -> CalibrateError {
    CalibrateError::NoTargets { what: settings.label.clone(), why: why.to_owned() }
}

fn stages(
    text: &str,
    targets: &[Measurement],
    settings: &FitSettings,
) -> Result<Vec<Stage>, CalibrateError> {
    let free =
        if settings.free.is_empty() { free_by_default(text)? } else { settings.free.clone() };
    // All must be valid, whichever stage they belong to.
    ParameterSpace::new(text, &free)?;
    let known = known_numbers(&Profile::from_toml(text)?, &Hardware::embedded()?);
    if let Some(known) = free.iter().find(|f| known.contains(&f.path.as_str())) {
        let what = "is known of this drive (reference/hardware.toml), so a fit may not choose it; \
                    to model another drive, copy the profile and change its name";
        return Err(CalibrateError::parameter(known.name(), what));
    }
    let mut stages: Vec<Stage> = Vec::new();
    for (name, heat) in [("rates", false), ("heat", true)] {
        let (mut free, mut targets) = (free.clone(), targets.to_vec());
        free.retain(|f| f.is_heat() == heat);
        targets.retain(|m| m.procedure.is_heat() == heat);
        if !free.is_empty() && !targets.is_empty() {
            stages.push(Stage { name, free, targets, evaluations: settings.evaluations });
        }
    }
    if let [rates, heat] = &mut stages[..] {
        heat.evaluations = settings.evaluations / HEAT_SHARE;
        rates.evaluations = settings.evaluations - heat.evaluations;
    }
    if stages.is_empty() {
        let why = "these figures do not depend on any free parameter of the profile; name some \
                   with --free";
        return Err(no_targets(settings, why));
    }
    Ok(stages)
}

/// The parameters of a stage that change some figure, and the figures that some parameter changes.
fn sensitive(
    text: &str,
    stage: &Stage,
    settings: &FitSettings,
) -> Result<(Vec<FreeParameter>, Vec<Measurement>), CalibrateError> {
    let space = ParameterSpace::new(text, &stage.free)?;
    let start = space.start();
    let mut points = vec![start.clone()];
    for index in 0..start.len() {
        for step in [SENSITIVITY_STEP, -SENSITIVITY_STEP] {
            let mut point = start.clone();
            point[index] = (point[index] + step).clamp(0.0, 1.0);
            points.push(point);
        }
    }
    let all = figures_at(&space, &points, &stage.targets, settings.threads);
    let Some((Some(here), moved)) = all.split_first() else {
        // The start point is no valid drive, so that nothing can be compared: keep everything.
        return Ok((stage.free.clone(), stage.targets.clone()));
    };
    // A step to an invalid profile counts as a change.
    let changes = |point: &Option<Figures>, target: usize| match point {
        Some(there) => there[target] != here[target],
        None => true,
    };
    let any_change = |point| (0..here.len()).any(|target| changes(point, target));
    let free = stage.free.iter().zip(moved.chunks(2));
    let free = free.filter(|(_, both)| both.iter().any(any_change));
    let targets = stage.targets.iter().enumerate();
    let targets = targets.filter(|&(target, _)| moved.iter().any(|point| changes(point, target)));
    Ok((
        free.map(|(free, _)| free.clone()).collect(),
        targets.map(|(_, target)| target.clone()).collect(),
    ))
}

fn loss(measurement: &Measurement, simulated: Option<f64>) -> f64 {
    let Some(simulated) = simulated else {
        return MISSING_LOSS;
    };
    let x = match measurement.tolerance {
        Tolerance::Relative(share) if simulated > 0.0 => {
            (simulated / measurement.value).ln().abs() / share
        }
        Tolerance::Relative(_) => return MISSING_LOSS,
        Tolerance::Absolute(span) => (simulated - measurement.value).abs() / span,
    };
    x + 6.0 * (x - 0.6).clamp(0.0, 1.0).powi(2)
}

fn cost(targets: &[Measurement], figures: &Figures) -> f64 {
    let losses = targets.iter().zip(figures).map(|(m, &s)| loss(m, s));
    losses.sum::<f64>() / targets.len().max(1) as f64
}

/// `None` where the profile is not valid or the drive fails.
fn figures_at(
    space: &ParameterSpace,
    points: &[Vec<f64>],
    targets: &[Measurement],
    threads: usize,
) -> Vec<Option<Figures>> {
    let candidates = points.iter().map(|point| space.profile_at(point).ok());
    simulate_valid(candidates.collect(), targets, Effort::Fit, threads)
}

fn moved(
    before: &str,
    after: &str,
    free: &[FreeParameter],
) -> Result<Vec<FittedNumber>, CalibrateError> {
    let (before, after) = (Profile::numbers(before)?, Profile::numbers(after)?);
    let value = |list: &[ProfileNumber], path: &str| {
        let number = list.iter().find(|n| n.path == path);
        number.map(|n| n.value.clone()).unwrap_or_default()
    };
    let mut out: Vec<FittedNumber> = Vec::new();
    for FreeParameter { path, .. } in free {
        if !out.iter().any(|m| m.path == *path) {
            out.push(FittedNumber {
                path: path.clone(),
                from: value(&before, path),
                to: value(&after, path),
            });
        }
    }
    Ok(out)
}

#[cfg(test)]
#[path = "../tests/unit/fit.rs"]
mod tests;
