use assay_stats::{LatencySummary, ProcessLoad};
use assay_store::model::warning::code;
use assay_store::model::{
    BuildRecord, CellPlan, CellResult, DriveRecord, HostRecord, Manifest, SuiteRecord, Warning,
    WorkloadRecord,
};
use assay_store::series::OpSample;
use assay_units::Nanos;

use super::super::{Cause, summary};
use super::*;

/// A cell of sequential writes: MiB/s in each second, and the temperature at its end.
fn cell(id: &str, kind: CellKind, rates: &[u64], celsius: f64) -> CellRecord {
    let at = |second: usize| Nanos::from_secs(second as u64);
    let point = |(index, &rate): (usize, &u64)| OpSample {
        index: index as u32,
        ramp: false,
        start: at(index),
        end: at(index + 1),
        op: Op::Write,
        ios: rate * 8,
        bytes: rate << 20,
        errors: 0,
        latency: LatencySummary::default(),
    };
    let reading = |second: usize| TelemetryRecord {
        at: at(second + 1),
        temperature_c: Some(celsius),
        throttled: Some(false),
        nand_bytes_written: Some((second as u64) << 30),
        ..TelemetryRecord::default()
    };
    CellRecord {
        plan: CellPlan {
            id: id.to_owned(),
            kind,
            drives: vec![0],
            workload: WorkloadRecord {
                rw: "write".to_owned(),
                bs_bytes: 131_072,
                iodepth: 4,
                numjobs: 1,
                ..WorkloadRecord::default()
            },
            ..CellPlan::default()
        },
        state: CellState::Finished,
        drives: vec![CellDrive {
            drive: 0,
            result: None,
            series: rates.iter().enumerate().map(point).collect(),
            telemetry: (0..rates.len()).map(reading).collect(),
            distributions: Vec::new(),
            gaps: Vec::new(),
        }],
        host: Vec::new(),
    }
}

fn run(cells: Vec<CellRecord>) -> Run {
    Run {
        path: "run".into(),
        manifest: Manifest {
            schema: 1,
            run_id: "run".to_owned(),
            created: String::new(),
            tool: BuildRecord {
                name: String::new(),
                version: String::new(),
                commit: String::new(),
            },
            command_line: Vec::new(),
            suite: SuiteRecord {
                name: String::new(),
                title: String::new(),
                summary: String::new(),
                source: String::new(),
                text: String::new(),
            },
            parameters: BTreeMap::new(),
            scale: 1.0,
            seed: 1,
            host: HostRecord::default(),
            drives: vec![DriveRecord { capacity_bytes: 100 << 30, ..DriveRecord::default() }],
            cells: Vec::new(),
            imported: None,
        },
        audit: None,
        cells,
        warnings: Vec::new(),
        steady: Vec::new(),
        verdicts: vec![None],
        attempts: Vec::new(),
        outcome: None,
        damaged_lines: Vec::new(),
        segments: Default::default(),
    }
}

fn cached() -> Vec<u64> {
    [vec![1000; 20], vec![200; 40]].concat()
}

#[test]
fn a_cell_is_observed_with_its_run_context() {
    let purge = cell("purge", CellKind::Purge, &[], 40.0);
    let first = cell("first", CellKind::Measure, &[100; 10], 40.0);
    let second = cell("second", CellKind::Measure, &cached(), 40.0);
    let run = run(vec![purge, first, second]);
    let seen = observe(&run, &run.cells[2], 0).unwrap();
    assert_eq!(seen.intervals.len(), 60);
    assert_eq!(seen.context.written_before_bytes, Some(1000 << 20));
    assert_eq!((seen.context.write_share, seen.context.random), (1.0, false));
    assert_eq!(seen.context.capacity_bytes, 100 << 30);
    assert_eq!(seen.intervals[5].temperature_c, Some(40.0));
    let nand: Vec<Option<u64>> = seen.intervals[..3].iter().map(|m| m.nand_bytes).collect();
    assert_eq!(nand, [None, Some(1 << 30), Some(1 << 30)]);
    assert_eq!(observe(&run, &run.cells[0], 0), None, "nothing was measured");
    assert_eq!(observe(&run, &run.cells[2], 1), None, "no such drive");
}

