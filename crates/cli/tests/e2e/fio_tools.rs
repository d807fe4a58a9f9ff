//! Exports in fio's formats, read by the scripts of Debian's package fio: their figures are
//! assay's.

use std::path::Path;

use serde_json::Value;

use crate::fixture::{Fixture, number};

/// Width of fio's latency bins: 64 to a power of two. assay's own are sixteen times as fine.
const BIN: f64 = 1.0 / 64.0;

/// A run of reads and writes on a simulated drive.
fn mixed_run(fixture: &Fixture) -> Value {
    fixture.json(
        "job sim:samsung-951 --rw randrw --rwmixread 70 --bs 4k --iodepth 8 --runtime 3s \
         --interval 500ms --out run",
    );
    fixture.ok("export run --format fio-json -o fio.json");
    fixture.ok("export run --format fio-logs -o logs");
    fixture.ok("export run --format json -o run.json");
    serde_json::from_str(&fixture.text("run.json")).unwrap()
}

fn figure(run: &Value, direction: &str, key: &str) -> f64 {
    number(run, &format!("/cells/0/results/0/result/{direction}/{key}"))
}

fn is_there(path: &str) -> bool {
    let found = Path::new(path).exists();
    if !found {
        eprintln!("not tested: {path} is not installed (apt-get install fio)");
    }
    found
}

fn close(what: &str, tools: f64, own: f64, within: f64) {
    assert!((tools / own - 1.0).abs() <= within, "{what}: the tool has {tools}, assay {own}");
}

/// `fio_jsonplus_clat2csv` makes a table of the bins; counts and percentiles of each direction are
/// assay's.
#[test]
fn clat2csv_reads_fio_json() {
    const SCRIPT: &str = "/usr/bin/fio_jsonplus_clat2csv";
    if !is_there(SCRIPT) {
        return;
    }
    let fixture = Fixture::on_disk();
    let run = mixed_run(&fixture);
    fixture.tool("python3", &[SCRIPT, "fio.json", "bins.csv"]);
    let checked = fixture.tool("python3", &[SCRIPT, "fio.json", "bins.csv", "--validate"]);
    assert!(checked.contains("validated"), "{checked}");
    let table = fixture.text("bins_job0.csv");
    let mut lines = table.lines();
    let columns: Vec<&str> = lines.next().unwrap().split(", ").collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').map(str::trim).collect()).collect();
    for direction in ["read", "write"] {
        let column = |what: &str| {
            let name = format!("{direction}_clat_ns_{what}");
            columns.iter().position(|column| *column == name).unwrap()
        };
        let (cumulative, share) = (column("cumulative"), column("percentile"));
        let bins: Vec<(f64, f64, f64)> = rows
            .iter()
            .filter(|row| !row[share].is_empty())
            .map(|row| {
                let of = |at: usize| row[at].parse::<f64>().unwrap();
                (of(0), of(cumulative), of(share))
            })
            .collect();
        assert_eq!(bins.last().unwrap().1, figure(&run, direction, "ios"));
        for (key, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99_9", 0.999)] {
            let bin = bins.iter().find(|bin| bin.2 >= share).unwrap();
            let own = figure(&run, direction, &format!("latency_ns/{key}"));
            close(&format!("{direction} {key}"), bin.0, own, BIN);
        }
    }
}

/// `fiologparser_hist.py` reads the histogram logs: completions, mean and percentiles over the
/// whole run are assay's.
#[test]
fn fiologparser_hist_reads_histogram_logs() {
    const SCRIPT: &str = "/usr/share/doc/fio/fiologparser_hist.py.gz";
    if !is_there(SCRIPT) {
        return;
    }
    let fixture = Fixture::on_disk();
    let pandas =
        std::process::Command::new("/usr/bin/python3").args(["-c", "import pandas"]).output();
    if !pandas.is_ok_and(|output| output.status.success()) {
        eprintln!("not tested: pandas is not installed (apt-get install python3-pandas)");
        return;
    }
    let run = mixed_run(&fixture);
    fixture.write("hist.py", fixture.tool("gzip", &["-dc", SCRIPT]));
    let found = fixture.tool("find", &["logs", "-name", "*_clat_hist.1.log"]);
    let log = found.lines().next().unwrap();
    let words = [
        "hist.py",
        log,
        "--noweight",
        "--interval",
        "60000",
        "--directions",
        "rw",
        "--percentiles",
        "90,99",
    ];
    let table = fixture.tool("/usr/bin/python3", &words);
    // end-time, dir, samples, min, avg, median, 90%, 99%, max
    for (direction, letter) in [("read", "r"), ("write", "w")] {
        let row = table
            .lines()
            .map(|line| line.split(", ").collect::<Vec<_>>())
            .find(|row| row.get(1) == Some(&letter))
            .unwrap_or_else(|| panic!("{direction}: {table}"));
        let of = |at: usize| row[at].parse::<f64>().unwrap();
        assert_eq!(of(2), figure(&run, direction, "ios"), "{table}");
        // The script interpolates between the middles of two bins.
        for (key, at) in [("mean", 4), ("p50", 5), ("p90", 6), ("p99", 7)] {
            let own = figure(&run, direction, &format!("latency_ns/{key}"));
            close(&format!("{direction} {key}"), of(at), own, 2.0 * BIN);
        }
    }
}

