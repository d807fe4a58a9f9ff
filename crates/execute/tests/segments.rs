//! A long soak is measured in segments of an hour, recorded by the minute, and read as one cell.

use crate::common;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_execute::events::{RunEvent, RunListener};
use assay_stats::HostAudit;
use assay_store::model::RunEnd;
use assay_store::read::{CellState, Run};
use assay_suite::expand::RunPlan;
use common::{Quiet, refuse_failure, run, run_in, text};

/// 2 h 10 min at a rate that a test can simulate.
fn suite(kind: &str) -> String {
    text(&format!(
        "[[step]]\nid = \"soak\"\ntitle = \"Soak\"\nkind = \"{kind}\"\njob = {{ rw = \
         \"randread\", bs = \"4k\", size = \"1g\", runtime = \"130m\", rate_iops = \"40\", \
         iodepth = 4 }}\n"
    ))
}

const DRIVE: &str = "sim:samsung-951";

fn journal_bytes(run: &Run) -> u64 {
    std::fs::metadata(run.path.join("journal.log")).unwrap().len()
}

#[test]
fn figures_of_the_segments_together_are_those_of_the_whole() {
    let (_, whole, _whole_folder) = run(&suite("measure"), &[DRIVE]);
    let (_, split, _split_folder) = run(&suite("soak"), &[DRIVE]);
    assert_eq!(split.damaged_lines, Vec::<String>::new());
    assert_eq!(split.manifest.cells.len(), 3);
    let [before, after] = [&whole, &split].map(|run| {
        assert_eq!(run.cells.len(), 1);
        assert_eq!(run.cells[0].state, CellState::Finished);
        &run.cells[0]
    });
    assert_eq!(before.plan.id, after.plan.id);
    assert_eq!(before.plan.workload, after.plan.workload);
    let [a, b] = [before, after].map(|cell| cell.drives[0].result.clone().unwrap());
    // Each segment ends when its last I/O has completed: at most a thread's I/Os in flight more,
    // and the span of those.
    assert!(a.read.ios.abs_diff(b.read.ios) <= 3 * 4, "{} {}", a.read.ios, b.read.ios);
    let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-3;
    assert!(close(a.elapsed.as_secs_f64(), b.elapsed.as_secs_f64()));
    assert!(close(a.iops(), b.iops()) && close(a.mib_per_s(), b.mib_per_s()));
    assert!(close(a.read.latency_ns.mean, b.read.latency_ns.mean));
    // Exact but for other random addresses: percentiles are of the summed raw histograms.
    assert_eq!(b.read.latency_ns.samples, b.read.ios);
    assert!(close(a.read.latency_ns.p99 as f64, b.read.latency_ns.p99 as f64));
    // By the minute, on one time axis, without gaps.
    let series = after.drives[0].measured_intervals();
    assert_eq!((before.drives[0].measured_intervals().len(), series.len()), (7800, 130));
    assert!(series.windows(2).all(|pair| pair[1].index == pair[0].index + 1));
    assert!(series.windows(2).all(|pair| pair[0].end <= pair[1].start));
    assert_eq!(series.iter().map(|minute| minute.ios()).sum::<u64>(), b.read.ios);
    assert!(after.drives[0].gaps.is_empty());
    let hottest = a.values["temperature_max_c"];
    assert!((b.values["temperature_max_c"] - hottest).abs() < 0.1);
    let (by_second, by_minute) = (journal_bytes(&whole), journal_bytes(&split));
    assert!(by_minute * 10 < by_second, "{by_minute} {by_second}");
}

#[test]
fn a_soak_of_an_hour_is_one_cell_by_the_second() {
    let hour = suite("soak").replace("130m", "60m");
    let (_, run, _folder) = run(&hour, &[DRIVE]);
    assert_eq!((run.manifest.cells.len(), run.manifest.cells[0].segment.is_none()), (1, true));
    assert_eq!(run.cells[0].drives[0].measured_intervals().len(), 3600);
}

/// Stops the run in the middle of a segment.
struct StopIn<'a> {
    stop: &'a AtomicBool,
    segment: &'static str,
    reached: bool,
}

impl RunListener for StopIn<'_> {
    fn event(&mut self, plan: &RunPlan, event: &RunEvent<'_>) {
        refuse_failure(plan, event);
        match event {
            RunEvent::CellStarted { index, .. } => {
                self.reached = plan.cells[*index].plan.id.ends_with(self.segment);
            }
            RunEvent::Interval { work, .. } if self.reached && work.end.as_secs_f64() > 1000.0 => {
                self.stop.store(true, Ordering::SeqCst);
            }
            _ => {}
        }
    }
}

fn starts(folder: &Path, segment: u32) -> usize {
    let journal = std::fs::read_to_string(folder.join("journal.log")).unwrap();
    let start = format!("\"cell_start\",\"cell\":\"samsung-951/soak/segment={segment}\"");
    journal.matches(&start).count()
}

#[test]
fn a_resumed_soak_goes_on_with_the_interrupted_segment_and_shows_the_gap() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let (soak, audit) = (suite("soak"), HostAudit::default());
    let stop = AtomicBool::new(false);
    let mut progress = StopIn { stop: &stop, segment: "segment=2", reached: false };
    let (ending, run) = run_in(&path, &soak, &[DRIVE], audit, &stop, &mut progress);
    assert_eq!(ending.outcome, RunEnd::Interrupted);
    // What was measured so far is shown.
    assert_eq!(run.cells[0].state, CellState::Unfinished);
    let minutes = run.cells[0].drives[0].measured_intervals().len();
    assert!((77..=78).contains(&minutes), "{minutes}");
    assert!(run.cells[0].drives[0].result.is_some());

    let running = AtomicBool::new(false);
    let (ending, run) = run_in(&path, &soak, &[DRIVE], audit, &running, &mut Quiet);
    assert_eq!(ending.outcome, RunEnd::Complete);
    assert_eq!([1, 2, 3].map(|segment| starts(&path, segment)), [1, 2, 1]);
    let cell = &run.cells[0];
    assert_eq!((run.cells.len(), &cell.state), (1, &CellState::Finished));
    assert_eq!(run.damaged_lines, Vec::<String>::new());
    let drive = &cell.drives[0];
    assert_eq!(drive.measured_intervals().len(), 130);
    let gaps: Vec<u64> = drive.gaps.iter().map(|gap| gap.start_ns.0 / 1_000_000_000).collect();
    assert_eq!(gaps, [3600]);
}

#[test]
fn soaks_that_end_by_bytes_or_by_a_rule_are_one_cell() {
    let set = [("ends", "first")];
    let by_bytes = common::plan("snia-saturation", &[DRIVE], &set, 1.0).unwrap();
    let by_rule = common::plan("thermal", &[DRIVE], &[("soak", "3h")], 1.0).unwrap();
    for plan in [by_bytes, by_rule] {
        assert!(plan.cells.iter().all(|cell| cell.plan.segment.is_none()));
    }
    let long = common::plan("bandwidth", &[DRIVE], &[("soak", "150m")], 1.0).unwrap();
    let runtimes = long.cells.iter().filter(|cell| cell.plan.step == "soak");
    let runtimes: Vec<u64> =
        runtimes.map(|cell| cell.plan.workload.runtime_ns / 60_000_000_000).collect();
    assert_eq!(runtimes, [60, 60, 30]);
}
