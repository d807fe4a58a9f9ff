//! Simulated figures of measurements. Figures of the same run of a procedure share it (a soak gives
//! eight). Each run has a drive of its own, so runs are spread over threads; the figures do not
//! depend on the number of threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use assay_ssd::Profile;
use assay_units::Op;

use crate::CalibrateError;
use crate::measurement::{
    FillFigure, HourFigure, Measurement, Procedure, ReferenceMetric, SoakFigure,
};
use crate::procedure::{fill, hour, soak, steady, streams};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// For a fit: noise below 1 to 2 %; soaks, hours and whole-drive streams shortened.
    Fit,
    /// For a fit's result and the fidelity page: eight times the I/Os, full length.
    Full,
}

/// One per measurement, in their order; `None` where the drive has no such figure.
pub type Figures = Vec<Option<f64>>;

type FigureOf = Box<dyn Fn(&Measurement) -> Option<f64>>;

/// Equal for procedures whose figures one run gives.
fn shared_run(procedure: Procedure) -> Procedure {
    match procedure {
        Procedure::Fill(_) => Procedure::Fill(FillFigure::Steady),
        Procedure::Soak(_) => Procedure::Soak(SoakFigure::SettledRead),
        Procedure::Chunks { .. } => Procedure::Chunks { op: Op::Read, chunks: 0 },
        Procedure::Hour { over_provisioning_percent, .. } => {
            Procedure::Hour { over_provisioning_percent, figure: HourFigure::Mean }
        }
        other => other,
    }
}

/// The measurements of each run, by index.
fn runs(measurements: &[Measurement]) -> Vec<Vec<usize>> {
    let mut runs: Vec<(Procedure, Vec<usize>)> = Vec::new();
    for (index, measurement) in measurements.iter().enumerate() {
        let run = shared_run(measurement.procedure);
        match runs.iter_mut().find(|(other, _)| *other == run) {
            Some((_, indices)) => indices.push(index),
            None => runs.push((run, vec![index])),
        }
    }
    runs.into_iter().map(|(_, indices)| indices).collect()
}

fn run(
    profile: &Profile,
    wanted: &[&Measurement],
    effort: Effort,
) -> Result<Figures, CalibrateError> {
    let short = effort == Effort::Fit;
    let (ios_factor, soak_speed_up, hour_shrink) = if short { (1, 8, 4) } else { (8, 1, 1) };
    let figure: FigureOf = match wanted[0].procedure {
        Procedure::Steady(workload) => {
            let metrics: Vec<ReferenceMetric> = wanted.iter().map(|m| m.metric).collect();
            let result = steady::run(profile, &workload, &metrics, ios_factor)?;
            Box::new(move |m| result.figure(m.metric))
        }
        Procedure::Fill(_) => {
            let rates = fill::run(profile, short)?;
            Box::new(move |m| match m.procedure {
                Procedure::Fill(figure) => fill::figure(&rates, figure),
                _ => None,
            })
        }
        Procedure::Soak(_) => {
            let seconds = soak::run(profile, soak_speed_up)?;
            Box::new(move |m| match m.procedure {
                Procedure::Soak(figure) => soak::figure(&seconds, figure),
                _ => None,
            })
        }
        Procedure::Hour { over_provisioning_percent, .. } => {
            let seconds = hour::run(profile, over_provisioning_percent, hour_shrink)?;
            Box::new(move |m| match m.procedure {
                Procedure::Hour { figure, .. } => hour::figure(&seconds, figure),
                _ => None,
            })
        }
        Procedure::Chunks { .. } => {
            let sizes = wanted.iter().filter_map(|m| match m.procedure {
                Procedure::Chunks { chunks, .. } => Some(chunks),
                _ => None,
            });
            let times = streams::sweep(profile, &sizes.collect())?;
            Box::new(move |m| match (m.procedure, m.metric) {
                (Procedure::Chunks { op, chunks }, ReferenceMetric::Seconds) => {
                    Some(times.get(&(op, chunks))?.as_secs_f64())
                }
                (Procedure::Chunks { op, chunks }, _) => {
                    Some(streams::rate(chunks, *times.get(&(op, chunks))?))
                }
                _ => None,
            })
        }
        Procedure::ZeroedRead => {
            let rate = fill::zeroed_read(profile)?;
            Box::new(move |_| Some(rate))
        }
        Procedure::FullStream { op } => {
            let rate = streams::full_stream(profile, op, short)?;
            Box::new(move |_| Some(rate))
        }
    };
    let figures = wanted.iter().map(|m| figure(m).filter(|f| f.is_finite()));
    Ok(figures.collect())
}

/// An error when the profile cannot make a drive, or the drive fails an I/O.
pub fn simulate(
    profile: &Profile,
    measurements: &[Measurement],
    effort: Effort,
    threads: usize,
) -> Result<Figures, CalibrateError> {
    let mut all = simulate_each(std::slice::from_ref(profile), measurements, effort, threads);
    all.pop().expect("one result per profile")
}

/// `None` for invalid profiles, and where [`simulate`] fails.
pub fn simulate_valid(
    profiles: Vec<Option<Profile>>,
    measurements: &[Measurement],
    effort: Effort,
    threads: usize,
) -> Vec<Option<Figures>> {
    let valid: Vec<bool> = profiles.iter().map(Option::is_some).collect();
    let profiles: Vec<Profile> = profiles.into_iter().flatten().collect();
    let mut figures = simulate_each(&profiles, measurements, effort, threads).into_iter();
    let figures = |valid| if valid { figures.next()?.ok() } else { None };
    valid.into_iter().map(figures).collect()
}

/// The same figures of several drives, each with errors as [`simulate`].
pub fn simulate_each(
    profiles: &[Profile],
    measurements: &[Measurement],
    effort: Effort,
    threads: usize,
) -> Vec<Result<Figures, CalibrateError>> {
    let runs = runs(measurements);
    let tasks = profiles.len() * runs.len();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut mine = Vec::new();
        loop {
            let task = next.fetch_add(1, Ordering::Relaxed);
            if task >= tasks {
                return mine;
            }
            let indices = runs[task % runs.len()].iter();
            let wanted: Vec<&Measurement> = indices.map(|&index| &measurements[index]).collect();
            mine.push((task, run(&profiles[task / runs.len()], &wanted, effort)));
        }
    };
    let mut outcomes = std::thread::scope(|scope| {
        let others: Vec<_> =
            (1..threads.clamp(1, tasks.max(1))).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                // A panic is a defect of the model and not a missing figure.
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    outcomes.sort_by_key(|&(task, _)| task);
    let mut outcomes = outcomes.into_iter().map(|(_, figures)| figures);
    let drive = |_: &Profile| -> Result<Figures, CalibrateError> {
        let mine: Vec<_> = outcomes.by_ref().take(runs.len()).collect();
        let mut all: Figures = vec![None; measurements.len()];
        for (indices, figures) in runs.iter().zip(mine) {
            for (&index, figure) in indices.iter().zip(figures?) {
                all[index] = figure;
            }
        }
        Ok(all)
    };
    profiles.iter().map(drive).collect()
}
