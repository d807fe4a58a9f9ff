//! Loss of power at every change of a small case: each write, flush, name and length of a run
//! folder, of a recording, of the folders of a fleet. What was reported durable is there, what is
//! there can be read, and the work ends as without the loss.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use crate::fixture::{Done, Fixture, KIB, noise, pause, send};
use crate::power_fail_fs::PowerFailFs;

/// Three short cells.
const STEPS: &str = r#"
name = "mine"
title = "Short cells"
summary = "Cells to lose power in."
source = "these tests"
duration = "short"
[[step]]
id = "reads"
title = "Reads"
kind = "measure"
job = { rw = "randread", runtime = "4ms", interval = "2ms" }
matrix = { bs = ["4k", "8k", "16k"] }
"#;

/// Runs a command until the power has failed, and kills it and all processes with this path in
/// their command line: what it had printed to stderr. `None` if it ended before.
pub fn until_power_fails(
    files: &PowerFailFs,
    words: &str,
    command: Command,
    path: &str,
) -> Option<String> {
    until_power_fails_and(0, files, words, command, path)
}

/// As [`until_power_fails`], with time to report what was durable before the loss.
fn until_power_fails_and(
    report_ms: u64,
    files: &PowerFailFs,
    words: &str,
    mut command: Command,
    path: &str,
) -> Option<String> {
    let mut child = command.spawn().unwrap();
    loop {
        if files.has_failed() {
            pause(report_ms);
            send(&child, rustix::process::Signal::KILL);
            // Its children have the same stderr.
            let _ = Command::new("pkill").args(["-KILL", "-f", path]).status();
            let mut text = String::new();
            child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
            child.wait().unwrap();
            assert!(!text.contains("panicked"), "{words}: {text}");
            return Some(text);
        }
        if child.try_wait().unwrap().is_some() {
            Done::new(words, child).expect(0);
            return None;
        }
        pause(1);
    }
}

/// A run of [`STEPS`] into a folder of the file system.
fn run_words(files: &PowerFailFs) -> String {
    let run = files.path("run");
    format!("run ./mine.toml sim:samsung-951 --out {run}")
}

/// A run without a fault: how many changes it makes, and the names of its cells; `None` where
/// nothing can be mounted.
fn undisturbed(fixture: &Fixture) -> Option<(u64, BTreeSet<String>)> {
    fixture.write("mine.toml", STEPS);
    let files = PowerFailFs::mount(&[], u64::MAX)?;
    fixture.ok(&run_words(&files));
    let cells = finished(&files.contents("run/journal.log").unwrap().0);
    let changes = files.changes();
    assert!(cells.len() == 3 && changes > 20, "{changes} changes");
    Some((changes, cells))
}

/// Resumes a run: all its cells are finished then. Whether it was not complete already.
#[track_caller]
fn resume(fixture: &Fixture, files: &PowerFailFs, case: &str, all: &BTreeSet<String>) -> bool {
    let done = fixture.run(&format!("run --resume {}", files.path("run")));
    let was_complete = done.status == 2 && done.stderr.contains("already complete");
    assert!(done.status == 0 || was_complete, "{case}: {done}");
    let journal = files.contents("run/journal.log").unwrap().0;
    assert_eq!(finished(&journal), *all, "{case}");
    !was_complete
}

/// Gives the command of a run again whose start was interrupted before it had a manifest.
#[track_caller]
fn begin_again(fixture: &Fixture, files: &PowerFailFs, case: &str, all: &BTreeSet<String>) {
    let again = fixture.run(&run_words(files));
    assert_eq!(again.status, 0, "{case}: {again}");
    let journal = files.contents("run/journal.log").unwrap().0;
    assert_eq!(finished(&journal), *all, "{case}");
}

/// The names of finished cells in the whole lines of a journal.
fn finished(journal: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(journal);
    let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let finished = lines.filter(|line| line.contains("\"cell_finish\""));
    let cell = |line: &str| -> String {
        let (_, json) = line.split_once(' ').unwrap();
        let entry: serde_json::Value = serde_json::from_str(json).unwrap();
        entry["cell"].as_str().unwrap().to_owned()
    };
    finished.map(cell).collect()
}

