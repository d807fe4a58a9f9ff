use assay_store::model::{
    OfferedLoad, Reason, ReasonWeight, TelemetryRecord, Verdict, VerdictResult,
};
use assay_units::Nanos;

use super::*;
use crate::fixtures;

fn values(found: &Conclusions, kind: &str) -> Vec<(&'static str, &'static str, f64)> {
    let all = found.conclusions.iter().filter(|c| c.kind == kind);
    all.filter_map(|c| Some((c.name, c.unit, c.value?))).collect()
}

/// 22,000 IOPS with a second level of 11,000 for ten of every forty seconds: the figures follow
/// from that.
#[test]
fn a_score_and_its_modes_of_known_truth() {
    let mut plan = fixtures::plan("hour", fixtures::reads(4096, 1, 32));
    plan.view = Some(CellView::Consistency);
    let mut cell = fixtures::cell(plan, 22_000.0, 1e6, 3600, 0.0, 1);
    for (second, point) in cell.drives[0].series.iter_mut().enumerate() {
        point.ios = if second % 40 < 10 { 11_000 } else { 22_000 };
    }
    let mut run = fixtures::run(vec![fixtures::drive("sim:a")]);
    run.cells.push(cell);
    let found = conclude_run(&run);
    let score = values(&found, "score");
    let figure = |name: &str| score.iter().find(|s| s.0 == name).map(|s| s.2);
    assert_eq!(figure("mean"), Some(0.25 * 11e3 + 0.75 * 22e3));
    // Variance of two levels, over n - 1 of 400.
    let stddev = (0.25 * 0.75 * 11e3_f64.powi(2) * 400.0 / 399.0).sqrt();
    assert!((figure("stddev").unwrap() / stddev - 1.0).abs() < 1e-9);
    assert!((figure("mean_over_stddev").unwrap() - 19_250.0 / stddev).abs() < 1e-9);
    assert_eq!((figure("slowest"), figure("fastest")), (Some(11e3), Some(22e3)));
    assert_eq!(
        (figure("modes"), figure("outliers_below"), figure("outliers_above")),
        (Some(2.0), Some(0.0), Some(0.0))
    );
    let modes: Vec<(usize, f64, f64, f64, u64)> = found
        .modes
        .iter()
        .map(|m| (m.number, m.mode.level, m.mode.share_pct, m.mode.dwell, m.mode.visits))
        .collect();
    assert_eq!(modes, [(1, 11e3, 25.0, 10.0, 10), (2, 22e3, 75.0, 30.0, 10)]);
    assert_eq!(found.modes[0].span_s, (3200.0, 3600.0));
    let mean = &found.conclusions[0];
    assert_eq!(
        (mean.name, mean.cell.as_deref(), mean.step.as_deref()),
        ("mean", Some("hour/4096/1x32"), Some("hour"))
    );
    assert_eq!((mean.span_s, mean.text.as_deref()), (Some((3200.0, 3600.0)), None));
}

#[test]
fn knees_power_latency_and_verdicts() {
    let mut run = fixtures::run(vec![fixtures::drive("sim:a")]);
    for (at, rate) in [25e3, 50e3, 96e3, 100e3].into_iter().enumerate() {
        let mut plan = fixtures::plan("peak", fixtures::reads(4096, 1 << at, 1));
        plan.view = Some(CellView::Knee);
        let mut cell = fixtures::cell(plan, rate, 1e5, 4, 0.0, 1);
        cell.drives[0].telemetry = (1..=4)
            .map(|second| TelemetryRecord {
                at: Nanos::from_secs(second),
                power_mw: Some(4_000),
                ..TelemetryRecord::default()
            })
            .collect();
        run.cells.push(cell);
    }
    for (percent, service_ns, latency_ns) in
        [(5.0, 80e3, 80e3), (50.0, 110e3, 130e3), (90.0, 300e3, 900e3)]
    {
        let mut plan = fixtures::plan("load", fixtures::reads(4096, 1, 256));
        plan.id = format!("load/{percent}");
        plan.view = Some(CellView::Load);
        plan.load = Some(OfferedLoad { of: "peak".to_owned(), percent });
        let mut cell = fixtures::cell(plan, percent * 1e3, latency_ns, 4, 0.0, 1);
        let result = cell.drives[0].result.as_mut().unwrap();
        result.values.insert("offered_iops".to_owned(), percent * 1e3);
        let mut submitted = result.read.latency_ns;
        submitted.mean = service_ns;
        result.read.service_ns = Some(submitted);
        run.cells.push(cell);
    }
    run.verdicts = vec![Some(Verdict {
        result: VerdictResult::Conditionally,
        reasons: vec![Reason { weight: ReasonWeight::Caution, text: "warm".to_owned() }],
        limits: None,
    })];
    let found = conclude_run(&run);
    assert_eq!(
        values(&found, "knee"),
        [
            ("depth", "", 4.0),
            ("rate", "IOPS", 96e3),
            ("best_depth", "", 8.0),
            ("best_rate", "IOPS", 100e3),
            ("load", "%", 50.0),
            ("offered", "IOPS", 50e3),
            ("latency_mean", "ns", 130e3),
            ("unloaded_latency_mean", "ns", 80e3),
            ("beyond", "IOPS", 90e3),
        ]
    );
    let power = values(&found, "power");
    assert_eq!(power[..2], [("mean", "W", 4.0), ("efficiency", "IOPS/W", 6250.0)]);
    // Depth 1 has the workload of another step; the step's own lowest load comes first.
    assert_eq!(
        values(&found, "latency")[4..],
        [
            ("mean", "ns", 130e3),
            ("service", "ns", 80e3),
            ("queueing", "ns", 30e3),
            ("lateness", "ns", 20e3),
            ("mean", "ns", 900e3),
            ("service", "ns", 80e3),
            ("queueing", "ns", 220e3),
            ("lateness", "ns", 600e3),
        ]
    );
    let verdict = found.conclusions.iter().filter(|c| c.kind == "verdict");
    let verdict: Vec<_> = verdict.map(|c| (c.name, c.text.as_deref().unwrap())).collect();
    assert_eq!(verdict, [("result", "conditionally"), ("caution", "warm")]);
    // Every cell has a phase, and an entry for its intervals, of which four seconds are too few.
    assert_eq!(found.phases.len(), run.cells.len());
    assert_eq!(found.intervals.len(), run.cells.len());
    assert!(found.intervals.values().all(|i| *i == CellIntervals::default()));
    assert_eq!(found.modes, []);
}

#[test]
fn causes_have_the_names_of_their_json() {
    for cause in [
        Cause::Fresh,
        Cause::SlcCacheExhausted { cache_bytes: 1 },
        Cause::GcOnset,
        Cause::GcSteady { write_amplification: None },
        Cause::ThermalThrottling { onset_c: None, onset_s: 1.0, duty_pct: 1.0, period_s: None },
        Cause::PowerLimited { state: 1 },
        Cause::RateLimited { iops: 1.0 },
        Cause::HostLimited,
        Cause::Steady,
        Cause::Unexplained,
    ] {
        assert_eq!(serde_json::to_value(cause).unwrap()["cause"], cause.name());
    }
}

#[test]
fn a_run_without_results_has_no_conclusions_but_counts() {
    let run = fixtures::run(vec![fixtures::drive("sim:a")]);
    let found = conclude_run(&run);
    assert!(found.phases.is_empty() && found.modes.is_empty() && found.intervals.is_empty());
    assert!(found.conclusions.iter().all(|c| c.kind == "causes" && c.value == Some(0.0)));
}
