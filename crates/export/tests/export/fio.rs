//! fio's formats: keys and figures are those of fio.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_export::{export_bench_fio, export_fio_json};
use assay_stats::{Histogram, OpInterval};
use assay_store::model::{Entry, IntervalRecord, OpRecord};
use assay_store::{Destination, Run, RunWriter};
use assay_units::{Nanos, Op};
use serde_json::Value;

use super::fixtures::{self, SMALL};

pub fn fio_json(run: &Run) -> Value {
    let mut out = Vec::new();
    export_fio_json(run, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

/// Every key of a JSON document, as paths; array elements are merged, and so are the names of
/// options.
fn keys(value: &Value, path: &str, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let path = format!("{path}/{key}");
                if !path.ends_with(" options") && !path.ends_with("/bins") {
                    keys(value, &path, into);
                }
                into.insert(path);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| keys(value, path, into)),
        _ => {}
    }
}

/// The oracle is fio itself.
#[test]
fn fio_json_has_the_keys_of_fio() {
    let dir = tempfile::tempdir().unwrap();
    let fio = Command::new("fio")
        .args([
            "--ioengine=psync",
            "--fsync=8",
            "--name=job",
            "--rw=randrw",
            "--bs=4k",
            "--size=512k",
            "--output-format=json+",
        ])
        .current_dir(dir.path())
        .output();
    let Ok(fio) = fio else {
        eprintln!("skipped: fio is not installed");
        return;
    };
    assert!(fio.status.success(), "{fio:?}");
    let text = String::from_utf8(fio.stdout).unwrap();
    let theirs: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    if theirs["fio version"] != "fio-3.33" {
        eprintln!(
            "skipped: the layout is that of fio-3.33, installed is {}",
            theirs["fio version"]
        );
        return;
    }

    let path = mixed_run(dir.path());
    let ours = fio_json(&Run::open(&path).unwrap());
    let (mut expected, mut found) = (BTreeSet::new(), BTreeSet::new());
    keys(&theirs, "", &mut expected);
    keys(&ours, "", &mut found);
    // fio's disk_util is not measured.
    expected.retain(|key| !key.starts_with("/disk_util/"));
    found.retain(|key| !key.starts_with("/assay") && !key.starts_with("/jobs/assay"));
    assert_eq!(found, expected);
    assert_eq!(ours["jobs"][0]["job options"]["rw"], "randrw");
    for key in ["name", "rw", "bs", "size"] {
        assert!(
            theirs["jobs"][0]["job options"][key].is_string()
                && ours["jobs"][0]["job options"][key].is_string()
        );
    }
}

/// fio's own tool makes a table of the latencies of every job, and finds it equal to the document.
#[test]
fn fio_jsonplus_clat2csv_reads_the_latencies() {
    let dir = tempfile::tempdir().unwrap();
    let run = Run::open(&mixed_run(dir.path())).unwrap();
    let document = fio_json(&run);
    let bins = document["jobs"][0]["read"]["clat_ns"]["bins"].as_object();
    let ios: u64 = bins.unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!(ios, 200);
    let text = serde_json::to_vec(&document).unwrap();
    fs::write(dir.path().join("fio.json"), text).unwrap();
    for more in [None, Some("--validate")] {
        let tool = Command::new("fio_jsonplus_clat2csv")
            .args(["fio.json", "clat.csv"])
            .args(more)
            .current_dir(dir.path())
            .output();
        let Ok(tool) = tool else {
            eprintln!("skipped: fio_jsonplus_clat2csv is not installed");
            return;
        };
        let said = String::from_utf8_lossy(&tool.stdout);
        assert!(tool.status.success() && !said.contains("mismatch"), "{tool:?}");
    }
    let table = fs::read_to_string(dir.path().join("clat_job0.csv")).unwrap();
    assert!(table.lines().count() > 100, "{table}");
}

#[test]
fn bench_fio_has_a_file_with_one_job_per_cell_and_drive() {
    let dir = tempfile::tempdir().unwrap();
    let path = fixtures::make(dir.path(), SMALL);
    let run = Run::open(&path).unwrap();
    let out = dir.path().join("bench");
    let files = export_bench_fio(&run, &out).unwrap();
    let whole = fio_json(&run);
    let jobs = whole["jobs"].as_array().unwrap();
    assert_eq!(files.len(), jobs.len());
    for (file, job) in files.iter().zip(jobs) {
        let document: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        assert_eq!(document["jobs"], Value::Array(vec![job.clone()]));
        let options = &job["job options"];
        let of = |key: &str| options[key].as_str().unwrap();
        let name = format!("{}-{}-{}.json", of("rw"), of("iodepth"), of("numjobs"));
        assert_eq!(file.file_name().unwrap().to_str(), Some(name.as_str()));
        assert!(file.starts_with(&out));
    }
    let distinct: BTreeSet<_> = files.iter().collect();
    assert_eq!(distinct.len(), files.len());
}

