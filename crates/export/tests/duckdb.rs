//! The queries of docs/lake.md, run by DuckDB on a lake of drives whose answers are known.

use crate::fixtures;

use std::path::{Path, PathBuf};
use std::process::Command;

use assay_analysis::cohort::observe::of_run;
use assay_export::lake::{Lake, RunFacts, Source};
use assay_stats::{Interval, JobTotals, OpInterval};
use assay_store::model::{
    CellKind, CellPlan, CellResult, DriveRecord, Entry, IntervalRecord, RunEnd, TelemetryRecord,
    Warning, WorkloadRecord,
};
use assay_store::{Destination, RunWriter};
use assay_units::{MIB, Nanos, Op};
use serde_json::{Value, json};

const DRIVES: usize = 12;
/// Date, weeks since the first, firmware.
const RUNS: [(&str, u32, &str); 3] = [
    ("2026-10-05T00:00:00Z", 0, "A"),
    ("2026-11-02T00:00:00Z", 4, "B"),
    ("2026-11-16T00:00:00Z", 6, "B"),
];
/// Drives with a peculiarity.
const SLOW: usize = 2;
const DRIFTING: usize = 5;
const DIPPING: usize = 7;
const READINGS: u64 = 6;

fn model(drive: usize) -> &'static str {
    if drive < 8 { "X (simulated)" } else { "Y (simulated)" }
}

fn serial(drive: usize) -> String {
    format!("SIM-{drive:02}")
}

fn host(drive: usize) -> &'static str {
    if drive.is_multiple_of(2) { "host-a" } else { "host-b" }
}

/// Random reads in one second.
fn iops(drive: usize, run: usize) -> u64 {
    let (_, weeks, firmware) = RUNS[run];
    let base = match drive {
        SLOW => 900,
        0..8 => 1000 + 2 * drive as u64,
        _ => 500 + 2 * drive as u64,
    };
    let drift = if drive == DRIFTING { 0.99_f64.powi(weeks as i32) } else { 1.0 };
    let gain = if firmware == "B" { 1.1 } else { 1.0 };
    (base as f64 * gain * drift).round() as u64
}

fn p99_us(run: usize) -> u64 {
    if RUNS[run].2 == "A" { 800 } else { 1600 }
}

/// MiB/s in a minute of the soak.
fn soak_mib_per_s(drive: usize, minute: u64) -> u64 {
    if drive == DIPPING && minute == 3 { 80 } else { 100 }
}

/// Throttled in so many readings.
fn throttled(drive: usize) -> u64 {
    if host(drive) == "host-a" { drive as u64 % 3 } else { 0 }
}

fn write_amplification(drive: usize) -> f64 {
    if drive < 8 { 2.0 } else { 1.5 }
}

/// Written by the host from the first run to the first reading of this one, bytes.
fn host_bytes_before(run: usize) -> u64 {
    u64::from(RUNS[run].1) * 100_000_000_000
}

fn used_pct(run: usize) -> u8 {
    3 + 2 * run as u8
}

fn power_mw(drive: usize) -> u64 {
    3000 + 100 * drive as u64
}

fn interval(
    index: u32,
    span: Nanos,
    op: Op,
    latencies_us: &[(u64, u64)],
    block_bytes: u64,
) -> Interval {
    let mut counts = OpInterval::default();
    for &(count, us) in latencies_us {
        for _ in 0..count {
            counts.latency.record(Nanos::from_micros(us));
        }
        counts.ios += count;
    }
    counts.bytes = counts.ios * block_bytes;
    let start = Nanos(u64::from(index) * span.0);
    Interval {
        index,
        ramp: false,
        start,
        end: start + span,
        ops: vec![(op, counts)],
        submitted: Vec::new(),
    }
}

fn result(intervals: &[Interval]) -> CellResult {
    let mut totals = JobTotals::default();
    intervals.iter().for_each(|interval| totals.add(interval));
    CellResult {
        drive: 0,
        elapsed: totals.elapsed(),
        read: totals.summary(Op::Read),
        write: totals.summary(Op::Write),
        ..CellResult::default()
    }
}

