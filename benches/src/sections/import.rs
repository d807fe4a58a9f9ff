//! `assay import` of ten thousand result files of fio, against Python's reading of the same files.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::Bench;
use crate::document::{Section, Table};
use crate::rounds::Spread;

/// Seconds, MiB and times as fast as Python.
const GOAL_S: f64 = 20.0;
const GOAL_MIB: f64 = 200.0;
const GOAL_RATIO: f64 = 5.0;
/// Threads of a job, each with an entry: a file has 80 kB.
const THREADS: usize = 12;

/// Reads every file, and prints the seconds without the start of the process.
const PARSE: &str = "
import glob, json, sys, time
files = sorted(glob.glob(sys.argv[1] + '/*'))
begin = time.perf_counter()
for name in files:
    json.load(open(name))
print(time.perf_counter() - begin)
";

pub fn measure(bench: &Bench) -> Result<Section> {
    let count = if bench.quick { 1000 } else { 10_000 };
    let mut section = Section::new(
        "import",
        "Results of fio",
        format!(
            "{count} files of fio's JSON, {THREADS} threads without `group_reporting`, into one \
             run folder with the hash of each file.\nThe peer is Python's `json.load` of the same \
             files, without its start, in turn."
        ),
    );
    let folder = tempfile::tempdir()?;
    let files = folder.path().join("results");
    let bytes = make(&files, count)?;
    let megabytes = bytes as f64 / 1e6;
    let (mut own, mut python, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..bench.rounds() {
        let out = folder.path().join(format!("run-{round}"));
        let command = format!("import {} --out {}", files.display(), out.display());
        let outcome = bench.runner.run_assay(&command)?;
        own.push(outcome.wall_s);
        memory.push(outcome.max_rss_bytes as f64 / f64::from(1 << 20));
        fs::remove_dir_all(&out)?;
        let names = files.display().to_string();
        let python3 = Path::new("python3");
        let printed = bench.runner.run(python3, &["-c", PARSE, &names])?.stdout;
        python.push(
            printed
                .trim()
                .parse::<f64>()
                .context("what Python printed")?,
        );
    }
    let ratio = Spread::of(own.iter().zip(&python).map(|(own, python)| python / own));
    let [own, python, memory] = [own, python, memory].map(Spread::of);
    let mut table = Table::new(&["", "s", "MB/s", "MiB"]);
    let rate = |s: &Spread| format!("{:.0}", megabytes / s.median);
    table.row([&"assay import", &own.show(2), &rate(&own), &memory.show(0)]);
    table.row([&"Python", &python.show(2), &rate(&python), &"-"]);
    section.tables.push(table);
    section.goal(
        format!("{count} files, {megabytes:.0} MB, within {GOAL_S} s"),
        format!("{} s", own.show(2)),
        own.median <= GOAL_S,
    );
    section.goal(
        format!("in at most {GOAL_MIB} MiB of memory"),
        format!("{} MiB", memory.show(0)),
        memory.median <= GOAL_MIB,
    );
    section.goal(
        format!("at least {GOAL_RATIO} times as fast as Python's json"),
        format!("{} times", ratio.show(1)),
        ratio.median >= GOAL_RATIO,
    );
    section
        .commands
        .push("assay import results --out run".to_owned());
    Ok(section)
}

/// Writes the files, which differ in their figures; returns their length.
fn make(folder: &Path, count: usize) -> Result<u64> {
    fs::create_dir_all(folder)?;
    let mut bytes = 0;
    for number in 0..count {
        let depth = 1 << (number % 7);
        let threads: Vec<Value> = (0..THREADS).map(|t| thread(number + t, depth)).collect();
        let document = json!({
            "fio version": "fio-3.33",
            "timestamp": 1_700_000_000 + number,
            "jobs": threads,
            "disk_util": [{ "name": format!("nvme{}n1", number % 4), "util": 99.5 }],
        });
        let text = serde_json::to_string_pretty(&document)?;
        bytes += text.len() as u64;
        fs::write(folder.join(format!("{number:05}.json")), text)?;
    }
    // Otherwise the kernel writes them back during the first rounds, on the same processors.
    let synced = Command::new("sync")
        .arg("--file-system")
        .arg(folder)
        .status()?;
    ensure!(synced.success(), "sync: {synced}");
    Ok(bytes)
}

/// An entry with all that fio prints of a thread.
fn thread(number: usize, depth: u32) -> Value {
    let ios = 1_000_000 + number as u64;
    let latency = |mean: f64| json!({ "min": 1200, "max": 900_000 + number, "mean": mean, "stddev": mean / 9.0, "N": ios });
    let shares = [1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99];
    let percentiles = shares.map(|share| (format!("{share}.000000"), json!(60_000 + share * 100)));
    let mean = f64::from(depth) * 9e3;
    let side = |ios: u64| {
        let mut clat = latency(mean);
        clat["percentile"] = Value::Object(percentiles.clone().into_iter().collect());
        json!({
            "io_bytes": ios * 4096, "io_kbytes": ios * 4, "bw_bytes": ios * 409, "bw": ios / 25,
            "iops": ios as f64 / 10.0, "runtime": 10_000, "total_ios": ios, "short_ios": 0,
            "drop_ios": 0, "slat_ns": latency(900.0), "clat_ns": clat,
            "lat_ns": latency(mean + 900.0),
            "bw_min": 1, "bw_max": 2, "bw_agg": 100.0, "bw_mean": 1.5, "bw_dev": 0.5,
            "bw_samples": 20,
            "iops_min": 1, "iops_max": 2, "iops_mean": 1.5, "iops_stddev": 0.5, "iops_samples": 20,
        })
    };
    let none = side(0);
    let buckets: Value = (1..11)
        .map(|power| ((1_u32 << power).to_string(), json!(0.01)))
        .collect();
    json!({
        "jobname": "threads", "groupid": 0, "error": 0, "eta": 0, "elapsed": 11,
        "job options": {
            "rw": "randread", "bs": "4k", "iodepth": depth.to_string(), "direct": "1",
            "numjobs": THREADS.to_string(), "runtime": "10", "ioengine": "libaio",
        },
        "read": side(ios), "write": none, "trim": none, "sync": { "total_ios": 0 },
        "job_runtime": 10_000, "usr_cpu": 12.5, "sys_cpu": 30.25, "ctx": 1000, "majf": 0,
        "iodepth_level": buckets, "iodepth_submit": buckets, "iodepth_complete": buckets,
        "latency_ns": buckets, "latency_us": buckets, "latency_ms": buckets,
        "latency_depth": depth, "latency_target": 0, "latency_window": 0,
    })
}
