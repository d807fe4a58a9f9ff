//! Surprise removal: errors are counted and shown, measured intervals are kept, no hang.

use std::fs::File;

use serde_json::Value;

use crate::block_devices::{self, BlockDevices};
use crate::fixture::{Done, Fixture, MIB, number, text_so_far, wait_until};

fn codes(document: &Value) -> Vec<&str> {
    let warnings = document["warnings"].as_array().unwrap();
    warnings.iter().map(|warning| warning["code"].as_str().unwrap()).collect()
}

#[test]
fn a_job_ends_after_surprise_removal_of_a_simulated_drive() {
    let fixture = Fixture::on_disk();
    let job = fixture.json_status(
        "job sim:samsung-951,fault=vanish@5001 --rw randread --iodepth 4 --runtime 1000s",
        1,
    );
    let ios = number(&job, "/jobs/0/read/ios");
    assert!((4990.0..=5000.0).contains(&ios), "{ios}");
    let errors = number(&job, "/jobs/0/read/errors");
    assert!((100_000.0..100_100.0).contains(&errors), "{errors}");
    assert!(codes(&job).contains(&"gave-up") && codes(&job).contains(&"io-errors"));
    assert!(number(&job, "/jobs/0/elapsed_ns") < 100e9, "{job:#}");
}

/// Errors during the ramp appear only in the warning; the drive has failed nevertheless.
#[test]
fn a_drive_removed_before_its_measurement_has_failed() {
    let fixture = Fixture::on_disk();
    let job = fixture.json_status(
        "job sim:samsung-951,fault=vanish@50 --rw randread --ramp_time 100s --runtime 100s",
        1,
    );
    assert_eq!(codes(&job), ["gave-up"]);
}

/// State and errors of the cells that measure, of one drive of a run.
fn states(run: &Value, drive: usize) -> Vec<(String, f64)> {
    let cells = run["runs"][drive]["cells"].as_array().unwrap();
    let own = cells.iter().filter(|cell| cell["kind"] == "measure");
    own.map(|cell| {
        let errors = cell["errors"].as_f64().unwrap_or(-1.0);
        (cell["state"].as_str().unwrap().to_owned(), errors)
    })
    .collect()
}

/// Finished cells before the unfinished one; the later ones were not started.
#[track_caller]
fn cut_off(states: &[(String, f64)]) -> usize {
    let names: Vec<&str> = states.iter().map(|(state, _)| state.as_str()).collect();
    let finished = names.iter().take_while(|name| **name == "finished").count();
    assert_eq!(names.get(finished), Some(&"unfinished"), "{names:?}");
    assert!(names[finished + 1..].iter().all(|name| *name == "planned"), "{names:?}");
    finished
}

#[test]
fn a_suite_continues_without_a_removed_drive_and_resumes_after_its_return() {
    let fixture = Fixture::on_disk();
    // More I/Os than the largest cell, fewer than all: the fault recurs in each process.
    let drive = "sim:samsung-951,fault=vanish@150000";
    let first =
        fixture.json_status(&format!("run quick {drive} sim:intel-600p --scale 0.1 --out run"), 1);
    assert_eq!(first["outcome"], "interrupted");
    assert!(codes(&first).contains(&"io-errors") && codes(&first).contains(&"drive-lost"));
    let sound = states(&first, 1);
    assert!(sound.iter().all(|(state, _)| state == "finished"), "{sound:?}");
    let mut through = cut_off(&states(&first, 0));
    assert!(through > 0);
    let kept: Vec<String> = text_so_far(&fixture.path("run/journal.log"))
        .lines()
        .filter(|line| line.contains("\"cell_finish\""))
        .map(str::to_owned)
        .collect();
    fixture.ok("report run -o page.html");
    assert!(fixture.text("page.html").contains("gone"));
    let reported = fixture.run(&format!("run quick {drive} --scale 0.1 --out alone"));
    let reported = reported.expect(1);
    assert!(
        reported.stdout.contains(&format!("drive lost: {drive}"))
            && reported.stdout.contains("assay run --resume alone"),
        "{reported}"
    );
    loop {
        let done = fixture.run("run --resume run --json");
        let run = done.json();
        if done.status == 0 {
            assert_eq!(run["outcome"], "complete");
            assert!(
                states(&run, 0).iter().all(|(state, errors)| state == "finished" && *errors == 0.0)
            );
            assert!(!codes(&run).contains(&"drive-lost"), "{:?}", codes(&run));
            break;
        }
        let now = cut_off(&states(&run, 0));
        assert!(now > through, "each process gets further");
        through = now;
    }
    let journal = text_so_far(&fixture.path("run/journal.log"));
    assert!(kept.iter().all(|line| journal.contains(line.as_str())));
    let finished = journal.matches("\"cell_finish\"").count();
    assert_eq!(finished, 28, "no cell was measured twice");
}

