//! JSON documents of `assay job`, `assay run` and `assay compare` (contract: `docs/json.md`).

use assay_analysis::compare::{Metric, WorkloadComparison};
use assay_device::identity::DriveInfo;
use assay_stats::Estimate;
use assay_stats::compare::ComparisonSettings;
use assay_store::Run;
use assay_store::model::CellResult;
use assay_store::read::{CellDrive, CellRecord, CellState};
use serde_json::{Map, Value, json};

/// `assay job --json`.
pub fn job(run: &Run, info: &DriveInfo) -> Value {
    let jobs: Vec<Value> = run
        .cells
        .iter()
        .flat_map(|cell| cell.drives.iter().map(move |drive| (cell, drive)))
        .map(|(cell, drive)| {
            let empty = CellResult::default();
            let result = drive.result.as_ref().unwrap_or(&empty);
            json!({
                "workload": cell.plan.workload,
                "elapsed_ns": result.elapsed,
                "read": result.read,
                "write": result.write,
                "verify": result.verify,
                "values": result.values,
            })
        })
        .collect();
    json!({
        "drive": info,
        "jobs": jobs,
        "host": host(run),
        "audit": run.audit,
        "simulated": info.simulated,
        "warnings": run.warnings,
        "outcome": run.outcome,
    })
}

fn host(run: &Run) -> Value {
    let result = run
        .cells
        .iter()
        .flat_map(|c| &c.drives)
        .find_map(|d| d.result.as_ref());
    let process = result.and_then(|r| r.process).unwrap_or_default();
    json!({
        "cpu_user_pct": process.cpu_user_pct,
        "cpu_system_pct": process.cpu_system_pct,
        "machine": result.and_then(|r| r.host),
        "kernel": run.manifest.host.kernel,
        "cpu_model": run.manifest.host.cpu_model,
        "logical_cpus": run.manifest.host.logical_cpus,
    })
}

/// `assay run --json`: one entry of `runs` per drive.
pub fn suite(run: &Run) -> Value {
    let runs: Vec<Value> = run
        .manifest
        .drives
        .iter()
        .enumerate()
        .map(|(index, drive)| {
            let cells: Vec<Value> = run
                .cells
                .iter()
                .filter(|cell| cell.plan.drives.contains(&index))
                .map(|cell| cell_of(cell, cell.drives.iter().find(|d| d.drive == index)))
                .collect();
            let steady: Vec<_> = run.steady.iter().filter(|s| s.drive == index).collect();
            json!({
                "drive": drive,
                "simulated": drive.simulated,
                "cells": cells,
                "steady": steady,
                "verdict": run.verdicts.get(index).cloned().flatten(),
            })
        })
        .collect();
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
        "warnings": run.warnings,
        "runs": runs,
    })
}

fn cell_of(cell: &CellRecord, drive: Option<&CellDrive>) -> Value {
    let workload = &cell.plan.workload;
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("id", json!(cell.plan.id));
    put("step", json!(cell.plan.step));
    put("kind", json!(cell.plan.kind));
    let (state, why) = match &cell.state {
        CellState::Planned => ("planned", None),
        CellState::Skipped(why) => ("skipped", Some(why)),
        CellState::Unfinished => ("unfinished", None),
        CellState::Finished => ("finished", None),
        CellState::Failed(why) => ("failed", Some(why)),
    };
    put("state", json!(state));
    if let Some(why) = why {
        put("reason", json!(why));
    }
    put("drives", json!(cell.plan.drives));
    put("rw", json!(workload.rw));
    put("bs_bytes", json!(workload.bs_bytes));
    put("iodepth", json!(workload.iodepth));
    put("numjobs", json!(workload.numjobs));
    put("engine", json!(workload.engine));
    put("direct", json!(workload.direct));
    put("data", json!(workload.data));
    put("span_bytes", json!(workload.span_bytes));
    put("options", json!(workload.options));
    for (key, value) in [
        ("rwmixread", json!(workload.rwmixread)),
        ("power_state", json!(workload.power_state)),
        ("view", json!(cell.plan.view)),
        ("variant", json!(cell.plan.variant)),
        ("round", json!(cell.plan.round)),
        ("load", json!(cell.plan.load)),
    ] {
        if !value.is_null() {
            put(key, value);
        }
    }
    if let Some(part) = drive
        && let Some(result) = part.result.as_ref()
    {
        let estimates = assay_analysis::estimate::of(part);
        put("mib_per_s_ci", interval(estimates.mib_per_s));
        put("iops_ci", interval(estimates.iops));
        put("latency_mean_ns_ci", interval(estimates.latency_mean_ns));
        put("mib_per_s", json!(result.mib_per_s()));
        put("iops", json!(result.iops()));
        put("latency_ns", json!(result.latency()));
        put("errors", json!(result.errors()));
        put("elapsed_ns", json!(result.elapsed));
        put("read", json!(result.read));
        put("write", json!(result.write));
        put("host", json!(result.host));
        put("values", json!(result.values));
        if let Some(verify) = &result.verify {
            put("verify", json!(verify));
        }
    }
    Value::Object(object)
}

/// A confidence interval, or null where the series is too short for one.
fn interval(estimate: Option<Estimate>) -> Value {
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

/// `assay compare --json`: the runs, and the comparison of each other drive (or run) with the first.
pub fn compare(runs: &[Run]) -> Value {
    let terms = ComparisonSettings::default();
    let all = assay_analysis::compare::of(runs, terms);
    let groups: Vec<Value> = all
        .groups
        .iter()
        .map(|group| {
            let members: Vec<Value> = group
                .members
                .iter()
                .map(|(run, drive)| json!({ "run": runs[*run].path, "drive": drive }))
                .collect();
            json!({ "name": group.name, "simulated": group.simulated, "runs": members })
        })
        .collect();
    let pairs: Vec<Value> = all
        .pairs
        .iter()
        .map(|pair| {
            let tallies: Map<String, Value> = Metric::ALL
                .into_iter()
                .map(|metric| {
                    let t = pair.tally(metric);
                    let counts = json!({
                        "faster": t.faster,
                        "slower": t.slower,
                        "same": t.same,
                        "cannot_tell": t.cannot_tell,
                    });
                    (metric.key().to_owned(), counts)
                })
                .collect();
            json!({
                "baseline": all.groups[pair.baseline].name,
                "other": all.groups[pair.other].name,
                "simulated": all.groups[pair.baseline].simulated || all.groups[pair.other].simulated,
                "answers": tallies,
                "notes": pair.notes,
                "workloads": pair.workloads.iter().map(matched).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "compared": runs.iter().map(suite).collect::<Vec<_>>(),
        "groups": groups,
        "by": if all.one_drive { "run" } else { "drive" },
        "level": terms.level,
        "minimum_effect": terms.minimum_effect,
        "comparisons": pairs,
    })
}

/// One workload of a comparison.
fn matched(matched: &WorkloadComparison) -> Value {
    let (plan, w) = (&matched.plan, &matched.plan.workload);
    let metrics: Map<String, Value> = matched
        .metrics
        .iter()
        .map(|one| {
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
        })
        .collect();
    json!({
        "step": plan.step,
        "variant": plan.variant,
        "rw": w.rw,
        "bs_bytes": w.bs_bytes,
        "iodepth": w.iodepth,
        "numjobs": w.numjobs,
        "data": w.data,
        "rwmixread": w.rwmixread,
        "power_state": w.power_state,
        "load_pct": plan.load.as_ref().map(|l| l.percent),
        "metrics": metrics,
    })
}
