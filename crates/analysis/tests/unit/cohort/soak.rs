//! Soaks of synthetic runs.

use assay_store::model::TelemetryRecord;
use assay_store::read::Gap;
use assay_units::Nanos;

use super::*;
use crate::fixtures;

/// A soak of so many seconds on one drive.
fn run(seconds: u32) -> Run {
    let mut run = fixtures::run(vec![fixtures::drive("sim:samsung-951")]);
    let mut plan = fixtures::plan("soak", fixtures::reads(4096, 1, 32));
    plan.id = "samsung-951/soak".to_owned();
    plan.kind = CellKind::Soak;
    run.cells.push(fixtures::cell(plan, 1000.0, 32e6, seconds, 0.0, 1));
    run
}

fn series(found: &Soaks, key: &str) -> SoakSeries {
    let is = |s: &&SoakSeries| s.about.figure == format!("made/soak.{key}");
    found.series.iter().find(is).cloned().unwrap_or_default()
}

#[test]
fn a_soak_has_its_figures_over_time_and_its_errors() {
    let mut run = run(4801);
    let part = &mut run.cells[0].drives[0];
    part.series[7].errors = 2;
    part.telemetry = (0..3)
        .map(|n| TelemetryRecord {
            at: Nanos::from_secs(60 * n),
            temperature_c: Some(40.0 + n as f64),
            ..TelemetryRecord::default()
        })
        .collect();
    run.manifest.drives[0].warning_c = Some(70);
    let found = of_run(&run, &Origin::default());
    let rate = series(&found, "iops");
    // 11 seconds each.
    assert_eq!(rate.spans.iter().map(Vec::len).collect::<Vec<_>>(), [437]);
    assert!(rate.spans[0].iter().all(|point| point.1 == 1000.0));
    assert!((rate.spans[0][1].0 * 3600.0 - 16.5).abs() < 1e-9);
    assert_eq!((rate.about.value, rate.silent, rate.limit), (1000.0, 0, None));
    assert!((series(&found, "mean_us").about.value - 32e3).abs() < 1.0);
    assert!((series(&found, "p99_us").about.value - 96e3).abs() < 1.0);
    let heat = series(&found, "temperature_c");
    let degrees: Vec<f64> = heat.spans[0].iter().map(|p| p.1).collect();
    assert_eq!((degrees, heat.limit), (vec![40.0, 41.0, 42.0], Some(70.0)));
    let [errors] = &found.errors[..] else { panic!("{:?}", found.errors) };
    assert_eq!((errors.errors, errors.bits), (2, 4801.0 * 1000.0 * 4096.0 * 8.0));
}

#[test]
fn gaps_and_pauses_cut_spans_and_silence_does_not() {
    let mut run = run(120);
    let part = &mut run.cells[0].drives[0];
    part.series[30].ios = 0;
    // A gap of a simulated drive has no length.
    part.gaps.push(Gap {
        start_ns: Nanos::from_secs(50),
        span_ns: Nanos::ZERO,
        from: String::new(),
        to: String::new(),
    });
    part.series.retain(|sample| !(80..90).contains(&sample.index));
    let rate = series(&of_run(&run, &Origin::default()), "iops");
    let lengths: Vec<usize> = rate.spans.iter().map(Vec::len).collect();
    assert_eq!((lengths, rate.silent), (vec![49, 30, 30], 1));
}

#[test]
fn other_cells_have_no_course() {
    let of = |change: fn(&mut assay_store::read::CellRecord)| {
        let mut run = run(60);
        change(&mut run.cells[0]);
        of_run(&run, &Origin::default()).series.len()
    };
    assert_eq!(of(|_| ()), 3);
    // What was measured of a soak in progress counts.
    assert_eq!(of(|cell| cell.state = assay_store::read::CellState::Unfinished), 3);
    assert_eq!(of(|cell| cell.plan.kind = CellKind::Measure), 0);
    assert_eq!(of(|cell| cell.plan.drives = vec![0, 1]), 0);
    assert_eq!(of(|cell| cell.drives[0].series.clear()), 0);
}
