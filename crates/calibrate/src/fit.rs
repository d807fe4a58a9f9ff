//! A profile's free numbers moved until the simulated drive gives the measured figures.
//!
//! # The cost
//! The mean over the targets of a loss of `x`, the error in units of the tolerance (relative errors as logarithms, so that half and
//! twice are equally wrong): `x + 6 * clamp(x - 0.6, 0, 1)^2`. Linear, so that the median counts and one figure that the
//! model cannot meet does not spoil the others; steep about the tolerance, so that no figure is given up that can be held;
//! linear again beyond 1.6 of it.
//!
//! # Stages
//! Rates and latencies come first, with the numbers that make them; heat after that, with the numbers of heat and energy alone:
//! a soak costs a hundred times what a cell costs, and short runs do not feel its numbers.
//!
//! Before each stage every number is moved a little both ways. A number that no figure feels (a program time, where only reads were
//! measured) is left alone instead of wandering about, and figures that feel no number are left out of the cost: nothing can
//! bring them nearer, and they may be the dearest to simulate.
//!
//! # Repeating and resuming
//! A fit is a function of the profile's text, the targets, the free numbers, the seed and the number of evaluations, whatever the
//! number of threads. Its state file holds the costs of all candidates so far and is replaced whole after every generation; the
//! same fit begun again reads them instead of simulating, and so comes to the same point and goes on from there.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use assay_ssd::Profile;
use assay_units::Rng;
use sha2::{Digest, Sha256};

use crate::CalibrateError;
use crate::measurement::{Measurement, Role, Tolerance};
use crate::parameter::{FreeParameter, ParameterSpace, free_by_default};
use crate::residual::Residuals;
use crate::search::CmaEs;
use crate::simulate::{Effort, Figures, simulate, simulate_each};

/// Version of the state file.
const STATE_VERSION: u32 = 1;
/// Loss of a figure that the simulated drive does not show at all.
const NOTHING: f64 = 12.0;
/// Of the evaluations, the heat stage gets one in so many.
const HEAT_SHARE: u64 = 8;
/// How far a number is moved to see whether any figure feels it, as a share of its range.
const NUDGE: f64 = 0.08;

/// How a fit is to be done.
#[derive(Clone, Debug)]
pub struct FitSettings {
    /// Free numbers; empty: [`free_by_default`].
    pub free: Vec<FreeParameter>,
    /// Candidates to try, about: a generation is not broken off.
    pub evaluations: u64,
    /// Seed of the search.
    pub seed: u64,
    /// Threads that simulate.
    pub threads: usize,
    /// Where the state is kept; `None`: a fit that is cut off is lost.
    pub state_file: Option<PathBuf>,
    /// What the numbers are fitted to, in the words that stand beside them.
    pub label: String,
    /// Do numbers that say what they were fitted to keep their words?
    pub keep_words: bool,
}

/// What a fit tells while it goes on.
#[derive(Clone, Copy, Debug)]
pub struct FitProgress<'a> {
    /// `rates` or `heat`.
    pub stage: &'a str,
    /// Candidates tried, all stages.
    pub done: u64,
    /// Candidates to try, all stages.
    pub of: u64,
    /// Cost at the stage's start.
    pub first_cost: f64,
    /// Least cost so far.
    pub best_cost: f64,
}

/// A number that a fit moved.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedNumber {
    /// Its path.
    pub path: String,
    /// Before, as written in profiles.
    pub from: String,
    /// After.
    pub to: String,
}

/// What a fit came to.
#[derive(Clone, Debug)]
pub struct FitResult {
    /// The profile, as text.
    pub text: String,
    /// Every measurement, held-out ones included, beside what the fitted drive gives, at [`Effort::Full`]; none when stopped.
    pub residuals: Residuals,
    /// Candidates tried.
    pub evaluations: u64,
    /// Cost of each stage: its name, at its start, at its end.
    pub costs: Vec<(String, f64, f64)>,
    /// The free numbers.
    pub moved: Vec<FittedNumber>,
    /// Free numbers that ended at a bound.
    pub at_bounds: Vec<String>,
    /// Free numbers that none of the figures feels; left as they were.
    pub unfelt: Vec<String>,
    /// All evaluations done? Otherwise it was stopped, and goes on when begun again.
    pub complete: bool,
}