#[test]
fn the_summary_has_the_cache_size_and_the_rates_around_its_end() {
    let run = run(vec![cell("fill", CellKind::Measure, &cached(), 40.0)]);
    let found = of_cell(&run, &run.cells[0], 0);
    assert_eq!(found.len(), 2, "{found:?}");
    let summary = summary(&run, 0);
    let cache = summary.slc_cache_bytes.unwrap();
    assert_eq!(cache >> 20, 20_000);
    assert_eq!(summary.rate_in_cache_mib_per_s, Some(1000.0));
    assert_eq!(summary.rate_after_cache_mib_per_s, Some(200.0));
    assert_eq!((summary.throttle_onset_c, summary.unexplained_cells), (None, 0));
}

#[test]
fn the_measured_busiest_thread_makes_the_host_the_limit_and_a_warning_does_not() {
    let mut run = run(vec![cell("fill", CellKind::Measure, &cached(), 40.0)]);
    run.warnings.push(Warning {
        code: code::HOST_LIMITED.to_owned(),
        cell: Some("fill".to_owned()),
        drive: Some(0),
        message: String::new(),
        advice: String::new(),
    });
    assert_eq!(summary(&run, 0).host_limited_cells, 0, "not measured");
    let mut result = CellResult { busiest_thread_pct: Some(96.7), ..CellResult::default() };
    run.cells[0].drives[0].result = Some(result.clone());
    run.warnings.clear();
    let found = of_cell(&run, &run.cells[0], 0);
    assert_eq!(found[0].cause, Cause::HostLimited);
    assert!(found[0].evidence.contains("used 97 %"), "{found:?}");
    assert_eq!(summary(&run, 0).host_limited_cells, 1);
    result.busiest_thread_pct = Some(94.0);
    run.cells[0].drives[0].result = Some(result);
    assert_eq!(summary(&run, 0).host_limited_cells, 0);
}

#[test]
fn a_run_folder_without_the_busiest_thread_has_the_mean_of_all_threads() {
    let mut run = run(vec![cell("fill", CellKind::Measure, &cached(), 40.0)]);
    run.cells[0].plan.workload.numjobs = 2;
    run.cells[0].drives[0].result = Some(CellResult {
        process: Some(ProcessLoad { cpu_user_pct: 50.0, cpu_system_pct: 30.0 }),
        ..CellResult::default()
    });
    let seen = observe(&run, &run.cells[0], 0).unwrap();
    assert_eq!(seen.intervals[0].busiest_thread_pct, Some(40.0));
    let second = run.cells[0].drives[0].clone();
    run.cells[0].drives.push(second);
    let seen = observe(&run, &run.cells[0], 0).unwrap();
    assert_eq!(seen.intervals[0].busiest_thread_pct, None);
}

#[test]
fn a_drive_at_the_power_cap_of_its_state_is_limited_by_it() {
    let limited = |shown: Option<u8>, asked: Option<u8>, power_mw: u64| {
        let mut capped = cell("capped", CellKind::Measure, &[300; 40], 40.0);
        capped.plan.workload.power_state = asked;
        for reading in &mut capped.drives[0].telemetry {
            reading.power_state = shown;
            reading.power_mw = Some(power_mw);
        }
        let mut run = run(vec![capped]);
        run.manifest.drives[0].power_limits_mw = [(0, 25_000), (2, 10_000)].into();
        summary(&run, 0).power_limited_cells == 1
    };
    assert!(limited(Some(2), Some(2), 9_800));
    assert!(limited(Some(2), None, 9_800), "set by another party");
    assert!(!limited(Some(2), Some(2), 8_000), "below its limit");
    assert!(!limited(Some(0), Some(2), 9_800), "in another state");
    assert!(!limited(Some(1), Some(1), 9_800), "of no known limit");
}
