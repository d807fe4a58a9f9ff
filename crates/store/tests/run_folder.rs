//! Creation, resumption, completion and verification of run folders.

use crate::fixtures;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use assay_store::journal::{JOURNAL_FILE, JournalWriter};
use assay_store::model::{Entry, Manifest, RunEnd};
use assay_store::read::CellState;
use assay_store::run::{CHECKSUM_FILE, MANIFEST_FILE};
use assay_store::{Destination, Run, RunWriter, StoreError};

use fixtures::SMALL;

fn under(dir: &Path) -> Destination {
    Destination::Under(dir.to_owned())
}

fn start(resumed: u32) -> Entry {
    Entry::Start { at: "2026-03-14T10:00:00Z".to_owned(), resumed }
}

#[test]
fn the_fixture_is_read_back_completely() {
    let dir = tempfile::tempdir().unwrap();
    let path = fixtures::fixture(dir.path());
    assert_eq!(path.file_name().unwrap(), fixtures::RUN_ID);
    let run = Run::open(&path).unwrap();
    assert_eq!(run.damaged_lines, Vec::<String>::new());
    assert_eq!(run.manifest, fixtures::manifest(fixtures::LARGE));
    assert_eq!(run.outcome, Some(RunEnd::Complete));
    assert_eq!(run.warnings.len(), 2);
    assert!(run.verdicts.iter().all(Option::is_some));
    assert!(run.audit.is_some() && run.has_simulated());
    let count =
        |wanted: fn(&CellState) -> bool| run.cells.iter().filter(|c| wanted(&c.state)).count();
    assert_eq!(count(|s| matches!(s, CellState::Skipped(_))), 2);
    assert_eq!(count(|s| matches!(s, CellState::Failed(_))), 1);
    assert_eq!(count(|s| *s == CellState::Finished), run.cells.len() - 3);
    for cell in run.cells.iter().filter(|c| c.state == CellState::Finished) {
        assert_eq!(cell.drives.len(), cell.plan.drives.len());
        for drive in &cell.drives {
            let result = drive.result.as_ref().unwrap();
            assert!(result.iops() > 0.0 && result.latency().p50 > 0, "{}", cell.plan.id);
            let measured = drive.series.iter().filter(|p| !p.ramp).map(|p| p.ios).sum::<u64>();
            assert_eq!(measured, result.read.ios + result.write.ios);
            assert!(drive.series.iter().any(|p| p.ramp));
            assert!(drive.series.windows(2).all(|w| w[0].start <= w[1].start));
            assert!(drive.distributions.iter().all(|(_, points)| points.len() <= 400));
        }
    }
    let aboard = run.cells.iter().find(|c| c.plan.step == "all-aboard").unwrap();
    assert_eq!((aboard.drives.len(), aboard.host.len()), (2, 5));
    assert_eq!(aboard.drives[1].telemetry.len(), 5);
}

#[test]
fn the_fixture_is_the_same_every_time() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (a, b) = (fixtures::make(a.path(), SMALL), fixtures::make(b.path(), SMALL));
    assert_eq!(fs::read(a.join(JOURNAL_FILE)).unwrap(), fs::read(b.join(JOURNAL_FILE)).unwrap());
}

/// `sha256sum -c` of a run folder.
fn sha256sum(path: &Path) -> Output {
    Command::new("sha256sum")
        .args(["--strict", "-c", CHECKSUM_FILE])
        .current_dir(path)
        .output()
        .unwrap()
}

#[test]
fn sha256sum_agrees_and_changes_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let path = fixtures::make(dir.path(), SMALL);
    let output = sha256sum(&path);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "journal.log: OK\nmanifest.json: OK\n");

    let manifest = path.join(MANIFEST_FILE);
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("16GiB", "17GiB")).unwrap();
    assert!(!sha256sum(&path).status.success());
    let noted = &Run::open(&path).unwrap().damaged_lines;
    assert!(noted.len() == 1 && noted[0].contains("not the one"), "{noted:?}");

    fs::write(&manifest, text).unwrap();
    assert!(sha256sum(&path).status.success());
    fs::remove_file(path.join(JOURNAL_FILE)).unwrap();
    assert!(!sha256sum(&path).status.success());
}

