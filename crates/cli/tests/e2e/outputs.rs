//! Exports and comparisons of runs, and who owns them.

use std::fs;

use serde_json::Value;

use crate::fixture::{Done, Fixture, MIB, number};

#[test]
fn predictive_intervals_are_of_rates_that_the_drive_determines() {
    let fixture = Fixture::on_disk();
    let predictive = |options: &str| {
        let job = "job sim:samsung-951 --rw randread --bs 4k --runtime 100ms";
        let mut document = fixture.json(&format!("{job} {options}"));
        document["jobs"][0]["predictive"].take()
    };
    let own = predictive("");
    let iops = own["iops"].as_array().unwrap();
    assert!(iops[0].as_f64() < iops[1].as_f64(), "{own:#}");
    for limited in ["--rate 1000", "--rate_iops 1000", "--rate_bw 1m"] {
        assert!(predictive(limited).is_null(), "{limited}");
    }
}

#[test]
fn fio_json_has_fios_key_paths() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", 4 * MIB);
    fixture.ok(
        "job disk --rw randrw --bs 4k --iodepth 4 --numjobs 2 --io_size 4m --destroy disk --out \
         run",
    );
    fixture.ok("export run --format fio-json -o fio.json");
    let jq = |filter: &str| fixture.tool("jq", &["-e", filter, "fio.json"]);
    jq(".jobs | length == 1");
    for direction in ["read", "write"] {
        for key in ["iops", "bw", "io_bytes", "runtime", "total_ios"] {
            jq(&format!(".jobs[0].{direction}.{key} > 0"));
        }
        for key in ["min", "max", "mean", "stddev", "N"] {
            jq(&format!(".jobs[0].{direction}.clat_ns.{key} | type == \"number\""));
        }
        for percentile in ["50.000000", "99.000000", "99.900000", "99.990000"] {
            jq(&format!(".jobs[0].{direction}.clat_ns.percentile[\"{percentile}\"] > 0"));
        }
    }
    jq(".jobs[0].read.io_bytes + .jobs[0].write.io_bytes == 8388608");
    jq(".jobs[0].\"job options\".rw == \"randrw\"");
    jq(".jobs[0].error == 0 and (.\"fio version\" | startswith(\"fio-\"))");
    jq(".jobs[0].usr_cpu >= 0 and .jobs[0].sys_cpu >= 0");
}

#[test]
fn every_export_format_makes_its_files() {
    let fixture = Fixture::on_disk();
    fixture.ok("run quick sim:samsung-951 --scale 0.01 --out run");
    for format in ["csv", "parquet"] {
        let listed = fixture.ok(&format!("export run --format {format} -o {format}")).stdout;
        for table in ["runs", "cells", "intervals", "telemetry", "host"] {
            let name = format!("{format}/{table}.{format}");
            assert!(listed.contains(&name), "{name} is not named in {listed}");
            let bytes = fixture.read(&name);
            if format == "parquet" {
                assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{name}");
            } else {
                assert!(bytes.starts_with(b"run_id,simulated,"), "{name}");
            }
        }
    }
    assert_eq!(
        fixture.text("csv/cells.csv").lines().count(),
        16,
        "a head, and a line for each of fifteen cells"
    );
    // Without -o, files named after the run; to stdout, the same document.
    let named = fixture.ok("export run").stdout;
    let written = fs::read_to_string(fixture.path(named.trim())).unwrap();
    assert_eq!(written.trim(), fixture.ok("export run -o -").stdout.trim());
    fixture.ok("export run --format fio-json");
}

#[test]
fn runs_are_compared() {
    let fixture = Fixture::on_disk();
    for drive in ["samsung-951", "intel-600p"] {
        fixture.ok(&format!("run quick sim:{drive} --scale 0.01 --out {drive}"));
    }
    let brief = fixture.ok("compare samsung-951 intel-600p").stdout;
    assert!(brief.lines().count() < 30, "{brief}");
    assert!(brief.contains("of 14 workloads in common"), "{brief}");
    // The answer first, and what it rests on.
    let answer = brief.lines().collect::<Vec<_>>().join(" ");
    assert!(answer.starts_with("intel-600p (simulated): 0."), "{brief}");
    for part in ["times the bandwidth of samsung-951", "at depth 1", "larger than repetition gives"]
    {
        assert!(answer.contains(part), "{part}: {brief}");
    }
    // A gate for scripts: only what is slower fails it.
    let gate = |sides: &str, status: i32| {
        let words = format!("compare {sides} --fail-if slower=5%");
        fixture.json_status(&words, status)["gate"].clone()
    };
    let slower = gate("samsung-951 intel-600p", 1);
    assert!(slower["failed"] == true && !slower["slower"].as_array().unwrap().is_empty());
    let faster = gate("intel-600p samsung-951", 0);
    assert_eq!((&faster["failed"], &faster["workloads"]), (&false.into(), &14.into()));
    let failed = fixture.run("compare samsung-951 intel-600p --fail-if slower").expect(1);
    assert!(failed.stdout.contains("failed: slower in"), "{failed}");
    fixture.run("compare samsung-951 --fail-if slower").expect(1);
    fixture.run("compare samsung-951 intel-600p --fail-if faster").refuses(2, &["slower=5%"]);
    let text = fixture.ok("compare samsung-951 intel-600p --details").stdout;
    for part in ["run 1", "run 2", "samsung-951", "intel-600p", "MiB/s", "simulated"] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert_eq!(
        fixture.json("compare samsung-951 intel-600p")["compared"].as_array().unwrap().len(),
        2
    );
}

