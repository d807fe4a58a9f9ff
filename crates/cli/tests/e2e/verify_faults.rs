//! Verification on simulated drives with injected faults: each kind is detected and named; a
//! correct drive has no findings.

use serde_json::Value;

use crate::fixture::{Fixture, number};

/// Run a verifying job on a simulated drive with these faults; the status, what was found by name,
/// and the document.
#[track_caller]
fn verified(faults: &str, workload: &str, status: i32) -> (Vec<(String, u64)>, Value) {
    let fixture = Fixture::on_disk();
    let job =
        fixture.json_status(&format!("job sim:samsung-951{faults} {workload} --verify"), status);
    let found = job["jobs"][0]["verify"]["found"].as_object().expect("what was found");
    let found = found.iter().map(|(name, count)| (name.clone(), count.as_u64().unwrap())).collect();
    (found, job)
}

fn one(name: &str, count: u64) -> Vec<(String, u64)> {
    vec![(name.to_owned(), count)]
}

const SEQUENTIAL: &str = "--rw write --bs 16k --size 4m";

#[test]
fn a_correct_drive_has_no_findings() {
    for state in ["", ",state=fresh"] {
        for workload in [
            SEQUENTIAL,
            "--rw write --bs 16k --size 4m --numjobs 4 --iodepth 8",
            "--rw randwrite --bs 4k --size 4m --io_size 16m --iodepth 32",
            "--rw randrw --bs 4k/50:16k/30:64k/20 --size 8m --io_size 32m --iodepth 16 --numjobs 2",
            "--rw randwrite --random_distribution zipf:1.1 --bs 8k --size 8m --io_size 16m \
             --iodepth 4",
            "--rw write --bs 512 --size 256k --verify_interval 512",
            "--rw write --bs 64k --size 4m --data compress=3",
            "--rw rw --bs 64k --size 4m --io_size 32m --iodepth 4 --runtime 1s",
        ] {
            let (found, job) = verified(state, workload, 0);
            assert_eq!(found, [], "{state} {workload}");
            assert!(number(&job, "/jobs/0/verify/blocks_checked") > 0.0, "{workload}");
        }
    }
}

