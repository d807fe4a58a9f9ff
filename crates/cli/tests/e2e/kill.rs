//! Killed runs: measured intervals are kept, and `--resume` continues.

use std::collections::BTreeMap;
use std::fs;
use std::process::Child;

use rustix::process::Signal;
use serde_json::Value;

use crate::fixture::{Done, Fixture, MIB, number, pause, send, text_so_far, wait_until};

/// A suite file with several short cells of adjustable length.
const STEPS: &str = r#"
name = "mine"
title = "Several cells"
summary = "Cells to be cut off in."
source = "these tests"
duration = "short"
[parameters.runtime]
kind = "duration"
default = "300ms"
help = "of each cell"
[[step]]
id = "fill"
title = "Fill"
kind = "measure"
needs = ["write"]
job = { rw = "write", bs = "64k", size = "2m" }
[[step]]
id = "reads"
title = "Reads"
kind = "measure"
job = { rw = "randread", runtime = "{runtime}" }
matrix = { bs = ["4k", "8k", "16k"], numjobs = [1, 2] }
[[step]]
id = "mixed"
title = "Mixed"
kind = "measure"
needs = ["write"]
job = { rw = "randrw", bs = "4k", size = "2m", runtime = "{runtime}" }
"#;

/// The cells of a finished or unfinished run, by id.
#[track_caller]
fn cells(fixture: &Fixture, run: &str) -> BTreeMap<String, Value> {
    let document = fixture.json(&format!("compare {run}"));
    let cells = document["compared"][0]["runs"][0]["cells"].as_array().unwrap().clone();
    cells.into_iter().map(|cell| (cell["id"].as_str().unwrap().to_owned(), cell)).collect()
}

fn finished(cells: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    cells
        .iter()
        .filter(|(_, cell)| cell["state"] == "finished")
        .map(|(id, cell)| (id.clone(), cell.clone()))
        .collect()
}

fn starts(fixture: &Fixture, run: &str) -> BTreeMap<String, usize> {
    let mut starts = BTreeMap::new();
    for line in fixture
        .text(&format!("{run}/journal.log"))
        .lines()
        .filter(|line| line.contains("\"cell_start\""))
    {
        let entry: Value = serde_json::from_str(line.split_once(' ').unwrap().1).unwrap();
        *starts.entry(entry["cell"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    starts
}

fn kill(mut child: Child) {
    send(&child, Signal::KILL);
    child.wait().unwrap();
}

#[track_caller]
fn cut_off_and_resume(drive: &str, permission: &str, scale: &str, seed: u64) {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", 4 * MIB);
    fixture.write("mine.toml", STEPS);
    let words = format!("run mine.toml {drive} {permission} {scale} --out run");
    let mut delay = seed;
    let mut known: BTreeMap<String, Value> = BTreeMap::new();
    let mut child = fixture.command(&words).spawn().unwrap();
    for finished_before in [0, 1, 2] {
        // By progress, not by time: independent of the speed of the host.
        wait_until("the run has come so far", || {
            let journal = text_so_far(&fixture.path("run/journal.log"));
            journal.contains("cell_start")
                && journal.matches("cell_finish").count() >= finished_before
        });
        // At a later point in each round.
        delay =
            delay.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        pause(delay >> 33 & 127);
        kill(child);
        assert!(!fixture.path("run/SHA256SUMS").exists(), "the run completed before the kill");
        // The folder opens, and text and page render.
        let now = cells(&fixture, "run");
        assert_eq!(now.len(), 8);
        fixture.ok("report run -o page.html");
        for (id, cell) in &known {
            assert_eq!(&now[id], cell, "a finished cell has changed");
        }
        known = finished(&now);
        child = fixture.command(&format!("run --resume run {permission} --json")).spawn().unwrap();
        pause(30);
    }
    let last = Done::new("run --resume run", child).expect(0).json();
    let now = cells(&fixture, "run");
    assert_eq!(finished(&now).len(), 8, "{now:#?}");
    assert_eq!(last["runs"][0]["cells"].as_array().unwrap().len(), 8);
    for (id, cell) in &known {
        assert_eq!(&now[id], cell, "a finished cell was repeated");
        assert_eq!(starts(&fixture, "run")[id], starts(&fixture, "run")[id].min(4));
    }
    fixture.tool("sh", &["-c", "cd run && sha256sum -c --strict SHA256SUMS"]);
    fixture
        .run(&format!("run --resume run {permission}"))
        .refuses(2, &["complete", "assay report run"]);
}

#[test]
fn a_killed_run_on_a_file_is_resumed() {
    cut_off_and_resume("disk", "--destroy disk", "", 1);
}

#[test]
fn a_killed_simulated_run_is_resumed() {
    cut_off_and_resume("sim:samsung-951", "", "--scale 100", 2);
    let fixture = Fixture::on_disk();
    fixture.write("mine.toml", STEPS);
    fixture.ok("run mine.toml sim:samsung-951 --scale 100 --out whole");
    let child =
        fixture.command("run mine.toml sim:samsung-951 --scale 100 --out cut").spawn().unwrap();
    wait_until("cells are finished", || {
        text_so_far(&fixture.path("cut/journal.log")).matches("cell_finish").count() > 2
    });
    kill(child);
    let (whole, cut) = (cells(&fixture, "whole"), finished(&cells(&fixture, "cut")));
    assert!(cut.len() >= 3 && cut.len() < 8, "{} cells finished before the kill", cut.len());
    for (id, cell) in &cut {
        assert_eq!(cell, &whole[id], "an interruption changes no figure");
    }
    fixture.ok("run --resume cut");
    let resumed = cells(&fixture, "cut");
    assert_eq!(finished(&resumed).len(), 8);
    assert!(cut.iter().all(|(id, cell)| &resumed[id] == cell));
}

#[test]
fn a_killed_job_loses_about_a_second() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk", 4 * MIB);
    // A busy host may delay any attempt: one of several must succeed.
    assert!(
        (0..4).any(|round| lost_seconds(&fixture, round) < 1.3),
        "more than 1.3 s were lost four times"
    );
}

#[allow(
    clippy::disallowed_methods,
    reason = "how long the program ran is known here only by the test's own clock"
)]
fn lost_seconds(fixture: &Fixture, round: u64) -> f64 {
    let run = format!("run{round}");
    let child = fixture
        .command(&format!("job disk --rw randread --runtime 60s --out {run}"))
        .spawn()
        .unwrap();
    let journal = fixture.path(&format!("{run}/journal.log"));
    wait_until("the job is measuring", || text_so_far(&journal).contains("cell_start"));
    let began = std::time::Instant::now();
    pause(1900 + 170 * round);
    let ran = began.elapsed().as_secs_f64();
    kill(child);
    let exported = fixture.json(&format!("export {run} --format json -o -"));
    let mut recorded = 0.0_f64;
    visit(&exported, &mut |interval| recorded = recorded.max(interval));
    assert!(recorded > 0.0, "nothing was kept");
    ran - recorded
}