fn cell(id: &str, kind: CellKind, rw: &str, bs_bytes: u64) -> CellPlan {
    CellPlan {
        id: id.to_owned(),
        step: id.to_owned(),
        kind,
        drives: vec![0],
        workload: WorkloadRecord { rw: rw.to_owned(), bs_bytes, ..WorkloadRecord::default() },
        ..CellPlan::default()
    }
}

fn folder(dir: &Path, drive: usize, run: usize) -> PathBuf {
    let (date, _, firmware) = RUNS[run];
    let mut manifest = fixtures::manifest(fixtures::SMALL);
    manifest.run_id = format!("{}-{}", &date[..10], serial(drive));
    date.clone_into(&mut manifest.created);
    manifest.drives = vec![DriveRecord {
        model: model(drive).to_owned(),
        serial: serial(drive),
        firmware: firmware.to_owned(),
        ..manifest.drives[0].clone()
    }];
    manifest.cells = vec![
        cell("random-read", CellKind::Measure, "randread", 4096),
        cell("soak", CellKind::Soak, "write", MIB),
    ];
    let mut writer = RunWriter::create(&Destination::Under(dir.to_owned()), &manifest).unwrap();
    let at = date.to_owned();
    writer.append(&Entry::Start { at: at.clone(), resumed: 0 }).unwrap();
    let ios = iops(drive, run);
    let slow = ios / 50;
    let second = Nanos::from_secs(1);
    let reads =
        vec![interval(0, second, Op::Read, &[(ios - slow, 100), (slow, p99_us(run))], 4096)];
    let minute = Nanos::from_secs(60);
    // A hundredth of the rate of a minute, in blocks of 100 MiB.
    let writes = (0..READINGS).map(|at| {
        let rate = soak_mib_per_s(drive, at);
        interval(at as u32, minute, Op::Write, &[(60 * rate / 100, 1000)], 100 * MIB)
    });
    for (id, intervals) in [("random-read", reads), ("soak", writes.collect())] {
        writer.append(&Entry::CellStart { cell: id.to_owned(), at: at.clone() }).unwrap();
        for interval in &intervals {
            let record = IntervalRecord::new(id, 0, interval.clone());
            writer.append(&Entry::Interval(record)).unwrap();
        }
        if id == "soak" {
            for reading in 0..READINGS {
                let before = host_bytes_before(run);
                let host_bytes = 1_000_000_000 + before + reading * 6_000_000_000;
                let written = (before + reading * 6_000_000_000) as f64;
                let nand_bytes = 5_000_000_000 + (written * write_amplification(drive)) as u64;
                writer
                    .append(&Entry::Telemetry(TelemetryRecord {
                        cell: id.to_owned(),
                        at: Nanos::from_secs(60 * reading),
                        temperature_c: Some(40.0 + drive as f64),
                        throttled: Some(reading < throttled(drive)),
                        power_mw: Some(power_mw(drive)),
                        host_bytes_written: Some(host_bytes),
                        nand_bytes_written: Some(nand_bytes),
                        percentage_used: Some(used_pct(run)),
                        media_errors: Some(run as u64),
                        ..TelemetryRecord::default()
                    }))
                    .unwrap();
            }
        }
        let results = vec![result(&intervals)];
        writer.append(&Entry::CellFinish { cell: id.to_owned(), at: at.clone(), results }).unwrap();
    }
    if drive < 2 {
        writer
            .append(&Entry::Warning(Warning {
                code: "not-steady".to_owned(),
                cell: Some("soak".to_owned()),
                drive: Some(0),
                message: format!("the rate of {} still changed", manifest.run_id),
                advice: "Run it longer.".to_owned(),
            }))
            .unwrap();
    }
    writer.finish(RunEnd::Complete, date).unwrap()
}

fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        0 => (values[middle - 1] + values[middle]) / 2.0,
        _ => values[middle],
    }
}

fn of_drive(drive: usize) -> f64 {
    median((0..RUNS.len()).map(|run| iops(drive, run) as f64))
}