/// Two drives measured long enough for intervals; and one drive against itself.
#[test]
fn comparisons_report_faster_slower_or_inconclusive() {
    let fixture = Fixture::on_disk();
    for (drive, out) in [("samsung-951", "a"), ("intel-600p", "b"), ("samsung-951,seed=2", "c")] {
        fixture.ok(&format!(
            "job sim:{drive} --rw randread --bs 4k --iodepth 8 --runtime 60s --out {out}"
        ));
    }
    let one = fixture.json("compare a");
    assert_eq!(one["comparisons"].as_array().map(Vec::len), Some(0));
    let ci = &one["compared"][0]["runs"][0]["cells"][0]["iops_ci"];
    let iops = number(&one, "/compared/0/runs/0/cells/0/iops");
    assert!(number(ci, "/low") <= iops && iops <= number(ci, "/high"), "{ci}");

    let two = fixture.json("compare a b c");
    assert_eq!(
        (&two["by"], &two["groups"][0]["name"]),
        (&Value::from("drive"), &Value::from("samsung-951"))
    );
    assert_eq!(
        two["groups"][0]["runs"].as_array().map(Vec::len),
        Some(2),
        "another seed is the same drive"
    );
    let metrics = &two["comparisons"][0]["workloads"][0]["metrics"];
    assert_eq!(metrics["iops"]["answer"], "slower", "{metrics:#}");
    assert_eq!(metrics["iops"]["basis"].as_str().map(|b| b.ends_with("_runs")), Some(true));
    assert!(number(metrics, "/iops/ratio_low") < number(metrics, "/iops/ratio"));
    assert_eq!(two["comparisons"][0]["simulated"], true);
    // One run of each drive says nothing of the drives, unless the ratio is larger than repetition
    // gives.
    let once = fixture.ok("compare a b").stdout;
    for part in ["0.46 times the bandwidth", "larger than repetition gives", "slower in 1"] {
        assert!(once.contains(part), "{part}: {once}");
    }
    let chance = "if nothing differed, at most about 0.10 of these 2 answers would be a \
                  difference by chance alone";
    assert!(once.replace("\n  ", " ").contains(chance), "{once}");
    let chance = &two["comparisons"][0]["by_chance"];
    assert_eq!(chance["answers"], 2, "{chance}");
    assert_eq!(chance["different"].to_string(), "0.1");
    let p99 = &two["comparisons"][0]["workloads"][0]["metrics"]["latency_p99_ns"];
    // Of two runs and one, a tail percentile has an answer only beyond what repetition gives.
    assert_eq!(
        (&p99["answer"], &p99["basis"]),
        (&"slower".into(), &"repeatability".into()),
        "{p99:#}"
    );

    // The same drive twice: no difference is significant.
    let same = fixture.json("compare a c");
    assert_eq!(same["by"], "run");
    for key in ["mib_per_s", "iops", "latency_mean_ns", "latency_p99_ns"] {
        let answer = same["comparisons"][0]["workloads"][0]["metrics"][key]["answer"].as_str();
        assert!(matches!(answer, Some("runs_agree" | "cannot_tell")), "{key}: {answer:?}");
    }
}

