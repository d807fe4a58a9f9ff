//! `assay fleet status`.

use std::fmt::Write;
use std::path::Path;

use assay_fleet::Plan;
use assay_fleet::control::ControlState;
use assay_fleet::status::{DriveStatus, DriveTaskState, PlanStatus, status};
use assay_metrics::fleet as metrics;
use assay_store::replace::{check_replaceable, write_unflushed};
use assay_units::Nanos;
use serde_json::json;

use super::plan::{counted, span};
use super::{OpenPlan, open_plan};
use crate::args::fleet::StatusArguments;
use crate::exit::CommandOutcome;
use crate::terminal::Output;

pub fn run(arguments: &StatusArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let opened = open_plan(&arguments.file)?;
    let inventories = assay_fleet::inventory::published(opened.store.as_ref())?;
    let store = opened.store.as_ref();
    let now = status(&opened.plan, &opened.id, store, &inventories)?;
    if let Some(file) = &arguments.openmetrics {
        check_replaceable(file, metrics::HEAD)?;
        write_unflushed(file, &metrics::of_plan(&now))?;
    }
    show(&now, &opened, &arguments.file, output)
}

/// An error where run folders of finished drives are missing.
pub(super) fn show(
    now: &PlanStatus,
    opened: &OpenPlan,
    file: &Path,
    output: Output,
) -> anyhow::Result<CommandOutcome> {
    let counts = |state: DriveTaskState| {
        let name = state.text().replace(' ', "_");
        (name, now.count(state).into())
    };
    output.show(
        || text(now, &opened.plan),
        || {
            json!({
                "plan": now.plan,
                "control": now.control,
                "counts": serde_json::Map::from_iter(DriveTaskState::ALL.map(counts)),
                "drives": now.drives,
            })
        },
    )?;
    let missing: Vec<_> = now.drives.iter().flat_map(|drive| drive.missing.clone()).collect();
    super::check_missing(opened, file, &missing)?;
    Ok(CommandOutcome::Done)
}

fn text(now: &PlanStatus, plan: &Plan) -> String {
    let mut text = format!("Plan {}: ", now.plan);
    let counted_states = DriveTaskState::ALL.into_iter().filter_map(|state| {
        let count = now.count(state);
        (count > 0).then(|| format!("{count} {}", state.text()))
    });
    let all = std::iter::once(counted(now.drives.len(), "drive"));
    let counts: Vec<String> = all.chain(counted_states).collect();
    let _ = writeln!(text, "{}", counts.join(", "));
    match &now.control {
        None => text.push_str("  not submitted\n"),
        Some(control) if control.state != ControlState::Running => {
            let state = match control.state {
                ControlState::Paused => "paused",
                _ => "cancelled",
            };
            let _ = writeln!(text, "  {state} by {} at {}", control.by, control.at);
        }
        Some(_) => {}
    }
    if now.drives.is_empty() {
        return text;
    }
    let _ = writeln!(
        text,
        "\n  {:<24} {:<12} {:<16} {:>6} {:>8}  {:>9}  cell or reason",
        "serial", "state", "host", "suites", "progress", "at most"
    );
    for drive in &now.drives {
        let suites = format!("{}/{}", drive.suites_done, plan.suites.len());
        let progress = format!("{:.0} %", (drive.progress * 100.0).floor());
        let left = drive.left_ns.map_or("-".to_owned(), |left| span(Nanos(left)));
        let host = drive.host.as_ref().map_or("-", |host| host.as_str());
        let line = format!(
            "  {:<24} {:<12} {host:<16} {suites:>6} {progress:>8}  {left:>9}  {}",
            drive.serial,
            drive.state.text(),
            remark(drive),
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// The drive's cell, or why it has none.
fn remark(drive: &DriveStatus) -> String {
    let at = match (&drive.cell, &drive.suite) {
        (Some(cell), Some(suite)) => format!("{suite}: {cell}"),
        (None, Some(suite)) => suite.clone(),
        _ => String::new(),
    };
    match &drive.reason {
        Some(reason) if at.is_empty() => reason.clone(),
        Some(reason) => format!("{at}; {reason}"),
        None => at,
    }
}
