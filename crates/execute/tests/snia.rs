//! The tests of SNIA's PTS on simulated drives whose behaviour is known.

use crate::common;

use assay_analysis::{recovery, standard, stimulus};
use assay_store::model::{CellPlan, OperatingPoint, RunEnd};
use assay_store::read::{CellRecord, CellState, Run};
use assay_suite::schema::Suite;

use common::{cells, iops, plan, run, small_drive, text, value};

/// A built-in suite with other defaults of its parameters.
fn suite(name: &str, set: &[(&str, &str)]) -> String {
    let text = assay_suite::catalogue::load(name).unwrap().text;
    let mut table: toml::Table = toml::from_str(&text).unwrap();
    let parameters = table["parameters"].as_table_mut().unwrap();
    for (key, value) in set {
        parameters[*key]["default"] = (*value).into();
    }
    toml::to_string(&table).unwrap()
}

/// A small drive that collects garbage while the host is idle, or only while it writes.
fn drive(collects_when_idle: bool) -> (tempfile::TempDir, String) {
    let (folder, drive) = small_drive();
    let path = folder.path().join("small.toml");
    let idle = if collects_when_idle {
        "idle_after_ns = { value = 5_000_000, assumed = \"a test\" }\n"
    } else {
        ""
    };
    let mut text = std::fs::read_to_string(&path).unwrap();
    // A buffer that empties while the host is idle recovers the rate too.
    let buffer = "bytes       = { value = 16_777_216";
    assert!(text.contains(buffer));
    text = text.replace(buffer, "bytes       = { value = 262_144");
    text.push_str(&format!(
        "\n[gc]\nhigh_superblocks = {{ value = 20, assumed = \"a test\" }}\n{idle}"
    ));
    std::fs::write(&path, text).unwrap();
    (folder, drive)
}

const HIR: [(&str, &str); 13] = [
    ("round", "2s"),
    ("spacing", "3s"),
    ("rounds", "12"),
    ("burst", "1s"),
    ("bursts", "12"),
    ("idle_1", "500ms"),
    ("idle_2", "1s"),
    ("idle_3", "1500ms"),
    ("idle_4", "2500ms"),
    ("idle_5", "5s"),
    ("baseline", "5s"),
    ("interval", "100ms"),
    ("depth", "8"),
];

fn recovered_pct(run: &Run) -> Vec<f64> {
    let segments = (1..=5).map(|n| {
        let cell = cells(run, &format!("idle-{n}"))[0];
        assert_eq!(cell.state, CellState::Finished);
        let segment = recovery::of_cell(run, cell, 0).unwrap();
        assert!((11..=12).contains(&segment.bursts.len()), "{segment:?}");
        segment.recovery_pct().unwrap()
    });
    segments.collect()
}

/// PTS, host idle recovery: bursts after idle time are faster on a drive that collects garbage
/// meanwhile, and on no other.
#[test]
fn idle_time_recovers_the_rate_of_a_drive_that_collects_meanwhile() {
    let measured = [true, false].map(|collects| {
        let (_folder, drive) = drive(collects);
        let (ending, run, _runs) = run(&suite("snia-hir", &HIR), &[&drive]);
        assert_eq!((ending.outcome, ending.failed_cells), (RunEnd::Complete, 0));
        assert_eq!(run.steady.len(), 1);
        recovered_pct(&run)
    });
    let [with, without] = measured;
    assert!(with[4] > 150.0 && with[4] > with[0], "{with:?}");
    let level = |pct: &f64| (80.0..125.0).contains(pct);
    assert!(without.iter().all(level), "{without:?}");
}

#[test]
fn bursts_set_the_runtime() {
    let cells = plan("snia-hir", &["sim:samsung-951"], &[], 1.0).unwrap().cells;
    let of = |step: &str| -> CellPlan {
        let mut cells = cells.iter();
        cells.find(|c| c.plan.step == step).unwrap().plan.clone()
    };
    // 360 bursts of 5 s with 5 s, and with 50 s, after each.
    let seconds = |plan: &CellPlan| plan.workload.runtime_ns / 1_000_000_000;
    assert_eq!([seconds(&of("idle-1")), seconds(&of("idle-5"))], [3600, 19_800]);
    let bursts = of("idle-5").workload.bursts.unwrap();
    assert_eq!((bursts.active_ns, bursts.idle_ns), (5_000_000_000, 50_000_000_000));
    assert_eq!(of("baseline-1").workload.bursts, None);
}