/// The same drive with other seeds, twelve seconds each: within one run on each side nothing is
/// said of the drive, and nothing of tail percentiles. Latencies are of the same operation on both
/// sides, though of an even mix each run may have more of another.
#[test]
fn another_seed_is_not_another_drive() {
    let fixture = Fixture::on_disk();
    for seed in 1..=6 {
        fixture.ok(&format!(
            "job sim:samsung-951,seed={seed} --rw randrw --bs 4k --iodepth 8 --numjobs 4 \
             --runtime 12s --seed {seed} --out r{seed}"
        ));
    }
    for other in 2..=6 {
        let found = fixture.json(&format!("compare r1 r{other}"));
        let metrics = &found["comparisons"][0]["workloads"][0]["metrics"];
        for key in ["mib_per_s", "iops", "latency_mean_ns", "latency_p99_ns"] {
            let metric = &metrics[key];
            assert_eq!(metric["answer"], "cannot_tell", "seed {other}, {key}: {metric:#}");
            let ratio = number(metric, "/ratio");
            assert!((0.9..1.1).contains(&ratio), "seed {other}, {key}: {ratio}");
        }
        let why = metrics["iops"]["why"].as_str().unwrap();
        assert!(why.ends_with("too short: 12 seconds, at least 30 are needed"), "{why}");
    }
    // Three runs on each side.
    let sides = fixture.json("compare --before r1 r2 r3 --after r4 r5 r6");
    assert_eq!(sides["by"], "before_after");
    assert_eq!(sides["groups"][0]["name"], "samsung-951, before");
    let metrics = &sides["comparisons"][0]["workloads"][0]["metrics"];
    for key in ["mib_per_s", "iops", "latency_mean_ns", "latency_p99_ns"] {
        let metric = &metrics[key];
        assert_eq!(metric["runs"], serde_json::json!([3, 3]), "{key}");
        assert_eq!(metric["basis"], "between_runs", "{key}");
        let answer = metric["answer"].as_str();
        assert!(matches!(answer, Some("same" | "cannot_tell")), "{key}: {metric:#}");
    }
    let text = fixture.ok("compare --before r1 r2 r3 --after r4 r5 r6").stdout;
    assert!(
        text.starts_with("samsung-951, after (simulated): ")
            && text.contains(" times the bandwidth of samsung-951, before"),
        "{text}"
    );

    // What cannot be sides.
    fixture.ok(
        "job sim:intel-600p --rw randrw --bs 4k --iodepth 8 --numjobs 4 --runtime 1s --out other",
    );
    for (arguments, expected) in [
        ("--before r1 r2 --after other", "runs before and after a change are of the same drives"),
        ("--before r1 r2 --after r2", "is given twice"),
        ("--before r1", "--after"),
        ("r1 --before r2 --after r3", "cannot be used with"),
        ("", "RUN"),
    ] {
        let done = fixture.run(&format!("compare {arguments}"));
        assert_ne!(done.status, 0, "{arguments}");
        assert!(done.stderr.contains(expected), "{arguments}: {}", done.stderr);
    }
}

/// A short measurement has no interval, and JSON says why.
#[test]
fn a_missing_interval_has_its_reason() {
    let fixture = Fixture::on_disk();
    fixture.ok("job sim:samsung-951 --rw randread --bs 4k --runtime 5s --out run");
    let cell = &fixture.json("compare run")["compared"][0]["runs"][0]["cells"][0];
    for figure in ["mib_per_s", "iops", "latency_mean_ns"] {
        assert_eq!(cell[format!("{figure}_ci")], Value::Null);
        let why = &cell[format!("{figure}_no_ci")];
        assert_eq!(why["reason"], "too_short");
        assert_eq!(why["samples"], 5);
        assert_eq!(why["text"], "too short: 5 seconds, at least 30 are needed");
    }
}

/// A report or log that cannot be written: refused before the run where that can be seen, and
/// otherwise an error after the result.
#[test]
fn no_report_hides_the_result() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", MIB);
    let quick = "run quick sim:samsung-951 --scale 0.005";
    let refused = fixture.run(&format!("{quick} --report nowhere/page.html --out early"));
    refused.refuses(4, &["nowhere/page.html"]);
    assert!(!fixture.path("early").exists());
    fixture.write(
        "logs.fio",
        "[job]\nfilename=disk\nrw=randread\nsize=64k\nwrite_bw_log=nowhere/log\n",
    );
    let refused = fixture.run("run logs.fio --out early");
    refused.refuses(4, &["nowhere/log_bw.1.log"]);
    assert!(!fixture.path("early").exists());

    // The folder of the page disappears while the run is measured: its power meter removes it.
    fs::create_dir(fixture.path("pages")).unwrap();
    let mut late = fixture.command("");
    let done = late
        .args(["run", "quick", "disk", "--scale", "0.01", "--out", "late"])
        .args(["--report", "pages/page.html"])
        .args(["--power-meter", "rmdir pages; while :; do echo 1; sleep 1; done"])
        .output()
        .unwrap();
    let (result, error) =
        (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert_eq!(done.status.code(), Some(4), "{error}");
    assert!(result.contains("Run folder: late"), "{result}");
    assert!(result.contains("assay report late"), "the command that writes it: {result}");
    assert!(error.contains("pages/page.html"), "{error}");
}