/// `fio2gnuplot` averages the bandwidth log of a steady job: assay's rate, but for the rounding of
/// each entry to KiB/s.
#[test]
fn fio2gnuplot_reads_bandwidth_logs() {
    const SCRIPT: &str = "/usr/bin/fio2gnuplot";
    if !is_there(SCRIPT) {
        return;
    }
    let fixture = Fixture::on_disk();
    fixture
        .ok("job sim:samsung-951 --rw randread --bs 4k --iodepth 8 --runtime 3s --interval 500ms \
         --out run");
    fixture.ok("export run --format json -o run.json");
    fixture.ok("export run --format fio-logs -o logs");
    let run: Value = serde_json::from_str(&fixture.text("run.json")).unwrap();
    let found = fixture.tool("find", &["logs", "-name", "*_bw.1.log"]);
    fixture.write("x_bw.1.log", fixture.text(found.lines().next().unwrap()));
    fixture.tool("/usr/bin/python3", &[SCRIPT, "-b"]);
    let averages = fixture.text("result.average");
    let line = averages.lines().find(|line| line.starts_with("0 ")).unwrap();
    let kib_per_s: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    let own = figure(&run, "read", "mib_per_s") * 1024.0;
    close("bandwidth", kib_per_s, own, 0.001);
}

/// A soak of more than an hour is recorded in segments; its logs go on from one to the next.
#[test]
fn logs_of_a_long_soak_are_those_of_its_segments() {
    let fixture = Fixture::on_disk();
    fixture.write(
        "soak.toml",
        "name = \"soak\"\ntitle = \"Soak\"\nsummary = \"Soak.\"\nsource = \"none\"\n\
         duration = \"90m\"\n[[step]]\nid = \"soak\"\ntitle = \"Soak\"\nkind = \"soak\"\n\
         job = { rw = \"randread\", bs = \"4k\", rate_iops = \"20\", runtime = \"90m\" }\n",
    );
    fixture.ok("run ./soak.toml sim:samsung-951,shrink=64 --out run");
    fixture.ok("export run --format fio-logs -o logs");
    let log = |name: &str| {
        let path = fixture.tool("find", &["logs", "-name", &format!("*_{name}.1.log")]);
        fixture.text(path.trim())
    };
    let column = |text: &str, number: usize| -> Vec<u64> {
        text.lines().map(|line| line.split(", ").nth(number).unwrap().parse().unwrap()).collect()
    };
    // An interval of a long soak is a minute; the last of a segment ends with its last I/O.
    let rates = log("iops");
    let ends = column(&rates, 0);
    assert_eq!(ends.len(), 90);
    for (minute, end) in (1..).zip(ends) {
        let whole = minute * 60_000;
        assert!((whole - 100..=whole).contains(&end), "minute {minute}: {end} ms");
    }
    let ios: u64 = column(&rates, 1).iter().map(|per_second| per_second * 60).sum();
    fixture.ok("export run --format json -o run.json");
    let run: Value = serde_json::from_str(&fixture.text("run.json")).unwrap();
    close("I/Os", ios as f64, figure(&run, "read", "ios"), 0.001);
    let binned = log("clat_hist");
    let binned = binned.lines().flat_map(|line| line.split(", ").skip(3));
    let binned: f64 = binned.map(|ios| ios.parse::<f64>().unwrap()).sum();
    assert_eq!(binned, figure(&run, "read", "ios"));
}
