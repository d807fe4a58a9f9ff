//! JSON documents of `assay job`, `assay run` and `assay compare` (contract: `docs/json.md`).

use assay_analysis::compare::{
    Comparisons, DriveGroup, GateOutcome, GroupComparison, Metric, MetricComparison,
    WorkloadComparison, is_at_depth_one,
};
use assay_analysis::conclusions::{self, Conclusions};
use assay_analysis::estimate::MeanEstimate;
use assay_analysis::health_trend::{self, HealthPoint, HealthTrend, TrendWarning};
use assay_analysis::trace_replay;
use assay_analysis::warnings::by_drive;
use assay_device::identity::DriveInfo;
use assay_export::table::{Table, conclusion_table, mode_table, phase_table};
use assay_stats::compare::ComparisonSettings;
use assay_stats::confidence::NoInterval;
use assay_store::Run;
use assay_store::model::{CellPlan, CellResult, DriveRecord, PREDICTIVE_LEVEL, WorkloadRecord};
use assay_store::read::{CellDrive, CellRecord};
use serde_json::{Map, Value, json};

pub fn job(run: &Run, cells: &[CellRecord], info: &DriveInfo) -> Value {
    let drives = |cell: &'_ CellRecord| -> Vec<Value> {
        let job = |drive: &CellDrive| {
            let result = drive.result.clone().unwrap_or_default();
            let mut job = json!({
                "workload": workload(&cell.plan.workload),
                "elapsed_ns": result.elapsed,
                "read": result.read,
                "write": result.write,
                "verify": result.verify,
                "values": result.values,
                "predictive": predictive(record(run, drive.drive), &cell.plan, &result),
                "host_interval": host_interval(record(run, drive.drive), &cell.plan, &result),
            });
            trace(&mut job, drive);
            other_operations(&mut job, &result);
            if let Some(plan) = &cell.plan.job {
                job["name"] = json!(plan.name);
            }
            job
        };
        cell.drives.iter().map(job).collect()
    };
    let found = conclusions::conclude_run(run);
    let [conclusions, phases, modes] = concluded(run, &found, None);
    json!({
        "conclusions": conclusions,
        "phases": phases,
        "modes": modes,
        "drive": info,
        "jobs": cells.iter().flat_map(drives).collect::<Vec<_>>(),
        "host": host(run),
        "audit": run.audit,
        "simulated": info.simulated,
        "warnings": by_drive(&run.warnings),
        "outcome": run.outcome,
    })
}

/// Figures of the whole replay and of each phase, of the cells that have one.
fn trace(object: &mut Value, drive: &CellDrive) {
    let record = drive.result.as_ref().and_then(|r| r.trace.as_deref());
    let Some((record, figures)) = record.zip(trace_replay::figures(drive)) else {
        return;
    };
    object["trace"] = json!({
        "file": record.file,
        "format": record.format,
        "timing": record.timing,
        "timed": record.timed,
        "map": record.map,
        "requests": record.requests,
        "whole": record.whole,
        "counts": record.counts,
        "lag": record.lag,
        "total": figures.total,
        "phases": figures.phases,
    });
}

/// Set for jobs that have any.
fn other_operations(object: &mut Value, result: &CellResult) {
    for (key, summary) in result.operations() {
        if object[key].is_null() && !summary.is_unused() {
            object[key] = json!(summary);
        }
    }
}

fn host(run: &Run) -> Value {
    let mut drives = run.cells.iter().flat_map(|cell| &cell.drives);
    let result = drives.find_map(|drive| drive.result.as_ref());
    let process = result.and_then(|r| r.process).unwrap_or_default();
    let host = &run.manifest.host;
    json!({
        "cpu_user_pct": process.cpu_user_pct,
        "cpu_system_pct": process.cpu_system_pct,
        "machine": result.and_then(|r| r.host),
        "kernel": host.kernel,
        "cpu_model": host.cpu_model,
        "logical_cpus": host.logical_cpus,
    })
}

