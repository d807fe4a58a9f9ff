use assay_ssd::{Command, Drive, DriveOptions, Profile, Telemetry};
use assay_store::model::{CellResult, WorkloadRecord};
use assay_store::read::{CellDrive, CellRecord, CellState};
use assay_units::endurance::{CounterOrigin, CounterSource, EnduranceCounters};
use assay_units::{DataClass, Nanos, Op};

use super::*;
use crate::fixtures::{drive, plan, run};

/// 2026-01-01.
const START_S: i64 = 1_767_225_600;

fn record(used: u8, host_bytes: u64, media_bytes: u64) -> TelemetryRecord {
    TelemetryRecord {
        percentage_used: Some(used),
        available_spare_pct: Some(100),
        host_bytes_written: Some(host_bytes),
        nand_bytes_written: Some(media_bytes),
        media_errors: Some(0),
        ..TelemetryRecord::default()
    }
}

/// A run of the drive on a day, with these readings.
fn on_day(day: f64, readings: Vec<TelemetryRecord>) -> Run {
    let mut record = drive("/dev/nvme0n1");
    record.simulated = false;
    record.model = "M".to_owned();
    record.serial = "S".to_owned();
    // Counters of single bytes.
    let origin = CounterOrigin { source: CounterSource::OcpSmart, unit_bytes: 1 };
    record.endurance = Some(EnduranceCounters { media: Some(origin), host: origin, rated: None });
    let mut made = run(vec![record]);
    let at = jiff::Timestamp::from_second(START_S + (day * DAY_S) as i64).unwrap();
    made.manifest.created = at.to_string();
    made.cells = vec![CellRecord {
        plan: plan("write", WorkloadRecord::default()),
        state: CellState::Finished,
        drives: vec![CellDrive {
            drive: 0,
            result: Some(CellResult::default()),
            series: Vec::new(),
            telemetry: readings,
            distributions: Vec::new(),
            gaps: Vec::new(),
        }],
        host: Vec::new(),
    }];
    made
}

/// Wear of 0.1 % a day from 7.05 % on: 100 % after 929.5 days.
fn worn(days: impl IntoIterator<Item = u32>) -> Vec<Run> {
    let run = |day: u32| {
        let used = 7.05 + 0.1 * f64::from(day);
        let host = 1_000_000_000_000 + u64::from(day) * 5_000_000_000;
        on_day(day.into(), vec![record(used as u8, host, host * 2)])
    };
    days.into_iter().map(run).collect()
}

#[test]
fn a_projection_contains_the_true_date_within_its_bounds() {
    // In any order.
    let runs = worn([90, 0, 30, 120, 60]);
    let [trend] = <[HealthTrend; 1]>::try_from(health_trends(&runs)).unwrap();
    let order: Vec<usize> = trend.points.iter().map(|p| p.run).collect();
    assert_eq!(order, [1, 2, 4, 0, 3]);
    assert!(trend.warnings.is_empty() && trend.since == 0);
    let found = trend.projection.unwrap();
    assert!((found.pct_per_day - 0.1).abs() < 1.0 / 120.0, "{found:?}");
    let truth = START_S as f64 + (100.0 - 7.05) / 0.1 * DAY_S;
    let (earliest, latest) = (found.earliest_s.unwrap(), found.latest_s.unwrap());
    assert!(earliest < truth && truth < latest, "{found:?}");
    let at = found.at_s.unwrap();
    assert!(earliest < at && at < latest);
    assert_eq!(day(truth).as_deref(), Some("2028-07-18"));
}

#[test]
fn too_few_runs_or_too_little_wear_give_no_date_but_the_reason() {
    let why = |runs: &[Run]| health_trends(runs)[0].projection.clone().unwrap_err();
    assert!(why(&worn([0, 60, 120])).contains("3 runs"));
    let little = why(&worn([0, 10, 20, 30]));
    assert!(little.contains("grew by 3 %"), "{little}");
    assert!(health_trends(&worn([0])).is_empty(), "one run is no trend");
    // Without Percentage Used.
    let mut runs = worn([0, 60, 90, 120]);
    for reading in runs.iter_mut().flat_map(|run| &mut run.cells[0].drives[0].telemetry) {
        reading.percentage_used = None;
    }
    assert!(health_trends(&runs).is_empty());
    // Slow wear is no date.
    let slow = |day: u32| on_day(f64::from(day) * 1000.0, vec![record(day as u8, 0, 0)]);
    let runs: Vec<Run> = [0, 2, 4, 6].into_iter().map(slow).collect();
    let found = health_trends(&runs)[0].projection.clone().unwrap();
    assert_eq!((found.at_s, found.latest_s), (None, None), "{found:?}");
}

