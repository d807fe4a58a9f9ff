//! Conclusions about a drive in a step or in the whole run.

use assay_stats::confidence::Estimate;
use assay_store::model::{CellPlan, ReasonWeight, SteadyRecord, TelemetryRecord, VerdictResult};
use assay_store::read::Run;

use super::cells::{self, AmplificationNames};
use super::{Conclusion, Rows};
use crate::knee::{CurveKnee, SweepKnee};
use crate::{attribution, endurance, estimate, knee, left_state};

pub(super) fn add_conclusions(run: &Run, drive: usize, into: &mut Vec<Conclusion>) {
    let mut steps: Vec<&str> = run.cells.iter().map(|cell| cell.plan.step.as_str()).collect();
    let mut seen = std::collections::BTreeSet::new();
    steps.retain(|step| seen.insert(*step));
    for step in steps {
        for sweep in knee::of_step(run, step, drive) {
            depth(run, drive, sweep, into);
        }
        for curve in knee::of_load(run, step, drive) {
            load(run, drive, curve, into);
        }
    }
    rounds(run, drive, into);
    left_states(run, drive, into);
    standard(run, drive, into);
    steps_endurance(run, drive, into);
    wear(run, drive, into);
    causes(run, drive, into);
    verdict(run, drive, into);
}

fn about(drive: usize, kind: &'static str) -> Conclusion {
    Conclusion { drive, kind, ..Conclusion::default() }
}

fn at_knee(run: &Run, drive: usize, cell: usize) -> Conclusion {
    let plan = &run.cells[cell].plan;
    Conclusion {
        cell: Some(plan.id.clone()),
        step: Some(plan.step.clone()),
        ..about(drive, "knee")
    }
}

fn depth(run: &Run, drive: usize, sweep: SweepKnee, into: &mut Vec<Conclusion>) {
    let mut rows = Rows { about: at_knee(run, drive, sweep.cell), into };
    let knee = sweep.knee;
    let rising = knee.still_rising.then(|| "still rising at the deepest point".to_owned());
    rows.add_with("depth", "", f64::from(knee.depth), None, rising);
    let estimates = run.cells[sweep.cell].drive(drive).map(estimate::estimate_cell);
    let ends = |e: Estimate| (e.low, e.high);
    let interval = estimates.and_then(|estimates| estimates.iops.ok()).map(ends);
    rows.add_with("rate", "IOPS", knee.rate, interval, None);
    rows.add("best_depth", "", f64::from(knee.best_depth));
    rows.add("best_rate", "IOPS", knee.best);
}

fn load(run: &Run, drive: usize, curve: CurveKnee, into: &mut Vec<Conclusion>) {
    let mut rows = Rows { about: at_knee(run, drive, curve.cell), into };
    let knee = curve.knee;
    let percent = run.cells[curve.cell].plan.load.as_ref().map(|load| load.percent);
    rows.add("load", "%", percent);
    rows.add("offered", "IOPS", knee.offered);
    rows.add("latency_mean", "ns", knee.latency_ns);
    rows.add("unloaded_latency_mean", "ns", knee.unloaded_ns);
    rows.add("beyond", "IOPS", knee.beyond);
}

fn rounds(run: &Run, drive: usize, into: &mut Vec<Conclusion>) {
    for record in run.steady.iter().filter(|record| record.drive == drive) {
        let mut rows = Rows {
            about: Conclusion {
                cell: Some(record.group.clone()),
                step: Some(record.step.clone()),
                ..about(drive, "steady_state")
            },
            into,
        };
        let achieved = f64::from(u8::from(record.achieved));
        rows.add_with("achieved", "", achieved, None, record.why.clone());
        rows.say("rule", &record.rule);
        let mean = tracked_mean(run, record);
        let figure = Some(record.figure.clone());
        rows.add_with("mean", mean.unit, mean.value, mean.interval, figure);
        rows.add("range", "%", record.range_pct);
        rows.add("excursion", "%", record.excursion_pct);
        rows.add("first_round", "", f64::from(record.window.0));
        rows.add("last_round", "", f64::from(record.window.1));
    }
}

fn left_states(run: &Run, drive: usize, into: &mut Vec<Conclusion>) {
    for left in left_state::of_drive(run, drive) {
        let mut rows = Rows {
            about: Conclusion {
                cell: Some(left.cell),
                step: Some(left.step),
                ..about(drive, "steady_state")
            },
            into,
        };
        rows.add_with("left_at", "%", left.at_pct, None, Some(left.text));
    }
}

fn standard(run: &Run, drive: usize, into: &mut Vec<Conclusion>) {
    let Some(report) = crate::standard::standard_report(run, drive) else {
        return;
    };
    let mut rows = Rows { about: about(drive, "standard"), into };
    let flag = |holds: bool| f64::from(u8::from(holds));
    let name = format!("{}, {}", report.standard.name, report.standard.test);
    rows.add_with("complies", "", flag(report.complies()), None, Some(name));
    for condition in &report.conditions {
        let text =
            format!("{}: {}; required: {}", condition.about, condition.found, condition.required);
        rows.add_with(condition.key, "", flag(condition.holds), None, Some(text));
    }
}

struct TrackedMean {
    value: f64,
    unit: &'static str,
    /// Computed from the consecutive seconds of the rounds.
    interval: Option<(f64, f64)>,
}