#[test]
fn a_run_survives_a_loss_of_power_at_every_change() {
    let fixture = Fixture::in_memory();
    let Some((changes, all)) = undisturbed(&fixture) else {
        return;
    };
    let (mut resumed, mut begun_again, mut cases) = (0, 0, 0);
    for at in 0..changes {
        let files = PowerFailFs::mount(&[], at).unwrap();
        let words = run_words(&files);
        // The last change may be one of the time that passes.
        if until_power_fails(&files, &words, fixture.command(&words), &files.path("")).is_none() {
            continue;
        }
        let (seen, durable) = files.contents("run/journal.log").unwrap_or_default();
        for seed in [at, changes + at] {
            let files = files.after_power_returns(seed);
            let case = format!("change {at} of {changes}, seed {seed}");
            let run = files.path("run");
            cases += 1;
            if files.contents("run/manifest.json").is_none() {
                assert!(
                    finished(&seen).is_empty(),
                    "{case}: cells were measured, and there is no manifest"
                );
                begin_again(&fixture, &files, &case, &all);
                begun_again += 1;
                continue;
            }
            fixture.ok(&format!("report {run} -o page.html"));
            let kept = files.contents("run/journal.log").unwrap_or_default().0;
            assert!(kept.starts_with(&durable), "{case}: what was durable has changed");
            // Each cell's end is flushed before the next one begins.
            let missing = finished(&seen).difference(&finished(&kept)).count();
            assert!(missing <= 1, "{case}: {missing} finished cells are lost");
            resumed += u64::from(resume(&fixture, &files, &case, &all));
            let sums = format!("cd {run} && sha256sum -c --strict --quiet SHA256SUMS");
            fixture.tool("sh", &["-c", &sums]);
        }
    }
    println!("{changes} changes, {cases} cases, {begun_again} begun again, {resumed} resumed");
    assert!(resumed > changes / 2, "{resumed} of {changes}");
}

#[test]
fn a_run_folder_that_refuses_changes_ends_the_run_with_a_clear_error_and_loses_nothing() {
    /// ENOSPC, EDQUOT, EROFS, EIO (errno(3)), and what the message says of each.
    const ERRORS: [(i32, &str); 4] = [
        (28, "No space left on device"),
        (122, "quota"),
        (30, "Read-only file system"),
        (5, "Input/output error"),
    ];
    let fixture = Fixture::in_memory();
    let Some((changes, all)) = undisturbed(&fixture) else {
        return;
    };
    let mut resumed = 0;
    for at in 0..changes {
        let (errno, text) = ERRORS[at as usize % ERRORS.len()];
        let case = format!("change {at} of {changes}, {text}");
        let files = PowerFailFs::mount(&[], u64::MAX).unwrap();
        files.refuse(Some((at, errno)));
        let done = fixture.run(&run_words(&files));
        if done.status == 0 {
            assert!(files.changes() <= at, "{case}: nothing was refused");
            continue;
        }
        assert_eq!(done.status, 4, "{case}: {done}");
        assert!(done.stderr.contains(text), "{case}: {done}");
        // The folder, or what is in or above it.
        let place = files.path("");
        assert!(done.stderr.contains(place.trim_end_matches('/')), "{case}: {done}");
        let seen = finished(&files.contents("run/journal.log").unwrap_or_default().0);
        files.refuse(None);
        if files.contents("run/manifest.json").is_none() {
            assert!(seen.is_empty(), "{case}");
            begin_again(&fixture, &files, &case, &all);
            continue;
        }
        assert!(seen.is_subset(&all), "{case}");
        resume(&fixture, &files, &case, &all);
        resumed += 1;
    }
    println!("{changes} changes, {resumed} runs resumed");
    assert!(resumed > changes / 2, "{resumed} of {changes}");
}

