//! Running suites given as text.
#![allow(clippy::unwrap_used, dead_code, missing_docs, reason = "each test file uses its part")]

use std::path::Path;
use std::sync::atomic::AtomicBool;

use assay_device::session::{DriveSession, SessionOptions};
use assay_device::spec::DriveSpec;
use assay_execute::drive_state_cache::DriveStateCache;
use assay_execute::events::{RunEvent, RunListener};
use assay_execute::live::Live;
use assay_execute::manifest::manifest;
use assay_execute::run::{Resume, RunSummary, Runner};
use assay_stats::HostAudit;
use assay_store::model::BuildRecord;
use assay_store::read::{CellRecord, Run};
use assay_store::{Destination, RunWriter};
use assay_suite::expand::{RunPlan, RunSettings, expand};
use assay_suite::schema::Suite;
use assay_suite::{SuiteError, catalogue};

pub fn drives(specs: &[&str]) -> Vec<DriveSession> {
    specs
        .iter()
        .map(|spec| {
            DriveSession::open(&DriveSpec::parse(spec).unwrap(), &SessionOptions::default())
                .unwrap()
        })
        .collect()
}

pub fn settings(set: &[(&str, &str)], scale: f64) -> RunSettings {
    RunSettings {
        set: set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        scale,
        seed: 1,
    }
}

pub fn plan(
    suite: &str,
    specs: &[&str],
    set: &[(&str, &str)],
    scale: f64,
) -> Result<RunPlan, SuiteError> {
    expand(&catalogue::load(suite).unwrap(), &settings(set, scale), &drives(specs))
}

/// A cell that fails, or another error, fails the test.
pub fn refuse_failure(plan: &RunPlan, event: &RunEvent<'_>) {
    match event {
        RunEvent::CellFailed { index, message } | RunEvent::DriveLost { index, message } => {
            panic!("{}: {message}", plan.cells[*index].plan.id);
        }
        RunEvent::Problem(message) => panic!("{message}"),
        _ => {}
    }
}

pub struct Quiet;

impl RunListener for Quiet {
    fn event(&mut self, plan: &RunPlan, event: &RunEvent<'_>) {
        refuse_failure(plan, event);
    }
}

/// Run a suite's text on drives into a folder.
pub fn run(text: &str, specs: &[&str]) -> (RunSummary, Run, tempfile::TempDir) {
    run_on_host(text, specs, HostAudit::default())
}

/// As [`run`], on a host with the given self-audit.
pub fn run_on_host(
    text: &str,
    specs: &[&str],
    audit: HostAudit,
) -> (RunSummary, Run, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let (summary, run) = run_in(&path, text, specs, audit, &AtomicBool::new(false), &mut Quiet);
    (summary, run, folder)
}

/// Run a suite's text on drives into this folder; resumes the run that is there.
pub fn run_in(
    path: &Path,
    text: &str,
    specs: &[&str],
    audit: HostAudit,
    stop: &AtomicBool,
    listener: &mut dyn RunListener,
) -> (RunSummary, Run) {
    run_live(path, text, specs, audit, stop, |_, run| run(listener))
}

/// As [`run_in`]; the receiver of events is made for the live figures of the run.
pub fn run_live(
    path: &Path,
    text: &str,
    specs: &[&str],
    audit: HostAudit,
    stop: &AtomicBool,
    with_listener: impl FnOnce(&Live, &mut dyn FnMut(&mut dyn RunListener) -> RunSummary) -> RunSummary,
) -> (RunSummary, Run) {
    let suite = Suite::parse("test", text).unwrap();
    let mut drives = drives(specs);
    let plan = expand(&suite, &settings(&[], 1.0), &drives).unwrap();
    let tool = BuildRecord { name: "assay".into(), version: "0".into(), commit: "test".into() };
    let (writer, resume) = if path.exists() {
        let (writer, before) = RunWriter::resume(path).unwrap();
        (writer, Resume::from_run(&before, &plan).unwrap())
    } else {
        let manifest = manifest(&plan, &drives, tool, vec![]);
        let destination = Destination::At(path.to_owned());
        let writer = RunWriter::create(&destination, &manifest).unwrap();
        (writer, Resume::default())
    };
    let live = Live::new(&plan, &drives);
    let mut once = Some((writer, &mut drives[..]));
    let ending = with_listener(&live, &mut |listener| {
        // Once.
        let (writer, drives) = once.take().unwrap();
        let runner = Runner {
            plan: &plan,
            drives,
            writer,
            audit,
            stop,
            listener,
            live: &live,
            drive_states: DriveStateCache::disabled(),
        };
        runner.run(&resume).unwrap()
    });
    (ending, Run::open(path).unwrap())
}

/// Run a built-in suite with these parameters on a drive.
pub fn run_built_in(suite: &str, set: &[(&str, &str)], spec: &str) -> (Run, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let suite = catalogue::load(suite).unwrap();
    let mut drives = drives(&[spec]);
    let plan = expand(&suite, &settings(set, 1.0), &drives).unwrap();
    let record = manifest(&plan, &drives, BuildRecord::default(), vec![]);
    let writer = RunWriter::create(&Destination::At(path.clone()), &record).unwrap();
    let live = Live::new(&plan, &drives);
    let runner = Runner {
        plan: &plan,
        drives: &mut drives,
        writer,
        audit: HostAudit::default(),
        stop: &AtomicBool::new(false),
        listener: &mut Quiet,
        live: &live,
        drive_states: DriveStateCache::disabled(),
    };
    runner.run(&Resume::default()).unwrap();
    (Run::open(&path).unwrap(), folder)
}

pub const HEAD: &str = r#"
name = "test"
title = "A test"
summary = "Tests."
source = "here"
duration = "no time"
"#;

pub fn text(rest: &str) -> String {
    format!("{HEAD}{rest}")
}

pub fn cells<'a>(run: &'a Run, step: &str) -> Vec<&'a CellRecord> {
    run.cells.iter().filter(|c| c.plan.step == step).collect()
}

pub fn value(cell: &CellRecord, name: &str) -> f64 {
    cell.drives[0].result.as_ref().unwrap().values[name]
}

pub fn iops(cell: &CellRecord) -> f64 {
    cell.drives[0].result.as_ref().unwrap().iops()
}

/// A simulated drive of half a gigabyte, with the flash and the firmware of one of 128 GB. The
/// folder holds its profile.
pub fn small_drive() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.toml");
    let mut text = include_str!("../../../../profiles/samsung-951.toml").to_owned();
    for (key, value) in [
        ("capacity_bytes      = { value = 128_035_676_160", "500_000_768"),
        ("channels                 = { value = 8", "2"),
        ("dies                     = { value = 16", "2"),
        ("pages_per_block          = { value = 256", "32"),
        ("blocks_per_plane         = { value = 1_024", "256"),
    ] {
        assert!(text.contains(key), "{key}");
        let (name, _) = key.rsplit_once(' ').unwrap();
        text = text.replace(key, &format!("{name} {value}"));
    }
    std::fs::write(&path, text).unwrap();
    let drive = format!("sim:{}", path.display());
    (folder, drive)
}