#[test]
fn folders_that_cannot_be_used_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = fixtures::manifest(SMALL);
    let explicit = dir.path().join("mine/run");
    let writer = RunWriter::create(&Destination::At(explicit.clone()), &manifest).unwrap();
    assert_eq!((writer.path.as_path(), writer.resumed), (explicit.as_path(), 0));
    let error = RunWriter::create(&Destination::At(explicit), &manifest).unwrap_err();
    assert!(matches!(error, StoreError::NotEmpty { .. }), "{error}");
    assert!(error.to_string().contains("--resume"));

    RunWriter::create(&under(dir.path()), &manifest).unwrap();
    let error = RunWriter::create(&under(dir.path()), &manifest).unwrap_err();
    assert!(matches!(error, StoreError::Exists { .. }), "{error}");

    for run_id in ["", "..", "a/b", ".hidden", "a b"] {
        let manifest = Manifest { run_id: run_id.to_owned(), ..manifest.clone() };
        let error = RunWriter::create(&under(dir.path()), &manifest).unwrap_err();
        assert!(matches!(error, StoreError::BadRunId { .. }), "{run_id:?}: {error}");
    }

    // A file in place of the folder is refused for every user.
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let error = RunWriter::create(&under(&file.join("runs")), &manifest).unwrap_err().to_string();
    assert!(error.contains("/file/runs") && error.contains("--out"), "{error}");
}

#[test]
fn a_plan_that_contradicts_itself_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let sound = fixtures::manifest(SMALL);
    let mut twice = sound.clone();
    twice.cells[1].id = twice.cells[0].id.clone();
    let mut nowhere = sound.clone();
    nowhere.cells[0].drives = vec![9];
    let mut doubled = sound.clone();
    doubled.cells[0].drives = vec![0, 0];
    let mut not_a_number = sound.clone();
    not_a_number.scale = f64::NAN;
    for (manifest, word) in
        [(twice, "planned twice"), (nowhere, "drive 9"), (doubled, "twice"), (not_a_number, "JSON")]
    {
        let error = RunWriter::create(&under(dir.path()), &manifest).unwrap_err();
        assert!(matches!(&error, StoreError::BadPlan(reason) if reason.contains(word)), "{error}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn folders_that_are_not_runs_are_refused_with_advice() {
    let dir = tempfile::tempdir().unwrap();
    for path in [dir.path().to_owned(), dir.path().join("missing")] {
        let error = Run::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::NotARun { .. }), "{error}");
        assert!(matches!(RunWriter::resume(&path), Err(StoreError::NotARun { .. })));
    }
    let path = fixtures::make(dir.path(), SMALL);
    let manifest = path.join(MANIFEST_FILE);
    let sound = fs::read_to_string(&manifest).unwrap();

    fs::write(&manifest, "{\"schema\": 2, \"everything\": \"else differs\"}").unwrap();
    let error = Run::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { found: 2, .. }), "{error}");

    fs::write(&manifest, &sound[..sound.len() / 2]).unwrap();
    let error = Run::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Manifest { .. }), "{error}");
    assert!(error.to_string().contains("journal.log are untouched"));

    fs::write(&manifest, &sound).unwrap();
    fs::remove_file(path.join(JOURNAL_FILE)).unwrap();
    let error = Run::open(&path).unwrap_err().to_string();
    assert!(error.contains("journal.log"), "{error}");
}