#[test]
fn procedure_keys_without_what_they_need_are_refused() {
    let step = |kind: &str, job: &str, more: &str| {
        text(&format!(
            "[[step]]\nid = \"a\"\ntitle = \"A\"\nkind = \"{kind}\"\njob = {{ rw = \
             \"randwrite\"{job} }}\n{more}\n"
        ))
    };
    let grid = "[[step]]\nid = \"g\"\ntitle = \"G\"\nkind = \"measure\"\nrounds = { most = 5 \
                }\nmatrix = { numjobs = [1] }\n";
    for (text, expected) in [
        (step("measure", ", bursts = 3", ""), "bursts needs thinktime_iotime"),
        (
            step(
                "measure",
                ", bursts = 3, thinktime = \"1s\", thinktime_iotime = \"1s\", runtime = \"1s\"",
                "",
            ),
            "bursts sets the runtime",
        ),
        (step("measure", ", runtime = \"1s\"", "ends = \"last\""), "ends needs kind soak"),
        (
            step("soak", ", runtime = \"1s\", io_size = \"1m\"", "ends = \"late\""),
            "neither first nor last",
        ),
        (
            step("measure", "", "point = { of = \"b\", which = \"max\" }"),
            "no earlier step in rounds",
        ),
        (
            format!("{}{grid}", step("measure", "", ""))
                .replace("most = 5", "most = 5, before = \"b\""),
            "before names \"b\"",
        ),
        (
            format!(
                "{}[standard]\nname = \"S\"\ntest = \"t\"\nfixed = [\"x\"]\n",
                step("measure", "", "")
            ),
            "\"x\" in fixed is no parameter",
        ),
    ] {
        let error = Suite::parse("test", &text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error:?} lacks {expected:?}");
    }
    let error = plan("snia-saturation", &["sim:samsung-951"], &[("ends", "never")], 1.0);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("neither first nor last"), "{error}");
    let error = plan("snia-hir", &["sim:samsung-951"], &[("bursts", "0")], 1.0);
    assert!(error.unwrap_err().to_string().contains("bursts"));
}

/// PTS, cross stimulus recovery: random writes are slower than sequential ones, and leave the drive
/// slower until it has rewritten itself.
#[test]
fn random_writes_depress_the_sequential_rate_until_it_recovers() {
    let (_folder, drive) = small_drive();
    let set = [("sequential", "150s"), ("random", "20s"), ("interval", "100ms")];
    let (ending, run, _runs) = run(&suite("snia-xsr", &set), &[&drive]);
    assert_eq!((ending.outcome, ending.failed_cells), (RunEnd::Complete, 0));
    let of = |step: &str| stimulus::stimulus_of_cell(&cells(&run, step)[0].drives[0]).unwrap();
    let (first, random, again) = (of("sequential"), of("random"), of("sequential-again"));
    assert!(random.level_mib_per_s < 0.5 * first.level_mib_per_s, "{first:?} {random:?}");
    assert!(again.first_mib_per_s < 0.8 * again.level_mib_per_s, "{again:?}");
    assert!(
        (again.level_mib_per_s / first.level_mib_per_s - 1.0).abs() < 0.2,
        "{first:?} {again:?}"
    );
    assert!(again.settled_s.unwrap() > 0.0, "{again:?}");
}

fn saturation(set: &[(&str, &str)]) -> (Run, tempfile::TempDir) {
    let (_folder, drive) = small_drive();
    let (ending, run, runs) = run(&suite("snia-saturation", set), &[&drive]);
    assert_eq!((ending.outcome, ending.failed_cells), (RunEnd::Complete, 0));
    (run, runs)
}

/// Seconds measured, and bytes written.
fn ends(run: &Run) -> (f64, u64) {
    let [cell] = cells(run, "saturation")[..] else {
        panic!("the segments are read as one cell");
    };
    assert_eq!(cell.state, CellState::Finished);
    let result = cell.drives[0].result.as_ref().unwrap();
    (result.elapsed.as_secs_f64(), result.write.bytes)
}

const CAPACITY: u64 = 500_000_768;

/// Write saturation ends at the later of its time and its bytes; or at the sooner, where it is told
/// so.
#[test]
fn saturation_ends_at_the_later_of_time_and_bytes() {
    // The bytes take longer: most of the sixteen segments are needed.
    let (by_bytes, _runs) = saturation(&[("runtime", "200ms"), ("capacities", "100%")]);
    let (seconds, written) = ends(&by_bytes);
    assert!(seconds > 0.5, "{seconds}");
    // Not less, and more by the rest of a thread's last blocks at most.
    assert!((CAPACITY / 4096 * 4096..CAPACITY + (1 << 20)).contains(&written), "{written}");
    // The time takes longer: all of them are not needed.
    let (by_time, _runs) = saturation(&[("runtime", "3s"), ("capacities", "1%")]);
    let (seconds, written) = ends(&by_time);
    assert!((2.99..3.5).contains(&seconds), "{seconds}");
    assert!(written > CAPACITY / 50, "{written}");
    let (first, _runs) = saturation(&[("runtime", "3s"), ("capacities", "1%"), ("ends", "first")]);
    let (seconds, written) = ends(&first);
    assert!(seconds < 1.0 && written < CAPACITY / 50, "{seconds} {written}");
}

