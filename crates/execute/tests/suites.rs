//! Suites: parsing, planning, verdicts.

use crate::common;

use assay_execute::run::RunSummary;
use assay_io::Nanos;
use assay_stats::HostAudit;
use assay_store::model::{CellKind, ReasonWeight, RunEnd, VerdictResult};
use assay_store::read::CellState;
use assay_suite::expand::Cell;
use assay_suite::schema::{Suite, WriteAccess};
use assay_suite::{SuiteError, catalogue};

use common::{plan, run, run_on_host, text};

#[test]
fn invalid_suites_name_the_error() {
    let step = "[[step]]\nid = \"a\"\ntitle = \"A\"\nkind = \"measure\"\njob = { rw = \"read\" }\n";
    for (rest, expected) in [
        (String::new(), "has no [[step]]"),
        (format!("{step}{step}"), "two steps have the id"),
        (step.replace("\"a\"", "\"a b\""), "letters, digits and hyphens"),
        (step.replace("measure", "mesure"), "unknown variant"),
        (step.replace("rw = ", "rv = "), "not an option of a job"),
        (format!("{step}wrong = 1\n"), "unknown field"),
        (format!("{step}compare_with = \"b\"\n"), "no earlier step"),
        (
            format!(
                "{step}[[verdict.rule]]\nabout = \"x\"\nfigure = \"best_rate\"\nstep = \
                 \"z\"\ngood = 1\nbad = 0\nadvice = \"y\"\n"
            ),
            "names step \"z\"",
        ),
        (
            format!(
                "{step}[[verdict.rule]]\nabout = \"x\"\nfigure = \"best_rate\"\ngood = 1\nbad = \
                 0\nadvice = \"y\"\n"
            ),
            "needs a step",
        ),
        ("name = 5".to_owned(), "duplicate key"),
    ] {
        let error = Suite::parse("test", &text(&rest)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error:?} lacks {expected:?}");
    }
}

/// Suites of earlier versions, and those in their run folders, are read as they are.
#[test]
fn old_spellings_are_read() {
    let old = r#"
[[step]]
id = "fill"
title = "Fill"
kind = "prepare"
leaves = "filled"
job = { rw = "write" }
[[step]]
id = "together"
title = "Together"
kind = "all_aboard"
wants = "filled"
job = { rw = "read" }
"#;
    let new = [("leaves", "sets_state"), ("wants", "needs_state")];
    let new = new
        .iter()
        .fold(old.replace("all_aboard", "concurrent"), |text, (old, new)| text.replace(old, new));
    let steps = |rest: &str| format!("{:?}", Suite::parse("test", &text(rest)).unwrap().steps);
    assert_eq!(steps(old), steps(&new));
}

#[test]
fn write_access_of_suites_is_reported() {
    assert_eq!(catalogue::load("quick").unwrap().writes(), WriteAccess::Never);
    assert_eq!(catalogue::load("bandwidth").unwrap().writes(), WriteAccess::IfAllowed);
}