#[test]
fn an_interrupted_run_is_resumed_and_completed() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = fixtures::manifest(SMALL);
    let mut writer = RunWriter::create(&under(dir.path()), &manifest).unwrap();
    let entries = fixtures::entries(&manifest, SMALL);
    let (first, second) = entries.split_at(entries.len() / 2);
    writer.append_all(first).unwrap();
    let path = writer.finish(RunEnd::Interrupted, "2026-03-14T09:59:00Z").unwrap();
    assert!(!path.join(CHECKSUM_FILE).exists());
    assert_eq!(Run::open(&path).unwrap().outcome, Some(RunEnd::Interrupted));

    let (mut writer, run) = RunWriter::resume(&path).unwrap();
    assert_eq!((writer.resumed, run.outcome), (1, Some(RunEnd::Interrupted)));
    writer.append(&start(writer.resumed)).unwrap();
    assert_eq!(Run::open(&path).unwrap().outcome, None, "it is running again");
    writer.append_all(second).unwrap();
    writer.sync().unwrap();
    writer.finish(RunEnd::Complete, "2026-03-14T10:09:00Z").unwrap();
    assert!(sha256sum(&path).status.success());

    let whole = Run::open(&path).unwrap();
    assert_eq!(whole.damaged_lines, Vec::<String>::new());
    let elsewhere = tempfile::tempdir().unwrap();
    let straight = Run::open(&fixtures::make(elsewhere.path(), SMALL)).unwrap();
    assert_eq!(whole.cells, straight.cells);
    assert!(matches!(RunWriter::resume(&path), Err(StoreError::AlreadyComplete { .. })));
}

#[test]
fn missing_checksums_of_a_complete_run_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = fixtures::make(dir.path(), SMALL);
    fs::remove_file(path.join(CHECKSUM_FILE)).unwrap();
    assert!(matches!(RunWriter::resume(&path), Err(StoreError::AlreadyComplete { .. })));
    assert!(sha256sum(&path).status.success());
}

#[test]
fn two_writers_of_one_run_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let writer = RunWriter::create(&under(dir.path()), &fixtures::manifest(SMALL)).unwrap();
    let path = writer.path.clone();
    let error = RunWriter::resume(&path).unwrap_err();
    assert!(matches!(&error, StoreError::Busy(named) if *named == path), "{error}");
    // Reading needs no lock.
    Run::open(&path).unwrap();
    // flock(1) in another process uses the same lock.
    let blocked = Command::new("flock")
        .args(["-n"])
        .arg(path.join(JOURNAL_FILE))
        .arg("true")
        .status()
        .unwrap();
    assert!(!blocked.success());
    drop(writer);
    let (writer, _) = RunWriter::resume(&path).unwrap();
    drop(writer);
    let free = Command::new("flock")
        .args(["-n"])
        .arg(path.join(JOURNAL_FILE))
        .arg("true")
        .status()
        .unwrap();
    assert!(free.success());
}

#[test]
fn a_replaced_manifest_prevents_the_resume() {
    let dir = tempfile::tempdir().unwrap();
    let writer = RunWriter::create(&under(dir.path()), &fixtures::manifest(SMALL)).unwrap();
    let path = writer.path.clone();
    drop(writer);
    let manifest = path.join(MANIFEST_FILE);
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("\"seed\": 7", "\"seed\": 8")).unwrap();
    let error = RunWriter::resume(&path).unwrap_err();
    assert!(matches!(error, StoreError::Manifest { .. }), "{error}");
    fs::write(&manifest, text).unwrap();
    RunWriter::resume(&path).unwrap();
}

