//! Open Compute's output: every line is valid by the specification, whatever the run folder holds.

use crate::fixtures;
#[path = "ocp/specification.rs"]
mod specification;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assay_export::ocp::{Follower, LimitedFigure, export_ocp};
use assay_export::{ExportFormat, export};
use assay_store::model::{Entry, Manifest, RunEnd};
use assay_store::{Destination, Run, RunWriter};
use proptest::prelude::*;
use serde_json::Value;

use fixtures::{LARGE, SMALL, Size};
use specification::check;

/// Seconds enough for series.
const SOAK: Size = Size { soak_intervals: 12, ..SMALL };

fn figures(drive: usize) -> Vec<LimitedFigure> {
    let figure = |name: &str, lower_is_better| LimitedFigure {
        name: name.to_owned(),
        value: 2100.5 + drive as f64,
        unit: "MiB/s",
        limit: 1500.0,
        lower_is_better,
    };
    vec![figure("Sequential read", false), figure("Tail", true)]
}

fn ocp(folder: &Path) -> String {
    let mut out = Vec::new();
    export_ocp(folder, &figures, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Values at a path of all lines that have it.
fn all(text: &str, pointer: &str) -> Vec<Value> {
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter_map(|line| line.pointer(pointer).cloned()).collect()
}

#[test]
fn a_run_has_its_drives_cells_figures_limits_and_verdicts() {
    let dir = tempfile::tempdir().unwrap();
    let folder = fixtures::make(dir.path(), SOAK);
    let text = ocp(&folder);
    assert!(check(&text), "a complete run has an end");
    let manifest = Manifest::load(&folder).unwrap();
    let start = &all(&text, "/testRunArtifact/testRunStart")[0];
    let drives = start["dutInfo"]["hardwareInfos"].as_array().unwrap();
    let serials: Vec<&str> = drives.iter().map(|d| d["serialNumber"].as_str().unwrap()).collect();
    assert_eq!(serials, ["SIM-951-7", "SIM-600P-7"]);
    assert_eq!(drives[0]["partType"], "simulated SSD");
    assert_eq!(start["dutInfo"]["softwareInfos"][0]["version"], "FIXTURE1");
    // Each cell is a step, in the journal's order after those that the plan skips; the last step
    // has the verdicts.
    let names = all(&text, "/testStepArtifact/testStepStart/name");
    let mut names: Vec<&str> = names.iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(names.pop(), Some("verdict"));
    let mut cells: Vec<&str> = manifest.cells.iter().map(|cell| cell.id.as_str()).collect();
    names.sort_unstable();
    cells.sort_unstable();
    assert_eq!(names, cells);
    // Figures of a rule, with its limit.
    let limits = all(&text, "/testStepArtifact/measurement/validators/0");
    assert_eq!(limits.len(), 2 * manifest.drives.len());
    assert_eq!(
        (&limits[0]["type"], &limits[0]["value"]),
        (&"GREATER_THAN_OR_EQUAL".into(), &1500.0.into())
    );
    assert_eq!(limits[1]["type"], "LESS_THAN_OR_EQUAL");
    let verdicts = all(&text, "/testStepArtifact/diagnosis/verdict");
    assert_eq!(verdicts, ["steady-state", "recommended", "conditionally-recommended"]);
    // A cell failed (a discard that was refused).
    assert_eq!(all(&text, "/testRunArtifact/testRunEnd/result"), ["FAIL"]);
    // The fixture measures 12 seconds: elements of each figure, dated by the drive's time.
    let elements = all(&text, "/testStepArtifact/measurementSeriesElement");
    let of_first: Vec<&Value> =
        elements.iter().filter(|e| e["measurementSeriesId"] == "0").collect();
    assert_eq!(of_first.len(), 12);
    let soak = manifest.cells.iter().find(|cell| cell.step == "soak").unwrap();
    assert!(all(&text, "/testStepArtifact/testStepStart/name").contains(&soak.id.as_str().into()));
    let dates: Vec<jiff::Timestamp> =
        of_first.iter().map(|e| e["timestamp"].as_str().unwrap().parse().unwrap()).collect();
    assert!(dates.windows(2).all(|pair| pair[0] < pair[1]), "{dates:?}");
    // The date of a step is that of its cell, to the letter.
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let begun = lines.filter(|line| {
        line.pointer("/testStepArtifact/testStepStart/name") == Some(&soak.id.as_str().into())
    });
    let begun: Vec<Value> = begun.map(|line| line["timestamp"].clone()).collect();
    let wanted = fixtures::entries(&manifest, SOAK).into_iter().find_map(|entry| match entry {
        Entry::CellStart { cell, at } if cell == soak.id => Some(at),
        _ => None,
    });
    assert_eq!(begun, [Value::String(wanted.unwrap())]);
    // The library's export is the same without the limits of rules.
    let out = dir.path().join("run.jsonl");
    export(&Run::open(&folder).unwrap(), ExportFormat::Ocp, &out).unwrap();
    let plain = fs::read_to_string(&out).unwrap();
    assert!(check(&plain) && all(&plain, "/testStepArtifact/measurement/validators").is_empty());
}

/// A run folder with the events that `keep` selects, in its order.
fn folder_of(dir: &Path, manifest: &Manifest, entries: &[Entry], end: Option<RunEnd>) -> PathBuf {
    let mut writer = RunWriter::create(&Destination::Under(dir.to_owned()), manifest).unwrap();
    writer.append_all(entries).unwrap();
    match end {
        Some(end) => writer.finish(end, "2026-03-14T09:41:07Z").unwrap(),
        None => writer.path.clone(),
    }
}

#[test]
fn names_and_messages_of_any_characters_are_escaped() {
    let dir = tempfile::tempdir().unwrap();
    let mut manifest = fixtures::manifest(SMALL);
    let hostile = "a \"quote\", a \\, a\nline\u{1}\u{2028}\u{1f9ea} </script>";
    hostile.clone_into(&mut manifest.drives[0].serial);
    manifest.command_line.push(hostile.to_owned());
    let mut entries = fixtures::entries(&manifest, SMALL);
    for entry in &mut entries {
        if let Entry::Warning(warning) = entry {
            hostile.clone_into(&mut warning.message);
        }
    }
    let folder = folder_of(dir.path(), &manifest, &entries, Some(RunEnd::Interrupted));
    let text = ocp(&folder);
    assert!(check(&text));
    assert_eq!(text.lines().count(), text.matches('\n').count());
    let start = &all(&text, "/testRunArtifact/testRunStart")[0];
    assert_eq!(start["dutInfo"]["hardwareInfos"][0]["serialNumber"], hostile);
    let end = &all(&text, "/testRunArtifact/testRunEnd")[0];
    assert_eq!((&end["status"], &end["result"]), (&"SKIP".into(), &"NOT_APPLICABLE".into()));
}

/// A run that was interrupted and resumed has one end, and a step for each attempt at a cell.
#[test]
fn a_resumed_run_ends_once() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = fixtures::manifest(SMALL);
    let entries = fixtures::entries(&manifest, SMALL);
    let is_finish = |entry: &Entry| matches!(entry, Entry::CellFinish { .. });
    let first = entries.iter().position(is_finish).unwrap();
    let cell = entries.iter().position(|e| matches!(e, Entry::CellStart { .. })).unwrap();
    let at = "2026-03-14T09:30:00Z".to_owned();
    let mut journal = entries[..first].to_vec();
    journal.push(Entry::Finish { at: at.clone(), outcome: RunEnd::Interrupted });
    journal.push(Entry::Start { at, resumed: 1 });
    journal.extend_from_slice(&entries[cell..]);
    let text = ocp(&folder_of(dir.path(), &manifest, &journal, Some(RunEnd::Complete)));
    assert!(check(&text));
    assert_eq!(all(&text, "/testRunArtifact/testRunEnd").len(), 1);
    let names = all(&text, "/testStepArtifact/testStepStart/name");
    let Entry::CellStart { cell: id, .. } = &entries[cell] else { unreachable!() };
    assert_eq!(names.iter().filter(|name| *name == id).count(), 2);
}

/// A verdict behind the end of the run, as a repaired journal can have it, leaves no step open.
#[test]
fn a_verdict_after_the_end_leaves_no_step_open() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = fixtures::manifest(SMALL);
    let mut journal = fixtures::entries(&manifest, SMALL);
    let is_verdict = |entry: &Entry| matches!(entry, Entry::Verdict { .. });
    let verdict = journal.iter().find(|entry| is_verdict(entry)).unwrap().clone();
    let at = "2026-03-14T09:30:00Z".to_owned();
    let outcome = RunEnd::Complete;
    journal.push(Entry::Finish { at, outcome });
    journal.push(verdict);
    let text = ocp(&folder_of(dir.path(), &manifest, &journal, None));
    assert!(check(&text), "{text}");
}

