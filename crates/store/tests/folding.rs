//! Folding of journals: counted, discarded and summed events, against manual results.

use crate::fixtures;

use std::path::PathBuf;

use assay_stats::{Histogram, HostLoad, JobTotals, LatencySummary, OpInterval};
use assay_store::model::{
    CellKind, CellResult, Entry, IntervalRecord, Manifest, OpRecord, TelemetryRecord, Verdict,
    VerdictResult, Warning,
};
use assay_store::read::{CellDrive, CellState};
use assay_store::series::OpSample;
use assay_store::{Destination, Run, RunWriter};
use assay_units::{Nanos, Op, Rng};
use proptest::prelude::*;

use fixtures::SMALL;

/// A run being written, with the random read cell of the first drive in focus.
struct Bench {
    _dir: tempfile::TempDir,
    writer: RunWriter,
    path: PathBuf,
    cell: String,
    at: usize,
}

impl Bench {
    fn new() -> Bench {
        Bench::with_manifest(fixtures::manifest(SMALL))
    }

    fn with_manifest(manifest: Manifest) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let under = Destination::Under(dir.path().to_owned());
        let writer = RunWriter::create(&under, &manifest).unwrap();
        let at = manifest.cells.iter().position(|c| c.step == "random-read").unwrap();
        Bench {
            path: writer.path.clone(),
            cell: manifest.cells[at].id.clone(),
            _dir: dir,
            writer,
            at,
        }
    }

    fn put(&mut self, entry: Entry) {
        self.writer.append(&entry).unwrap();
    }

    fn start(&mut self) {
        let cell = self.cell.clone();
        self.put(Entry::CellStart { cell, at: String::new() });
    }

    fn finish(&mut self, result: CellResult) {
        let cell = self.cell.clone();
        self.put(Entry::CellFinish { cell, at: String::new(), results: vec![result] });
    }

    fn interval(&mut self, index: u32, ramp: bool, op: Op, latencies: &[u64]) {
        let record = interval(&self.cell, index, ramp, op, latencies);
        self.put(Entry::Interval(record));
    }

    fn read(&self) -> (Run, CellState, CellDrive) {
        let run = Run::open(&self.path).unwrap();
        let cell = run.cells[self.at].clone();
        (run, cell.state, cell.drives[0].clone())
    }
}

fn histogram(latencies: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for &ns in latencies {
        histogram.record(Nanos(ns));
    }
    histogram
}

fn interval(cell: &str, index: u32, ramp: bool, op: Op, latencies: &[u64]) -> IntervalRecord {
    IntervalRecord {
        cell: cell.to_owned(),
        drive: 0,
        index,
        ramp,
        start: Nanos::from_secs(index.into()),
        end: Nanos::from_secs(u64::from(index) + 1),
        ops: vec![OpRecord {
            op,
            counts: OpInterval {
                ios: latencies.len() as u64,
                bytes: 4096 * latencies.len() as u64,
                errors: 1,
                latency: histogram(latencies),
                ..OpInterval::default()
            },
        }],
    }
}

#[test]
fn an_unfinished_cell_has_the_intervals_before_the_kill() {
    let mut bench = Bench::new();
    bench.start();
    bench.interval(0, true, Op::Read, &[9; 50]);
    bench.interval(1, false, Op::Read, &[100, 200, 300]);
    bench.interval(2, false, Op::Read, &[400, 500]);
    let (run, state, drive) = bench.read();
    assert_eq!((state, run.outcome), (CellState::Unfinished, None));
    let result = drive.result.unwrap();
    let mut totals = JobTotals::default();
    for (index, latencies) in [(1, &[100, 200, 300][..]), (2, &[400, 500])] {
        totals.add(&interval("", index, false, Op::Read, latencies).interval());
    }
    assert_eq!(result.elapsed, Nanos::from_secs(2));
    assert_eq!(result.read, totals.summary(Op::Read));
    assert_eq!((result.read.ios, result.read.errors, result.read.latency_ns.max), (5, 2, 500));
    assert_eq!(result.write.ios, 0);
    assert_eq!(
        drive.series.iter().map(|p| (p.index, p.ramp)).collect::<Vec<_>>(),
        [(0, true), (1, false), (2, false)]
    );
    // The distribution leaves the ramp out too.
    assert_eq!(drive.distributions, [(Op::Read, (1..=5).map(|n| (Nanos(n * 100), n)).collect())]);
}

#[test]
fn a_cell_begun_and_killed_in_the_ramp_has_no_result() {
    let mut bench = Bench::new();
    bench.start();
    bench.interval(0, true, Op::Read, &[9]);
    let (_, state, drive) = bench.read();
    assert_eq!((state, drive.result), (CellState::Unfinished, None));
    assert_eq!(drive.series.len(), 1);
}

