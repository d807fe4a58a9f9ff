//! Simulated figures of measurements.
//!
//! Figures of the same run of a procedure share it (a soak gives eight, a workload gives rate and percentiles). Each run has a drive of
//! its own, so runs are spread over threads; the figures do not depend on the number of threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use assay_ssd::Profile;
use assay_units::Op;

use crate::CalibrateError;
use crate::measurement::{Measurement, Procedure, ReferenceMetric, ReferenceWorkload};
use crate::procedure::streams::ChunkTimes;
use crate::procedure::{fill, hour, soak, steady, streams};

/// Length of the simulated runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// For the candidates of a fit: enough I/Os for noise below 1 to 2 %; soaks, hours and whole-drive streams shortened.
    Fit,
    /// Eight times the I/Os, every procedure at full length: for a fit's result and the fidelity page.
    Full,
}

impl Effort {
    /// Factor on the I/Os of steady workloads.
    fn factor(self) -> u64 {
        match self {
            Effort::Fit => 1,
            Effort::Full => 8,
        }
    }

    /// Factor by which soaks are sped up.
    fn speed_up(self) -> u64 {
        match self {
            Effort::Fit => 8,
            Effort::Full => 1,
        }
    }

    /// Factor by which hours are shrunk.
    fn shrink(self) -> u32 {
        match self {
            Effort::Fit => 4,
            Effort::Full => 1,
        }
    }
}

/// A run of a procedure and its requested figures.
#[derive(Clone, Debug, PartialEq)]
enum Run {
    Steady(ReferenceWorkload, Vec<ReferenceMetric>),
    Fill,
    ZeroedRead,
    Soak,
    Sweep(Vec<u32>),
    FullStream(Op),
    Hour(u8),
}

/// Result of a run.
enum Outcome {
    Steady(Box<steady::SteadyResult>),
    Fill(Vec<f64>),
    Soak(Vec<soak::SoakSecond>),
    Sweep(ChunkTimes),
    Rate(f64),
    Hour(Vec<f64>),
}

/// The runs of some measurements, and which run gives each.
struct Plan {
    runs: Vec<Run>,
    run_of: Vec<usize>,
}

impl Plan {
    fn new(measurements: &[Measurement]) -> Plan {
        let mut runs: Vec<Run> = Vec::new();
        let mut run_of = Vec::new();
        for measurement in measurements {
            let found = runs.iter_mut().position(|run| joins(run, measurement));
            run_of.push(found.unwrap_or(runs.len()));
            if found.is_none() {
                runs.push(match measurement.procedure {
                    Procedure::Steady(workload) => Run::Steady(workload, vec![measurement.metric]),
                    Procedure::Fill(_) => Run::Fill,
                    Procedure::ZeroedRead => Run::ZeroedRead,
                    Procedure::Soak(_) => Run::Soak,
                    Procedure::Chunks { chunks, .. } => Run::Sweep(vec![chunks]),
                    Procedure::FullStream { op } => Run::FullStream(op),
                    Procedure::Hour {
                        over_provisioning_percent,
                        ..
                    } => Run::Hour(over_provisioning_percent),
                });
            }
        }
        for run in &mut runs {
            if let Run::Sweep(sizes) = run {
                sizes.sort_unstable();
            }
        }
        Plan { runs, run_of }
    }
}

/// Whether this run gives the measurement too; then its figure is added.
fn joins(run: &mut Run, measurement: &Measurement) -> bool {
    match (run, measurement.procedure) {
        (Run::Steady(workload, metrics), Procedure::Steady(wanted)) if *workload == wanted => {
            metrics.push(measurement.metric);
            true
        }
        (Run::Fill, Procedure::Fill(_))
        | (Run::ZeroedRead, Procedure::ZeroedRead)
        | (Run::Soak, Procedure::Soak(_)) => true,
        (Run::Sweep(sizes), Procedure::Chunks { chunks, .. }) => {
            if !sizes.contains(&chunks) {
                sizes.push(chunks);
            }
            true
        }
        (Run::FullStream(op), Procedure::FullStream { op: wanted }) => *op == wanted,
        (
            Run::Hour(percent),
            Procedure::Hour {
                over_provisioning_percent,
                ..
            },
        ) => *percent == over_provisioning_percent,
        _ => false,
    }
}