/// The whole day is an hour each, by the minute, then sixteen segments by bytes.
#[test]
fn a_day_of_saturation_is_planned_in_segments() {
    let planned = plan("snia-saturation", &["sim:samsung-951"], &[], 1.0).unwrap();
    let cells = planned.cells.iter().filter(|c| c.plan.step == "saturation");
    let cells: Vec<_> = cells.collect();
    assert_eq!(cells.len(), 24 + 16);
    assert!(cells.iter().all(|cell| cell.by_minute));
    let goal = |at: usize| cells[at].plan.segment.as_ref().unwrap().written_bytes;
    let capacity = cells[0].workloads[0].area.size_bytes;
    assert_eq!((goal(23), goal(24), goal(39)), (None, Some(capacity / 16), Some(capacity)));
}

const GRID: [(&str, &str); 9] = [
    ("round", "50ms"),
    ("spacing", "1s"),
    ("rounds", "10"),
    ("pre_write", "200ms"),
    ("point_write", "500ms"),
    ("response", "500ms"),
    ("response_limit", "1s"),
    ("threads", "32,4,1"),
    ("depths", "32,4,1"),
];

fn demand(name: &str) {
    let (_folder, drive) = small_drive();
    let (ending, run, _runs) = run(&suite(name, &GRID), &[&drive]);
    assert_eq!((ending.outcome, ending.failed_cells), (RunEnd::Complete, 0), "{name}");
    let finished = |step: &str| -> Vec<&CellRecord> {
        let all = cells(&run, step).into_iter();
        all.filter(|c| c.state == CellState::Finished).collect()
    };
    // Each round is the writes at full demand, and then every point once.
    let (before, grid) = (finished("pre-write"), finished("grid"));
    assert!(before.len() >= 5 && grid.len() == 9 * before.len());
    let order: Vec<&str> = run.cells.iter().map(|c| c.plan.step.as_str()).collect();
    let first = order.iter().position(|step| *step == "pre-write").unwrap();
    assert_eq!(order[first + 1..first + 10], ["grid"; 9]);
    assert_eq!(order[first + 10], "pre-write");
    // What is not needed of the grid is not needed before it either.
    let left: Vec<bool> =
        cells(&run, "pre-write").iter().map(|c| c.state == CellState::Finished).collect();
    assert_eq!(left.iter().filter(|done| **done).count(), before.len());
    let at = |which: &str| {
        let cell = finished(&format!("response-{which}"))[0];
        let depth = (value(cell, "point_numjobs") as u32, value(cell, "point_iodepth") as u32);
        let written = finished(&format!("write-{which}"))[0];
        assert_eq!(depth.0, value(written, "point_numjobs") as u32);
        (depth, iops(cell))
    };
    let (max, mid, min) = (at("max"), at("mid"), at("min"));
    assert_eq!(min.0, (1, 1));
    // The point with the highest mean rate of the last five rounds.
    let mut rates = std::collections::BTreeMap::<(u32, u32), Vec<f64>>::new();
    for cell in &grid {
        let workload = &cell.plan.workload;
        let at = (workload.numjobs, workload.iodepth);
        rates.entry(at).or_default().push(iops(cell));
    }
    let mean = |of: &Vec<f64>| of[of.len() - 5..].iter().sum::<f64>() / 5.0;
    let best = rates.iter().max_by(|a, b| mean(a.1).total_cmp(&mean(b.1)));
    assert_eq!(max.0, *best.unwrap().0);
    assert!(mid.1 > 0.0 && min.1 > 0.0, "{mid:?} {min:?}");
    let point = cells(&run, "response-mid")[0].plan.point.clone().unwrap();
    assert_eq!((point.of.as_str(), point.which), ("grid", OperatingPoint::Mid));
    // A simulated drive, a shorter round: deviations, each with its name.
    let report = standard::standard_report(&run, 0).unwrap();
    let broken: Vec<&str> = report.deviations().map(|c| c.key).collect();
    assert!(broken.contains(&"drive") && !broken.contains(&"cells"), "{broken:?}");
}

/// PTS, composite block workload.
#[test]
fn the_composite_workload_has_operating_points() {
    demand("snia-ecw");
}

/// PTS, demand intensity.
#[test]
fn demand_intensity_has_operating_points() {
    demand("snia-dirth");
}