/// The rows of `conclusions`, `phases` and `modes`, of one drive or of all.
fn concluded(run: &Run, found: &Conclusions, drive: Option<usize>) -> [Vec<Map<String, Value>>; 3] {
    let tables = [conclusion_table(run, found), phase_table(run, found), mode_table(run, found)];
    let is_wanted =
        |row: &Map<String, Value>| drive.is_none_or(|drive| row["drive"] == json!(drive));
    tables.map(|table: Table<'_>| {
        let mut rows: Vec<_> = table.objects().filter(is_wanted).collect();
        for row in &mut rows {
            row.remove("run_id");
        }
        rows
    })
}

/// One entry of `runs` per drive.
pub fn suite(run: &Run) -> Value {
    let found = conclusions::conclude_run(run);
    let of_drive = |(index, drive): (usize, &DriveRecord)| {
        let cells = run.cells.iter().filter(|cell| cell.plan.drives.contains(&index));
        let cell = |cell: &CellRecord| {
            let part = cell.drives.iter().find(|d| d.drive == index);
            cell_of(cell, drive, part)
        };
        let steady: Vec<_> = run.steady.iter().filter(|s| s.drive == index).collect();
        let [conclusions, phases, modes] = concluded(run, &found, Some(index));
        json!({
            "drive": drive,
            "simulated": drive.simulated,
            "cells": cells.map(cell).collect::<Vec<_>>(),
            "conclusions": conclusions,
            "phases": phases,
            "modes": modes,
            "steady": steady,
            "verdict": run.verdicts.get(index).cloned().flatten(),
        })
    };
    let drives = run.manifest.drives.iter().enumerate();
    json!({
        "suite": run.manifest.suite.name,
        "run": run.path,
        "run_id": run.manifest.run_id,
        "scale": run.manifest.scale,
        "seed": run.manifest.seed,
        "parameters": run.manifest.parameters,
        "tool": run.manifest.tool,
        "host": run.manifest.host,
        "audit": run.audit,
        "outcome": run.outcome,
        "warnings": by_drive(&run.warnings),
        "runs": drives.map(of_drive).collect::<Vec<_>>(),
    })
}

fn figures(object: &mut Value, part: &CellDrive, result: &CellResult) {
    let estimates = assay_analysis::estimate::estimate_cell(part);
    for (key, value) in [
        ("mib_per_s_ci", interval(estimates.mib_per_s)),
        ("mib_per_s_no_ci", no_interval(estimates.mib_per_s)),
        ("iops_ci", interval(estimates.iops)),
        ("iops_no_ci", no_interval(estimates.iops)),
        ("latency_mean_ns_ci", interval(estimates.latency_mean_ns)),
        ("latency_mean_ns_no_ci", no_interval(estimates.latency_mean_ns)),
        ("mib_per_s", json!(result.mib_per_s())),
        ("iops", json!(result.iops())),
        ("latency_ns", json!(result.latency())),
        ("errors", json!(result.errors())),
        ("elapsed_ns", json!(result.elapsed)),
        ("read", json!(result.read)),
        ("write", json!(result.write)),
        ("host", json!(result.host)),
        ("values", json!(result.values)),
    ] {
        object[key] = value;
    }
}

fn cell_of(cell: &CellRecord, record: &DriveRecord, drive: Option<&CellDrive>) -> Value {
    let workload = &cell.plan.workload;
    let (state, why) = cell.state.text();
    let mut object = json!({
        "id": cell.plan.id,
        "step": cell.plan.step,
        "kind": cell.plan.kind,
        "state": state,
        "drives": cell.plan.drives,
        "rw": workload.rw,
        "bs_bytes": workload.single_bs_bytes(),
        "block_sizes": workload.block_size_mix(),
        "iodepth": workload.iodepth,
        "numjobs": workload.numjobs,
        "engine": workload.engine,
        "direct": workload.known_direct(),
        "data": workload.data,
        "span_bytes": workload.span_bytes,
        "options": workload.options,
    });
    let result = drive.and_then(|part| part.result.as_ref());
    for (key, value) in [
        ("reason", json!(why)),
        ("rwmixread", json!(workload.rwmixread)),
        ("durability", json!(workload.durability)),
        ("power_state", json!(workload.power_state)),
        ("view", json!(cell.plan.view)),
        ("variant", json!(cell.plan.variant)),
        ("job", json!(cell.plan.job)),
        ("round", json!(cell.plan.round)),
        ("load", json!(cell.plan.load)),
        ("verify", json!(result.and_then(|result| result.verify.as_ref()))),
    ] {
        if !value.is_null() {
            object[key] = value;
        }
    }
    if let (Some(part), Some(result)) = (drive, result) {
        figures(&mut object, part, result);
        other_operations(&mut object, result);
        trace(&mut object, part);
        if record.simulated {
            object["predictive"] = predictive(Some(record), &cell.plan, result);
            object["host_interval"] = host_interval(Some(record), &cell.plan, result);
        }
    }
    object
}

