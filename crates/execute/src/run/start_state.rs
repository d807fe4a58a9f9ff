//! A drive that begins a cell hot throttles earlier than one that begins it cool, so figures of one
//! cell would depend on those before it. Reviews let a drive cool down between tests; SNIA's and
//! JEDEC's procedures ask for a drive at its operating temperature.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};

use assay_device::identity::DriveKind;
use assay_device::session::DriveSession;
use assay_io::Nanos;
use assay_stats::mean;
use assay_store::model::Warning;

use super::Executor;
use super::cell::IDLE_INTERVAL;
use super::resume::Resume;
use crate::live::{CellFlags, Phase};
use crate::warn;
use assay_suite::expand::{Cell, RunPlan, StartRule};

/// Value of a cell that begins in a state: idle time before it, seconds.
pub(super) const START_WAIT_S: &str = "start_wait_s";
/// Temperature at its start, degrees Celsius.
pub(super) const START_C: &str = "start_temperature_c";
pub(super) const RUN_START_C: &str = "run_start_temperature_c";

/// The mean of these is the present temperature: whole degrees vary by some at idle.
const RECENT: usize = 3;
/// Two windows whose means agree to [`IDLE_K`] are those of a drive that idles.
const WINDOW: usize = 30;
const IDLE_K: f64 = 0.5;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Start {
    waited: Nanos,
    celsius: Option<f64>,
    reference_c: Option<f64>,
}

#[derive(Debug, Default)]
pub(super) struct Starts {
    starts: BTreeMap<usize, Start>,
    /// Of drives that are not in the state.
    pub(super) warnings: Vec<(usize, Warning)>,
}

impl Starts {
    pub(super) fn values(&self, drive: usize) -> impl Iterator<Item = (String, f64)> + use<> {
        let start = self.starts.get(&drive).copied();
        let values = start.map(|start| {
            [
                (START_WAIT_S, Some(start.waited.as_secs_f64())),
                (START_C, start.celsius),
                (RUN_START_C, start.reference_c),
            ]
        });
        let known = |(name, value): (&str, Option<f64>)| Some((name.to_owned(), value?));
        values.into_iter().flatten().filter_map(known)
    }
}

/// A resumed run takes those of its first attempt, which its finished cells have.
pub(super) fn temperatures_at_start(
    plan: &RunPlan,
    drives: &mut [DriveSession],
    resume: &Resume,
    stop: &AtomicBool,
) -> BTreeMap<usize, f64> {
    let mut found = BTreeMap::new();
    for (drive, session) in drives.iter_mut().enumerate() {
        let of_drive = |cell: &&Cell| {
            cell.start.is_some() && cell.plan.skipped.is_none() && cell.plan.drives.contains(&drive)
        };
        if !has_sensor(session) || !plan.cells.iter().any(|cell| of_drive(&cell)) {
            continue;
        }
        let results = resume.finished.values().flatten();
        let mut earlier = results.filter(|result| result.drive == drive);
        let recorded = earlier.find_map(|result| result.values.get(RUN_START_C).copied());
        let celsius = recorded.or_else(|| match session.info().simulated {
            true => session.telemetry()?.temperature_c,
            false => {
                let mut read = None;
                session.idle_for(IDLE_INTERVAL, IDLE_INTERVAL, stop, &mut |_, telemetry| {
                    read = telemetry.temperature_c;
                });
                read
            }
        });
        found.extend(celsius.map(|celsius| (drive, celsius)));
    }
    found
}

/// A null target has no temperature, and the drive below a file is not watched.
fn has_sensor(session: &DriveSession) -> bool {
    !matches!(session.info().kind, DriveKind::Null | DriveKind::File)
}

#[derive(Debug, Default)]
struct Cooling {
    readings: VecDeque<f64>,
}

impl Cooling {
    /// A reading; returns whether the drive is in the state.
    fn reached(&mut self, celsius: f64, limit_c: f64) -> bool {
        self.readings.push_back(celsius);
        if self.readings.len() > 2 * WINDOW {
            self.readings.pop_front();
        }
        self.now().is_some_and(|now| now <= limit_c) || self.is_idle()
    }

    fn now(&self) -> Option<f64> {
        let recent: Vec<f64> = self.readings.iter().rev().take(RECENT).copied().collect();
        (!recent.is_empty()).then(|| mean(&recent))
    }

    /// It gets no cooler: the last two windows agree.
    fn is_idle(&self) -> bool {
        if self.readings.len() < 2 * WINDOW {
            return false;
        }
        let all: Vec<f64> = self.readings.iter().copied().collect();
        let (before, now) = all.split_at(WINDOW);
        mean(before) - mean(now) < IDLE_K
    }
}

impl Executor<'_, '_> {
    pub(super) fn reach_start(&mut self, cell: &Cell, flags: &CellFlags) -> Starts {
        let mut starts = Starts::default();
        let Some(rule) = cell.start else {
            return starts;
        };
        self.events.phase(&cell.plan.drives, Phase::Resting);
        for &drive in &cell.plan.drives {
            let reference_c = self.start_celsius.get(&drive).copied();
            let (start, reached) = self.cool_down(drive, rule, reference_c, flags);
            starts.starts.insert(drive, start);
            if !reached && (reference_c.is_some() || self.is_first_to_start(cell, drive)) {
                let celsius = start.celsius.zip(reference_c);
                let warning = warn::start_not_reached(celsius, rule.cool_k, start.waited);
                starts.warnings.push((drive, warning));
            }
        }
        self.events.phase(&cell.plan.drives, Phase::Starting);
        starts
    }

    /// A drive without a sensor is warned of once.
    fn is_first_to_start(&self, cell: &Cell, drive: usize) -> bool {
        let mut cells = self.plan.cells.iter();
        let first = cells.find(|c| {
            c.start.is_some() && c.plan.skipped.is_none() && c.plan.drives.contains(&drive)
        });
        first.is_some_and(|first| first.plan.id == cell.plan.id)
    }

    fn cool_down(
        &mut self,
        drive: usize,
        rule: StartRule,
        reference_c: Option<f64>,
        flags: &CellFlags,
    ) -> (Start, bool) {
        let stop = self.stop;
        let session = &mut self.drives[drive];
        let mut cooling = Cooling::default();
        let limit_c = reference_c.map(|celsius| celsius + rule.cool_k);
        // Without a timeout no state is asked for.
        let mut reached = !has_sensor(session) || rule.timeout == Nanos::ZERO;
        let ended = AtomicBool::new(false);
        // Without a sensor there is nothing to wait for but the time.
        let span = match limit_c {
            Some(_) => rule.timeout.max(rule.idle),
            None => rule.idle,
        };
        let waited = session.idle_for(span, IDLE_INTERVAL, &ended, &mut |at, telemetry| {
            flags.forward(stop);
            if let Some((celsius, limit_c)) = telemetry.temperature_c.zip(limit_c) {
                reached |= cooling.reached(celsius, limit_c);
            }
            let is_over = reached && at >= rule.idle || flags.ended.load(Ordering::Relaxed);
            ended.store(is_over, Ordering::Relaxed);
        });
        let start = Start { waited, celsius: cooling.now(), reference_c };
        (start, reached)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/run/start_state.rs"]
mod tests;
