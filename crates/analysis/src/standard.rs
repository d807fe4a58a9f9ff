//! Whether a run is the test of a standard. A suite names its standard, the parameters whose
//! defaults are the standard's values, and the required state of the write cache ([`Standard`]).
//! Everything else follows from the run: scale, purge, preconditioning, steady state of the rounds,
//! failed and skipped cells. A run in which one condition does not hold deviates from the standard,
//! and its figures are not figures of that test.

use std::collections::BTreeMap;

use assay_stats::steady::{SNIA_EXCURSION_PCT, SNIA_RANGE_PCT, SteadyRule};
use assay_store::model::{
    CellKind, NOT_NEEDED, Standard, SteadyRecord, WriteCache, warning::code::PURGE_INCOMPLETE,
};
use assay_store::read::{CellRecord, CellState, Run};
use assay_units::text::{format_size, group_digits};
use assay_units::{parse_duration, parse_size};
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Name in exports.
    pub key: &'static str,
    pub about: String,
    pub required: String,
    pub found: String,
    pub holds: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandardReport {
    pub standard: Standard,
    /// Group, name and value.
    pub setup: Vec<(&'static str, String, String)>,
    pub conditions: Vec<Condition>,
}

impl StandardReport {
    /// Those that do not hold.
    pub fn deviations(&self) -> impl Iterator<Item = &Condition> {
        self.conditions.iter().filter(|c| !c.holds)
    }

    pub fn complies(&self) -> bool {
        self.deviations().next().is_none()
    }

    /// `None` where the test has no rounds.
    pub fn is_steady(&self) -> Option<bool> {
        let mut steady = self.conditions.iter().filter(|c| is_steady_key(c.key));
        let first = steady.next()?;
        Some(first.holds && steady.all(|c| c.holds))
    }
}

fn is_steady_key(key: &str) -> bool {
    matches!(key, "steady_range" | "steady_slope" | "steady_state")
}

/// The part of a suite's text that is needed.
#[derive(Debug, Default, Deserialize)]
struct Declared {
    standard: Option<Standard>,
    #[serde(default)]
    parameters: BTreeMap<String, Parameter>,
}

#[derive(Debug, Deserialize)]
struct Parameter {
    default: String,
}

/// `None` where the suite is no test of a standard.
pub fn standard_report(run: &Run, drive: usize) -> Option<StandardReport> {
    let declared: Declared = toml::from_str(&run.manifest.suite.text).unwrap_or_default();
    let mut standard = declared.standard?;
    let mut defaults = declared.parameters;
    apply_alternative(run, &mut standard, &mut defaults);
    let mut conditions = Vec::new();
    drive_and_scale(run, drive, &standard, &mut conditions);
    parameters(run, &standard, &defaults, &mut conditions);
    preparation(run, drive, &mut conditions);
    for record in run.steady.iter().filter(|record| record.drive == drive) {
        steady_state(record, &mut conditions);
    }
    rounds_without_evaluation(run, drive, &mut conditions);
    cells(run, drive, &mut conditions);
    conditions.extend(standard.deviations.iter().map(|deviation| Condition {
        key: "procedure",
        about: "procedure".to_owned(),
        required: "as in the standard".to_owned(),
        found: deviation.clone(),
        holds: false,
    }));
    Some(StandardReport { setup: setup(run, drive), standard, conditions })
}

/// The first one whose values the run has.
fn apply_alternative(
    run: &Run,
    standard: &mut Standard,
    defaults: &mut BTreeMap<String, Parameter>,
) {
    let own = |name: &String| run.manifest.parameters.get(name);
    let has = |(name, values): (&String, &Vec<String>)| {
        own(name).is_some_and(|own| values.iter().any(|value| is_same(value, own)))
    };
    let mut alternatives = standard.alternatives.iter();
    let Some(found) = alternatives.find(|a| a.values.iter().all(has)).cloned() else {
        return;
    };
    for name in found.values.keys() {
        if let (Some(parameter), Some(own)) = (defaults.get_mut(name), own(name)) {
            parameter.default.clone_from(own);
        }
    }
    standard.test = format!("{}, {}", standard.test, found.class);
    standard.write_cache = found.write_cache;
}

fn condition(
    key: &'static str,
    about: &str,
    required: impl Into<String>,
    found: impl Into<String>,
    holds: bool,
) -> Condition {
    Condition {
        key,
        about: about.to_owned(),
        required: required.into(),
        found: found.into(),
        holds,
    }
}

fn drive_and_scale(run: &Run, drive: usize, standard: &Standard, into: &mut Vec<Condition>) {
    let record = &run.manifest.drives[drive];
    let kind = match record.simulated {
        true => "a simulated drive".to_owned(),
        false => format!("kind {}", record.kind),
    };
    let is_drive = record.kind == "block" && !record.simulated;
    into.push(condition(
        "drive",
        "device under test",
        "a drive, without a file system",
        kind,
        is_drive,
    ));
    let scale = run.manifest.scale;
    let shrunk = record.shrink();
    let found = match (scale, shrunk) {
        (_, Some(times)) => format!("divided by {times}, with the drive"),
        (1.0, None) => "as published".to_owned(),
        (scale, None) => format!("multiplied by {scale}"),
    };
    into.push(condition(
        "durations",
        "durations",
        "as published",
        found,
        scale == 1.0 && shrunk.is_none(),
    ));
    if let Some(required) = standard.write_cache {
        let (found, state) = write_cache(run, drive);
        let about = "volatile write cache";
        into.push(condition("write_cache", about, required.text(), found, state == Some(required)));
    }
}

/// The state in words, and if it is known.
fn write_cache(run: &Run, drive: usize) -> (String, Option<WriteCache>) {
    let record = &run.manifest.drives[drive];
    let probed = record.probe.iter().find(|p| p.name == "volatile write cache");
    let reported = probed.map(|p| p.value.as_str());
    let reported = reported.or_else(|| record.details.get("write cache").map(String::as_str));
    let state = match reported {
        Some("none" | "off" | "write through") => Some(WriteCache::Off),
        Some("on" | "write back") => Some(WriteCache::On),
        _ => None,
    };
    (reported.unwrap_or("not reported").to_owned(), state)
}

fn is_same(a: &str, b: &str) -> bool {
    fn equal<T: PartialEq, E>(of: fn(&str) -> Result<T, E>, a: &str, b: &str) -> bool {
        of(a).is_ok_and(|a| of(b).is_ok_and(|b| a == b))
    }
    a.trim() == b.trim() || equal(parse_duration, a, b) || equal(parse_size, a, b)
}

fn parameters(
    run: &Run,
    standard: &Standard,
    defaults: &BTreeMap<String, Parameter>,
    into: &mut Vec<Condition>,
) {
    for name in &standard.fixed {
        let (Some(default), Some(value)) = (defaults.get(name), run.manifest.parameters.get(name))
        else {
            continue;
        };
        let about = format!("parameter {name}");
        let holds = is_same(&default.default, value);
        into.push(condition("parameter", &about, &default.default, value, holds));
    }
}

/// It did what it had to do.
fn is_done(cell: &CellRecord) -> bool {
    match &cell.state {
        CellState::Finished => true,
        CellState::Skipped(why) => why.starts_with(NOT_NEEDED),
        _ => false,
    }
}

fn state_text(state: &CellState) -> String {
    match state {
        CellState::Finished => "done".to_owned(),
        CellState::Planned => "not reached".to_owned(),
        CellState::Unfinished => "interrupted".to_owned(),
        CellState::Failed(why) => format!("failed: {why}"),
        CellState::Skipped(why) => why.clone(),
    }
}

fn preparation(run: &Run, drive: usize, into: &mut Vec<Condition>) {
    let cells = run.cells.iter().filter(|c| c.plan.drives == [drive]);
    for cell in cells {
        let (key, about, required) = match cell.plan.kind {
            CellKind::Purge => ("purge", "purge", "all of the drive"),
            CellKind::Prepare => ("preconditioning", "preconditioning", "all of the active range"),
            _ => continue,
        };
        let about = match cell.plan.title.as_str() {
            "" => about,
            title => title,
        };
        let of_cell = |w: &&assay_store::model::Warning| {
            w.code == PURGE_INCOMPLETE && w.cell.as_deref() == Some(&cell.plan.id)
        };
        let (found, holds) = match run.warnings.iter().find(of_cell) {
            Some(warning) => (warning.message.clone(), false),
            None => (state_text(&cell.state), is_done(cell)),
        };
        into.push(condition(key, about, required, found, holds));
    }
}

/// The checks of SNIA's rule, each on a line of its own, as the specification reports them.
fn steady_state(record: &SteadyRecord, into: &mut Vec<Condition>) {
    let (from, to) = record.window;
    let about = |what: &str| {
        format!("{}, {}: {what} in rounds {from} to {to}", record.group, record.figure)
    };
    let percent = |value: f64| format!("{value:.1} % of the mean");
    let lines = [
        ("steady_range", "largest less smallest", SNIA_RANGE_PCT, record.range_pct),
        ("steady_slope", "change of the best-fit line", SNIA_EXCURSION_PCT, record.excursion_pct),
    ];
    for (key, what, limit, found) in lines {
        let required = format!("at most {limit:.0} % of the mean");
        into.push(condition(key, &about(what), required, percent(found), found <= limit));
    }
    let usual = SteadyRule::default().text();
    let found = match (record.achieved, &record.why) {
        (true, _) => format!("achieved after {} rounds", record.values.len()),
        (false, Some(why)) => format!("not achieved in {} rounds: {why}", record.values.len()),
        (false, None) => format!("not achieved in {} rounds", record.values.len()),
    };
    let by_other_rule = match record.rule == usual {
        true => String::new(),
        false => format!(", by another rule: {}", record.rule),
    };
    let about = format!("{}, {}: steady state", record.group, record.figure);
    let holds = record.achieved && record.rule == usual;
    into.push(condition("steady_state", &about, usual, found + &by_other_rule, holds));
}

/// Too few rounds were measured for an evaluation.
fn rounds_without_evaluation(run: &Run, drive: usize, into: &mut Vec<Condition>) {
    let mut steps: Vec<&str> = Vec::new();
    for cell in run.cells.iter().filter(|c| c.plan.drives == [drive]) {
        let step = cell.plan.step.as_str();
        let is_tracked = cell.plan.round.as_ref().is_some_and(|round| round.tracked);
        if is_tracked && !steps.contains(&step) {
            steps.push(step);
        }
    }
    for step in steps {
        if !run.steady.iter().any(|s| s.drive == drive && s.step == step) {
            let about = format!("{step}: steady state");
            let required = SteadyRule::default().text();
            into.push(condition("steady_state", &about, required, "not evaluated", false));
        }
    }
}

fn cells(run: &Run, drive: usize, into: &mut Vec<Condition>) {
    let measured = || {
        let cells = run.cells.iter().filter(|c| c.plan.drives.contains(&drive));
        cells.filter(|c| !matches!(c.plan.kind, CellKind::Purge | CellKind::Prepare))
    };
    let missing: Vec<&CellRecord> = measured().filter(|c| !is_done(c)).collect();
    let found = match missing.as_slice() {
        [] => "all".to_owned(),
        [first, ..] => format!(
            "{} missing, first {}: {}",
            missing.len(),
            first.plan.id,
            state_text(&first.state)
        ),
    };
    into.push(condition("cells", "measurements", "all", found, missing.is_empty()));
    let errors: u64 = measured()
        .filter_map(|c| c.drive(drive)?.result.as_ref())
        .map(assay_store::model::CellResult::errors)
        .sum();
    into.push(condition("errors", "failed I/Os", "none", group_digits(errors), errors == 0));
    let buffered = measured()
        .find(|c| !c.plan.workload.direct && c.drive(drive).is_some_and(|d| d.result.is_some()));
    let access = match buffered {
        None => "page cache bypassed".to_owned(),
        Some(cell) => format!("through the page cache in {}", cell.plan.id),
    };
    into.push(condition("access", "access", "page cache bypassed", access, buffered.is_none()));
    let compressible = measured().find(|c| {
        c.plan.workload.rw.contains("w")
            && c.plan.workload.data != "incompressible"
            && c.drive(drive).is_some_and(|d| d.result.is_some())
    });
    let data = match compressible {
        None => "incompressible".to_owned(),
        Some(cell) => format!("{} in {}", cell.plan.workload.data, cell.plan.id),
    };
    into.push(condition("data", "data pattern", "random", data, compressible.is_none()));
}

/// Properties in the groups of the specification's report header.
fn setup(run: &Run, drive: usize) -> Vec<(&'static str, String, String)> {
    let manifest = &run.manifest;
    let (record, host) = (&manifest.drives[drive], &manifest.host);
    let mut lines: Vec<(&'static str, String, String)> = Vec::new();
    let mut add = |group, name: &str, value: String| {
        if !value.is_empty() {
            lines.push((group, name.to_owned(), value));
        }
    };
    const ENVIRONMENT: &str = "test environment";
    add(ENVIRONMENT, "date", manifest.created.clone());
    add(ENVIRONMENT, "software", manifest.tool.to_string());
    add(ENVIRONMENT, "processor", host.cpu_model.clone());
    add(ENVIRONMENT, "memory", format_size(host.memory_bytes));
    add(ENVIRONMENT, "kernel", host.kernel.clone());
    const DEVICE: &str = "device under test";
    add(DEVICE, "model", record.model.clone());
    add(DEVICE, "serial", record.serial.clone());
    add(DEVICE, "firmware", record.firmware.clone());
    add(DEVICE, "capacity", format!("{} bytes", group_digits(record.capacity_bytes)));
    add(DEVICE, "logical block", format_size(record.logical_block_bytes.into()));
    add(DEVICE, "volatile write cache", write_cache(run, drive).0);
    const LOOP: &str = "test loop parameters";
    for (name, value) in &manifest.parameters {
        add(LOOP, name, value.clone());
    }
    lines
}

#[cfg(test)]
#[path = "../tests/unit/standard.rs"]
mod tests;