fn record(run: &Run, drive: usize) -> Option<&DriveRecord> {
    run.manifest.drives.get(drive)
}

/// A workload in figures; of a mix of block sizes, the mix instead of one size.
fn workload(workload: &WorkloadRecord) -> Value {
    let mut object = json!(workload);
    object["bs_bytes"] = json!(workload.single_bs_bytes());
    object["block_sizes"] = json!(workload.block_size_mix());
    object
}

/// Null where there is no interval ([`DriveRecord::predictive`]).
fn predictive(record: Option<&DriveRecord>, plan: &CellPlan, result: &CellResult) -> Value {
    let [rate, percentiles] =
        record.map_or([None, None], |record| record.predictive_of(plan, result));
    let Some(rate) = rate else {
        return Value::Null;
    };
    let mut object = json!({
        "level": PREDICTIVE_LEVEL,
        "figure": rate.figure,
        "situation": rate.situation,
        "drives": rate.drives,
        "mib_per_s": rate.of_rate(result.mib_per_s()),
        "iops": rate.of_rate(result.iops()),
        "latency_mean_ns": rate.of_mean_latency(result.latency().mean),
    });
    if let Some(percentiles) = percentiles {
        object["latency_percentile_factors"] = json!([percentiles.low, percentiles.high]);
    }
    object
}

/// Null where the host did not set the rate ([`DriveRecord::host_interval`]).
fn host_interval(record: Option<&DriveRecord>, plan: &CellPlan, result: &CellResult) -> Value {
    let found = record.and_then(|record| record.host_interval(plan, result));
    let Some(([low, high], host)) = found else {
        return Value::Null;
    };
    let mean_ns = result.latency().mean;
    json!({
        "level": PREDICTIVE_LEVEL,
        "host": host.name,
        "mib_per_s": [result.mib_per_s() * low, result.mib_per_s() * high],
        "iops": [result.iops() * low, result.iops() * high],
        "latency_mean_ns": [mean_ns / high, mean_ns / low],
    })
}

/// Null where there is an interval.
fn no_interval(estimate: MeanEstimate) -> Value {
    let Err(missing) = estimate else {
        return Value::Null;
    };
    let mut object = json!({ "reason": Value::Null, "text": missing.to_string() });
    let (reason, further) = match missing.reason {
        NoInterval::NoValues => ("no_values", None),
        NoInterval::TooShort { samples } => ("too_short", Some(("samples", json!(samples)))),
        NoInterval::Dependent { memory, .. } => {
            let seconds = memory * missing.step_s;
            ("dependent", Some(("memory_s", json!(seconds))))
        }
        NoInterval::Bursts { bursts } => ("few_bursts", Some(("bursts", json!(bursts)))),
    };
    object["reason"] = json!(reason);
    if let Some((key, value)) = further {
        object[key] = value;
    }
    object
}

/// Null without an interval.
fn interval(estimate: MeanEstimate) -> Value {
    estimate.map_or(Value::Null, |e| {
        json!({
            "mean": e.mean,
            "low": e.low,
            "high": e.high,
            "level": e.level,
            "samples": e.samples,
            "effective_samples": e.effective_samples,
            "method": e.method,
        })
    })
}

