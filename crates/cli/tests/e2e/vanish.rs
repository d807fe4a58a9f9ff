//! Drives that go away in the middle: errors are counted and shown, what was measured is kept, and nothing hangs.

use std::fs::File;

use serde_json::Value;

use crate::lab::{Done, Lab, MIB, number, text_so_far, wait_until};
use crate::rig::Rig;

fn codes(document: &Value) -> Vec<&str> {
    let warnings = document["warnings"].as_array().unwrap();
    warnings
        .iter()
        .map(|warning| warning["code"].as_str().unwrap())
        .collect()
}

#[test]
fn a_simulated_drive_that_vanishes_is_given_up() {
    let lab = Lab::on_disk();
    let job = lab.json_status(
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

/// Before measuring has begun there are no errors to show but those of the warning; the drive has failed all the same.
#[test]
fn a_drive_that_vanishes_before_it_is_measured_has_failed() {
    let lab = Lab::on_disk();
    let job = lab.json_status(
        "job sim:samsung-951,fault=vanish@50 --rw randread --ramp_time 100s --runtime 100s",
        1,
    );
    assert_eq!(codes(&job), ["gave-up"]);
}

#[test]
fn every_cell_of_a_suite_on_a_drive_that_is_gone_ends() {
    let lab = Lab::on_disk();
    let drive = "sim:samsung-951,fault=vanish@9000";
    let run = lab.json_status(
        &format!("run quick {drive} sim:intel-600p --scale 0.1 --out run"),
        1,
    );
    let states = |drive: usize| -> Vec<(String, f64)> {
        let cells = run["runs"][drive]["cells"].as_array().unwrap();
        let own = cells.iter().filter(|cell| cell["kind"] == "measure");
        own.map(|cell| {
            let errors = cell["errors"].as_f64().unwrap_or(-1.0);
            (cell["state"].as_str().unwrap().to_owned(), errors)
        })
        .collect()
    };
    let (gone, sound) = (states(0), states(1));
    assert_eq!(gone.len(), sound.len());
    assert!(
        gone.iter().all(|(state, _)| state == "finished"),
        "{gone:?}"
    );
    assert!(gone.last().unwrap().1 > 0.0, "{gone:?}");
    assert!(sound.iter().all(|(_, errors)| *errors == 0.0), "{sound:?}");
    assert!(codes(&run).contains(&"gave-up"));
    lab.ok("report run -o page.html");
    assert!(lab.text("page.html").contains("failed or came back short"));
}

/// A job of ten minutes, during which `pull` takes the drive away; the document it ends with.
#[track_caller]
fn pulled(lab: &Lab, words: &str, pull: impl FnOnce()) -> Value {
    let child = lab
        .command(&format!("{words} --runtime 600s --out run --json"))
        .spawn()
        .unwrap();
    wait_until("it measures", || {
        text_so_far(&lab.path("run/journal.log")).contains("\"interval\"")
    });
    pull();
    // That it ends at all, long before its time, is the point.
    let job = Done::of(words, child).expect(1).json();
    assert!(number(&job, "/jobs/0/read/errors") > 0.0);
    assert!(number(&job, "/jobs/0/read/ios") > 0.0);
    assert!(number(&job, "/jobs/0/elapsed_ns") < 500e9);
    assert!(codes(&job).contains(&"gave-up"), "{:?}", codes(&job));
    lab.ok("report run -o page.html");
    job
}

fn truncate(path: &std::path::Path) {
    File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_len(0)
        .unwrap();
}

#[test]
fn a_file_that_is_truncated_is_given_up() {
    for engine in ["--engine sync --numjobs 2", "--engine uring --iodepth 8"] {
        let lab = Lab::on_disk();
        lab.noise("disk", 4 * MIB);
        let words = format!("job disk --rw randread --bs 4k --interval 50ms {engine}");
        pulled(&lab, &words, || truncate(&lab.path("disk")));
    }
}

#[test]
fn a_loop_device_whose_file_is_gone_is_given_up() {
    let Some(mut rig) = Rig::new() else { return };
    rig.lab.noise("image", 8 * MIB);
    let Some(device) = rig.attach("image", &["--direct-io=on"]) else {
        return;
    };
    let words = format!("job {device} --rw randread --bs 4k --iodepth 4 --interval 50ms");
    pulled(&rig.lab, &words, || truncate(&rig.lab.path("image")));
}
