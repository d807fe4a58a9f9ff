//! Contract: JSON names that scripts depend on (design.md), and the mark of simulated results.

use std::fs;

use serde_json::Value;

use crate::fixture::{Fixture, keys, number};

const PERCENTILES: [&str; 8] =
    ["p50", "p90", "p95", "p99", "p99_9", "p99_99", "p99_999", "p99_9999"];

/// A summary of one direction: consistent counts, ordered percentiles.
/// `can_be_zero`: an I/O on the null target can take less than one step of the clock.
#[track_caller]
fn check_latency(latency: &Value, can_be_zero: bool) {
    let figure = |key: &str| number(latency, &format!("/{key}"));
    let mut last = figure("min");
    for key in PERCENTILES {
        assert!(figure(key) >= last, "{key} is below what comes before it: {latency:#}");
        last = figure(key);
    }
    assert!(
        figure("max") >= last && figure("mean") >= figure("min") && figure("mean") <= figure("max"),
        "{latency:#}"
    );
    assert!(figure("stddev") >= 0.0 && (figure("min") > 0.0 || can_be_zero));
}

#[track_caller]
fn check_operation(operation: &Value, can_be_zero: bool) {
    assert_eq!(keys(operation), ["bytes", "errors", "iops", "ios", "latency_ns", "mib_per_s"]);
    let rate = number(operation, "/iops") * 4096.0 / 1048576.0;
    assert!((number(operation, "/mib_per_s") / rate - 1.0).abs() < 1e-9, "{operation:#}");
    assert_eq!(number(operation, "/bytes"), number(operation, "/ios") * 4096.0);
    assert_eq!(number(operation, "/latency_ns/samples"), number(operation, "/ios"));
    check_latency(&operation["latency_ns"], can_be_zero);
}

#[test]
fn job_json_has_the_documented_keys() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", 1 << 20);
    for (drive, simulated) in
        [("disk --destroy disk", false), ("sim:samsung-951", true), ("null:", false)]
    {
        let job = fixture.json(&format!("job {drive} --rw randrw --bs 4k --size 1m --io_size 1m"));
        for key in ["drive", "jobs", "host", "audit", "simulated"] {
            assert!(job.get(key).is_some(), "{drive}: no {key:?} in {job:#}");
        }
        assert_eq!(job["simulated"], Value::Bool(simulated), "{drive}");
        assert_eq!(job["jobs"].as_array().unwrap().len(), 1);
        check_operation(&job["jobs"][0]["read"], drive == "null:");
        check_operation(&job["jobs"][0]["write"], drive == "null:");
        let ios = number(&job, "/jobs/0/read/ios") + number(&job, "/jobs/0/write/ios");
        assert_eq!(ios, 256.0, "{drive}");
        for key in ["cpu_user_pct", "cpu_system_pct"] {
            assert!(number(&job, &format!("/host/{key}")) >= 0.0);
        }
        assert!(
            number(&job, "/audit/null_iops_per_thread") > 0.0
                && number(&job, "/audit/clock_ns") > 0.0
        );
        let spec = drive.split_whitespace().next().unwrap();
        assert_eq!(job["drive"]["spec"], spec);
    }
}

#[test]
fn run_json_has_the_documented_keys() {
    let fixture = Fixture::on_disk();
    // Cells of 30 ms: a busy host may keep shorter ones from their first I/O.
    let run = fixture.json("run quick sim:samsung-951 null: --scale 0.01 --out run");
    assert_eq!(run["suite"], "quick");
    let runs = run["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(
        (&runs[0]["simulated"], &runs[1]["simulated"]),
        (&Value::Bool(true), &Value::Bool(false))
    );
    for drive in runs {
        for key in ["drive", "simulated", "cells", "verdict"] {
            assert!(drive.get(key).is_some(), "no {key:?}");
        }
        let finished: Vec<&Value> = drive["cells"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|cell| cell["state"] == "finished")
            .collect();
        assert_eq!(finished.len(), 14);
        for cell in finished {
            assert!(cell["rw"] == "randread" || cell["rw"] == "read");
            for key in ["bs_bytes", "iodepth", "numjobs", "mib_per_s", "iops"] {
                assert!(number(cell, &format!("/{key}")) > 0.0, "{key} in {cell:#}");
            }
            let mib_per_s = number(cell, "/iops") * number(cell, "/bs_bytes") / 1048576.0;
            assert!((number(cell, "/mib_per_s") / mib_per_s - 1.0).abs() < 1e-9, "{cell:#}");
            check_latency(&cell["latency_ns"], false);
        }
    }
}

#[test]
fn every_command_gives_one_json_document_and_nothing_else_on_stdout() {
    let fixture = Fixture::on_disk();
    fixture.ok("run quick sim:intel-600p --scale 0.001 --out run");
    fixture.ok("job sim:intel-600p --size 1m --out job");
    let cases: [(&str, &[&str]); 15] = [
        ("list", &["drives", "simulated"]),
        ("probe sim:samsung-951", &["drive", "simulated"]),
        ("probe null:", &["drive", "simulated"]),
        ("check sim:samsung-951", &["drive", "simulated", "rating", "findings"]),
        ("suites", &["suites"]),
        ("job null: --size 1m", &["drive", "jobs", "host", "audit", "simulated"]),
        ("run quick sim:samsung-951 --scale 0.001 --out other", &["suite", "runs"]),
        ("report run job -o page.html", &["report"]),
        ("report run job -o both.html --summary", &["report", "summary"]),
        ("compare run job", &["compared"]),
        ("export run --format csv -o csv", &["format", "files"]),
        ("export run --format fio-json -o fio.json", &["format", "files"]),
        ("export run --format json -o -", &[]),
        ("completions bash", &["shell", "script"]),
        ("version", &["tool"]),
    ];
    for (words, expected) in cases {
        let document = fixture.json(words);
        for key in expected {
            assert!(document.get(key).is_some(), "{words}: no {key:?} in {document:#}");
        }
    }
}

