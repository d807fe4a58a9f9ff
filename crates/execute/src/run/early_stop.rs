//! Early stop of a soak in thermal and throughput steady state or at a temperature limit, of a job
//! in fio's steady state, and of the writes that bring a drive to steady state.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_io::{Nanos, Telemetry};
use assay_stats::steady::FioFigure;
use assay_stats::{HostLoad, Interval, SteadyEvaluation};
use assay_store::model::STEADY_BYTES_PER_SECOND;
use assay_suite::expand::{Cell, StopRule};
use assay_units::rate::per_second;
use assay_workload::plan::{SteadyState, Workload};
use assay_workload::run::{DriveOutcome, RunObserver};

use super::results::{LIMIT_REACHED, SETTLED_S, STEADY_IOPS};
use super::written::{Watched, WriteCourse};

/// Why a cell stopped before its runtime.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StopReason {
    Settled,
    TemperatureLimit,
    SteadyRate,
    /// By its writes.
    Written,
}

#[derive(Clone, Debug)]
pub(super) enum StopWhen {
    Settled(StopRule),
    SteadyRate(SteadyState),
    Written(Watched),
}

impl StopWhen {
    pub(super) fn new(cell: &Cell, workloads: &[Workload]) -> Option<StopWhen> {
        let steady = workloads.iter().find_map(|workload| workload.steady_state.clone());
        let first = workloads.first();
        cell.until
            .map(StopWhen::Settled)
            .or(steady.map(StopWhen::SteadyRate))
            .or_else(|| Watched::new(cell, first?).map(StopWhen::Written))
    }

    /// What of an interval makes its rate.
    fn amount(&self, interval: &Interval) -> u64 {
        let ops = interval.ops.iter().filter(|(op, _)| op.counts_in_iops());
        match self {
            StopWhen::SteadyRate(steady) if steady.figure == FioFigure::Bandwidth => {
                ops.map(|(_, counts)| counts.bytes).sum()
            }
            StopWhen::Written(_) => ops.map(|(_, counts)| counts.bytes).sum(),
            _ => ops.map(|(_, counts)| counts.ios).sum(),
        }
    }
}

/// How a cell with a [`StopWhen`] ended.
#[derive(Debug, Default)]
pub(super) struct Stopped {
    pub(super) reason: Option<StopReason>,
    pub(super) rule: Option<SteadyState>,
    /// What the rule says of each drive at the end.
    pub(super) steady: BTreeMap<usize, SteadyEvaluation>,
    /// The writes that were watched.
    pub(super) written: Option<(Watched, BTreeMap<usize, WriteCourse>)>,
}

impl Stopped {
    /// A probe has ended and has found no steady state.
    pub(super) fn is_not_steady(&self, drive: usize) -> bool {
        self.written.as_ref().is_some_and(|(watched, courses)| {
            let course = courses.get(&drive);
            let is_probe = matches!(watched, Watched::Steadiness { .. });
            is_probe && course.is_some_and(|course| !course.has_ended(*watched))
        })
    }

    pub(super) fn values(&self, job: &DriveOutcome) -> Vec<(String, f64)> {
        let elapsed_s = job.totals.elapsed().as_secs_f64();
        let mut values = match self.reason {
            None => Vec::new(),
            Some(StopReason::TemperatureLimit) => vec![(LIMIT_REACHED, 1.0)],
            Some(StopReason::Settled | StopReason::SteadyRate) => vec![(SETTLED_S, elapsed_s)],
            Some(StopReason::Written) => Vec::new(),
        };
        if let Some((watched, courses)) = &self.written
            && let Some(course) = courses.get(&job.drive)
        {
            values.extend(course.values(*watched));
        }
        if let Some(rule) = &self.rule
            && let Some(steady) = self.steady.get(&job.drive).filter(|steady| steady.achieved)
        {
            values.push(match rule.figure {
                FioFigure::Iops => (STEADY_IOPS, steady.mean),
                FioFigure::Bandwidth => (STEADY_BYTES_PER_SECOND, steady.mean),
            });
        }
        let values = values.into_iter();
        values.map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// Rate and temperature of one drive since the ramp.
#[derive(Debug, Default)]
struct DriveSeries {
    /// End of each interval, its length, and its I/Os or bytes.
    rates: Vec<(Nanos, Nanos, u64)>,
    temperatures: Vec<(Nanos, f64)>,
    writes: WriteCourse,
}

impl DriveSeries {
    fn rate(&self, from: Nanos, to: Nanos) -> Option<f64> {
        let inside = self.rates.iter().filter(|r| r.0 > from && r.0 <= to);
        let (ios, span) = inside.fold((0, 0), |(ios, span), r| (ios + r.2, span + r.1.0));
        (span > 0).then(|| ios as f64 * 1e9 / span as f64)
    }

    fn temperature(&self, from: Nanos, to: Nanos) -> Option<f64> {
        let inside = self.temperatures.iter().filter(|t| t.0 > from && t.0 <= to);
        let (sum, count) = inside.fold((0.0, 0_u32), |(sum, count), t| (sum + t.1, count + 1));
        (count > 0).then(|| sum / f64::from(count))
    }

    fn steady_rate(&self, rule: &SteadyState) -> SteadyEvaluation {
        // The threads' shares of the latest interval may not all be here.
        let complete = self.rates.split_last().map_or(&[][..], |(_, others)| others);
        let first = complete.first().map_or(Nanos::ZERO, |&(end, span, _)| end - span);
        rule.evaluate(
            complete
                .iter()
                .map(|&(end, span, amount)| (end - span - first, per_second(amount, span))),
        )
    }

    /// Whether the last two windows agree within the rule's limits.
    fn has_settled(&self, rule: &StopRule) -> bool {
        let Some(&(now, ..)) = self.rates.last() else {
            return false;
        };
        // Two whole windows; without the product, which can overflow.
        if now.0 / 2 < rule.window.0 {
            return false;
        }
        let (middle, begin) = (now - rule.window, now - rule.window - rule.window);
        let (Some(before), Some(after)) = (self.rate(begin, middle), self.rate(middle, now)) else {
            return false;
        };
        let temperatures = self.temperature(begin, middle).zip(self.temperature(middle, now));
        // A drive without a temperature sensor is evaluated by its rate alone.
        let warmed = temperatures.map_or(0.0, |(before, after)| (after - before).abs());
        (after - before).abs() <= before.max(after) * rule.rate_pct / 100.0
            && warmed <= rule.celsius
    }
}

/// Forwards events to another observer, and sets the stop flag when the rule holds on every drive.
pub(super) struct EarlyStop<'a> {
    when: StopWhen,
    inner: &'a mut dyn RunObserver,
    /// Set by the user.
    stop: &'a AtomicBool,
    ended: &'a AtomicBool,
    drives: BTreeMap<usize, DriveSeries>,
    /// Why the cell stopped early, if it did.
    pub(super) reason: Option<StopReason>,
}

impl<'a> EarlyStop<'a> {
    pub(super) fn new(
        when: StopWhen,
        inner: &'a mut dyn RunObserver,
        stop: &'a AtomicBool,
        ended: &'a AtomicBool,
    ) -> EarlyStop<'a> {
        EarlyStop { when, inner, stop, ended, drives: BTreeMap::new(), reason: None }
    }

