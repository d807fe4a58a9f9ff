//! Observations of synthetic runs.

use assay_stats::compare::Better;
use assay_store::model::{CellKind, Round};

use super::*;
use crate::fixtures;

const ROUND: Round = Round { number: 1, most: 25, window: 5, tracked: true };

fn run() -> Run {
    let mut drive = fixtures::drive("sim:samsung-951,lot=7,seed=3");
    drive.model = "SAMSUNG MZVPV128HDGM".to_owned();
    let mut run = fixtures::run(vec![drive]);
    let mut plan = fixtures::plan("random-read", fixtures::reads(4096, 1, 32));
    plan.id = "samsung-951/random-read/bs=4k".to_owned();
    run.cells.push(fixtures::cell(plan, 1000.0, 32e6, 10, 0.0, 1));
    run
}

#[test]
fn a_cell_has_four_figures_with_names_without_the_drive() {
    let origin = Origin { plan: "qual-1".to_owned(), host: "n1".to_owned(), ..Origin::default() };
    let found = of_run(&run(), &origin);
    let names: Vec<&str> = found.iter().map(|o| o.figure.as_str()).collect();
    let suffixes = ["iops", "mib_per_s", "p50_us", "p99_us"];
    let expected = suffixes.map(|s| format!("made/random-read/bs=4k.{s}"));
    assert_eq!(names, expected);
    assert_eq!(found[0].value, 1000.0);
    assert_eq!(found[1].value, 1000.0 * 4096.0 / 1048576.0);
    assert_eq!(found[3].better, Some(Better::Less));
    assert_eq!(found[0].serial, "sim:samsung-951,lot=7");
    assert_eq!((found[0].plan.as_str(), found[0].host.as_str()), ("qual-1", "n1"));
    assert!(found[0].simulated);
}

#[test]
fn cells_whose_figures_are_not_of_one_finished_drive_are_left_out() {
    let of = |change: fn(&mut assay_store::read::CellRecord)| {
        let mut run = run();
        change(&mut run.cells[0]);
        of_run(&run, &Origin::default()).len()
    };
    assert_eq!(of(|_| ()), 4);
    assert_eq!(of(|cell| cell.state = CellState::Unfinished), 0);
    assert_eq!(of(|cell| cell.plan.kind = CellKind::Prepare), 0);
    assert_eq!(of(|cell| cell.plan.drives = vec![0, 1]), 0);
    assert_eq!(of(|cell| cell.plan.round = Some(ROUND)), 0);
    assert_eq!(of(|cell| cell.drives[0].drive = 7), 0);
    // Too few latencies for a 99th percentile.
    let few = |cell: &mut assay_store::read::CellRecord| {
        let result = cell.drives[0].result.as_mut().expect("a result");
        result.read.latency_ns.samples = 99;
    };
    assert_eq!(of(few), 3);
}

#[test]
fn a_plan_names_a_figure_with_or_without_its_suite() {
    let figure = "quick/random-read-latency/bs=4k.p99_us";
    assert!(is_named(figure, figure));
    assert!(is_named(figure, "random-read-latency/bs=4k.p99_us"));
    assert!(!is_named(figure, "random-read-latency.p99_us"));
    assert!(is_named("consistency.score", "consistency.score"));
    assert!(!is_named("consistency.score", "score"));
}