/// Reads of one range fail, others succeed: the drive is present.
#[test]
fn a_drive_with_media_errors_is_counted_and_continues() {
    let fixture = Fixture::on_disk();
    fixture.write("mine.toml", TWO_READS);
    let run =
        fixture.json_status("run mine.toml sim:samsung-951,fault=media-error@4m+4m --out run", 1);
    assert_eq!(run["outcome"], "complete");
    let states = states(&run, 0);
    assert!(states[0].1 > 1000.0 && states[1].1 == 0.0, "{states:?}");
    assert!(codes(&run).contains(&"gave-up") && !codes(&run).contains(&"drive-lost"));
}

/// Reads with and without media errors.
const TWO_READS: &str = r#"
name = "mine"
title = "Two reads"
summary = "Of two places."
source = "these tests"
duration = "short"
[[step]]
id = "one"
title = "One place"
kind = "measure"
job = { rw = "randread", bs = "4k", offset = "4m", size = "4m", runtime = "1000s" }
[[step]]
id = "other"
title = "Another place"
kind = "measure"
job = { rw = "randread", bs = "4k", size = "4m", runtime = "100ms" }
"#;

/// Reads of a real drive; the second is long enough to be interrupted.
const THREE_READS: &str = r#"
name = "mine"
title = "Three reads"
summary = "One after the other."
source = "these tests"
duration = "short"
[[step]]
id = "first"
title = "First"
kind = "measure"
job = { rw = "randread", bs = "4k", iodepth = 4, runtime = "50ms", interval = "10ms" }
[[step]]
id = "second"
title = "Second"
kind = "measure"
job = { rw = "randread", bs = "4k", iodepth = 4, runtime = "5s", interval = "50ms" }
[[step]]
id = "third"
title = "Third"
kind = "measure"
job = { rw = "randread", bs = "4k", engine = "sync", runtime = "50ms", interval = "10ms" }
"#;

/// A suite on a drive that `pull` removes and `back` restores.
#[track_caller]
fn pulled_and_plugged_in_again(
    fixture: &Fixture,
    drive: &str,
    pull: impl FnOnce(),
    back: impl FnOnce(),
) {
    fixture.write("mine.toml", THREE_READS);
    let words = format!("run mine.toml {drive} --out run --json");
    let child = fixture.command(&words).spawn().unwrap();
    wait_until("the second cell is measured", || {
        let journal = text_so_far(&fixture.path("run/journal.log"));
        journal.lines().any(|line| line.contains("\"interval\"") && line.contains("second"))
    });
    pull();
    let run = Done::new(&words, child).expect(1).json();
    assert_eq!(run["outcome"], "interrupted");
    assert!(codes(&run).contains(&"drive-lost"), "{:?}", codes(&run));
    assert_eq!(cut_off(&states(&run, 0)), 1);
    // Errors are counted and shown; earlier intervals are kept.
    assert!(codes(&run).contains(&"io-errors"), "{:?}", codes(&run));
    let text = fixture.ok("report run -o page.html");
    assert!(fixture.text("page.html").contains("unfinished"), "{text}");
    back();
    let run = fixture.json("run --resume run");
    assert_eq!(run["outcome"], "complete");
    let states = states(&run, 0);
    assert!(
        states.iter().all(|(state, errors)| state == "finished" && *errors == 0.0),
        "{states:?}"
    );
    let starts = text_so_far(&fixture.path("run/journal.log")).matches("\"cell_start\"").count();
    assert_eq!(starts, 4, "only the interrupted cell was started twice");
}