/// The ends of all intervals in a document, in seconds.
fn visit(value: &Value, seen: &mut impl FnMut(f64)) {
    match value {
        Value::Object(object) => {
            if let (Some(_), Some(end)) = (
                object.get("index"),
                object.get("end_ns").or(object.get("end")).and_then(Value::as_f64),
            ) {
                seen(end / 1e9);
            }
            object.values().for_each(|value| visit(value, seen));
        }
        Value::Array(values) => values.iter().for_each(|value| visit(value, seen)),
        _ => {}
    }
}

#[test]
fn only_one_process_resumes_a_run() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", 4 * MIB);
    fixture.write("mine.toml", STEPS);
    let child = fixture.command("run mine.toml disk --out run --set runtime=1s").spawn().unwrap();
    wait_until("a cell has begun", || {
        text_so_far(&fixture.path("run/journal.log")).contains("cell_start")
    });
    fixture.run("run --resume run").refuses(75, &["run", "another"]);
    kill(child);
    let first = fixture.command("run --resume run").spawn().unwrap();
    let lines = || text_so_far(&fixture.path("run/journal.log")).matches("\"start\"").count();
    wait_until("the first has taken the run", || lines() > 1);
    fixture.run("run --resume run").refuses(75, &["run", "another"]);
    // The refusal did not affect the running process.
    Done::new("run --resume run", first).expect(0);
    fixture.tool("sh", &["-c", "cd run && sha256sum -c --strict SHA256SUMS"]);
}

#[test]
fn a_run_is_not_resumed_on_another_drive_or_without_the_permission_it_had() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", 4 * MIB);
    fixture.write("mine.toml", STEPS);
    let child = fixture.command("run mine.toml disk --destroy disk --out run").spawn().unwrap();
    wait_until("reads have begun", || {
        text_so_far(&fixture.path("run/journal.log")).contains("disk/reads")
    });
    kill(child);
    let journal = fixture.read("run/journal.log");
    // Without write permission the plan differs.
    fixture.run("run --resume run").refuses(2, &["cannot resume run"]);
    fixture.run("run --resume run --destroy OTHER").refuses(2, &["OTHER"]);
    // Another size, another file of that name, no file.
    let content = fixture.read("disk");
    fixture.write("disk", &content[..3 * MIB]);
    fixture.run("run --resume run --destroy disk").refuses(2, &["cannot resume run", "disk"]);
    fs::remove_file(fixture.path("disk")).unwrap();
    fixture.run("run --resume run --destroy disk").refuses(2, &["disk"]);
    assert!(fixture.read("run/journal.log") == journal, "a refused resume changed the run");
    fixture.write("disk", &content);
    fixture.ok("run --resume run --destroy disk");
}

#[test]
fn a_run_can_be_resumed_from_another_folder() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", 4 * MIB);
    fixture.write("mine.toml", STEPS);
    let child = fixture.command("run mine.toml disk --out run").spawn().unwrap();
    wait_until("reads have begun", || {
        text_so_far(&fixture.path("run/journal.log")).contains("disk/reads")
    });
    kill(child);
    fs::create_dir(fixture.path("elsewhere")).unwrap();
    let child = fixture
        .command("run --resume ../run")
        .current_dir(fixture.path("elsewhere"))
        .spawn()
        .unwrap();
    Done::new("run --resume ../run", child).expect(0);
}

#[test]
fn a_single_job_is_not_resumed() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", MIB);
    fixture.ok("job disk --out run");
    fixture.run("run --resume run").refuses(2, &["single job", "run"]);
    assert!(number(&fixture.json("compare run")["compared"][0], "/seed") > 0.0);
}