#[test]
fn a_counter_that_decreases_is_a_warning_and_growth_is_counted_anew() {
    let mut runs = worn([0, 30, 60, 90, 120, 150]);
    // From the third run on another drive with the serial, less worn.
    for (n, run) in runs.iter_mut().enumerate().skip(2) {
        let bytes = 1_000_000_000 * (n as u64 + 1);
        run.cells[0].drives[0].telemetry = vec![record(n as u8, bytes, 3 * bytes)];
    }
    let trend = health_trends(&runs).remove(0);
    assert_eq!((trend.since, trend.warnings.len()), (2, 1));
    let message = &trend.warnings[0].message;
    for part in [
        "M S",
        "bytes written by the host from 1150000000000 to 3000000000",
        "Percentage Used from 10 to 2",
    ] {
        assert!(message.contains(part), "{message}");
    }
    let since: Vec<Option<f64>> = trend.points.iter().map(|p| p.amplification_since).collect();
    assert_eq!(since[..4], [None, Some(2.0), None, Some(3.0)]);
    // Four runs since the reset, which grew by too little.
    assert!(trend.projection.unwrap_err().contains("grew by 3 %"));
}

/// The health log of a drive that has received 600,000 bytes says 2 units, 1,024,000 bytes.
#[test]
fn a_young_drive_has_no_write_amplification_below_one() {
    let of = |host_bytes: u64, media_bytes: u64| {
        let mut runs = [0.0, 1.0].map(|day| on_day(day, vec![record(0, host_bytes, media_bytes)]));
        for run in &mut runs {
            let counters = run.manifest.drives[0].endurance.as_mut().unwrap();
            counters.host.unit_bytes = 512_000;
        }
        health_trends(&runs)[0].points[1].amplification_of_life()
    };
    assert_eq!(of(1_024_000, 620_000), None);
    let known = of(1_024_000_000, 1_100_000_000).unwrap();
    assert!((1.07..1.08).contains(&known), "{known}");
}

#[test]
fn simulated_drives_and_drives_without_serial_have_no_trend() {
    let mut runs = worn([0, 60]);
    for run in &mut runs {
        run.manifest.drives[0].simulated = true;
    }
    assert!(health_trends(&runs).is_empty());
    for run in &mut runs {
        run.manifest.drives[0].simulated = false;
        run.manifest.drives[0].serial.clear();
    }
    assert!(health_trends(&runs).is_empty());
}

/// A model drive is written between its runs; the trend finds the write amplification of each month
/// from the counters in the runs.
#[test]
fn the_months_of_a_model_drive_have_their_write_amplification() {
    // An indirection unit of 16 KiB: a write of 4 KiB programs four.
    let profile = Profile::builtin("solidigm-d5-p5336").unwrap();
    let mut model = Drive::new(profile, DriveOptions::default()).unwrap();
    let mut now = Nanos::ZERO;
    let health = |model: &mut Drive, now| -> (TelemetryRecord, Telemetry) {
        let telemetry = model.telemetry(now);
        let (host, media) = (telemetry.host_bytes_written, telemetry.nand_bytes_written);
        (record(telemetry.used_percent as u8, host, media), telemetry)
    };
    let mut done = Vec::new();
    let mut write = |model: &mut Drive, now: &mut Nanos, len_bytes: u32| {
        for n in 0..2_000 {
            let command = Command {
                tag: 0,
                queue: 0,
                op: Op::Write,
                // Whole units one after another, or a part of every other unit.
                offset_bytes: n * u64::from(len_bytes).max(32_768),
                len_bytes,
                data: DataClass::Incompressible,
                fua: false,
            };
            model.submit(*now, command);
            while done.is_empty() {
                *now = model.next_event().unwrap();
                model.advance(*now, &mut done);
            }
            done.clear();
        }
    };
    let (mut runs, mut truth) = (Vec::new(), Vec::new());
    let (reading, mut before) = health(&mut model, now);
    runs.push(on_day(0.0, vec![reading]));
    for (month, len_bytes) in [131_072, 4096, 4096, 131_072].into_iter().enumerate() {
        write(&mut model, &mut now, len_bytes);
        let (reading, after) = health(&mut model, now);
        runs.push(on_day(30.0 * (month as f64 + 1.0), vec![reading]));
        let media = after.nand_bytes_written - before.nand_bytes_written;
        let host = after.host_bytes_written - before.host_bytes_written;
        truth.push(media as f64 / host as f64);
        before = after;
    }
    let trend = health_trends(&runs).remove(0);
    let found: Vec<f64> =
        trend.points[1..].iter().map(|point| point.amplification_since.unwrap()).collect();
    assert_eq!(found, truth);
    assert!(found[0] < 1.1 && found[2] > 3.5 && found[3] < 1.1, "{found:?}");
    let life = trend.points[4].amplification_of_life().unwrap();
    assert!(life > found[3] && life < found[2], "{life} {found:?}");
}