/// The sweep of the DragonFly tests: ten block sizes by two thread counts per drive; readers by
/// block size; all drives concurrently at the end.
#[test]
fn bandwidth_has_the_cells_of_the_dragonfly_tests() {
    let plan = plan("bandwidth", &["sim:samsung-951", "sim:intel-600p"], &[], 1.0).unwrap();
    let count = |step: &str| plan.cells.iter().filter(|c| c.plan.step == step).count();
    assert_eq!(count("random-read"), 2 * 10 * 2);
    assert_eq!(count("sequential-read"), 2 * 6 * 2);
    // One thread with 64 in flight to 64 threads with one each.
    let queues: Vec<(u32, u32)> = plan
        .cells
        .iter()
        .filter(|c| c.plan.step == "queues" && c.plan.drives == [0])
        .map(|c| (c.plan.workload.numjobs, c.plan.workload.iodepth))
        .collect();
    let expected = [(1, 64), (2, 32), (4, 16), (8, 8), (16, 4), (32, 2), (64, 1)];
    assert_eq!(queues, expected);
    assert_eq!(count("zeroed-read"), 2 * 2 * 2);
    // Two sizes: each alone, then both. Temperatures: both only.
    assert_eq!(count("all-aboard"), 2 * 3);
    assert_eq!(count("all-aboard-temperature"), 1);
    let together = plan.cells.iter().find(|c| c.plan.drives.len() == 2).unwrap();
    assert_eq!((together.workloads.len(), together.alone.len()), (2, 2));
    let mut ids: Vec<&str> = plan.cells.iter().map(|c| c.plan.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), plan.cells.len(), "cell ids are unique");
    // The zeroed comparison comes after everything that reads incompressible data.
    let position = |id: &str| plan.cells.iter().position(|c| c.plan.id == id).unwrap();
    assert!(position("samsung-951/zero-fill") > position("together/all-aboard-temperature"));
    let zeroed = &plan.cells[position("samsung-951/zeroed-read/numjobs=16,bs=32k")];
    assert_eq!(zeroed.compare_with.as_deref(), Some("samsung-951/random-read/numjobs=16,bs=32k"));
    assert_eq!(zeroed.ratio_name, "ratio_to_incompressible");
    assert_eq!(zeroed.plan.workload.data, "zero");
}

#[test]
fn scale_and_parameters_change_the_plan() {
    let of = |set: &[(&str, &str)], scale| {
        let plan = plan("bandwidth", &["sim:samsung-951"], set, scale).unwrap();
        plan.cells.into_iter().find(|c| c.plan.step == "random-read").unwrap().plan.workload
    };
    let published = of(&[], 1.0);
    assert_eq!((published.runtime_ns, published.span_bytes), (10_000_000_000, 16 << 30));
    let scaled = of(&[("area", "1GiB")], 0.1);
    assert_eq!(
        (scaled.runtime_ns, scaled.ramp_ns, scaled.span_bytes),
        (1_000_000_000, 100_000_000, 1 << 30)
    );
    // Limited to the capacity.
    let cut = of(&[("area", "10TiB")], 1.0);
    assert!(cut.span_bytes > 100 << 30 && cut.span_bytes <= 128 << 30);
    let few =
        plan("bandwidth", &["sim:samsung-951"], &[("threads", "3"), ("blocks", "4k, 8k")], 1.0)
            .unwrap();
    assert_eq!(few.cells.iter().filter(|c| c.plan.step == "random-read").count(), 2);
    for (set, expected) in [
        (("aera", "1g"), "it has: aboard, area"),
        (("area", "big"), "parameter area=big"),
        (("runtime", ""), "runtime"),
        (("threads", "many"), "whole number"),
        (("blocks", "1000"), "not a multiple of its logical block"),
    ] {
        let error = plan("bandwidth", &["sim:samsung-951"], &[set], 1.0).unwrap_err().to_string();
        assert!(error.contains(expected), "{error:?} lacks {expected:?}");
    }
    for scale in [0.0, -1.0, f64::NAN, 1e9] {
        assert!(matches!(plan("quick", &["null:"], &[], scale), Err(SuiteError::BadScale(_))));
    }
}

#[test]
fn the_quick_suite_takes_less_than_a_minute() {
    let plan = plan("quick", &["null:"], &[], 1.0).unwrap();
    let total: Nanos = plan.cells.iter().filter_map(Cell::planned_span).sum();
    assert!(total < Nanos::from_secs(60), "{total}");
    assert!(plan.cells.iter().all(|c| c.workloads.iter().all(|w| !w.writes())));
}

#[test]
fn cells_that_a_file_does_not_permit_are_skipped_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk.img");
    std::fs::write(&path, vec![1; 8 << 20]).unwrap();
    let plan = plan("bandwidth", &[path.to_str().unwrap()], &[], 1.0).unwrap();
    let skipped = |step: &str| {
        let cell = plan.cells.iter().find(|c| c.plan.step == step).unwrap();
        cell.plan.skipped.clone().unwrap_or_default()
    };
    assert!(skipped("sequential-write").contains("--destroy disk.img"));
    assert!(skipped("all-aboard").contains("several drives"));
    assert_eq!(skipped("filesystem-read"), "");
    assert_eq!(skipped("random-read"), "");
    assert!(plan.cells.iter().all(|c| c.workloads.iter().all(|w| !w.writes())));
}