#[test]
fn a_suite_on_a_truncated_file_resumes_after_its_restoration() {
    let fixture = Fixture::on_disk();
    let content = fixture.noise("disk", 8 * MIB);
    let (pull, back) = (|| truncate(&fixture.path("disk")), || fixture.write("disk", &content));
    pulled_and_plugged_in_again(&fixture, "disk", pull, back);
}

#[test]
fn a_suite_on_a_file_removed_between_cells_resumes_after_its_return() {
    let fixture = Fixture::on_disk();
    let content = fixture.noise("disk", 8 * MIB);
    fixture.write("mine.toml", TWO_READS.replace("1000s", "1s"));
    let words = "run mine.toml disk --out run --json";
    let child = fixture.command(words).spawn().unwrap();
    wait_until("it measures", || {
        text_so_far(&fixture.path("run/journal.log")).contains("\"cell_start\"")
    });
    // The first cell has the file open and succeeds.
    std::fs::rename(fixture.path("disk"), fixture.path("away")).unwrap();
    let run = Done::new(words, child).expect(1).json();
    assert_eq!(run["outcome"], "interrupted");
    assert_eq!(cut_off(&states(&run, 0)), 1);
    let words = codes(&run);
    assert!(words.contains(&"drive-lost"), "{words:?}");
    fixture.write("disk", &content);
    let run = fixture.json("run --resume run");
    assert!(states(&run, 0).iter().all(|(state, _)| state == "finished"));
}

#[test]
fn a_suite_on_a_loop_device_resumes_after_the_return_of_its_file() {
    let Some(mut devices) = BlockDevices::new() else {
        return;
    };
    let content = devices.fixture.noise("image", 8 * MIB);
    let Some(device) = devices.attach("image", &["--direct-io=on"]) else {
        return;
    };
    let image = devices.fixture.path("image");
    let pull = || truncate(&image);
    // Detached and attached at the same node, like a reinserted drive.
    let back = || {
        block_devices::run(&["losetup", "-d", &device]);
        std::fs::write(&image, &content).unwrap();
        // The kernel detaches when the last reader has closed the device: until then it is busy.
        wait_until("the device is free", || {
            let mut attach = std::process::Command::new("losetup");
            attach.args(["--direct-io=on", &device]).arg(&image);
            attach.output().unwrap().status.success()
        });
    };
    pulled_and_plugged_in_again(&devices.fixture, &device, pull, back);
}

/// A job of ten minutes during which `pull` removes the drive; returns its document.
#[track_caller]
fn pulled(fixture: &Fixture, words: &str, pull: impl FnOnce()) -> Value {
    let child =
        fixture.command(&format!("{words} --runtime 600s --out run --json")).spawn().unwrap();
    wait_until("it measures", || {
        text_so_far(&fixture.path("run/journal.log")).contains("\"interval\"")
    });
    pull();
    // It must end long before its runtime.
    let job = Done::new(words, child).expect(1).json();
    assert!(number(&job, "/jobs/0/read/errors") > 0.0);
    assert!(number(&job, "/jobs/0/read/ios") > 0.0);
    assert!(number(&job, "/jobs/0/elapsed_ns") < 500e9);
    assert!(codes(&job).contains(&"gave-up"), "{:?}", codes(&job));
    fixture.ok("report run -o page.html");
    job
}

fn truncate(path: &std::path::Path) {
    File::options().write(true).open(path).unwrap().set_len(0).unwrap();
}

#[test]
fn a_job_ends_when_its_file_is_truncated() {
    for engine in ["--engine sync --numjobs 2", "--engine uring --iodepth 8"] {
        let fixture = Fixture::on_disk();
        fixture.noise("disk", 4 * MIB);
        let words = format!("job disk --rw randread --bs 4k --interval 50ms {engine}");
        pulled(&fixture, &words, || truncate(&fixture.path("disk")));
    }
}

#[test]
fn a_job_ends_when_the_file_of_a_loop_device_is_truncated() {
    let Some(mut devices) = BlockDevices::new() else {
        return;
    };
    devices.fixture.noise("image", 8 * MIB);
    let Some(device) = devices.attach("image", &["--direct-io=on"]) else {
        return;
    };
    let words = format!("job {device} --rw randread --bs 4k --iodepth 4 --interval 50ms");
    pulled(&devices.fixture, &words, || truncate(&devices.fixture.path("image")));
}