#[test]
fn a_second_attempt_discards_the_first() {
    let mut bench = Bench::new();
    let warning = |code: &str, cell: Option<&str>| {
        Entry::Warning(Warning {
            code: code.to_owned(),
            cell: cell.map(str::to_owned),
            drive: None,
            message: String::new(),
            advice: String::new(),
        })
    };
    let cell = bench.cell.clone();
    bench.put(warning("planned", Some(&cell)));
    bench.start();
    bench.interval(0, false, Op::Read, &[1, 2, 3]);
    bench.interval(5, false, Op::Write, &[1]);
    bench.put(warning("host-limited", Some(&cell)));
    bench.put(warning("scaled", None));
    bench.put(Entry::Host { cell: cell.clone(), index: 0, load: HostLoad::default() });
    bench.put(Entry::Telemetry(TelemetryRecord {
        cell: cell.clone(),
        ..TelemetryRecord::default()
    }));
    bench.start();
    bench.interval(0, false, Op::Read, &[700]);
    bench.put(warning("scaled", None));
    bench.put(warning("planned", Some(&cell)));
    let (run, _, drive) = bench.read();
    assert_eq!(drive.series.len(), 1);
    assert_eq!(drive.result.unwrap().read.latency_ns.min, 700);
    assert!(drive.telemetry.is_empty() && run.cells[bench.at].host.is_empty());
    let codes: Vec<&str> = run.warnings.iter().map(|w| w.code.as_str()).collect();
    assert_eq!(
        codes,
        ["planned", "scaled"],
        "what the first attempt warned of is gone, repeats are too"
    );

    // Also of a finished cell.
    let result = run.cells[bench.at].drives[0].result.clone().unwrap();
    bench.finish(result);
    assert_eq!(bench.read().1, CellState::Finished);
    bench.start();
    let (_, state, drive) = bench.read();
    assert_eq!((state, drive.result, drive.series.len()), (CellState::Unfinished, None, 0));
}

#[test]
fn a_result_must_trace_to_its_intervals() {
    let mut bench = Bench::new();
    bench.start();
    bench.interval(0, false, Op::Read, &[100, 200]);
    let original = bench.read().2.result.unwrap();
    let mut inflated = original.clone();
    inflated.read.ios += 1;
    bench.finish(inflated.clone());
    let (run, state, drive) = bench.read();
    assert_eq!((state, drive.result), (CellState::Finished, Some(inflated)));
    assert_eq!(run.damaged_lines.len(), 1);
    assert!(
        run.damaged_lines[0].contains("result does not trace to its intervals"),
        "{:?}",
        run.damaged_lines
    );

    let mut bench = Bench::new();
    bench.start();
    bench.interval(0, false, Op::Read, &[100, 200]);
    bench.finish(original.clone());
    let (run, _, drive) = bench.read();
    assert_eq!((run.damaged_lines, drive.result), (vec![], Some(original)));
}

#[test]
fn an_inspection_has_no_intervals_to_trace_to() {
    for (kind, notes) in [(CellKind::Inspect, 0), (CellKind::Measure, 1)] {
        let mut manifest = fixtures::manifest(SMALL);
        let at = manifest.cells.iter().position(|c| c.step == "random-read");
        manifest.cells[at.unwrap()].kind = kind;
        let mut bench = Bench::with_manifest(manifest);
        bench.start();
        let mut result = CellResult::default();
        result.read.errors = 1;
        bench.finish(result.clone());
        let (run, _, drive) = bench.read();
        assert_eq!(run.damaged_lines.len(), notes, "{:?}", run.damaged_lines);
        assert_eq!(drive.result, Some(result));
    }
}

#[test]
fn a_failed_cell_keeps_its_reason_and_intervals() {
    let mut bench = Bench::new();
    bench.start();
    bench.interval(0, false, Op::Read, &[100]);
    let cell = bench.cell.clone();
    bench.put(Entry::CellFailed { cell, at: String::new(), message: "gone".to_owned() });
    let (_, state, drive) = bench.read();
    assert_eq!(state, CellState::Failed("gone".to_owned()));
    assert_eq!(drive.result.unwrap().read.ios, 1);
}

#[test]
fn intervals_whose_cell_start_was_lost_still_count() {
    let mut bench = Bench::new();
    bench.interval(0, false, Op::Read, &[100]);
    let (_, state, drive) = bench.read();
    assert_eq!((state, drive.result.unwrap().read.ios), (CellState::Unfinished, 1));
}