    /// A segment of writes goes on with what the segments before it have seen of the drive.
    pub(super) fn continue_course(&mut self, drive: usize, course: WriteCourse) {
        self.drives.entry(drive).or_default().writes = course;
    }

    pub(super) fn stopped(self) -> Stopped {
        let mut stopped = Stopped { reason: self.reason, ..Stopped::default() };
        let drives = self.drives.into_iter();
        match self.when {
            StopWhen::Settled(_) => {}
            StopWhen::SteadyRate(rule) => {
                stopped.steady =
                    drives.map(|(drive, series)| (drive, series.steady_rate(&rule))).collect();
                stopped.rule = Some(rule);
            }
            StopWhen::Written(watched) => {
                let courses = drives.map(|(drive, mut series)| {
                    // No more shares of the last interval will come.
                    if let (None, Some(&(_, span, bytes))) = (self.reason, series.rates.last()) {
                        series.writes.add(watched, bytes, span);
                    }
                    (drive, series.writes)
                });
                stopped.written = Some((watched, courses.collect()));
            }
        }
        stopped
    }

    fn end(&mut self, reason: StopReason) {
        self.reason.get_or_insert(reason);
        self.ended.store(true, Ordering::Relaxed);
    }
}

impl RunObserver for EarlyStop<'_> {
    fn read_back(&mut self, drive: usize, interval: &Interval) {
        self.inner.read_back(drive, interval);
    }

    fn interval(&mut self, drive: usize, interval: &Interval) {
        self.inner.interval(drive, interval);
        if self.stop.load(Ordering::Relaxed) {
            self.ended.store(true, Ordering::Relaxed);
        }
        if !interval.ramp {
            let amount = self.when.amount(interval);
            let series = self.drives.entry(drive).or_default();
            let mut latest = series.rates.iter_mut().rev();
            match latest.find(|(end, ..)| *end == interval.end) {
                // A late worker's share, of any earlier interval: its span counts once.
                Some((_, _, sum)) => *sum += amount,
                None => {
                    // The threads' shares of the one before are all here.
                    if let (StopWhen::Written(watched), Some(&(_, span, bytes))) =
                        (&self.when, series.rates.last())
                    {
                        series.writes.add(*watched, bytes, span);
                    }
                    let span = interval.end - interval.start;
                    series.rates.push((interval.end, span, amount));
                }
            }
        }
        let mut drives = self.drives.values();
        if drives.len() == 0 {
            return;
        }
        match &self.when {
            StopWhen::Settled(rule) if drives.all(|drive| drive.has_settled(rule)) => {
                self.end(StopReason::Settled);
            }
            StopWhen::SteadyRate(rule) if drives.all(|drive| drive.steady_rate(rule).achieved) => {
                self.end(StopReason::SteadyRate);
            }
            StopWhen::Written(watched) if drives.all(|drive| drive.writes.has_ended(*watched)) => {
                self.end(StopReason::Written);
            }
            _ => {}
        }
    }

    fn telemetry(&mut self, drive: usize, at: Nanos, telemetry: Telemetry) {
        if let StopWhen::Written(watched) = &self.when
            && let (Some(host), Some(media)) =
                (telemetry.host_bytes_written, telemetry.nand_bytes_written)
        {
            let series = self.drives.entry(drive).or_default();
            series.writes.add_counters(*watched, host, media);
        }
        if let Some(celsius) = telemetry.temperature_c {
            let series = self.drives.entry(drive).or_default();
            series.temperatures.push((at, celsius));
            if let StopWhen::Settled(rule) = &self.when
                && celsius >= rule.limit_c
            {
                self.end(StopReason::TemperatureLimit);
            }
        }
        self.inner.telemetry(drive, at, telemetry);
    }

    fn host(&mut self, index: u32, load: HostLoad) {
        self.inner.host(index, load);
    }
}

#[cfg(test)]
#[path = "../../tests/unit/run/early_stop.rs"]
mod tests;