#[test]
fn a_flipped_bit_is_corruption_at_a_reported_offset() {
    let (found, job) = verified(",fault=corrupt-write@5", SEQUENTIAL, 1);
    assert_eq!(found, one("corrupt", 1));
    let example = job["jobs"][0]["verify"]["examples"][0].as_str().unwrap();
    assert!(example.contains("1 bit flipped"), "{example}");
    // The fifth write of 16 KiB covers bytes 65536 to 81919.
    let at: u64 =
        example.split("(byte ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!((65536..81920).contains(&at), "{example}");
}

#[test]
fn a_dropped_write_is_lost() {
    let (found, job) = verified(",state=fresh,fault=drop-write@5", SEQUENTIAL, 1);
    assert_eq!(found, one("lost", 4));
    assert!(job["jobs"][0]["verify"]["examples"][0].as_str().unwrap().contains("zeroes"));
    let (found, _) = verified(",state=filled,fault=drop-write@5", SEQUENTIAL, 1);
    assert_eq!(found, one("lost", 4));
}

#[test]
fn a_dropped_overwrite_is_stale() {
    // Every block is written four times in order; the last round is dropped at one place.
    let (found, _) =
        verified(",fault=drop-write@250", "--rw write --bs 16k --size 1m --io_size 4m", 1);
    assert_eq!(found, one("stale", 4));
}

#[test]
fn a_misdirected_write_is_misplaced_at_its_target_and_lost_at_its_address() {
    let workload = "--rw randwrite --random_distribution cover --bs 16k --size 4m";
    let mut both = 0;
    for ordinal in [200, 220, 240, 250] {
        let (found, _) = verified(&format!(",fault=misdirect-write@{ordinal}"), workload, 1);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        // A later write may overwrite the wrong location; the intended location is lost in any
        // case.
        assert!(names.contains(&"lost"), "{ordinal}: {found:?}");
        both += usize::from(found == [("lost".to_owned(), 4), ("misplaced".to_owned(), 4)]);
    }
    assert!(both > 0, "no misdirected write was detected at its target");
}

/// A counterfeit with a quarter of its stated capacity: each physical block holds its last write,
/// and reads of the other addresses return misplaced blocks. Only the last quarter is correct.
#[test]
fn a_forged_capacity_is_misplaced_blocks() {
    let (found, job) = verified(",fault=wrap:1m", SEQUENTIAL, 1);
    assert_eq!(found, one("misplaced", 768));
    let example = job["jobs"][0]["verify"]["examples"][0].as_str().unwrap();
    // The block at 0 came from the start of the last megabyte.
    assert!(example.contains("3145728"), "{example}");
    let random = "--rw randwrite --random_distribution cover --bs 4k --size 4m --iodepth 8";
    let (found, _) = verified(",fault=wrap:1m,state=fresh", random, 1);
    assert_eq!(found, one("misplaced", 768));
    let (found, _) = verified(",fault=wrap:4m", SEQUENTIAL, 0);
    assert_eq!(found, [], "data within the true capacity is kept");
}

#[test]
fn a_stale_read_is_stale() {
    let workload = "--rw randrw --bs 4k --size 256k --io_size 8m";
    let (found, job) = verified(",fault=stale-read@900", workload, 1);
    assert_eq!(found, one("stale", 1), "{job:#}");
    assert!(
        job["jobs"][0]["verify"]["examples"][0]
            .as_str()
            .unwrap()
            .contains("the last one acknowledged was")
    );
}

#[test]
fn failed_reads_and_writes_are_errors_and_no_data_faults() {
    let (found, job) = verified(",fault=write-error@5", SEQUENTIAL, 1);
    assert_eq!(found, [], "an unacknowledged write has no finding");
    assert_eq!(number(&job, "/jobs/0/write/errors"), 1.0);
    assert_eq!(number(&job, "/jobs/0/write/ios"), 255.0);
    let (found, _) = verified(",fault=read-error@5", SEQUENTIAL, 1);
    assert_eq!(found, one("unreadable", 4));
    let fixture = Fixture::on_disk();
    let job = fixture
        .json_status("job sim:intel-600p,fault=read-error@5 --rw read --bs 16k --size 1m", 1);
    assert_eq!(number(&job, "/jobs/0/read/errors"), 1.0);
    assert_eq!(number(&job, "/jobs/0/read/ios"), 63.0);
    // The cause of the failure is recorded.
    let causes = serde_json::json!({"ENODATA": 1});
    assert_eq!(job["jobs"][0]["read"]["causes"], causes);
    let warnings = job["warnings"].as_array().unwrap();
    let reported = warnings.iter().find(|w| w["code"] == "io-errors").unwrap();
    let reported = reported["message"].as_str().unwrap();
    assert!(reported.contains("1 unrecovered medium error (ENODATA)"), "{reported}");
    let text = fixture
        .run("job sim:intel-600p,fault=read-error@5 --rw read --bs 16k --size 1m")
        .expect(1)
        .stdout;
    assert!(text.contains("warning:") && text.contains("simulated"), "{text}");
}

#[test]
fn several_faults_on_one_drive_are_all_found() {
    let faults = ",fault=corrupt-write@5,fault=drop-write@9,fault=corrupt-write@20,\
                  fault=write-error@30,fault=latency-spike@3=5ms";
    let (found, job) = verified(faults, SEQUENTIAL, 1);
    assert_eq!(found, [("corrupt".to_owned(), 2), ("lost".to_owned(), 4)]);
    assert_eq!(number(&job, "/jobs/0/write/errors"), 1.0);
    assert!(number(&job, "/jobs/0/write/latency_ns/max") > 5e6);
    Fixture::on_disk().run("job sim:samsung-951,seed=1,seed=2").refuses(2, &["seed", "twice"]);
}

#[test]
fn findings_are_in_text_and_exports() {
    let fixture = Fixture::on_disk();
    let drive = "sim:samsung-951,fault=corrupt-write@5,fault=drop-write@9";
    let done = fixture.run(&format!("job {drive} {SEQUENTIAL} --verify --out run")).expect(1);
    for word in ["1 corrupt", "4 lost", "warning:"] {
        assert!(done.stdout.contains(word), "{word:?} not in {done}");
    }
    fixture.ok("report run -o page.html");
    assert!(fixture.text("page.html").contains("corrupt"));
    fixture.ok("export run --format csv -o csv");
    let table = fixture.text("csv/cells.csv");
    let rows: Vec<Vec<String>> = table.lines().map(fields).collect();
    let column = rows[0].iter().position(|name| name == "verify_findings");
    assert_eq!(rows[1][column.unwrap()], "5");
    fixture.ok("export run --format json -o out.json");
    assert!(fixture.text("out.json").contains("corrupt"));
}

#[test]
fn data_errors_in_a_users_suite_end_with_status_1() {
    let fixture = Fixture::on_disk();
    fixture.write(
        "mine.toml",
        "name = \"mine\"\ntitle = \"t\"\nsummary = \"s\"\nsource = \"me\"\nduration = \
         \"short\"\n[[step]]\nid = \"w\"\ntitle = \"w\"\nkind = \"measure\"\nneeds = \
         [\"write\"]\njob = { rw = \"write\", bs = \"16k\", size = \"1m\", verify = true }\n",
    );
    let run = fixture.json_status(
        "run mine.toml sim:samsung-951,fault=corrupt-write@5 sim:intel-600p --out run",
        1,
    );
    assert_eq!(run["runs"][0]["cells"][0]["verify"]["found"]["corrupt"], 1);
    assert_eq!(run["runs"][1]["cells"][0]["verify"]["found"], serde_json::json!({}));
    fixture.json("run mine.toml sim:samsung-951 --out sound");
}

/// The fields of a line of CSV, quoted ones without their quotes (RFC 4180).
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    fields
}
