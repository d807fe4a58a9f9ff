use assay_analysis::attribution::CellContext;
use assay_device::identity::DriveInfo;
use assay_io::Telemetry;
use assay_stats::{Histogram, HostLoad, Interval, OpInterval};
use assay_units::{Nanos, Op, rate};
use assay_workload::plan::Workload;

use super::EVALUATION_PERIOD;
use super::history::{Contribution, History, HistorySecond};
use super::watch::{DriveCondition, Watch};
use assay_suite::expand::{ASSUMED_BYTES_PER_S, Cell};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// No cell runs on it.
    #[default]
    Waiting,
    /// It waits because a person paused the run.
    Paused,
    /// A simulated drive's state ended with the interrupted run.
    Repeating,
    /// Idle before a cell, as the suite asks.
    Resting,
    /// A cell starts; its first interval is not over.
    Starting,
    /// The ramp: load before the measurement.
    Ramp,
    Measuring,
    /// A cell that leaves it idle.
    Idle,
    Purging,
    Inspecting,
}

impl Phase {
    /// All, in the order of the declaration.
    pub const ALL: [Phase; 10] = [
        Phase::Waiting,
        Phase::Paused,
        Phase::Repeating,
        Phase::Resting,
        Phase::Starting,
        Phase::Ramp,
        Phase::Measuring,
        Phase::Idle,
        Phase::Purging,
        Phase::Inspecting,
    ];

