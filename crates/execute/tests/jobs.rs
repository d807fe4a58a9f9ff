//! Jobs that run at once on one drive: plan, figures, preconditions, resumption.

use crate::common;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use assay_analysis::interference;
use assay_execute::events::{RunEvent, RunListener};
use assay_stats::HostAudit;
use assay_store::model::{CellResult, RunEnd};
use assay_store::read::{CellRecord, CellState, Run};
use assay_suite::expand::{RunPlan, expand};
use assay_suite::schema::{Suite, WriteAccess};

use common::{
    Quiet, cells, drives, iops, refuse_failure, run, run_in, settings, small_drive, text,
};

/// Reads alone, and beside random writes.
const BESIDE: &str = r#"
[[step]]
id = "alone"
title = "Alone"
kind = "measure"
view = "interference"
job = { rw = "randread", bs = "4k", size = "50%", runtime = "2s" }
matrix = { iodepth = [1, 4] }
[[step]]
id = "beside"
title = "Beside writes"
kind = "measure"
view = "interference"
compare_with = "alone"
foreground = "reads"
job = { runtime = "2s", bs = "4k" }
jobs.writes = { rw = "randwrite", iodepth = 8, offset = "50%", size = "50%" }
jobs.reads = { rw = "randread", size = "50%" }
matrix = { writes.rate_iops = ["2000"], reads.iodepth = [1, 4] }
"#;

fn plan_of(steps: &str, specs: &[&str]) -> RunPlan {
    let suite = Suite::parse("test", &text(steps)).unwrap();
    expand(&suite, &settings(&[], 1.0), &drives(specs)).unwrap()
}

fn ids(plan: &RunPlan) -> Vec<&str> {
    plan.cells.iter().map(|c| c.plan.id.as_str()).collect()
}

#[test]
fn each_job_is_a_cell_and_the_foreground_names_its_workload_alone() {
    let plan = plan_of(BESIDE, &["sim:samsung-951"]);
    assert_eq!(
        ids(&plan),
        [
            "samsung-951/alone/iodepth=1",
            "samsung-951/alone/iodepth=4",
            "samsung-951/beside/writes.rate_iops=2000,reads.iodepth=1,job=writes",
            "samsung-951/beside/writes.rate_iops=2000,reads.iodepth=1,job=reads",
            "samsung-951/beside/writes.rate_iops=2000,reads.iodepth=4,job=writes",
            "samsung-951/beside/writes.rate_iops=2000,reads.iodepth=4,job=reads",
        ]
    );
    let together: Vec<Option<usize>> = plan.cells.iter().map(|c| c.together).collect();
    assert_eq!(together, [None, None, Some(2), Some(2), Some(4), Some(4)]);
    let job = |cell: usize| plan.cells[cell].plan.job.clone().unwrap();
    assert!(!job(2).foreground && job(2).alone.is_none());
    assert_eq!(
        job(5).alone.as_deref(),
        Some("samsung-951/alone/iodepth=4"),
        "by the values of the job, whatever the others have"
    );
    let workload = |cell: usize| &plan.cells[cell].plan.workload;
    assert_eq!((workload(2).rate_limit_iops, workload(2).iodepth), (Some(2000.0), 8));
    assert_eq!((workload(5).rate_limit_iops, workload(5).iodepth), (None, 4));
    // Different random numbers, or both jobs would access the same blocks.
    let seed = |cell: usize| plan.cells[cell].workloads[0].seed;
    assert_ne!(seed(2), seed(3));
}

#[test]
fn contradictions_of_jobs_are_named() {
    let step =
        |rest: &str| format!("[[step]]\nid = \"a\"\ntitle = \"A\"\nkind = \"measure\"\n{rest}\n");
    let two = "jobs.x = { rw = \"read\" }\njobs.y = { rw = \"write\" }\n";
    for (rest, expected) in [
        ("jobs.x = { rw = \"read\" }".to_owned(), "at least two"),
        (format!("{two}foreground = \"z\""), "which is no job"),
        (format!("{two}steady = true"), "for steps of one job"),
        (format!("{two}job = {{ chunks = 4 }}"), "beside others"),
        (format!("{two}matrix = {{ z.bs = [\"4k\"] }}"), "not an option"),
        (format!("{two}compare_with = \"b\""), "no earlier step"),
        (format!("{two}view = \"knee\""), "for steps of one job"),
        ("foreground = \"x\"".to_owned(), "foreground needs jobs"),
        ("jobs.\"x y\" = {}\njobs.z = {}".to_owned(), "a job's name"),
        ("jobs.x = 4\njobs.z = {}".to_owned(), "no table of options"),
    ] {
        let error = Suite::parse("test", &text(&step(&rest))).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(expected), "{error:?} lacks {expected:?}");
    }
    let suite = Suite::parse("test", &text(&step(two))).unwrap();
    assert_eq!(suite.writes(), WriteAccess::IfAllowed);
}

