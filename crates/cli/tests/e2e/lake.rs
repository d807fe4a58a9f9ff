//! Exports of many runs, and Open Compute's output of one in progress.

use std::fs;

use serde_json::Value;

use crate::fixture::{Fixture, wait_until};
use crate::power_fail_fs::PowerFailFs;

const RUN: &str = "run quick sim:samsung-951 --scale 0.01";

#[test]
fn runs_are_joined_and_what_cannot_be_is_named() {
    let fixture = Fixture::on_disk();
    fixture.ok(&format!("{RUN} --out a"));
    fixture.ok("run quick sim:samsung-951,lot=2 --scale 0.01 --out b");
    let done = fixture.ok("export a --format lake -o lake --plan trial");
    assert_eq!(
        done.stdout,
        "lake: 1 run added, 0 replaced, 0 unchanged, 0 left out; 10 files written\n"
    );
    fs::create_dir(fixture.path("broken")).unwrap();
    fixture.write("broken/manifest.json", "{");
    let done = fixture.ok("export a b broken --format lake -o lake --plan trial");
    assert!(
        done.stdout.contains("1 run added, 0 replaced, 1 unchanged, 1 left out"),
        "{}",
        done.stdout
    );
    assert!(done.stderr.contains("left out: broken/manifest.json is damaged"), "{}", done.stderr);
    let document = fixture.json("export a b --format lake -o lake --plan trial");
    assert_eq!(document["unchanged"], 2);
    assert_eq!(document["files"], Value::Array(Vec::new()));
    // Nothing to join is an error.
    let done = fixture.run("export broken --format lake -o lake").expect(2);
    assert!(done.stderr.contains("none of the 1 folders"), "{}", done.stderr);
    for (words, why) in [
        ("export a b --format csv", "several are --format lake"),
        ("export a --format csv --plan x", "--plan is of --format lake"),
        ("export a --format lake -o -", "name a folder with -o"),
    ] {
        let done = fixture.run(words).expect(2);
        assert!(done.stderr.contains(why), "{words}: {}", done.stderr);
    }
}

#[test]
fn the_lines_of_a_run_are_those_of_its_folder() {
    let fixture = Fixture::on_disk();
    fixture.ok(&format!("{RUN} --ocp live.jsonl --out run"));
    let live = fixture.text("live.jsonl");
    assert_eq!(fixture.ok("export run --format ocp -o -").stdout, live);
    fixture.ok("export run --format ocp -o again.jsonl");
    assert_eq!(fixture.text("again.jsonl"), live);
    // An earlier output is replaced, another file is not.
    fixture.ok("export run --format ocp -o again.jsonl");
    fixture.write("notes", "mine");
    for words in
        ["export run --format ocp -o notes", "run quick sim:samsung-951 --ocp notes --out no"]
    {
        let done = fixture.run(words).expect(2);
        assert!(done.stderr.contains("no earlier output"), "{}", done.stderr);
    }
    assert!(!fixture.path("no").exists());
    let lines: Vec<Value> = live.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let end = lines.last().unwrap().pointer("/testRunArtifact/testRunEnd").unwrap();
    assert_eq!(end["status"], "COMPLETE");
    // A suite with verdict rules has their limits.
    fixture.ok(
        "run bandwidth sim:samsung-951 --scale 0.01 --set soak=2m --ocp rules.jsonl --out rules",
    );
    let text = fixture.text("rules.jsonl");
    assert_eq!(fixture.ok("export rules --format ocp -o -").stdout, text);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let limited = lines
        .iter()
        .filter(|line| line.pointer("/testStepArtifact/measurement/validators").is_some());
    assert!(limited.count() > 1, "{text}");
    let serial =
        lines[1].pointer("/testRunArtifact/testRunStart/dutInfo/hardwareInfos/0/serialNumber");
    let runs = fixture.json("export rules --format json -o -");
    assert_eq!(serial, runs.pointer("/manifest/drives/0/serial"));
}

/// The run folder is whole, and the message says how the output is written again.
#[test]
fn an_output_that_cannot_be_finished_is_an_error() {
    let Some(files) = PowerFailFs::mount(&[], u64::MAX) else {
        return;
    };
    // ENOSPC, after the check before the run.
    files.refuse(Some((8, 28)));
    let fixture = Fixture::on_disk();
    let live = files.path("live.jsonl");
    let ended = fixture.run(&format!("{RUN} --ocp {live} --out run")).expect(4);
    let why = "live.jsonl is incomplete: No space left";
    assert!(ended.stderr.contains(why), "{}", ended.stderr);
    files.refuse(None);
    let lines = fixture.ok("export run --format ocp -o -").stdout;
    assert!(lines.contains("testRunEnd"), "{lines}");
}

/// Lines appear while the run goes on; a kill leaves a beginning of what a resumed run writes.
#[test]
fn a_killed_run_leaves_whole_lines() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk.img", 4 << 20);
    let words = "run quick disk.img --ocp live.jsonl --out run";
    let mut child = fixture.command(words).spawn().unwrap();
    let path = fixture.path("live.jsonl");
    let began = || fs::read_to_string(&path).is_ok_and(|text| text.contains("testStepStart"));
    wait_until("a cell begins", began);
    child.kill().unwrap();
    child.wait().unwrap();
    let killed = fixture.text("live.jsonl");
    assert!(killed.ends_with('\n') && !killed.contains("testRunEnd"));
    assert!(fixture.ok("export run --format ocp -o -").stdout.starts_with(&killed));
}