fn tracked_mean(run: &Run, record: &SteadyRecord) -> TrackedMean {
    let (first, last) = record.window;
    let is_tracked = |plan: &CellPlan| {
        let round = plan.round.as_ref();
        // A name can begin with another's.
        let rest = plan.id.strip_prefix(record.group.as_str());
        let own = rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()));
        own && round.is_some_and(|r| r.tracked && (first..=last).contains(&r.number))
    };
    let cells = run.cells.iter().filter(|cell| is_tracked(&cell.plan));
    let estimates = estimate::of_several(cells.filter_map(|cell| cell.drive(record.drive)));
    // Latencies are tracked in microseconds.
    let (unit, estimate, scale) = match record.figure.as_str() {
        "IOPS" => ("IOPS", estimates.iops, 1.0),
        "MiB/s" => ("MiB/s", estimates.mib_per_s, 1.0),
        _ => ("ns", estimates.latency_mean_ns, 1e3),
    };
    TrackedMean {
        value: record.mean * scale,
        unit,
        interval: estimate.ok().map(|e| (e.low, e.high)),
    }
}

/// Rounds in steady state have conclusions about their window too (`window_...`).
fn steps_endurance(run: &Run, drive: usize, into: &mut Vec<Conclusion>) {
    for found in endurance::of_steps(run, drive) {
        let names = match found.window {
            Some(_) => &AmplificationNames::OF_WINDOW,
            None => &AmplificationNames::OF_CELLS,
        };
        let mut rows = Rows {
            about: Conclusion { step: Some(found.step), ..about(drive, "endurance") },
            into,
        };
        let source = cells::counter_source(run, drive);
        cells::amplification(&found.amplification, names, source, &mut rows);
        if let Some(rated) = found.rated {
            let source = Some(rated.source.name().to_owned());
            rows.add_with(names.rated, "B", rated.host_bytes, None, source);
            rows.add(names.left, "B", rated.left_bytes);
            rows.add(names.per_day, "", rated.drive_writes_per_day);
        }
    }
}

/// Wear at the first and the last reading of the run.
fn wear(run: &Run, drive: usize, into: &mut Vec<Conclusion>) {
    let cells = run.cells.iter().filter_map(|cell| cell.drive(drive));
    let readings: Vec<&TelemetryRecord> = cells.flat_map(|part| &part.telemetry).collect();
    let mut rows = Rows { about: about(drive, "endurance"), into };
    type Counter = fn(&TelemetryRecord) -> Option<u64>;
    let counters: [(&'static str, &'static str, &'static str, Counter); 6] = [
        ("used_before", "used_after", "%", |r| r.percentage_used.map(u64::from)),
        ("spare_before", "spare_after", "%", |r| r.available_spare_pct.map(u64::from)),
        ("least_erases_before", "least_erases_after", "", |r| r.erases_least),
        ("most_erases_before", "most_erases_after", "", |r| r.erases_most),
        ("mean_erases_before", "mean_erases_after", "", |r| r.erases_mean),
        ("bad_blocks_before", "bad_blocks_after", "", |r| r.bad_blocks),
    ];
    for (before, after, unit, of) in counters {
        let mut values = readings.iter().filter_map(|r| of(r)).map(|n| n as f64);
        let first = values.next();
        rows.add(before, unit, first);
        rows.add(after, unit, values.next_back().or(first));
    }
}

fn causes(run: &Run, drive: usize, into: &mut Vec<Conclusion>) {
    let found = attribution::summary(run, drive);
    let mut rows = Rows { about: about(drive, "causes"), into };
    let bytes = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64);
    rows.add("slc_cache", "B", bytes(found.slc_cache_bytes));
    rows.add("rate_in_cache", "MiB/s", found.rate_in_cache_mib_per_s);
    rows.add("rate_after_cache", "MiB/s", found.rate_after_cache_mib_per_s);
    rows.add("collection_after", "B", bytes(found.gc_after_bytes));
    rows.add("collection_steady", "IOPS", found.gc_steady_iops);
    rows.add("write_amplification", "", found.write_amplification);
    rows.add("throttle_onset_temperature", "C", found.throttle_onset_c);
    rows.add("throttle_onset", "s", found.throttle_onset_s);
    rows.add("throttle_slow_share", "%", found.throttle_duty_pct);
    rows.add("throttle_period", "s", found.throttle_period_s);
    rows.add("rate_before_throttle", "MiB/s", found.rate_before_throttle_mib_per_s);
    rows.add("rate_throttled", "MiB/s", found.rate_throttled_mib_per_s);
    // What limited imported results is in no file, but for a rate that the job limits.
    let of_own = |cells: u32| run.manifest.imported.is_none().then(|| f64::from(cells));
    rows.add("host_limited_cells", "", of_own(found.host_limited_cells));
    rows.add("rate_limited_cells", "", f64::from(found.rate_limited_cells));
    rows.add("power_limited_cells", "", of_own(found.power_limited_cells));
    rows.add("unexplained_cells", "", f64::from(found.unexplained_cells));
}

fn verdict(run: &Run, drive: usize, into: &mut Vec<Conclusion>) {
    let Some(verdict) = run.verdicts.get(drive).and_then(Option::as_ref) else {
        return;
    };
    let mut rows = Rows { about: about(drive, "verdict"), into };
    let result = match verdict.result {
        VerdictResult::Recommended => "recommended",
        VerdictResult::Conditionally => "conditionally",
        VerdictResult::NotRecommended => "not_recommended",
        VerdictResult::Undecided => "undecided",
    };
    rows.say("result", result);
    for reason in &verdict.reasons {
        let name = match reason.weight {
            ReasonWeight::For => "for",
            ReasonWeight::Caution => "caution",
            ReasonWeight::Against => "against",
            ReasonWeight::Missing => "missing",
        };
        rows.say(name, &reason.text);
    }
}