#[test]
fn nan_figures_keep_the_journal_valid() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = fixtures::manifest(SMALL);
    let mut writer = RunWriter::create(&under(dir.path()), &manifest).unwrap();
    let path = writer.path.clone();
    let entries = fixtures::entries(&manifest, SMALL);
    let Some(Entry::Audit(mut audit)) =
        entries.iter().find(|e| matches!(e, Entry::Audit(_))).cloned()
    else {
        panic!("the fixture has an audit");
    };
    audit.clock_ns = f64::NAN;
    let error = writer.append(&Entry::Audit(audit)).unwrap_err();
    assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");

    // A ratio to zero is left out; the rest of the result stays.
    for mut entry in entries {
        if let Entry::CellFinish { results, .. } = &mut entry {
            results[0].values.insert("ratio".to_owned(), f64::INFINITY);
            results[0].values.insert("iops_alone".to_owned(), 1.5);
        }
        writer.append(&entry).unwrap();
    }
    drop(writer);
    let run = Run::open(&path).unwrap();
    assert_eq!(run.damaged_lines, Vec::<String>::new());
    let values = &run.cells[0].drives[0].result.as_ref().unwrap().values;
    assert_eq!(
        values.iter().map(|(k, v)| (k.as_str(), *v)).collect::<Vec<_>>(),
        [("iops_alone", 1.5)]
    );
}

#[test]
fn kinds_lists_every_event() {
    let dir = tempfile::tempdir().unwrap();
    let path = fixtures::make(dir.path(), SMALL);
    let text = fs::read_to_string(path.join(JOURNAL_FILE)).unwrap();
    let mut seen: Vec<&str> = text
        .lines()
        .map(|line| line.split("\"event\":\"").nth(1).unwrap().split('"').next().unwrap())
        .collect();
    seen.sort_unstable();
    seen.dedup();
    let mut known = Entry::KINDS;
    known.sort_unstable();
    assert_eq!(seen, known);
}

/// A tiny file system, or `None` with the reason printed.
#[test]
fn a_full_disk_keeps_earlier_events() {
    let dir = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=128k", "assay-store-test"])
        .arg(dir.path())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("skipped: mounting a tmpfs needs root");
        return;
    }
    let outcome = std::panic::catch_unwind(|| fill_the_disk(dir.path()));
    assert!(Command::new("umount").arg(dir.path()).status().unwrap().success());
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}

fn fill_the_disk(dir: &Path) {
    let manifest = fixtures::manifest(SMALL);
    let mut writer = RunWriter::create(&under(dir), &manifest).unwrap();
    let path = writer.path.clone();
    let cell = manifest.cells[0].id.clone();
    let warning = |n: usize| {
        Entry::Warning(assay_store::model::Warning {
            code: "filler".to_owned(),
            cell: Some(cell.clone()),
            drive: None,
            message: format!("{n} {}", "x".repeat(700)),
            advice: String::new(),
        })
    };
    // Reserved space, freed when the disk is full.
    let ballast = dir.join("ballast");
    fs::write(&ballast, vec![1; 32 << 10]).unwrap();
    let mut written = 0;
    let error = loop {
        match writer.append(&warning(written)) {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
        assert!(written < 1000, "the disk never filled up");
    };
    let text = error.to_string();
    assert!(
        text.contains("journal.log") && text.contains("full") && text.contains("--resume"),
        "{text}"
    );
    assert!(written > 10);
    let run = Run::open(&path).unwrap();
    assert_eq!((run.warnings.len(), run.damaged_lines.len()), (written, 0));
    // Creating a run there fails with an error.
    let other = Manifest { run_id: "other".to_owned(), ..manifest.clone() };
    let error = RunWriter::create(&under(dir), &other).unwrap_err().to_string();
    assert!(error.contains("full"), "{error}");
    // The same writer continues once there is space, and so would another.
    fs::remove_file(&ballast).unwrap();
    writer.append(&warning(written)).unwrap();
    drop(writer);
    let (mut writer, run) = RunWriter::resume(&path).unwrap();
    assert_eq!((run.warnings.len(), run.damaged_lines.len()), (written + 1, 0));
    writer.append(&warning(written + 1)).unwrap();
    assert_eq!(Run::open(&path).unwrap().warnings.len(), written + 2);
}

#[test]
fn a_journal_is_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(JOURNAL_FILE);
    drop(JournalWriter::create(&path).unwrap());
    assert!(matches!(JournalWriter::create(&path), Err(StoreError::Io { .. })));
}