#[test]
fn simulated_results_are_marked_everywhere() {
    let fixture = Fixture::on_disk();
    let run = fixture.ok("run quick sim:samsung-951 --scale 0.001 --out run");
    let job = fixture.ok("job sim:samsung-951 --rw randrw --size 1m --out job");
    let compared = fixture.ok("compare run run");
    let probe = fixture.ok("probe sim:samsung-951");
    for text in [&run.stdout, &job.stdout, &compared.stdout, &probe.stdout] {
        assert!(text.contains("simulated"), "{text}");
    }
    // Every line with the drive name has the word; cell names (DRIVE/STEP) are exempt.
    for text in [&run.stdout, &compared.stdout] {
        for line in
            text.lines().filter(|line| line.replace("samsung-951/", "").contains("samsung-951"))
        {
            assert!(line.contains("simulated"), "{line:?} in {text}");
        }
    }
    fixture.ok("report run -o page.html");
    assert!(fixture.text("page.html").matches("simulated").count() > 3);
    for format in ["json", "fio-json"] {
        fixture.ok(&format!("export run --format {format} -o out.{format}"));
        assert!(fixture.text(&format!("out.{format}")).contains("simulated"), "{format}");
    }
    fixture.ok("export run --format csv -o csv");
    let mut tables = 0;
    for entry in fs::read_dir(fixture.path("csv")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let mut lines = text.lines();
        assert_eq!(
            lines.next().unwrap().split(',').nth(1),
            Some("simulated"),
            "{}",
            path.display()
        );
        let rows: Vec<&str> = lines.collect();
        for row in &rows {
            assert_eq!(row.split(',').nth(1), Some("true"), "{}: {row}", path.display());
        }
        tables += usize::from(!rows.is_empty());
    }
    assert!(tables >= 2, "cells and intervals at least");
}

#[test]
fn real_results_are_never_marked_simulated() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", 1 << 20);
    let text = fixture.ok("job disk --size 1m").stdout;
    assert!(!text.contains("simulated"), "{text}");
    assert_eq!(fixture.json("job null: --size 1m")["simulated"], Value::Bool(false));
}

#[test]
fn stdout_has_only_the_result_and_stderr_a_line_per_cell_without_a_terminal() {
    let fixture = Fixture::on_disk();
    let done = fixture.ok("run quick sim:samsung-951 --scale 0.005 --out run --json");
    done.json();
    let lines: Vec<&str> = done.stderr.lines().collect();
    assert_eq!(lines.len(), 14, "{done}");
    for line in lines {
        assert!(line.starts_with("cell ") && line.contains(" of 15, samsung-951/"), "{line}");
        assert!(line.contains(" IOPS, ") && line.contains("(simulated)"), "{line}");
        assert!(line.ends_with(" elapsed"), "{line}");
    }
    let done = fixture.ok("job sim:samsung-951 --rw randread --runtime 3s");
    assert_eq!(done.stderr, "");
}

/// What `probe --json` saved of a drive is read again with the same facts, and a health log alone
/// without claims about the rest.
#[test]
fn a_saved_probe_is_read_again() {
    let fixture = Fixture::in_memory();
    let saved = fixture.ok("probe sim:samsung-951 --json").stdout;
    fixture.write("saved.json", &saved);
    let before: serde_json::Value = serde_json::from_str(&saved).unwrap();
    let after = fixture.json("probe --from saved.json");
    assert_eq!(after["saved"]["nvme"], before["nvme"]);
    assert_eq!(after["saved"]["capacity_bytes"], before["drive"]["capacity_bytes"]);
    let text = fixture.ok("probe --from saved.json").stdout;
    let shown = fixture.ok("probe sim:samsung-951").stdout;
    let controller = |text: &str| {
        text[text
            .find(
                "
controller",
            )
            .unwrap()..]
            .to_owned()
    };
    assert_eq!(controller(&text), controller(&shown));
    fixture
        .write("smart.json", r#"{"data_units_written": 2, "temperature": 300, "percent_used": 9}"#);
    let text = fixture.ok("probe --from smart.json").stdout;
    assert!(text.contains("life used") && text.contains("9 %"), "{text}");
    assert!(!text.contains("NVMe version"), "{text}");
    // What smartctl does not take from the controller is not claimed to be none.
    fixture.write(
        "smartctl.json",
        r#"{"smartctl": {}, "model_name": "M", "serial_number": "S", "firmware_version": "F",
            "nvme_version": {"value": 66304}, "nvme_smart_health_information_log":
            {"percentage_used": 9, "data_units_written": 2}}"#,
    );
    let text = fixture.ok("probe --from smartctl.json").stdout;
    assert!(text.contains("NVMe version") && text.contains("9 %"), "{text}");
    for unknown in ["admin commands", "sanitize", "largest command", "state 0"] {
        assert!(!text.contains(unknown), "{text}");
    }
    fixture.write("other.json", "{}");
    fixture.run("probe --from other.json").refuses(2, &["other.json", "nvme id-ctrl"]);
    fixture.run("probe").refuses(2, &["<DRIVE>"]);
}