#[test]
fn outputs_of_root_through_sudo_belong_to_the_caller() {
    use std::os::unix::fs::MetadataExt;
    if !rustix::process::geteuid().is_root() {
        println!("skipped: needs root");
        return;
    }
    let fixture = Fixture::in_memory();
    let run = |words: &str| {
        let mut command = fixture.command(words);
        command.env("SUDO_UID", "1234").env("SUDO_GID", "1235");
        Done::new(words, command.spawn().unwrap()).expect(0);
    };
    run("run quick sim:samsung-951 --scale 0.01 --out runs/mine --report page.html");
    run("export runs/mine --format csv -o tables");
    run("export runs/mine --format json -o run.json");
    let outputs = [
        "runs",
        "runs/mine",
        "runs/mine/journal.log",
        "runs/mine/manifest.json",
        "runs/mine/SHA256SUMS",
    ];
    for name in outputs.into_iter().chain(["page.html", "tables", "tables/cells.csv", "run.json"]) {
        let found = std::fs::metadata(fixture.path(name)).unwrap();
        assert_eq!((found.uid(), found.gid()), (1234, 1235), "{name}");
    }
}

/// A mean of nothing is no number in any format; counts and rates of 0 are.
#[test]
fn intervals_without_samples_have_no_latency() {
    let fixture = Fixture::in_memory();
    fixture
        .ok("job sim:samsung-951 --rw randread --bs 4k --thinktime 2500ms --runtime 10s --out run");
    fixture.ok("export run --format csv -o tables");
    let table = fixture.text("tables/intervals.csv");
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    let column = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let idle: Vec<bool> = rows.iter().map(|row| row[column("ios")] == "0").collect();
    assert!(idle.contains(&true) && idle.contains(&false), "{table}");
    for (row, idle) in rows.iter().zip(&idle) {
        for key in ["mean", "stddev", "min", "p99", "max"] {
            assert_eq!(row[column(&format!("latency_{key}_ns"))].is_empty(), *idle, "{row:?}");
        }
        assert_eq!(
            (row[column("latency_samples")] == "0", row[column("iops")] == "0"),
            (*idle, *idle)
        );
    }
    fixture.ok("export run --format json -o run.json");
    let run: Value = serde_json::from_str(&fixture.text("run.json")).unwrap();
    let series = run["cells"][0]["results"][0]["series"].as_array().unwrap();
    let unknown: Vec<bool> = series.iter().map(|row| row["latency_ns"].is_null()).collect();
    assert_eq!(unknown, idle);
}

/// Of I/Os that all failed, logs of latencies have no line; they had one of 0.
#[test]
fn logs_of_latencies_have_no_mean_of_nothing() {
    let fixture = Fixture::in_memory();
    let failing = "job sim:samsung-951,fault=media-error@0+1g --size 1g --rw read --bs 128k \
                   --runtime 2s --out run";
    fixture.run(failing).expect(1);
    fixture.ok("export run --format fio-logs -o logs");
    let of = |log: &str| {
        let name = format!("read-iodepth-1-numjobs-1_{log}.1.log");
        fixture.text(&format!("logs/samsung-951/job/128k/{name}"))
    };
    assert_eq!(of("bw"), "1000, 0, 0, 0, 0\n2000, 0, 0, 0, 0\n");
    assert_eq!((of("lat"), of("clat")), (String::new(), String::new()));
}

/// What the link carries is no estimate: neither less than what was measured, nor more.
#[test]
fn rates_end_at_what_the_link_carries() {
    let fixture = Fixture::on_disk();
    for (drive, mib_per_s) in [("samsung-951", "3,163"), ("samsung-960-evo", "3,205")] {
        let job = format!(
            "job sim:{drive},state=fresh --rw read --bs 128k --iodepth 32 --runtime 1s --out {drive}"
        );
        let line = fixture.ok(&job).stdout;
        assert!(line.contains(&format!(" IOPS, {mib_per_s} MiB/s, ")), "{line}");
        assert!(line.contains(&format!(" to {mib_per_s} MiB/s (")), "{line}");
        fixture.ok(&format!("report {drive} -o {drive}.html"));
        let page = fixture.text(&format!("{drive}.html"));
        assert!(page.contains(&format!("at most the {mib_per_s} MiB/s of its link")));
    }
}