/// What a run in progress shows is what its folder gives afterwards, line by line.
#[test]
fn a_growing_journal_gives_the_same_lines() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = fixtures::manifest(SOAK);
    let under = Destination::Under(dir.path().to_owned());
    let mut writer = RunWriter::create(&under, &manifest).unwrap();
    let folder = writer.path.clone();
    let mut live = Vec::new();
    let mut follower = Follower::open(&folder, &figures, &mut live).unwrap();
    for entry in fixtures::entries(&manifest, SOAK) {
        writer.append(&entry).unwrap();
        follower.advance().unwrap();
    }
    writer.finish(RunEnd::Complete, "2026-03-14T09:41:07Z").unwrap();
    follower.advance().unwrap();
    follower.close().unwrap();
    assert_eq!(String::from_utf8(live).unwrap(), ocp(&folder));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A kill leaves any number of bytes of the journal: what it gives is a valid prefix of the
    /// whole output.
    #[test]
    fn a_killed_run_gives_a_valid_prefix(share in 0.0..1.0_f64) {
        let dir = tempfile::tempdir().unwrap();
        let folder = fixtures::make(dir.path(), SOAK);
        let whole = ocp(&folder);
        let journal = folder.join("journal.log");
        let bytes = fs::read(&journal).unwrap();
        fs::write(&journal, &bytes[..(bytes.len() as f64 * share) as usize]).unwrap();
        let text = ocp(&folder);
        prop_assert!(!check(&text));
        prop_assert!(whole.starts_with(&text));
    }

    /// Whatever events a journal has, in whatever order, the lines are valid.
    #[test]
    fn any_journal_gives_valid_lines(picks in prop::collection::vec(any::<prop::sample::Index>(), 0..60), ends in any::<bool>()) {
        let dir = tempfile::tempdir().unwrap();
        let manifest = fixtures::manifest(SMALL);
        let mut known = fixtures::entries(&manifest, SMALL);
        let at = "2026-03-14T09:30:00Z".to_owned();
        known.push(Entry::Start { at: at.clone(), resumed: 1 });
        known.push(Entry::Finish { at, outcome: RunEnd::Interrupted });
        let entries: Vec<Entry> = picks.iter().map(|pick| pick.get(&known).clone()).collect();
        let folder = folder_of(dir.path(), &manifest, &entries, ends.then_some(RunEnd::Complete));
        check(&ocp(&folder));
    }
}