/// The runs, and the comparison of each other side with the first, or of the two sides of each
/// drive.
pub fn compare(
    runs: &[Run],
    all: &Comparisons,
    terms: ComparisonSettings,
    gate: Option<&GateOutcome>,
) -> Value {
    let group = |group: &DriveGroup| {
        let member =
            |&(run, drive): &(usize, usize)| json!({ "run": runs[run].path, "drive": drive });
        let members: Vec<Value> = group.members.iter().map(member).collect();
        json!({ "name": group.name, "simulated": group.simulated, "runs": members })
    };
    let pair = |pair: &GroupComparison| {
        let (baseline, other) = (&all.groups[pair.baseline], &all.groups[pair.other]);
        let answers =
            Metric::ALL.map(|metric| (metric.key().to_owned(), json!(pair.tally(metric))));
        json!({
            "baseline": baseline.name,
            "other": other.name,
            "simulated": baseline.simulated || other.simulated,
            "typical": {
                "bandwidth_ratio": pair.typical_ratio(Metric::MibPerS, |_| true),
                "latency_ratio_at_depth_1":
                    pair.typical_ratio(Metric::LatencyMean, is_at_depth_one),
            },
            "answers": Map::from_iter(answers),
            "by_chance": pair.by_chance(),
            "notes": pair.notes,
            "workloads": pair.workloads.iter().map(matched).collect::<Vec<_>>(),
        })
    };
    json!({
        "compared": runs.iter().map(suite).collect::<Vec<_>>(),
        "groups": all.groups.iter().map(group).collect::<Vec<_>>(),
        "by": all.by,
        "level": terms.level,
        "minimum_effect": terms.minimum_effect,
        "gate": gate.map(|gate| json!({
            "failed": gate.has_failed(),
            "slower": gate.slower,
            "workloads": gate.workloads,
        })),
        "comparisons": all.pairs.iter().map(pair).collect::<Vec<_>>(),
        "health": health_trend::health_trends(runs).iter().map(health).collect::<Vec<_>>(),
    })
}

fn health(trend: &HealthTrend) -> Value {
    let point = |point: &HealthPoint| {
        let last = &point.last;
        json!({
            "run": point.run,
            "date": point.date,
            "used_pct": last.used_pct,
            "spare_pct": last.spare_pct,
            "host_bytes": last.host_bytes,
            "media_bytes": last.media_bytes,
            "media_errors": last.media_errors,
            "bad_blocks": last.bad_blocks,
            "erases": last.erases,
            "power_on_hours": last.power_on_hours,
            "write_amplification_of_life": point.amplification_of_life(),
            "write_amplification_since": point.amplification_since,
        })
    };
    let warning = |warning: &TrendWarning| {
        let (code, message) = (TrendWarning::CODE, &warning.message);
        json!({ "code": code, "message": message, "advice": warning.advice })
    };
    let day = |at_s: Option<f64>| at_s.and_then(health_trend::day);
    let projection = trend.projection.as_ref();
    json!({
        "model": trend.model,
        "serial": trend.serial,
        "runs": trend.points.iter().map(point).collect::<Vec<_>>(),
        "since": trend.since,
        "warnings": trend.warnings.iter().map(warning).collect::<Vec<_>>(),
        "projection": projection.ok().map(|found| json!({
            "pct_per_day": found.pct_per_day,
            "used_up": day(found.at_s),
            "earliest": day(found.earliest_s),
            "latest": day(found.latest_s),
        })),
        "no_projection": projection.err(),
    })
}

fn matched(matched: &WorkloadComparison) -> Value {
    let (plan, w) = (&matched.plan, &matched.plan.workload);
    let metric = |one: &MetricComparison| {
        let c = &one.comparison;
        let figures = json!({
            "baseline": one.baseline,
            "other": one.other,
            "answer": c.answer,
            "ratio": c.ratio,
            "ratio_low": c.interval.map(|i| i.0),
            "ratio_high": c.interval.map(|i| i.1),
            "effect_size": c.effect_size,
            "basis": c.basis,
            "runs": c.runs,
            "why": c.why,
        });
        (one.metric.key().to_owned(), figures)
    };
    json!({
        "step": plan.step,
        "variant": plan.variant,
        "rw": w.rw,
        "bs_bytes": w.single_bs_bytes(),
        "block_sizes": w.block_size_mix(),
        "iodepth": w.iodepth,
        "numjobs": w.numjobs,
        "data": w.data,
        "rwmixread": w.rwmixread,
        "power_state": w.power_state,
        "load_pct": plan.load.as_ref().map(|l| l.percent),
        "metrics": Map::from_iter(matched.metrics.iter().map(metric)),
    })
}