impl Run {
    fn execute(&self, profile: &Profile, effort: Effort) -> Result<Outcome, CalibrateError> {
        Ok(match self {
            Run::Steady(job, metrics) => Outcome::Steady(Box::new(steady::run(
                profile,
                job,
                metrics,
                effort.factor(),
            )?)),
            Run::Fill => Outcome::Fill(fill::run(profile, effort == Effort::Fit)?),
            Run::ZeroedRead => Outcome::Rate(fill::zeroed_read(profile)?),
            Run::Soak => Outcome::Soak(soak::run(profile, effort.speed_up())?),
            Run::Sweep(sizes) => Outcome::Sweep(streams::sweep(profile, sizes)?),
            Run::FullStream(op) => {
                Outcome::Rate(streams::full_stream(profile, *op, effort == Effort::Fit)?)
            }
            Run::Hour(percent) => Outcome::Hour(hour::run(profile, *percent, effort.shrink())?),
        })
    }
}

impl Outcome {
    fn figure(&self, measurement: &Measurement) -> Option<f64> {
        let value = match (self, measurement.procedure) {
            (Outcome::Steady(run), Procedure::Steady(_)) => run.figure(measurement.metric),
            (Outcome::Fill(rates), Procedure::Fill(figure)) => fill::figure(rates, figure),
            (Outcome::Soak(seconds), Procedure::Soak(figure)) => soak::figure(seconds, figure),
            (Outcome::Hour(seconds), Procedure::Hour { figure, .. }) => {
                hour::figure(seconds, figure)
            }
            (Outcome::Sweep(times), Procedure::Chunks { op, chunks }) => {
                let time = *times.get(&(op, chunks))?;
                Some(match measurement.metric {
                    ReferenceMetric::Seconds => time.as_secs_f64(),
                    _ => streams::rate(chunks, time),
                })
            }
            (Outcome::Rate(rate), _) => Some(*rate),
            _ => None,
        };
        value.filter(|value| value.is_finite())
    }
}

/// One simulated figure per measurement, in their order; `None` where the drive has no such figure.
pub type Figures = Vec<Option<f64>>;

/// The figures of one drive.
///
/// # Errors
/// When the profile cannot make a drive, or the drive fails an I/O.
pub fn simulate(
    profile: &Profile,
    measurements: &[Measurement],
    effort: Effort,
    threads: usize,
) -> Result<Figures, CalibrateError> {
    let mut all = simulate_each(std::slice::from_ref(profile), measurements, effort, threads);
    all.pop().unwrap_or_else(|| Ok(Vec::new()))
}

/// The same figures of several drives.
///
/// # Errors
/// Per drive: as [`simulate`].
pub fn simulate_each(
    profiles: &[Profile],
    measurements: &[Measurement],
    effort: Effort,
    threads: usize,
) -> Vec<Result<Figures, CalibrateError>> {
    let plan = Plan::new(measurements);
    let count = plan.runs.len();
    let tasks = profiles.len() * count;
    let next = AtomicUsize::new(0);
    let work = || {
        let mut mine = Vec::new();
        loop {
            let task = next.fetch_add(1, Ordering::Relaxed);
            if task >= tasks {
                return mine;
            }
            let profile = &profiles[task / count];
            mine.push((task, plan.runs[task % count].execute(profile, effort)));
        }
    };
    let mut outcomes = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.clamp(1, tasks.max(1)))
            .map(|_| scope.spawn(work))
            .collect();
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
    let mut outcomes = outcomes.into_iter().map(|(_, outcome)| outcome);
    profiles
        .iter()
        .map(|_| {
            let mine: Vec<_> = outcomes.by_ref().take(count).collect();
            let mine: Vec<Outcome> = mine.into_iter().collect::<Result<_, _>>()?;
            Ok(measurements
                .iter()
                .zip(&plan.run_of)
                .map(|(measurement, &run)| mine[run].figure(measurement))
                .collect())
        })
        .collect()
}