    pub fn text(self) -> &'static str {
        match self {
            Phase::Waiting => "waiting",
            Phase::Paused => "paused",
            Phase::Repeating => "repeating writes",
            Phase::Resting => "resting",
            Phase::Starting => "starting",
            Phase::Ramp => "ramp",
            Phase::Measuring => "measuring",
            Phase::Idle => "idle",
            Phase::Purging => "purging",
            Phase::Inspecting => "inspecting",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatencyFigures {
    pub p50: Nanos,
    pub p99: Nanos,
    pub p999: Nanos,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OpFigures {
    pub iops: f64,
    pub bytes_per_s: f64,
    /// Last interval; `None` without a completion in it.
    pub latency: Option<LatencyFigures>,
    /// Completed since the start of this attempt, ramps included.
    pub ios: u64,
    pub bytes: u64,
    pub errors: u64,
    /// Latencies recorded, and their sum, seconds.
    pub latency_count: u64,
    pub latency_sum_s: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunningCell {
    /// Its number in the plan, from 0.
    pub index: usize,
    pub id: String,
    pub step: String,
    pub title: String,
    pub at: Nanos,
    /// Planned duration; `None` if it ends with its bytes.
    pub planned: Option<Nanos>,
}

#[derive(Clone, Debug, Default)]
pub struct DriveSnapshot {
    pub label: String,
    /// Model, empty if unknown.
    pub model: String,
    pub serial: String,
    /// Firmware revision, empty if unknown.
    pub firmware: String,
    pub capacity_bytes: u64,
    pub simulated: bool,
    pub phase: Phase,
    /// The cell that runs, or the last one.
    pub cell: Option<RunningCell>,
    pub read: OpFigures,
    pub write: OpFigures,
    pub temperature_c: Option<f64>,
    pub power_mw: Option<u64>,
    /// The drive reports that it throttles, or that it does not.
    pub throttled: Option<bool>,
    /// What limits it now, if the data prove it.
    pub condition: Option<DriveCondition>,
    pub history: Vec<HistorySecond>,
    /// The drive's time in the cells of this attempt; virtual for a simulated drive.
    pub drive_time: Nanos,
    /// Virtual time over real time, for a simulated drive that has run.
    pub speed_up: Option<f64>,
}

#[derive(Debug, Default)]
struct OpState {
    figures: OpFigures,
    /// Of the last interval; kept, because a late share of it may follow.
    ios: u64,
    bytes: u64,
    latency: Histogram,
}

impl OpState {
    fn clear(&mut self) {
        (self.ios, self.bytes) = (0, 0);
        self.latency.clear();
    }

    /// Count; `shown` in the last interval too.
    fn add(&mut self, counts: &OpInterval, shown: bool) {
        if shown {
            self.ios += counts.ios;
            self.bytes += counts.bytes;
            self.latency.merge(&counts.latency);
        }
        let figures = &mut self.figures;
        figures.ios += counts.ios;
        figures.bytes += counts.bytes;
        figures.errors += counts.errors;
        figures.latency_count += counts.latency.count();
        figures.latency_sum_s += counts.latency.sum_ns() as f64 / 1e9;
    }

    fn figures(&self, span: Nanos) -> OpFigures {
        let percentile = |per_million| self.latency.percentile(per_million);
        let span_s = span.as_secs_f64();
        let per_second = |amount: u64| match span_s > 0.0 {
            true => amount as f64 / span_s,
            false => 0.0,
        };
        OpFigures {
            iops: per_second(self.ios),
            bytes_per_s: per_second(self.bytes),
            latency: (!self.latency.is_empty()).then(|| LatencyFigures {
                p50: percentile(500_000),
                p99: percentile(990_000),
                p999: percentile(999_000),
            }),
            ..self.figures
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct DriveFigures {
    identity: DriveSnapshot,
    pub(super) phase: Phase,
    pub(super) cell: Option<RunningCell>,
    /// Cells that run at the same time as this one.
    beside: u32,
    cells: u32,
    read: OpState,
    write: OpState,
    span: (Nanos, Nanos),
    cell_bytes: u64,
    telemetry: Telemetry,
    watch: Option<Watch>,
    /// What the detectors found in the last interval, and when they were asked.
    condition: Option<DriveCondition>,
    evaluated_at: Option<Nanos>,
    history: History,
    before_cell: Nanos,
    started: Option<Nanos>,
    latest: Nanos,
    /// Bytes written since its purge in this run.
    written_since_purge: Option<u64>,
}

/// Rates of shorter intervals rest on a few I/Os and are not shown.
const LEAST_SHOWN: Nanos = Nanos::from_millis(5);

impl DriveFigures {
    pub(super) fn new(label: &str, info: &DriveInfo) -> DriveFigures {
        DriveFigures {
            identity: DriveSnapshot {
                label: label.to_owned(),
                model: info.model.clone().unwrap_or_default(),
                serial: info.serial.clone(),
                firmware: info.firmware.clone().unwrap_or_default(),
                capacity_bytes: info.capacity_bytes,
                simulated: info.simulated,
                ..DriveSnapshot::default()
            },
            ..DriveFigures::default()
        }
    }

    pub(super) fn cell_started(
        &mut self,
        index: usize,
        cell: &Cell,
        workload: Option<&Workload>,
        now: Nanos,
    ) {
        self.end_of_cell(now);
        self.started.get_or_insert(now);
        let plan = &cell.plan;
        self.phase = Phase::Starting;
        self.beside = 0;
        self.cells += 1;
        self.cell = Some(RunningCell {
            index,
            id: plan.id.clone(),
            step: plan.step.clone(),
            title: plan.title.clone(),
            at: Nanos::ZERO,
            planned: workload.and_then(Workload::planned_span),
        });
        self.watch = Some(Watch::new(CellContext {
            random: plan.workload.rw.starts_with("rand"),
            capacity_bytes: self.identity.capacity_bytes,
            span_bytes: plan.workload.span_bytes,
            written_before_bytes: self.written_since_purge,
            asked_iops: (plan.workload.rate_limit_iops)
                .or((plan.workload.rate_iops > 0.0).then_some(plan.workload.rate_iops)),
            ..CellContext::default()
        }));
        (self.condition, self.evaluated_at) = (None, None);
        self.span = (Nanos::ZERO, Nanos::ZERO);
        self.read.clear();
        self.write.clear();
    }

    /// Figures are those of all; a cause is looked for in none, because the detectors know one
    /// workload.
    pub(super) fn cell_started_beside(&mut self, workload: Option<&Workload>) {
        let planned = workload.and_then(Workload::planned_span);
        self.beside += 1;
        if let Some(cell) = &mut self.cell {
            cell.title = match self.beside {
                1 => "with 1 other job".to_owned(),
                others => format!("with {others} other jobs"),
            };
            cell.planned = cell.planned.zip(planned).map(|(one, other)| one.max(other));
        }
        self.watch = None;
    }

    /// Take the cell's time over into the drive's.
    fn end_of_cell(&mut self, now: Nanos) {
        self.latest = now;
        if let Some(cell) = &mut self.cell {
            self.before_cell += cell.at;
            cell.at = Nanos::ZERO;
        }
        self.cell_bytes = 0;
    }

    pub(super) fn cell_ended(&mut self, purged: bool, now: Nanos) {
        self.latest = now;
        self.phase = Phase::Waiting;
        (self.watch, self.condition) = (None, None);
        if purged {
            self.written_since_purge = Some(0);
        }
    }

    pub(super) fn interval(&mut self, interval: &Interval, now: Nanos) {
        self.latest = now;
        self.phase = match interval.ramp {
            true => Phase::Ramp,
            false => Phase::Measuring,
        };
        let is_share = (interval.start, interval.end) == self.span;
        // Neither a late share of an earlier interval, nor the few I/Os of the drain.
        let is_first = self.span.1 == Nanos::ZERO;
        let is_long = interval.end - interval.start >= LEAST_SHOWN;
        let is_next = interval.end > self.span.1 && (is_long || is_first);
        let shown = is_share || is_next;
        if is_next {
            self.read.clear();
            self.write.clear();
            self.span = (interval.start, interval.end);
        }
        let mut contribution = Contribution {
            start: self.before_cell + interval.start,
            end: self.before_cell + interval.end,
            ios: 0,
            bytes: 0,
            p99: Nanos::ZERO,
            cell: self.cells,
        };
        for (op, counts) in &interval.ops {
            if op.counts_in_iops() {
                contribution.ios += counts.ios;
            }
            contribution.bytes += counts.bytes;
            let p99 = counts.latency.percentile(990_000);
            contribution.p99 = contribution.p99.max(p99);
            match op {
                Op::Read => self.read.add(counts, shown),
                Op::Write => self.write.add(counts, shown),
                _ => {}
            }
            if *op == Op::Write {
                let written = &mut self.written_since_purge;
                *written = written.map(|before| before.saturating_add(counts.bytes));
            }
        }
        self.cell_bytes += contribution.bytes;
        self.history.add(contribution);
        if let Some(cell) = &mut self.cell {
            cell.at = cell.at.max(interval.end);
        }
        if let Some(watch) = &mut self.watch {
            watch.interval(interval);
        }
    }

    pub(super) fn telemetry(&mut self, at: Nanos, telemetry: &Telemetry, now: Nanos) {
        self.latest = now;
        if let Some(cell) = &mut self.cell {
            cell.at = cell.at.max(at);
        }
        if let Some(watch) = &mut self.watch {
            watch.telemetry(telemetry);
        }
        self.telemetry = telemetry.clone();
    }

    pub(super) fn host(&mut self, load: HostLoad) {
        if let Some(watch) = &mut self.watch {
            watch.host(load);
        }
    }

    /// By its time if it has a runtime, else by its bytes.
    pub(super) fn done_ms(&self, weight_ms: u64) -> u64 {
        let Some(cell) = &self.cell else {
            return 0;
        };
        let within = match cell.planned {
            Some(_) => cell.at,
            None => rate::transfer_time(self.cell_bytes, ASSUMED_BYTES_PER_S),
        };
        (within.0 / 1_000_000).min(weight_ms)
    }

    /// The present cell, if its cause is to be looked for again.
    pub(super) fn watch_to_evaluate(&mut self, now: Nanos) -> Option<Watch> {
        let watch = self.watch.as_ref()?;
        let is_due = self.evaluated_at.is_none_or(|at| now - at >= EVALUATION_PERIOD);
        is_due.then(|| {
            self.evaluated_at = Some(now);
            watch.clone()
        })
    }

    pub(super) fn evaluated(&mut self, condition: Option<DriveCondition>) {
        if self.watch.is_some() {
            self.condition = condition;
        }
    }

    pub(super) fn snapshot(&self) -> DriveSnapshot {
        let span = self.span.1 - self.span.0;
        let in_cell = self.cell.as_ref().map_or(Nanos::ZERO, |cell| cell.at);
        let drive_time = self.before_cell + in_cell;
        let real_s = self.latest.as_secs_f64() - self.started.unwrap_or(self.latest).as_secs_f64();
        let ran = self.identity.simulated && real_s > 0.0 && drive_time > Nanos::ZERO;
        let reported = self.watch.as_ref().and_then(Watch::reported);
        DriveSnapshot {
            phase: self.phase,
            condition: reported.or_else(|| self.condition.clone()),
            cell: self.cell.clone(),
            read: self.read.figures(span),
            write: self.write.figures(span),
            temperature_c: self.telemetry.temperature_c,
            power_mw: self.telemetry.power_mw,
            throttled: self.telemetry.throttled,
            history: self.history.to_vec(),
            drive_time,
            speed_up: ran.then(|| drive_time.as_secs_f64() / real_s),
            ..self.identity.clone()
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/live/drive.rs"]
mod tests;
