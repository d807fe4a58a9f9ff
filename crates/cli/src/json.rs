//! The JSON documents of `assay job` and `assay run`: a contract that scripts depend on (`docs/json.md`).

use assay_measure::OpSummary;
use assay_store::Run;
use assay_store::model::CellResult;
use assay_store::read::{CellDrive, CellRecord, CellState};
use assay_target::identity::DriveInfo;
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
                "read": operation(&result.read),
                "write": operation(&result.write),
                "verify": result.verify,
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

/// Summaries serialise with the contract's names.
fn operation(summary: &OpSummary) -> Value {
    json!(summary)
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
    if let Some(result) = drive.and_then(|d| d.result.as_ref()) {
        put("mib_per_s", json!(result.mib_per_s()));
        put("iops", json!(result.iops()));
        put("latency_ns", json!(result.latency()));
        put("errors", json!(result.errors()));
        put("elapsed_ns", json!(result.elapsed));
        put("read", operation(&result.read));
        put("write", operation(&result.write));
        put("host", json!(result.host));
        put("values", json!(result.values));
        if let Some(verify) = &result.verify {
            put("verify", json!(verify));
        }
    }
    Value::Object(object)
}