#[test]
fn a_run_records_its_actions_and_evaluates_its_rules() {
    let suite = text(
        r#"
[[step]]
id = "write"
title = "Write"
kind = "prepare"
needs = ["write"]
job = { rw = "write", bs = "1m", size = "64m", data = "zero" }
[[step]]
id = "read"
title = "Read"
kind = "measure"
job = { rw = "randread", bs = "4k", size = "64m", runtime = "2s" }
matrix = { numjobs = [1, 4] }
[[verdict.rule]]
about = "reading"
figure = "best_rate"
step = "read"
good = 1.0
bad = 0.5
advice = "slow"
[[verdict.rule]]
about = "scaling"
figure = "scaling_pct"
step = "read"
good = 100000.0
bad = 1.0
advice = "does not scale a thousandfold"
[[verdict.rule]]
about = "errors"
figure = "errors"
good = 0.0
bad = 0.0
lower_is_better = true
advice = "broken"
"#,
    );
    let (ending, run, _folder) = run(&suite, &["sim:samsung-951"]);
    assert_eq!(
        ending,
        RunSummary {
            outcome: RunEnd::Complete,
            failed_cells: 0,
            io_errors: 0,
            bad_blocks: 0,
            unverified: 0,
            lost_drives: std::collections::BTreeSet::new(),
            not_begun: None,
        }
    );
    assert_eq!(run.damaged_lines, Vec::<String>::new());
    assert!(run.cells.iter().all(|c| c.state == CellState::Finished));
    assert_eq!(run.cells[0].plan.kind, CellKind::Prepare);
    assert_eq!(run.cells[0].drives[0].result.as_ref().unwrap().write.bytes, 64 << 20);
    assert_eq!(run.cells[1].plan.workload.data, "zero");
    let verdict = run.verdicts[0].as_ref().unwrap();
    assert_eq!(verdict.result, VerdictResult::Conditionally);
    let weights: Vec<ReasonWeight> = verdict.reasons.iter().map(|r| r.weight).collect();
    assert_eq!(weights, [ReasonWeight::For, ReasonWeight::Caution, ReasonWeight::For]);
    assert!(verdict.reasons[1].text.contains("thousandfold"));
}

#[test]
fn io_errors_of_a_drive_are_reported() {
    let suite = text(
        r#"
[[step]]
id = "read"
title = "Read"
kind = "measure"
job = { rw = "read", bs = "128k", size = "64m" }
[[verdict.rule]]
about = "errors"
figure = "errors"
good = 0.0
bad = 0.0
lower_is_better = true
advice = "do not trust it"
"#,
    );
    let (ending, run, _folder) = run(&suite, &["sim:samsung-951,fault=read-error@7"]);
    assert_eq!(ending.io_errors, 1);
    assert!(run.warnings.iter().any(|w| w.code == "io-errors"));
    let verdict = run.verdicts[0].as_ref().unwrap();
    assert_eq!(verdict.result, VerdictResult::NotRecommended);
    assert!(verdict.reasons[0].text.contains("1 failed"));
}

/// Times of a simulated drive come from its virtual clock: the host's clock matters to other
/// targets only.
#[test]
fn the_hosts_clock_drift_is_warned_about_where_it_is_used() {
    let step = "[[step]]\nid = \"a\"\ntitle = \"A\"\nkind = \"measure\"\njob = { rw = \"read\", \
                runtime = \"10ms\" }\n";
    let drifting = HostAudit { clock_drift_ppm: -500.0, ..HostAudit::default() };
    for (drive, expected) in [("sim:samsung-951", false), ("null:size=1g", true)] {
        let (_, run, _folder) = run_on_host(&text(step), &[drive], drifting);
        let warned = run.warnings.iter().any(|w| w.code == "clock-drift");
        assert_eq!(warned, expected, "{drive}");
    }
}