/// Fit a profile (its text) to measurements. `progress` is told after every generation; when `stop` is set, the fit ends after the
/// generation in hand with the best so far.
///
/// # Errors
/// When there is no target, a free number cannot move, the profile makes no drive, or the state file belongs to another fit.
pub fn fit(
    text: &str,
    measurements: &[Measurement],
    settings: &FitSettings,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(FitProgress<'_>),
) -> Result<FitResult, CalibrateError> {
    Profile::from_toml(text)?;
    let targets: Vec<Measurement> = measurements
        .iter()
        .filter(|m| m.role == Role::Target)
        .cloned()
        .collect();
    if targets.is_empty() {
        return Err(CalibrateError::NoTargets {
            what: settings.label.clone(),
            why: "every figure is held out, or there is none".to_owned(),
        });
    }
    let stages = stages(text, &targets, settings)?;
    let mut state = Log::open(settings, text, &targets, &stages)?;
    let of = stages.iter().map(|stage| stage.evaluations).sum();
    let mut text = text.to_owned();
    let before = text.clone();
    let (mut costs, mut at_bounds, mut unfelt) = (Vec::new(), Vec::new(), Vec::new());
    let (mut complete, mut done) = (true, 0);
    let mut free = Vec::new();
    for stage in &stages {
        let (felt, targets) = felt(&text, stage, settings)?;
        unfelt.extend(
            stage
                .free
                .iter()
                .filter(|f| !felt.contains(f))
                .map(FreeParameter::name),
        );
        free.extend(felt.iter().cloned());
        let space = ParameterSpace::new(&text, &felt)?;
        let name = stage.name;
        let mut search = CmaEs::new(&space.start(), Rng::stream(settings.seed, name));
        let (mut first_cost, mut tried) = (f64::NAN, 0);
        while tried < stage.evaluations {
            let points = search.ask();
            let told = match state.recall(done, points.len()) {
                Some(told) => told,
                None => {
                    let told = evaluate(&space, &points, &targets, settings.threads);
                    state.append(done, &told)?;
                    told
                }
            };
            if tried == 0 {
                first_cost = told[0];
            }
            search.tell(&told);
            tried += told.len() as u64;
            done += told.len() as u64;
            progress(FitProgress {
                stage: name,
                done,
                of,
                first_cost,
                best_cost: search.best_cost(),
            });
            if stop.load(Ordering::Relaxed) && done < of {
                complete = false;
                break;
            }
        }
        text = space.write(&text, search.best(), &settings.label, settings.keep_words)?;
        at_bounds.extend(space.at_bounds(search.best()));
        costs.push((name.to_owned(), first_cost, search.best_cost()));
        if !complete {
            break;
        }
    }
    let residuals = if complete {
        let profile = Profile::from_toml(&text)?;
        let figures = simulate(&profile, measurements, Effort::Full, settings.threads)?;
        Residuals::new(measurements, figures)
    } else {
        Residuals::default()
    };
    Ok(FitResult {
        residuals,
        moved: moved(&before, &text, &free)?,
        text,
        evaluations: done,
        costs,
        at_bounds,
        unfelt,
        complete,
    })
}

/// One search: some of the numbers against some of the targets.
struct Stage {
    name: &'static str,
    free: Vec<FreeParameter>,
    targets: Vec<Measurement>,
    evaluations: u64,
}

fn stages(
    text: &str,
    targets: &[Measurement],
    settings: &FitSettings,
) -> Result<Vec<Stage>, CalibrateError> {
    let free = if settings.free.is_empty() {
        free_by_default(text)?
    } else {
        settings.free.clone()
    };
    // All must be there, whichever stage they belong to.
    ParameterSpace::new(text, &free)?;
    let mut stages: Vec<Stage> = [("rates", false), ("heat", true)]
        .into_iter()
        .map(|(name, heat)| Stage {
            name,
            free: free
                .iter()
                .filter(|f| f.is_heat() == heat)
                .cloned()
                .collect(),
            targets: targets
                .iter()
                .filter(|m| m.procedure.is_heat() == heat)
                .cloned()
                .collect(),
            evaluations: settings.evaluations,
        })
        .filter(|stage| !stage.free.is_empty() && !stage.targets.is_empty())
        .collect();
    if let [rates, heat] = &mut stages[..] {
        heat.evaluations = settings.evaluations / HEAT_SHARE;
        rates.evaluations = settings.evaluations - heat.evaluations;
    }
    if stages.is_empty() {
        return Err(CalibrateError::NoTargets {
            what: settings.label.clone(),
            why: "no free number of the profile is felt by these figures; name some with --free"
                .to_owned(),
        });
    }
    Ok(stages)
}

/// The free numbers of a stage that some figure feels, and the figures that feel some number.
fn felt(
    text: &str,
    stage: &Stage,
    settings: &FitSettings,
) -> Result<(Vec<FreeParameter>, Vec<Measurement>), CalibrateError> {
    let space = ParameterSpace::new(text, &stage.free)?;
    let start = space.start();
    let mut points = vec![start.clone()];
    for index in 0..start.len() {
        for nudge in [NUDGE, -NUDGE] {
            let mut point = start.clone();
            point[index] = (point[index] + nudge).clamp(0.0, 1.0);
            points.push(point);
        }
    }
    let all = figures_at(&space, &points, &stage.targets, settings.threads);
    let Some((Some(here), moved)) = all.split_first() else {
        // The start is no drive: nothing is known about it, so everything stays in.
        return Ok((stage.free.clone(), stage.targets.clone()));
    };
    // Numbers that contradict the others when moved are felt, too.
    let feels = |point: &Option<Figures>, target: usize| {
        point
            .as_ref()
            .is_none_or(|there| there[target] != here[target])
    };
    let free: Vec<FreeParameter> = stage
        .free
        .iter()
        .zip(moved.chunks(2))
        .filter(|(_, both)| both.iter().any(|p| (0..here.len()).any(|t| feels(p, t))))
        .map(|(free, _)| free.clone())
        .collect();
    let targets = (0..here.len())
        .filter(|&target| moved.iter().any(|point| feels(point, target)))
        .map(|target| stage.targets[target].clone())
        .collect();
    Ok((free, targets))
}

/// The loss of one figure, see the module's head.
fn loss(measurement: &Measurement, simulated: Option<f64>) -> f64 {
    let Some(simulated) = simulated else {
        return NOTHING;
    };
    let x = match measurement.tolerance {
        Tolerance::Relative(share) if simulated > 0.0 => {
            (simulated / measurement.value).ln().abs() / share
        }
        Tolerance::Relative(_) => return NOTHING,
        Tolerance::Absolute(span) => (simulated - measurement.value).abs() / span,
    };
    x + 6.0 * (x - 0.6).clamp(0.0, 1.0).powi(2)
}

/// Mean loss.
fn cost(targets: &[Measurement], figures: &Figures) -> f64 {
    let losses = targets.iter().zip(figures).map(|(m, &s)| loss(m, s));
    losses.sum::<f64>() / targets.len().max(1) as f64
}

/// The figures at some points; `None` where the numbers contradict each other or the drive fails.
fn figures_at(
    space: &ParameterSpace,
    points: &[Vec<f64>],
    targets: &[Measurement],
    threads: usize,
) -> Vec<Option<Figures>> {
    let candidates: Vec<Option<Profile>> = points
        .iter()
        .map(|point| space.profile_at(point).ok())
        .collect();
    let good: Vec<Profile> = candidates.iter().flatten().cloned().collect();
    let mut figures = simulate_each(&good, targets, Effort::Fit, threads).into_iter();
    candidates
        .iter()
        .map(|candidate| candidate.as_ref().and_then(|_| figures.next()?.ok()))
        .collect()
}

/// The costs of some points. What is no drive costs the most.
fn evaluate(
    space: &ParameterSpace,
    points: &[Vec<f64>],
    targets: &[Measurement],
    threads: usize,
) -> Vec<f64> {
    figures_at(space, points, targets, threads)
        .iter()
        .map(|figures| {
            figures
                .as_ref()
                .map_or(2.0 * NOTHING, |figures| cost(targets, figures))
        })
        .collect()
}

fn moved(
    before: &str,
    after: &str,
    free: &[FreeParameter],
) -> Result<Vec<FittedNumber>, CalibrateError> {
    let (before, after) = (Profile::numbers(before)?, Profile::numbers(after)?);
    let mut out: Vec<FittedNumber> = Vec::new();
    for free in free {
        let value = |list: &[assay_ssd::profile::ProfileNumber]| {
            list.iter()
                .find(|n| n.path == free.path)
                .map(|n| n.value.clone())
                .unwrap_or_default()
        };
        if !out.iter().any(|m| m.path == free.path) {
            out.push(FittedNumber {
                path: free.path.clone(),
                from: value(&before),
                to: value(&after),
            });
        }
    }
    Ok(out)
}

/// The costs so far, on a file.
struct Log {
    path: Option<PathBuf>,
    fit: String,
    costs: Vec<f64>,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct LogFile {
    version: u32,
    /// Which fit: a hash of everything that it depends on.
    fit: String,
    /// The bits of each cost: a figure read back must be the one written.
    costs: Vec<u64>,
}

impl Log {
    fn open(
        settings: &FitSettings,
        text: &str,
        targets: &[Measurement],
        stages: &[Stage],
    ) -> Result<Log, CalibrateError> {
        let mut hash = Sha256::new();
        hash.update(text);
        for target in targets {
            hash.update(format!("{target:?}"));
        }
        for stage in stages {
            hash.update(format!(
                "{} {} {:?}",
                stage.name, stage.evaluations, stage.free
            ));
        }
        hash.update(format!("{} {}", settings.seed, env!("CARGO_PKG_VERSION")));
        let fit: String = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
        let path = settings.state_file.clone();
        let costs = match &path {
            None => Vec::new(),
            Some(path) => read(path, &fit)?,
        };
        Ok(Log { path, fit, costs })
    }

    /// The costs of a generation that was done before.
    fn recall(&self, from: u64, count: usize) -> Option<Vec<f64>> {
        let from = usize::try_from(from).ok()?;
        Some(self.costs.get(from..from + count)?.to_vec())
    }

    fn append(&mut self, from: u64, costs: &[f64]) -> Result<(), CalibrateError> {
        // What is left of a generation that was written by another number of candidates cannot be used.
        self.costs
            .truncate(usize::try_from(from).unwrap_or(usize::MAX));
        self.costs.extend(costs);
        let Some(path) = &self.path else {
            return Ok(());
        };
        let file = LogFile {
            version: STATE_VERSION,
            fit: self.fit.clone(),
            costs: self.costs.iter().map(|c| c.to_bits()).collect(),
        };
        let error = |source| CalibrateError::File {
            path: path.clone(),
            source,
        };
        let text = serde_json::to_string(&file).map_err(|e| error(e.into()))?;
        let mut beside = path.clone().into_os_string();
        beside.push(".new");
        std::fs::write(&beside, text).map_err(error)?;
        std::fs::rename(&beside, path).map_err(error)
    }
}

fn read(path: &Path, fit: &str) -> Result<Vec<f64>, CalibrateError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => {
            return Err(CalibrateError::File {
                path: path.to_owned(),
                source,
            });
        }
    };
    match serde_json::from_str::<LogFile>(&text) {
        Ok(file) if file.version == STATE_VERSION && file.fit == fit => {
            Ok(file.costs.into_iter().map(f64::from_bits).collect())
        }
        _ => Err(CalibrateError::OtherFit {
            path: path.to_owned(),
        }),
    }
}

#[cfg(test)]
#[path = "../tests/unit/fit.rs"]
mod tests;
