use std::collections::BTreeSet;

use assay_stats::LatencySummary;
use assay_store::model::{CellKind, CellResult};
use assay_store::read::Run;
use assay_units::MIB;

use super::headline::HeadlineMetric;
use super::*;
use crate::cohort::observe::CELL_FIGURES;
use crate::fixtures;

/// A figure as suites and policies name it.
#[derive(Deserialize)]
struct Named {
    figure: Figure,
}

fn named(key: &str) -> Result<Figure, toml::de::Error> {
    toml::from_str::<Named>(&format!("figure = {key:?}")).map(|named| named.figure)
}

#[test]
fn keys_are_unique_and_old_ones_stay_readable() {
    let keys = FIGURES.iter().flat_map(|f| [&[f.key], f.old_keys].concat());
    let keys: Vec<&str> = keys.collect();
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
    for figure in FIGURES {
        for key in [&[figure.key], figure.old_keys].concat() {
            assert_eq!(named(key).as_ref(), Ok(figure));
        }
        let text = serde_json::to_string(figure).unwrap();
        assert_eq!(text, format!("{:?}", figure.key));
    }
    assert_eq!(named("enduring_pct"), Ok(HELD_PCT));
    assert_eq!(named("steadiness_pct"), Ok(SLOWEST_PCT));
    let error = named("speed").unwrap_err().to_string();
    assert!(error.contains("unknown variant `speed`"), "{error}");
}

#[test]
fn every_figure_is_complete() {
    for figure in FIGURES {
        assert!(!figure.title.is_empty(), "{figure:?}");
        assert!(!figure.meaning.is_empty(), "{figure:?}");
        assert!(figure.unit.ascii().is_ascii(), "{figure:?}");
        // Facts of a policy are not measured, and no headline.
        let headline = HeadlineMetric::of_step("step", "title", *figure).check();
        assert_eq!(headline.is_ok(), figure.compute.is_some(), "{figure:?}");
    }
    // A cohort has a figure of each cell by its result alone, and a direction for it.
    for figure in CELL_FIGURES {
        assert!(figure.of_result.is_some() && figure.better.is_some());
    }
}

#[test]
fn the_table_of_figures_in_the_docs_is_the_registry() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/suites.md");
    let page = std::fs::read_to_string(page).unwrap();
    let heading = "\n| figure | unit | better | needs | meaning |\n|---|---|---|---|---|\n";
    let (_, table) = page.split_once(heading).expect("docs/suites.md has the table");
    let (table, _) = table.split_once("\n\n").unwrap();
    let rows: Vec<String> = table_rows().collect();
    assert_eq!(table, rows.join("\n"), "the table must be:\n{}", rows.join("\n"));
}

/// A run of one cell with intervals of a second at these rates, MiB/s.
fn run_at(rates: &[u64]) -> Run {
    let mut run = fixtures::run(vec![fixtures::drive("sim:made")]);
    let plan = fixtures::plan("step", fixtures::reads(MIB, 1, 1));
    let mut cell = fixtures::cell(plan, 1.0, 1e6, rates.len() as u32, 0.0, 1);
    for (sample, rate) in cell.drives[0].series.iter_mut().zip(rates) {
        (sample.ios, sample.bytes) = (*rate, rate * MIB);
    }
    run.cells = vec![cell];
    run
}

fn value(run: &Run, figure: Figure) -> Option<f64> {
    let metric = HeadlineMetric::of_step("step", "title", figure);
    metric.of_drive(run, 0).map(|found| found.value)
}

/// One rule of validity for scoreboards and verdicts: with one interval the slowest one says
/// nothing.
#[test]
fn too_few_samples_are_not_measured() {
    assert_eq!(value(&run_at(&[100]), SLOWEST_PCT), None);
    assert_eq!(value(&run_at(&[100, 50]), SLOWEST_PCT), None);
    let found = value(&run_at(&[100, 50, 150]), SLOWEST_PCT);
    assert_eq!(found, Some(50.0));
    assert_eq!(value(&run_at(&[100, 50, 150, 80]), HELD_PCT), None);
    let found = value(&run_at(&[100, 50, 150, 80, 25]), HELD_PCT);
    assert_eq!(found, Some(25.0));
    let result = |samples| CellResult {
        read: assay_stats::OpSummary {
            ios: samples,
            latency_ns: LatencySummary { samples, p99: 5_000, ..LatencySummary::default() },
            ..Default::default()
        },
        ..CellResult::default()
    };
    assert_eq!(P99_US.of_result(&result(99)), None);
    assert_eq!(P99_US.of_result(&result(100)), Some(5.0));
}

/// What prepares a drive is measured by no headline.
#[test]
fn preparations_have_no_figures() {
    let mut run = run_at(&[100, 50, 150]);
    run.cells[0].plan.kind = CellKind::Prepare;
    assert_eq!(value(&run, SLOWEST_PCT), None);
}
