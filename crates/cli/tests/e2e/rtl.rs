//! `rtl:`, the co-simulated core, as a target of `record`, `replay` and `testbench`. Skipped where the model of the core was not built.

use serde_json::Value;

use crate::fixture::{Fixture, KIB};

const DRIVE: &str = "rtl:sim:mle-brief-960gb";

/// Whether there is a model. If not, the message says what is missing.
fn is_built(fixture: &Fixture) -> bool {
    let done = fixture.run(&format!(
        "record {DRIVE} --pattern 1 --length 16k --chunk 16k"
    ));
    if done.status != 2 || !done.stderr.contains("built without the model") {
        return true;
    }
    println!("skipped: {}", done.stderr.trim());
    false
}

#[test]
fn a_stream_is_recorded_with_waves() {
    let fixture = Fixture::on_disk();
    if !is_built(&fixture) {
        return;
    }
    let recorded = fixture.json(&format!(
        "record {DRIVE} --pattern 1 --length 100k --chunk 16k --flush-after --wave core.fst"
    ));
    let status = &recorded["status"];
    assert_eq!(status["bytes"], 100 * KIB, "{recorded:#}");
    assert_eq!(status["durable_bytes"], 100 * KIB);
    assert_eq!(recorded["simulated"], true);
    assert_eq!(recorded["drives"][0]["spec"], DRIVE);
    // Type and length of the header, the first block of an FST file.
    let wave = fixture.read("core.fst");
    assert_eq!(wave[..9], [0, 0, 0, 0, 0, 0, 0, 1, 0x49]);
    assert!(wave.len() > 16 * KIB, "{} bytes", wave.len());
    // An earlier wave file is replaced, another file is not.
    let again = format!("record {DRIVE} --pattern 1 --length 16k --chunk 16k --wave");
    fixture.ok(&format!("{again} core.fst"));
    assert!(fixture.read("core.fst").len() < wave.len());
    fixture.write("notes", "a file");
    fixture
        .run(&format!("{again} notes"))
        .refuses(2, &["notes exists"]);
    fixture
        .run(&format!("{again} absent/core.fst"))
        .refuses(4, &["absent/core.fst"]);
    assert_eq!(fixture.text("notes"), "a file");
}

#[test]
fn an_unwritten_drive_replays_as_without_the_core() {
    let fixture = Fixture::on_disk();
    if !is_built(&fixture) {
        return;
    }
    let replay = |drive: &str| {
        let words = format!("replay {drive} --chunk 16k --last 48k --to {{}} --json");
        let to = drive.replace(':', "-");
        let done = fixture.ok(&words.replace("{}", &to));
        (fixture.read(&to), done.json())
    };
    let (software, _) = replay("sim:mle-brief-960gb");
    let (core, document) = replay(DRIVE);
    assert!(core == software && core.len() == 64 * KIB, "{document:#}");
    assert!(core.iter().all(|&byte| byte == 0));
    assert_eq!(document["recording"], Value::Null);
    assert_eq!(document["status"]["chunks"], 4);
}

#[test]
fn the_twelve_tests_pass_on_the_core() {
    let fixture = Fixture::on_disk();
    if !is_built(&fixture) {
        return;
    }
    let bench = fixture.json(&format!(
        "testbench {DRIVE} --chunk 16k --span 1m --last 496k"
    ));
    assert_eq!(
        (&bench["passed"], &bench["failed"]),
        (&Value::from(12), &Value::from(0)),
        "{bench:#}"
    );
    assert_eq!(bench["simulated"], true);
    assert_eq!(bench["drives"][0], DRIVE);
    // The core's, not --iodepth.
    assert_eq!(bench["depth"], 8);
}

#[test]
fn faults_of_the_drive_are_detected_through_the_core() {
    let fixture = Fixture::on_disk();
    if !is_built(&fixture) {
        return;
    }
    let words = format!("testbench {DRIVE},fault=drop-write@50 --chunk 16k --last 496k");
    let done = fixture.run(&words).expect(1);
    assert!(done.stdout.contains("lost write"), "{done}");
    assert!(done.stdout.contains("FAIL: 11 passed, 1 failed"), "{done}");
    let words = format!("record {DRIVE},fault=write-error@3 --pattern 1 --length 128k --chunk 16k");
    let failed = fixture.json_status(&words, 1);
    assert_eq!(failed["status"]["chunks"], 2, "{failed:#}");
    assert_eq!(failed["status"]["failure"]["address"], 32 * KIB);
}

#[test]
fn wrong_uses_have_clear_errors() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", 64 * KIB);
    let refuses = |words: &str, message: &[&str]| {
        fixture.run(words).refuses(2, message);
    };
    for command in ["job", "probe", "purge", "run quick"] {
        let words = format!("{command} {DRIVE}");
        refuses(
            &words,
            &[
                "co-simulated streaming core",
                "record, replay and testbench",
            ],
        );
    }
    refuses(
        &format!("serve {DRIVE} --nbd unix:socket"),
        &["co-simulated streaming core"],
    );
    refuses(
        "record sim:samsung-951 --pattern 1 --wave core.fst",
        &["--wave is for the co-simulated core"],
    );
    refuses(
        "replay disk --bus-bits 128",
        &["--bus-bits is for the co-simulated core"],
    );
    refuses("record rtl:disk --pattern 1", &["simulated drives only"]);
    refuses("record rtl:sim:crucial-mx300 --pattern 1", &["Serial ATA"]);
    refuses("record rtl:sim:none-such --pattern 1", &["none-such"]);
    refuses(
        &format!("record {DRIVE},colour=red --pattern 1"),
        &["colour"],
    );
    refuses(
        &format!("record {DRIVE} sim:samsung-951 --pattern 1"),
        &["name all drives with rtl:"],
    );
    if !is_built(&fixture) {
        return;
    }
    refuses(
        &format!("record {DRIVE} --pattern 1 --chunk 64k"),
        &["no model of the core", "128 KiB", "all-configurations"],
    );
    refuses(
        &format!("record {DRIVE} --pattern 1 --destroy DISK"),
        &["--destroy DISK names none"],
    );
    refuses(
        &format!("record {DRIVE} --pattern 1 --length 128k --index"),
        &["not supported by this streamer"],
    );
    refuses(
        &format!("verify {DRIVE}"),
        &["not supported by this streamer"],
    );
    refuses(
        &format!("record {DRIVE} --pattern 1 --first 1"),
        &["first address 1"],
    );
}