/// A run of one cell with reads, writes and flushes whose latencies are known.
pub fn mixed_run(dir: &Path) -> PathBuf {
    let mut manifest = fixtures::manifest(SMALL);
    manifest.cells.retain(|c| c.step == "zero-area" && c.drives == [0]);
    manifest.cells.truncate(1);
    let cell = manifest.cells[0].id.clone();
    let mut writer = RunWriter::create(&Destination::Under(dir.join("runs")), &manifest).unwrap();
    writer.append(&Entry::CellStart { cell: cell.clone(), at: String::new() }).unwrap();
    for second in 0..2 {
        let ops =
            [(Op::Read, 1_000), (Op::Write, 700_000), (Op::Flush, 30_000_000)].map(|(op, unit)| {
                let mut latency = Histogram::new();
                let mut service = Histogram::new();
                for n in 1..=100 {
                    latency.record(Nanos(n * unit));
                    service.record(Nanos(n * unit / 2));
                }
                OpRecord {
                    op,
                    counts: OpInterval {
                        ios: 100,
                        bytes: 100 << 20,
                        errors: second,
                        latency,
                        service: Some(service),
                        ..OpInterval::default()
                    },
                }
            });
        let record = IntervalRecord {
            cell: cell.clone(),
            drive: 0,
            index: second as u32,
            ramp: false,
            start: Nanos::from_secs(second),
            end: Nanos::from_secs(second + 1),
            ops: ops.to_vec(),
        };
        writer.append(&Entry::Interval(record)).unwrap();
    }
    writer.path.clone()
}

#[test]
fn fio_json_has_the_right_figures_in_fio_units() {
    let dir = tempfile::tempdir().unwrap();
    let document = fio_json(&Run::open(&mixed_run(dir.path())).unwrap());
    assert_eq!(document["assay"]["simulated"], true);
    assert_eq!(document["timestamp"], 1_773_480_413);
    assert_eq!(document["time"], "Sat Mar 14 09:26:53 2026");
    let job = &document["jobs"][0];
    assert_eq!(
        (&job["assay"]["simulated"], &job["assay"]["state"]),
        (&Value::Bool(true), &Value::from("unfinished"))
    );
    assert_eq!(job["error"], 5, "some I/Os failed: EIO");
    assert_eq!((&job["elapsed"], &job["job_runtime"]), (&Value::from(2), &Value::from(8000)));
    let read = &job["read"];
    for (key, value) in [
        ("io_bytes", 200 << 20),
        ("io_kbytes", 200 << 10),
        ("bw_bytes", 100 << 20),
        ("bw", 100 << 10),
        ("runtime", 2000),
        ("total_ios", 200),
        ("short_ios", 1),
        ("bw_min", 100 << 10),
        ("bw_samples", 2),
        ("iops_max", 100),
    ] {
        assert_eq!(read[key], value, "{key}");
    }
    assert_eq!((&read["iops"], &read["bw_agg"]), (&Value::from(100.0), &Value::from(100.0)));
    // clat is from the submission, lat from the intended start.
    assert_eq!(
        (&read["clat_ns"]["max"], &read["lat_ns"]["max"]),
        (&Value::from(50_000), &Value::from(100_000))
    );
    assert_eq!(read["clat_ns"]["N"], 200);
    let percentile = read["clat_ns"]["percentile"]["90.000000"].as_f64().unwrap();
    assert!((percentile / 45_000.0 - 1.0).abs() < 0.001, "{percentile}");
    assert_eq!(job["sync"]["total_ios"], 200);
    assert_eq!(job["trim"]["total_ios"], 0);

    // Buckets: of 400 reads and writes, reads take 1..100 us and writes 0.7..70 ms.
    let share = |scale: &str, bucket: &str| job[scale][bucket].as_f64().unwrap();
    let total: f64 = ["latency_ns", "latency_us", "latency_ms"]
        .iter()
        .flat_map(|scale| job[*scale].as_object().unwrap().values())
        .map(|v| v.as_f64().unwrap())
        .sum();
    assert!((total - 100.0).abs() < 1e-9, "{total}");
    // 20, ..., 49 us: 30 of 200; a bucket's width may move one value at an edge.
    assert!((share("latency_us", "50") - 15.0).abs() <= 0.51, "{}", share("latency_us", "50"));
    assert!((share("latency_us", "2") - 0.5).abs() < 1e-9, "1 us");
    assert!((share("latency_us", "750") - 0.5).abs() < 1e-9, "0.7 ms");
    // 50 <= 0.7 n < 100: n from 72 to 100.
    assert!((share("latency_ms", "100") - 14.5).abs() <= 0.51, "{}", share("latency_ms", "100"));
}