/// A step of several drives needs at least one. (The plan took the first one's data.)
#[test]
fn a_plan_without_drives_is_empty() {
    let step =
        "[[step]]\nid = \"a\"\ntitle = \"A\"\nkind = \"concurrent\"\njob = { rw = \"read\" }\n";
    assert!(plan_of(step, &[]).cells.is_empty());
    assert!(plan_of(BESIDE, &[]).cells.is_empty());
}

/// Of two jobs of which one cannot run, neither runs.
#[test]
fn jobs_are_skipped_together() {
    let steps = r#"
[[step]]
id = "beside"
title = "Beside"
kind = "measure"
job = { runtime = "1s" }
jobs.reads = { rw = "randread" }
jobs.writes = { rw = "write", bs = "4m", numjobs = 64, split = true, size = "128m" }
"#;
    let plan = plan_of(steps, &["sim:samsung-951"]);
    for cell in &plan.cells {
        let why = cell.plan.skipped.as_deref().unwrap();
        assert!(why.contains("too small"), "{why}");
        assert!(cell.workloads.is_empty());
    }
}

fn result(cell: &CellRecord) -> &CellResult {
    cell.drives[0].result.as_ref().unwrap()
}

/// The profile of a drive with one program time, in nanoseconds, and no suspension of programs for
/// reads.
fn with_program_ns(profile: &Path, program_ns: u64) -> String {
    let text = std::fs::read_to_string(profile).unwrap();
    let changed: Vec<String> = (text.lines())
        .map(|line| match line.split('=').next().unwrap().trim() {
            "program_ns" => {
                format!("program_ns = {{ value = [{program_ns}], assumed = \"a test\" }}")
            }
            _ => line.to_owned(),
        })
        .collect();
    let path = profile.with_file_name(format!("program-{program_ns}.toml"));
    std::fs::write(&path, changed.join("\n")).unwrap();
    format!("sim:{}", path.display())
}

/// Known truth: the flash programs for 5 ms and is not interrupted, so the slowest reads beside
/// writes take that long, and those alone do not. With programs of 50 us there is no such tail.
#[test]
fn reads_wait_for_programs_by_as_much_as_the_flash_takes() {
    let (_folder, drive) = small_drive();
    let profile = Path::new(drive.strip_prefix("sim:").unwrap());
    let measured = |program_ns: u64| {
        let drive = with_program_ns(profile, program_ns);
        let (_, run, folder) = run(&text(BESIDE), &[&drive]);
        let reads = |step: &str, job: bool| {
            let mut cells = cells(&run, step).into_iter();
            let deep = |c: &&CellRecord| c.plan.workload.iodepth == 4;
            let own =
                move |c: &&CellRecord| c.plan.job.as_ref().is_none_or(|j| j.foreground == job);
            cells.find(|c| deep(c) && own(c)).unwrap().clone()
        };
        let (alone, beside) = (reads("alone", false), reads("beside", true));
        let found = interference::of_cell(&run, &beside, 0).unwrap();
        drop(folder);
        (result(&alone).latency().p99, result(&beside).latency().p99, found)
    };
    let (alone, beside, found) = measured(5_000_000);
    assert!(alone < 2_000_000, "{alone}");
    assert!((5_000_000..40_000_000).contains(&beside), "{beside}");
    assert_eq!(found.p99, Some(beside as f64 / alone as f64));
    assert!(found.kept_iops_pct.unwrap() < 90.0, "{found:?}");
    let (_, beside, fast) = measured(50_000);
    assert!(beside < 2_000_000, "{beside}");
    assert!(fast.p99.unwrap() < found.p99.unwrap() / 3.0, "{fast:?} {found:?}");
}

