//! `assay testbench`: JSON keys, log, refusals, exit status.

use rustix::process::Signal;
use serde_json::Value;

use crate::fixture::{Done, Fixture, MIB, keys, pause, send, wait_until};

const QUICK: &str = "--chunk 16k --iodepth 8 --last 4080k";

fn results(document: &Value) -> String {
    let tests = document["tests"].as_array().unwrap();
    let letter = |test: &Value| match test["result"].as_str().unwrap() {
        "pass" => 'P',
        "fail" => 'F',
        "not_applicable" => 'n',
        other => panic!("{other}"),
    };
    tests.iter().map(letter).collect()
}

#[test]
fn json_has_the_documented_keys() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", 4 * MIB);
    for (drive, expected, simulated) in [
        ("sim:samsung-951", "PPPPPPPPPPPP", true),
        ("disk --destroy disk", "nPPPPPPPPPPn", false),
        ("disk --destroy disk --engine sync", "nPPPPPPPPPPn", false),
    ] {
        let bench = fixture.json(&format!("testbench {drive} {QUICK}"));
        assert_eq!(results(&bench), expected, "{bench:#}");
        let passed = expected.matches('P').count();
        assert_eq!((&bench["passed"], &bench["failed"]), (&Value::from(passed), &Value::from(0)));
        assert_eq!(bench["simulated"], Value::Bool(simulated));
        for (n, test) in bench["tests"].as_array().unwrap().iter().enumerate() {
            assert_eq!(keys(test), ["detail", "id", "name", "result"]);
            assert_eq!(test["id"], Value::from(format!("{n:02}")));
            assert!(!test["detail"].as_str().unwrap().is_empty(), "{test:#}");
        }
        assert_eq!(bench["sweep"].as_array().unwrap().len(), 9);
    }
}

#[test]
fn the_log_has_a_line_per_test_and_marks_simulated_drives() {
    let fixture = Fixture::on_disk();
    let done = fixture.ok(&format!("testbench sim:intel-600p {QUICK}"));
    for id in 0..12 {
        assert!(done.stdout.contains(&format!("PASS  {id:02}  ")), "{done}");
    }
    assert!(
        done.stdout.contains("sim:intel-600p (simulated)")
            && done.stdout.contains("PASS: 12 passed, 0 failed"),
        "{done}"
    );
    // A repetition is identical to the byte.
    assert_eq!(fixture.ok(&format!("testbench sim:intel-600p {QUICK}")).stdout, done.stdout);
}

#[test]
fn a_detected_fault_gives_status_1() {
    let fixture = Fixture::on_disk();
    let bench = fixture.json_status(&format!("testbench sim:samsung-951,fault=wrap:2m {QUICK}"), 1);
    assert_eq!(results(&bench), "PPPPPPPPFPFP", "{bench:#}");
    assert_eq!((&bench["passed"], &bench["failed"]), (&Value::from(10), &Value::from(2)));
    let done =
        fixture.run(&format!("testbench sim:samsung-951,fault=drop-write@50 {QUICK}")).expect(1);
    assert!(
        done.stdout.contains("FAIL  01") && done.stdout.contains("FAIL: 11 passed, 1 failed"),
        "{done}"
    );
}

#[test]
fn nothing_is_written_without_permission_and_invalid_input_is_rejected() {
    let fixture = Fixture::on_disk();
    let before = fixture.noise("disk", 4 * MIB);
    let refuses = |words: &str, status: i32, message: &[&str]| {
        fixture.run(&format!("testbench {words}")).refuses(status, message)
    };
    refuses(&format!("disk {QUICK}"), 3, &["--destroy disk"]);
    refuses(&format!("disk --destroy other {QUICK}"), 3, &["its serial is disk"]);
    refuses("disk --destroy disk --first 1", 2, &["first address 1"]);
    refuses("disk --destroy disk --chunk 1000", 2, &["1000"]);
    refuses("disk --destroy disk --chunk 16k --last 160k", 2, &["11 chunks", "needs 16"]);
    refuses("disk --destroy disk --last 8m", 2, &["beyond the drive"]);
    refuses("null:", 2, &["keeps no data"]);
    refuses("absent --destroy absent", 2, &["no such file"]);
    assert!(fixture.read("disk") == before, "something was written");
}

#[test]
fn ctrl_c_ends_the_testbench_with_partial_results() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", 64 * MIB);
    let words = "testbench disk --destroy disk --chunk 4k --iodepth 1 --json";
    let before = fixture.read("disk");
    let child = fixture.command(words).spawn().unwrap();
    wait_until("it writes", || fixture.read("disk")[..4096] != before[..4096]);
    pause(20);
    send(&child, Signal::INT);
    let done = Done::new(words, child).expect(130);
    let bench = done.json();
    assert_eq!(bench["interrupted"], Value::Bool(true));
    assert_eq!(bench["failed"], Value::from(0), "{bench:#}");
    assert!(bench["tests"].as_array().unwrap().len() < 12);
}
