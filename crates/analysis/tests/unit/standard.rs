use assay_store::model::{CellPlan, ProbeProperty, Warning};

use super::*;
use crate::fixtures;

const SUITE: &str = r#"
name = "t"
[standard]
name = "SNIA PTS 2.0.2"
test = "a test"
fixed = ["round", "area"]
write_cache = "off"
[parameters.round]
default = "1m"
help = ""
[parameters.area]
default = "100%"
help = ""
[parameters.threads]
default = "4"
help = ""
"#;

fn cell(step: &str, kind: CellKind, state: CellState) -> CellRecord {
    let plan = CellPlan {
        id: format!("nvme0n1/{step}"),
        step: step.to_owned(),
        kind,
        drives: vec![0],
        ..CellPlan::default()
    };
    CellRecord { plan, state, host: Vec::new(), drives: Vec::new() }
}

/// A run that holds all conditions.
fn run() -> Run {
    let mut drive = fixtures::drive("/dev/nvme0n1");
    (drive.kind, drive.simulated) = ("block".to_owned(), false);
    drive.probe = vec![ProbeProperty {
        group: "features".to_owned(),
        name: "volatile write cache".to_owned(),
        value: "none".to_owned(),
    }];
    let mut run = fixtures::run(vec![drive]);
    run.manifest.suite.text = SUITE.to_owned();
    let parameters = [("round", "60s"), ("area", "100%"), ("threads", "16")];
    run.manifest.parameters = parameters.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    let steady = CellState::Skipped(format!("{NOT_NEEDED}: the rounds reached steady state"));
    run.cells = vec![
        cell("purge", CellKind::Purge, CellState::Finished),
        cell("write", CellKind::Prepare, CellState::Finished),
        cell("rounds", CellKind::Measure, steady),
    ];
    run.steady = vec![SteadyRecord {
        step: "rounds".to_owned(),
        group: "nvme0n1/rounds".to_owned(),
        rule: SteadyRule::default().text(),
        figure: "IOPS".to_owned(),
        achieved: true,
        values: vec![1.0; 7],
        window: (3, 7),
        mean: 1.0,
        range_pct: 12.0,
        excursion_pct: 4.0,
        ..SteadyRecord::default()
    }];
    run
}

#[test]
fn a_run_by_the_standard_complies() {
    let run = run();
    let report = standard_report(&run, 0).unwrap();
    assert_eq!(report.deviations().collect::<Vec<_>>(), Vec::<&Condition>::new());
    // Threads are the tester's choice.
    assert!(report.complies() && report.is_steady() == Some(true));
    let line = |key: &str| report.conditions.iter().find(|c| c.key == key).unwrap();
    assert_eq!(line("steady_range").required, "at most 20 % of the mean");
    assert_eq!(line("steady_range").found, "12.0 % of the mean");
    assert_eq!(line("steady_slope").found, "4.0 % of the mean");
    let lists = |name: &str| report.setup.iter().any(|line| line.1 == name);
    assert!(lists("model") || lists("capacity"));
    assert!(lists("threads"));
}

#[test]
fn a_suite_without_a_standard_has_no_report() {
    let mut run = run();
    run.manifest.suite.text = "name = \"t\"".to_owned();
    assert_eq!(standard_report(&run, 0), None);
}

/// What changes in a run, and the one condition that it breaks.
#[test]
fn every_deviation_is_named() {
    type Change = fn(&mut Run);
    let changes: [(&str, Change); 14] = [
        ("drive", |run| run.manifest.drives[0].simulated = true),
        ("drive", |run| run.manifest.drives[0].kind = "file".to_owned()),
        ("durations", |run| run.manifest.scale = 0.01),
        ("write_cache", |run| run.manifest.drives[0].probe[0].value = "on".to_owned()),
        ("write_cache", |run| run.manifest.drives[0].probe.clear()),
        ("parameter", |run| {
            run.manifest.parameters.insert("area".to_owned(), "50%".to_owned());
        }),
        ("purge", |run| run.cells[0].state = CellState::Failed("no".to_owned())),
        ("purge", |run| {
            run.warnings.push(Warning {
                code: PURGE_INCOMPLETE.to_owned(),
                message: "the drive was purged by a discard".to_owned(),
                cell: Some("nvme0n1/purge".to_owned()),
                drive: Some(0),
                advice: String::new(),
            });
        }),
        ("preconditioning", |run| run.cells[1].state = CellState::Unfinished),
        ("steady_range", |run| run.steady[0].range_pct = 20.1),
        ("steady_slope", |run| run.steady[0].excursion_pct = 10.1),
        ("steady_state", |run| run.steady[0].achieved = false),
        ("steady_state", |run| run.steady[0].rule = "fio: bw:1%".to_owned()),
        ("cells", |run| run.cells[2].state = CellState::Planned),
    ];
    for (key, change) in changes {
        let mut run = run();
        change(&mut run);
        let report = standard_report(&run, 0).unwrap();
        let broken: Vec<&str> = report.deviations().map(|c| c.key).collect();
        assert_eq!(broken, [key]);
        assert!(!report.complies());
    }
}

#[test]
fn a_deviation_of_the_suite_is_one_of_every_run() {
    let mut run = run();
    let departs = "write_cache = \"off\"\ndeviations = [\"shorter\"]";
    run.manifest.suite.text = SUITE.replace("write_cache = \"off\"", departs);
    let report = standard_report(&run, 0).unwrap();
    let broken: Vec<(&str, &str)> =
        report.deviations().map(|c| (c.key, c.found.as_str())).collect();
    assert_eq!(broken, [("procedure", "shorter")]);
}

#[test]
fn the_conditions_of_a_class_hold_where_the_run_has_its_values() {
    let client = "write_cache = \"off\"\n[[standard.alternatives]]\nclass = \
                  \"client\"\nwrite_cache = \"on\"\nvalues = { area = [\"8GiB\", \"16GiB\"] }";
    let with = |area: &str| {
        let mut run = run();
        run.manifest.suite.text = SUITE.replace("write_cache = \"off\"", client);
        run.manifest.drives[0].probe[0].value = "on".to_owned();
        run.manifest.parameters.insert("area".to_owned(), area.to_owned());
        let report = standard_report(&run, 0).unwrap();
        let broken: Vec<&str> = report.deviations().map(|c| c.key).collect();
        (report.standard.test.clone(), broken)
    };
    assert_eq!(with("8192MiB"), ("a test, client".to_owned(), vec![]));
    // Neither the client's nor the usual value, so that the usual conditions count.
    let (test, broken) = with("4GiB");
    assert_eq!((test.as_str(), broken), ("a test", vec!["write_cache", "parameter"]));
}