fn models() -> [(&'static str, Vec<usize>); 2] {
    let of = |name| (0..DRIVES).filter(|d| model(*d) == name).collect();
    ["X (simulated)", "Y (simulated)"].map(|name| (name, of(name)))
}

/// The rows that the queries must give, in their order.
fn answers() -> Vec<Vec<Value>> {
    let mut answers = vec![Vec::new(); 12];
    for (model, drives) in models() {
        let count = drives.len();
        for (firmware, runs, p99) in [("A", 1, 800.0), ("B", 2, 1600.0)] {
            answers[0].push(json!([model, firmware, count, count * runs, count * runs]));
            answers[1].push(json!([model, firmware, count, p99, p99]));
        }
        let middle = median(drives.iter().map(|d| of_drive(*d)));
        let mut slowest: Vec<usize> = drives.clone();
        slowest.sort_by(|a, b| of_drive(*a).total_cmp(&of_drive(*b)));
        for drive in slowest.into_iter().take(3) {
            let off = 100.0 * (of_drive(drive) / middle - 1.0);
            answers[2].push(json!([model, serial(drive), host(drive), of_drive(drive), off]));
        }
        let watts = |d: &usize| power_mw(*d) as f64 / 1e3;
        let most = drives.iter().map(watts).fold(0.0, f64::max);
        answers[10].push(json!([model, count, median(drives.iter().map(watts)), most]));
        let middle = median(drives.iter().map(|d| of_drive(*d).ln()));
        let sigma = 1.4826 * median(drives.iter().map(|d| (of_drive(*d).ln() - middle).abs()));
        for drive in drives.into_iter().filter(|d| [SLOW, DRIFTING].contains(d)) {
            let x = of_drive(drive).ln() - middle;
            answers[3].push(json!([model, serial(drive), x / sigma, 100.0 * (x.exp() - 1.0)]));
        }
    }
    for name in ["host-a", "host-b"] {
        let drives: Vec<usize> = (0..DRIVES).filter(|d| host(*d) == name).collect();
        let of_host: u64 = drives.iter().map(|d| throttled(*d)).sum();
        let share = of_host as f64 / (READINGS * drives.len() as u64) as f64;
        let hottest = 40.0 + drives[drives.len() - 1] as f64;
        answers[4].push(json!([name, drives.len(), share, hottest]));
    }
    let mut slopes: Vec<(usize, f64)> = (0..DRIVES)
        .map(|drive| {
            let points =
                (0..RUNS.len()).map(|run| (f64::from(RUNS[run].1), (iops(drive, run) as f64).ln()));
            let points: Vec<(f64, f64)> = points.collect();
            let mean = |of: fn(&(f64, f64)) -> f64| {
                points.iter().map(of).sum::<f64>() / points.len() as f64
            };
            let (x, y) = (mean(|p| p.0), mean(|p| p.1));
            let both: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
            let square: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
            (drive, 100.0 * ((both / square).exp() - 1.0))
        })
        .collect();
    slopes.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    assert_eq!(slopes[0].0, DRIFTING);
    answers[5].extend(slopes.iter().map(|(d, slope)| json!([model(*d), serial(*d), 3, slope])));
    for drive in 0..DRIVES {
        // Once per run.
        for _ in RUNS {
            answers[6].push(json!([
                model(drive),
                serial(drive),
                "soak",
                write_amplification(drive)
            ]));
        }
    }
    for drive in 0..DRIVES {
        for (run, (date, ..)) in RUNS.iter().enumerate().skip(1) {
            let host = host_bytes_before(run) - host_bytes_before(run - 1);
            answers[11].push(json!([
                model(drive),
                serial(drive),
                date,
                used_pct(run) - used_pct(run - 1),
                host as f64 / 1e9,
                write_amplification(drive),
                1
            ]));
        }
    }
    let example = "the rate of 2026-10-05-SIM-00 still changed";
    answers[7].push(json!(["not-steady", 6, 6, example]));
    let mut low: Vec<usize> = (0..DRIVES).collect();
    low.sort_by_key(|drive| (*drive != DIPPING, *drive));
    for drive in low {
        let (dips, slowest) = if drive == DIPPING { (3, 80.0) } else { (0, 100.0) };
        answers[8].push(json!([serial(drive), "soak", 18, dips, slowest]));
    }
    let ratio = |drive: usize| {
        let after = median([1, 2].map(|run| iops(drive, run) as f64));
        after / iops(drive, 0) as f64
    };
    let logs: f64 = (0..DRIVES).map(|drive| ratio(drive).ln()).sum();
    let slower = (0..DRIVES).filter(|drive| ratio(*drive) < 1.0).count();
    let change = 100.0 * ((logs / DRIVES as f64).exp() - 1.0);
    answers[9].push(json!(["A", "B", DRIVES, change, slower]));
    answers
}

/// A Python that has DuckDB.
fn python() -> Option<PathBuf> {
    let venv = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/duckdb/bin/python");
    let candidates = [venv, PathBuf::from("python3"), PathBuf::from("/usr/bin/python3")];
    candidates.into_iter().find(|python| {
        let probe = Command::new(python).args(["-c", "import duckdb"]).output();
        probe.is_ok_and(|probe| probe.status.success())
    })
}

const SCRIPT: &str = r"
import duckdb, json, re, sys
blocks = re.findall(r'```sql\n(.*?)```', open(sys.argv[1]).read(), re.S)
connection = duckdb.connect()
connection.execute(blocks[0])
def plain(value):
    return value if isinstance(value, (str, int, float, bool, type(None))) else float(value)
print(json.dumps([[[plain(v) for v in row] for row in connection.execute(block).fetchall()] for block in blocks[1:]]))
print(connection.execute('SELECT count(*) FROM inventory').fetchone()[0])
print(connection.execute('SELECT DISTINCT plan, month FROM runs ORDER BY ALL').fetchall())
";

fn is_close(found: &Value, wanted: &Value) -> bool {
    match (found.as_f64(), wanted.as_f64()) {
        // Percentiles are at most 0.1 % too high.
        (Some(found), Some(wanted)) => (found - wanted).abs() <= 1e-3 * wanted.abs() + 1e-9,
        _ => found == wanted,
    }
}

#[test]
fn the_queries_of_the_page_give_the_known_answers() {
    let Some(python) = python() else {
        println!(
            "skipped: no Python module duckdb (scripts/ensure-packages, or pip install duckdb)"
        );
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let runs = dir.path().join("runs");
    let mut sources = Vec::new();
    for drive in 0..DRIVES {
        for run in 0..RUNS.len() {
            sources.push(Source {
                folder: folder(&runs, drive, run),
                facts: RunFacts {
                    plan: Some(if run == 0 { "before" } else { "after" }.to_owned()),
                    host: Some(host(drive).to_owned()),
                    ..RunFacts::default()
                },
            });
        }
    }
    let joined = Lake::new(&dir.path().join("lake")).join(&sources, &of_run).unwrap();
    assert_eq!((joined.added.len(), joined.left_out.len()), (DRIVES * RUNS.len(), 0), "{joined:?}");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lake.md");
    let output = Command::new(python)
        .args(["-c", SCRIPT])
        .arg(page)
        .current_dir(dir.path())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let printed = String::from_utf8(output.stdout).unwrap();
    let mut lines = printed.lines();
    let found: Vec<Vec<Value>> = serde_json::from_str(lines.next().unwrap()).unwrap();
    let wanted = answers();
    assert_eq!(found.len(), wanted.len(), "the queries of the page");
    for (number, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
        let query = number + 1;
        assert_eq!(found.len(), wanted.len(), "query {query}: {found:?}\n{wanted:?}");
        for (found, wanted) in found.iter().zip(wanted) {
            let (found, wanted) = (found.as_array().unwrap(), wanted.as_array().unwrap());
            let same = found.len() == wanted.len()
                && found.iter().zip(wanted).all(|(f, w)| is_close(f, w));
            assert!(same, "query {query}: {found:?} instead of {wanted:?}");
        }
    }
    assert_eq!(lines.next().unwrap(), (DRIVES * RUNS.len()).to_string());
    let partitions = "[('after', '2026-11'), ('before', '2026-10')]";
    assert_eq!(lines.next(), Some(partitions), "partitions are columns");
}