/// The published schema, for who has it: a directory with `json_spec/output` of
/// github.com/opencomputeproject/ocp-diag-core, and Python's module jsonschema.
#[test]
fn lines_are_valid_by_the_published_schema() {
    let Some(schema) = std::env::var_os("ASSAY_OCP_SCHEMA") else {
        println!(
            "skipped: ASSAY_OCP_SCHEMA does not name json_spec/output of \
             opencomputeproject/ocp-diag-core"
        );
        return;
    };
    let script = r#"
import json, pathlib, sys
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
schemas = [json.loads(path.read_text()) for path in pathlib.Path(sys.argv[1]).glob("*.json")]
registry = Registry().with_resources([(schema["$id"], Resource.from_contents(schema)) for schema in schemas])
root = next(schema for schema in schemas if schema["$id"].endswith("/output"))
validator = Draft202012Validator(root, registry=registry)
count = 0
for line in sys.stdin:
    validator.validate(json.loads(line))
    count += 1
for wrong in [{}, {"sequenceNumber": 0, "timestamp": "x"}, {"sequenceNumber": 0, "timestamp": "x", "testStepArtifact": {"testStepId": "0", "measurement": {"name": "x"}}}]:
    assert not validator.is_valid(wrong), wrong
print(count)
"#;
    let has_module = |python: &&str| {
        let probe = Command::new(python).args(["-c", "import jsonschema, referencing"]).output();
        probe.is_ok_and(|probe| probe.status.success())
    };
    let Some(python) = ["python3", "/usr/bin/python3"].into_iter().find(has_module) else {
        println!("skipped: no Python module jsonschema 4.18 or later (pip install jsonschema)");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for (name, size) in
        [("small", SMALL), ("soak", SOAK), ("large", Size { max_ios_per_interval: 50, ..LARGE })]
    {
        text += &ocp(&fixtures::make(&dir.path().join(name), size));
    }
    let manifest = fixtures::manifest(SMALL);
    let entries = fixtures::entries(&manifest, SMALL);
    text +=
        &ocp(&folder_of(&dir.path().join("cut"), &manifest, &entries[..entries.len() / 2], None));
    let mut child = Command::new(python)
        .args(["-W", "ignore", "-c", script])
        .arg(schema)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let sent = text.clone();
    let sender = std::thread::spawn(move || input.write_all(sent.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    sender.join().unwrap().unwrap();
    let count = String::from_utf8(output.stdout).unwrap();
    assert_eq!(count.trim(), text.lines().count().to_string());
}