#[test]
fn the_host_load_is_the_mean_over_the_measured_span_of_real_drives_only() {
    let mut manifest = fixtures::manifest(SMALL);
    for simulated in [true, false] {
        manifest.drives[0].simulated = simulated;
        let mut bench = Bench::with_manifest(manifest.clone());
        bench.start();
        bench.interval(0, true, Op::Read, &[1]);
        bench.interval(1, false, Op::Read, &[1]);
        bench.interval(2, false, Op::Read, &[1]);
        let cell = bench.cell.clone();
        for (index, user_pct) in [(0, 90.0), (1, 10.0), (2, 30.0), (3, 77.0)] {
            let load = HostLoad { user_pct, ..HostLoad::default() };
            bench.put(Entry::Host { cell: cell.clone(), index, load });
        }
        let host = bench.read().2.result.unwrap().host;
        assert_eq!(host.map(|h| h.user_pct), (!simulated).then_some(20.0));
    }
}

#[test]
fn the_last_verdict_counts() {
    let mut bench = Bench::new();
    for result in [VerdictResult::Undecided, VerdictResult::NotRecommended] {
        bench.put(Entry::Verdict {
            drive: 1,
            verdict: Verdict { result, reasons: vec![], limits: None },
        });
    }
    let verdicts = bench.read().0.verdicts;
    assert_eq!(verdicts[0], None);
    assert_eq!(verdicts[1].as_ref().unwrap().result, VerdictResult::NotRecommended);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The oracle: all latencies of an interval in one histogram. However many records they came
    /// in, in whatever order and however far apart, the figures are the same.
    #[test]
    fn intervals_in_parts_equal_the_whole(seed in any::<u64>(), parts in 1_usize..40) {
        let mut rng = Rng::new(seed);
        let mut bench = Bench::new();
        bench.start();
        let mut all = std::collections::BTreeMap::new();
        for _ in 0..parts {
            let index = rng.below(4) as u32;
            let ramp = index == 0 || (index == 1 && rng.below(2) == 0);
            let op = if rng.below(3) == 0 { Op::Write } else { Op::Read };
            let latencies: Vec<u64> = (0..rng.below(30)).map(|_| rng.exponential(1e5) as u64).collect();
            bench.interval(index, ramp, op, &latencies);
            all.entry((index, !ramp, op)).or_insert_with(Vec::new).extend(latencies);
        }
        let (run, _, drive) = bench.read();
        prop_assert_eq!(run.damaged_lines, Vec::<String>::new());
        // Only empty intervals may be added.
        let reported = |p: &&OpSample| p.ios > 0 || all.contains_key(&(p.index, !p.ramp, p.op));
        let read: Vec<_> = drive.series.iter().filter(reported).map(|p| ((p.index, !p.ramp, p.op), p.ios, p.latency)).collect();
        let summary = |latencies| LatencySummary::new(&histogram(latencies));
        let truth: Vec<_> = all
            .iter()
            .map(|(key, latencies)| (*key, latencies.len() as u64, summary(latencies)))
            .collect();
        prop_assert_eq!(read, truth);
        let measured: Vec<u64> = all
            .iter()
            .filter(|((_, measured, op), _)| *measured && *op == Op::Read)
            .flat_map(|(_, latencies)| latencies.iter().copied())
            .collect();
        let result = drive.result.unwrap_or_default();
        prop_assert_eq!(result.read.latency_ns, LatencySummary::new(&histogram(&measured)));
    }
}

/// The I/Os in flight at the end of a job complete within microseconds: no interval of their own.
#[test]
fn the_drain_after_a_job_is_added_to_its_last_interval() {
    let mut bench = Bench::new();
    bench.start();
    for index in 1..=3 {
        bench.interval(index, false, Op::Read, &[100; 50]);
    }
    let mut drain = interval(&bench.cell, 4, false, Op::Read, &[900]);
    drain.end = drain.start + Nanos(2_600);
    bench.put(Entry::Interval(drain));
    let (_, _, drive) = bench.read();
    let ios: Vec<u64> = drive.series.iter().map(|point| point.ios).collect();
    assert_eq!(ios, [50, 50, 51]);
    let last = drive.series.last().unwrap();
    assert_eq!(last.elapsed(), Nanos(1_000_002_600));
    let mut together = histogram(&[100; 50]);
    together.merge(&histogram(&[900]));
    assert_eq!(last.latency, LatencySummary::new(&together));
    let result = drive.result.unwrap();
    assert_eq!((result.read.ios, result.elapsed), (151, Nanos(3_000_002_600)));
    // The highest rate is that of a whole second.
    let rates = drive.series.iter().map(|point| point.iops());
    let fastest = rates.fold(0.0, f64::max);
    assert!((50.0..=51.0).contains(&fastest), "{fastest}");
}
