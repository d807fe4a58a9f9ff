//! Steps that say in which state their cells begin.

use crate::common;

use std::sync::atomic::{AtomicBool, Ordering};

use assay_execute::events::{RunEvent, RunListener};
use assay_stats::HostAudit;
use assay_store::model::RunEnd;
use assay_store::model::warning::code::START_NOT_REACHED;
use assay_store::read::Run;
use assay_suite::expand::{RunPlan, expand};
use assay_suite::schema::Suite;

use common::{Quiet, cells, drives, iops, refuse_failure, run, run_in, settings, text, value};

/// Reads that heat a drive which throttles from 80 degrees C on, and the same again, with these
/// keys.
fn twice(keys: &str) -> Run {
    run(&reads_twice("", keys), &["sim:mydigitalssd-bpx"]).1
}

/// The suite of [`twice`], with keys of both steps.
fn reads_twice(first: &str, again: &str) -> String {
    const JOB: &str =
        r#"job = { rw = "randread", bs = "128k", numjobs = 64, size = "16GiB", runtime = "40s" }"#;
    text(&format!(
        r#"
[[step]]
id = "first"
title = "Hot reads"
kind = "measure"
{first}
{JOB}
[[step]]
id = "again"
title = "Again"
kind = "measure"
{again}
{JOB}
"#
    ))
}

fn ratio(run: &Run) -> f64 {
    iops(cells(run, "again")[0]) / iops(cells(run, "first")[0])
}

fn warned(run: &Run) -> Vec<(&str, usize)> {
    let warnings = run.warnings.iter().filter(|w| w.code == START_NOT_REACHED);
    warnings.map(|w| (w.cell.as_deref().unwrap(), w.drive.unwrap())).collect()
}

#[test]
fn a_cell_waits_for_a_cool_drive_or_says_that_it_began_hot() {
    let hot = twice("");
    let cool = twice("start = { cool_k = 5, timeout = \"30m\" }");
    println!("hot {:.3}, cool {:.3}", ratio(&hot), ratio(&cool));
    assert!(ratio(&hot) < 0.9, "{}", ratio(&hot));
    assert!((ratio(&cool) - 1.0).abs() < 0.05, "{}", ratio(&cool));
    assert_eq!(warned(&cool), []);
    let again = cells(&cool, "again")[0];
    let above_k = value(again, "start_temperature_c") - value(again, "run_start_temperature_c");
    assert!((-4.0..=5.0).contains(&above_k), "{above_k}");
    assert!(value(again, "start_wait_s") > 10.0);
    let short = twice("start = { cool_k = 5, timeout = \"2s\" }");
    assert_eq!(warned(&short), [("mydigitalssd-bpx/again", 0)]);
    assert_eq!(value(cells(&short, "again")[0], "start_wait_s"), 2.0);
    let off = twice("start = { cool_k = 5, timeout = \"0s\" }");
    assert_eq!((warned(&off).len(), ratio(&off)), (0, ratio(&hot)));
}

#[test]
fn the_longest_wait_is_planned_and_scaled() {
    let step = r#"
[parameters.cool]
kind = "duration"
default = "10m"
help = "longest wait"
[[step]]
id = "cell"
title = "A cell"
kind = "measure"
start = { cool_k = 5, timeout = "{cool}", idle = "1s" }
job = { rw = "randread", runtime = "5s" }
"#;
    let suite = Suite::parse("test", &text(step)).unwrap();
    for (scale, seconds) in [(1.0, 605), (0.1, 65), (0.001, 6)] {
        let planned = expand(&suite, &settings(&[], scale), &drives(&["null:"])).unwrap();
        assert_eq!(planned.cells[0].longest_span().0 / 1_000_000_000, seconds);
    }
    for (old, new, expected) in [
        ("kind = \"measure\"", "kind = \"idle\"", "workload"),
        ("cool_k = 5", "cool_k = -1", "cool_k"),
        ("idle =", "pause =", "pause"),
    ] {
        let error = Suite::parse("test", &text(&step.replace(old, new))).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// Stops the run when its second cell begins.
struct StopBeforeSecond<'a>(&'a AtomicBool);

impl RunListener for StopBeforeSecond<'_> {
    fn event(&mut self, plan: &RunPlan, event: &RunEvent<'_>) {
        refuse_failure(plan, event);
        if let RunEvent::CellStarted { index, .. } = event {
            self.0.store(*index > 0, Ordering::SeqCst);
        }
    }
}

/// A resumed run waits for the temperature at which its first attempt began, not for the one that
/// the drive has now.
#[test]
fn a_resumed_run_keeps_the_temperature_at_its_start() {
    const KEYS: &str = "start = { cool_k = 5, timeout = \"3s\" }";
    let suite = reads_twice(KEYS, KEYS);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let attempt = |drive: &str, stop: &AtomicBool, progress: &mut dyn RunListener| {
        run_in(&path, &suite, &[drive], HostAudit::default(), stop, progress)
    };
    let stop = AtomicBool::new(false);
    let cool = "sim:mydigitalssd-bpx,ambient=20";
    let (ending, first) = attempt(cool, &stop, &mut StopBeforeSecond(&stop));
    assert_eq!(ending.outcome, RunEnd::Interrupted);
    let began_c = value(cells(&first, "first")[0], "run_start_temperature_c");
    assert_eq!(warned(&first), []);
    // The drive is resumed where it is 25 K warmer.
    let hot = "sim:mydigitalssd-bpx,ambient=45";
    let (ending, run) = attempt(hot, &AtomicBool::new(false), &mut Quiet);
    assert_eq!(ending.outcome, RunEnd::Complete);
    let again = cells(&run, "again")[0];
    assert_eq!(value(again, "run_start_temperature_c"), began_c);
    assert!(value(again, "start_temperature_c") > began_c + 20.0);
    assert_eq!(warned(&run), [("mydigitalssd-bpx/again", 0)]);
}