#[test]
fn a_recording_survives_a_loss_of_power_at_every_change() {
    /// `record --watch` looks for more durable bytes once in this time.
    const WATCH_PERIOD_MS: u64 = 20;
    let fixture = Fixture::in_memory();
    let stream = noise(3, 640 * KIB);
    fixture.write("stream", &stream);
    let disk = ("disk", vec![0; 1024 * KIB]);
    let Some(whole) = PowerFailFs::mount(std::slice::from_ref(&disk), u64::MAX) else {
        return;
    };
    let words = |files: &PowerFailFs| {
        let disk = files.path("disk");
        format!(
            "record {disk} --destroy disk --from stream --index --durable-every 128k --chunk 64k \
             --iodepth 4 --watch"
        )
    };
    fixture.ok(&words(&whole));
    let changes = whole.changes();
    assert!(changes > 15, "{changes} changes");
    let (mut most_durable, mut cases) = (0, 0);
    for at in 0..changes {
        let files = PowerFailFs::mount(std::slice::from_ref(&disk), at).unwrap();
        let words = words(&files);
        let (command, path) = (fixture.command(&words), files.path(""));
        let Some(printed) =
            until_power_fails_and(5 * WATCH_PERIOD_MS, &files, &words, command, &path)
        else {
            continue;
        };
        let durable = printed.lines().filter_map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).ok()?;
            line["durable_bytes"].as_u64()
        });
        let durable = durable.max().unwrap_or(0) as usize;
        for seed in [at, changes + at] {
            let case = format!("change {at} of {changes}, seed {seed}");
            let files = files.after_power_returns(seed);
            let done = fixture.run(&format!("replay {} --to out", files.path("disk")));
            let found = std::fs::read(fixture.path("out")).unwrap_or_default();
            let _ = std::fs::remove_file(fixture.path("out"));
            let length = found.len();
            assert!(length > 0 || done.status != 0, "{case}: nothing checked: {done}");
            assert!(
                stream.starts_with(&found),
                "{case}: {length} bytes that are not the stream's: {done}"
            );
            assert!(
                length >= durable,
                "{case}: {length} of {durable} bytes reported durable: {done}"
            );
            cases += 1;
        }
        most_durable = most_durable.max(durable);
    }
    println!(
        "{changes} changes, {cases} cases, at most {most_durable} bytes durable before the loss"
    );
    assert!(most_durable >= 256 * KIB, "{most_durable}");
}

#[test]
fn a_fleet_task_survives_a_loss_of_power_at_its_changes() {
    lose_power_of_a_fleet_task(9);
}

#[test]
#[ignore = "minutes: a task makes two hundred changes"]
fn a_fleet_task_survives_a_loss_of_power_at_every_change() {
    lose_power_of_a_fleet_task(1);
}

/// The power fails at every so many changes.
fn lose_power_of_a_fleet_task(step: usize) {
    let fixture = Fixture::in_memory();
    fixture.write("mine.toml", STEPS);
    fixture.write("serials.txt", "SIM-SAMSUNG-951-L1-1\n");
    std::fs::create_dir(fixture.path("drives")).unwrap();
    fixture.write("drives/alpha", "sim:samsung-951,lot=1,seed=1\n");
    // The same path whatever is mounted.
    let point_to = |files: &PowerFailFs| {
        let at = fixture.path("mnt");
        let _ = std::fs::remove_file(&at);
        std::os::unix::fs::symlink(files.path(""), &at).unwrap();
    };
    let store = fixture.path("mnt/store");
    fixture.write(
        "plan.toml",
        format!(
            "name = \"lost\"\nsuites = [ {{ suite = \"mine.toml\" }} ]\n[drives]\nserials = \
             \"serials.txt\"\n[store]\nat = \"{}\"\n",
            store.display()
        ),
    );
    let words = "fleet submit plan.toml --here --host alpha --json";
    let command = || {
        let mut command = fixture.command(words);
        command
            .env("ASSAY_FLEET_DRIVES", fixture.path("drives"))
            .env("ASSAY_FLEET_DIR", fixture.path("mnt/work"));
        command
    };
    let prepared = |fails_at: u64| {
        let files = PowerFailFs::mount_folders(&["store", "work"], fails_at)?;
        point_to(&files);
        Some(files)
    };
    let Some(whole) = prepared(u64::MAX) else {
        return;
    };
    Done::new(words, command().spawn().unwrap()).expect(0);
    let changes = whole.changes();
    assert!(changes > 50, "{changes} changes");
    let mut cases = 0;
    for at in (0..changes).step_by(step) {
        let files = prepared(at).unwrap();
        if until_power_fails(&files, words, command(), store.to_str().unwrap()).is_none() {
            continue;
        }
        let case = format!("change {at} of {changes}");
        let files = files.after_power_returns(at);
        point_to(&files);
        let done = Done::new(words, command().spawn().unwrap());
        assert!(done.status == 0, "{case}: {done}");
        let drive = &done.json()["drives"][0];
        assert_eq!(drive["state"], "done", "{case}: {done}");
        let collected = format!("collected-{at}");
        fixture.ok(&format!("fleet collect plan.toml -o {collected}"));
        let journals = fixture.tool("find", &[&collected, "-name", "journal.log"]);
        let journal = std::fs::read(fixture.path("").join(Path::new(journals.trim()))).unwrap();
        assert_eq!(finished(&journal).len(), 3, "{case}");
        cases += 1;
    }
    println!("{changes} changes, {cases} cases");
    assert!(cases as u64 > changes / step as u64 / 2, "{cases}");
}
