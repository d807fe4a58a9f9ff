//! Controller errors: counted and reported by cause, without a hang.

use serde_json::{Value, json};

use crate::fixture::{MIB, noise, number};
use crate::guest::Setup;

/// Whether a warning about I/O errors contains this text.
fn warns_of(job: &Value, words: &str) -> bool {
    let mut warnings = job["warnings"].as_array().unwrap().iter();
    warnings.any(|w| w["code"] == "io-errors" && w["message"].as_str().unwrap().contains(words))
}

#[test]
fn controller_errors_are_reported_by_cause() {
    let Some(setup) = Setup::new() else { return };
    // Between the controller and the image: the sector at 8 MiB cannot be read, the one at 16 MiB
    // cannot be written.
    let rule = |kind: &str, at: usize| {
        json!({
            "event": "none", "iotype": kind, "errno": 5, "sector": at / 512, "once": false,
            "immediately": true
        })
    };
    let node = json!({
        "driver": "raw", "node-name": "bad", "file": {
            "driver": "blkdebug", "image": "one",
            "inject-error": [rule("read", 8 * MIB), rule("write", 16 * MIB)]
        }
    });
    let setup = setup.image("one", 32 * MIB).option(&format!("-blockdev {node}")).controller(
        "first",
        "GUEST-0001",
        "drive=bad",
    );
    setup.fixture.write("one", noise(1, 32 * MIB));
    let mut guest = setup.boot();
    let device = &guest.device("GUEST-0001");
    let destroy = "--destroy GUEST-0001";

    // Queue depth 1, so that the kernel cannot merge a good and a bad block into one command.
    for engine in [
        "--engine sync",
        "--engine uring",
        "--engine uring --hipri",
        "--engine passthru",
        "--engine passthru --hipri",
    ] {
        let job = guest.json_status(&format!("job {device} --rw read --bs 64k {engine}"), 1);
        assert_eq!(number(&job, "/jobs/0/read/errors"), 1.0, "{job:#}");
        assert_eq!(number(&job, "/jobs/0/read/ios"), 511.0, "{job:#}");
        // The controller's Unrecovered Read Error, by any engine: ENODATA is the kernel's errno for
        // a medium error.
        assert_eq!(job["jobs"][0]["read"]["causes"], json!({"ENODATA": 1}), "{engine}: {job:#}");
        assert!(warns_of(&job, "1 unrecovered medium error (ENODATA)"), "{engine}: {job:#}");
    }
    // All other sectors are readable.
    let job = guest.json(&format!("job {device} --rw read --bs 64k --offset 9m --size 16m"));
    assert_eq!(number(&job, "/jobs/0/read/errors"), 0.0);

    // A failed write is an error; the old content of its block is distinguished from a silently
    // lost write.
    let before = guest.content("one");
    let job = guest.json_status(
        &format!("job {device} --rw write --bs 64k --offset 12m --size 8m --verify {destroy}"),
        1,
    );
    assert_eq!(number(&job, "/jobs/0/write/errors"), 1.0, "{job:#}");
    assert_eq!(number(&job, "/jobs/0/write/ios"), 127.0, "{job:#}");
    assert_eq!(job["jobs"][0]["write"]["causes"], json!({"ENODATA": 1}), "{job:#}");
    assert!(warns_of(&job, "medium error (ENODATA)"), "{job:#}");
    let kept = |at: usize, now: &[u8]| now[at..at + 4096] == before[at..at + 4096];
    let now = guest.content("one");
    assert!(kept(16 * MIB, &now), "the failed write changed the drive");
    assert!(!kept(16 * MIB - 65536, &now) && !kept(16 * MIB + 65536, &now));

    // A suite continues and reports the errors.
    let capacity = guest.json_status(&format!("run capacity {device} {destroy}"), 1);
    let run = &capacity["runs"][0];
    assert_eq!(run["verdict"]["result"], "not_recommended", "{run:#}");
    for cell in run["cells"].as_array().unwrap() {
        assert_eq!(cell["state"], "finished", "{cell:#}");
        assert_eq!(number(cell, "/errors"), 1.0, "{cell:#}");
    }

    // A stream ends at the bad sector with its address and the error (ENODATA is the kernel's errno
    // for a medium error); no later chunk is reported complete.
    let done = guest
        .sh(&format!("head -c 24m /dev/zero | assay record {device} --chunk 64k {destroy} --json"));
    let recorded = done.clone().expect(1).json();
    let status = &recorded["status"];
    assert_eq!(number(status, "/bytes"), (16 * MIB) as f64, "{status:#}");
    assert_eq!(status["failure"]["op"], "write", "{status:#}");
    assert_eq!(number(status, "/failure/address"), (16 * MIB) as f64);
    assert_eq!(number(status, "/failure/result"), -61.0, "{status:#}");
    let words = status["status"].as_array().unwrap();
    assert!(words.contains(&json!("device_error")), "{status:#}");
    assert!(!words.contains(&json!("finished")), "{status:#}");

    // The streams of the test bench include the unreadable sector.
    let bench = guest
        .json_status(&format!("testbench {device} --chunk 64k --first 7m --last 9m {destroy}"), 1);
    assert!(number(&bench, "/failed") >= 1.0, "{bench:#}");
    guest.end();
}