/// Jobs of one cell share the drive's time: each has the same length and its own rate.
#[test]
fn each_job_has_its_own_figures() {
    let (_, run, _folder) = run(&text(BESIDE), &["sim:samsung-951"]);
    let beside = cells(&run, "beside");
    let [writes, reads] = [beside[0], beside[1]];
    assert!((iops(writes) - 2000.0).abs() < 40.0, "{}", iops(writes));
    assert_eq!((result(writes).read.ios, result(reads).write.ios), (0, 0));
    assert!(result(reads).read.ios > 1000);
    assert!(result(reads).values.contains_key("ratio_to_alone"));
    assert!(!result(writes).values.contains_key("ratio_to_alone"));
}

/// Several simulated drives run in a thread each; what they measure does not depend on that.
#[test]
fn jobs_of_several_drives_measure_what_those_of_one_do() {
    let figures = |run: &Run, label: &str| -> Vec<(String, CellState, CellResult)> {
        let own = run.cells.iter().filter(|c| c.plan.id.starts_with(label));
        own.map(|c| {
            let result = CellResult { drive: 0, ..result(c).clone() };
            (c.plan.id.clone(), c.state.clone(), result)
        })
        .collect()
    };
    let (_, both, _a) = run(&text(BESIDE), &["sim:samsung-951", "sim:intel-600p"]);
    let (_, one, _b) = run(&text(BESIDE), &["sim:intel-600p"]);
    assert_eq!(figures(&both, "intel-600p"), figures(&one, "intel-600p"));
    assert_eq!(figures(&both, "samsung-951").len(), 6);
}

/// Without the state that a step wants, no job of it runs.
#[test]
fn jobs_want_the_state_of_the_drive() {
    let steps = r#"
[[step]]
id = "fill"
title = "Fill"
kind = "prepare"
sets_state = "full"
job = { rw = "write", bs = "1m", size = "16m" }
[[step]]
id = "purge"
title = "Purge"
kind = "purge"
[[step]]
id = "beside"
title = "Beside"
kind = "measure"
needs_state = "full"
job = { runtime = "100ms" }
jobs.reads = { rw = "randread" }
jobs.writes = { rw = "randwrite" }
"#;
    let (_, run, _folder) = run(&text(steps), &["sim:samsung-951"]);
    for cell in cells(&run, "beside") {
        let CellState::Skipped(why) = &cell.state else {
            panic!("{:?}", cell.state);
        };
        assert!(why.contains("preconditioned (full)"), "{why}");
    }
}

/// Stops the run when a cell has ended.
struct StopAfter<'a> {
    cells: usize,
    stop: &'a AtomicBool,
}

impl RunListener for StopAfter<'_> {
    fn event(&mut self, plan: &RunPlan, event: &RunEvent<'_>) {
        refuse_failure(plan, event);
        if let RunEvent::CellFinished { .. } = event {
            self.cells -= 1;
            if self.cells == 0 {
                self.stop.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        }
    }
}

/// A resumed run keeps what was finished, repeats its writes on a simulated drive, and measures the
/// rest. (Reads are not repeated, so that the drive is a little cooler, and its clock an earlier
/// one.)
#[test]
fn a_resumed_run_of_jobs_measures_what_is_left() {
    let (suite, specs) = (text(BESIDE), ["sim:samsung-951"]);
    let (_, whole, _folder) = run(&suite, &specs);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let stop = AtomicBool::new(false);
    // After the first two jobs, of the cells with depth 1.
    let mut progress = StopAfter { cells: 4, stop: &stop };
    let audit = HostAudit::default();
    let (summary, _) = run_in(&path, &suite, &specs, audit, &stop, &mut progress);
    assert_eq!(summary.outcome, RunEnd::Interrupted);
    let (summary, resumed) =
        run_in(&path, &suite, &specs, audit, &AtomicBool::new(false), &mut Quiet);
    assert_eq!(summary.outcome, RunEnd::Complete);
    let results =
        |run: &Run| -> Vec<CellResult> { run.cells.iter().map(|c| result(c).clone()).collect() };
    let (resumed, whole) = (results(&resumed), results(&whole));
    assert_eq!(resumed[..4], whole[..4]);
    for (one, other) in resumed[4..].iter().zip(&whole[4..]) {
        assert!((one.iops() / other.iops() - 1.0).abs() < 0.01, "{} {}", one.iops(), other.iops());
        assert_eq!(one.values["write_amplification"], other.values["write_amplification"]);
    }
}
