//! `assay fleet cohort` on soaks whose truth is known: run folders of synthetic drives, four hours
//! by the minute in segments of an hour.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use assay_stats::{Interval, JobTotals, OpInterval};
use assay_store::model::{
    BuildRecord, CellKind, CellPlan, CellResult, DriveRecord, Entry, HostRecord, IntervalRecord,
    Manifest, RunEnd, SCHEMA, Segment, SuiteRecord, TelemetryRecord, WorkloadRecord,
};
use assay_store::run::{Destination, RunWriter};
use assay_units::{Nanos, Op, Rng};
use serde_json::Value;

use crate::fixture::Fixture;

const DRIVES: usize = 12;
const HOURS: u32 = 4;
/// The drive whose rate falls by 4 % beside that of the others.
const DRIFTING: usize = 4;
/// The drive that is interrupted for 40 minutes after two hours and comes back 10 % faster.
const INTERRUPTED: usize = 7;
/// The drive with failed reads.
const FAILING: usize = 9;
/// The minute at which all drives become 5 % slower.
const STEP: u32 = 100;

fn serial(drive: usize) -> String {
    format!("SOAK{drive:02}")
}

fn manifest(drive: usize) -> Manifest {
    let segment = |number: u32| CellPlan {
        id: format!("drive/soak/segment={number}"),
        step: "soak".to_owned(),
        title: "Soak".to_owned(),
        kind: CellKind::Soak,
        drives: vec![0],
        workload: WorkloadRecord {
            rw: "randread".to_owned(),
            bs_bytes: 4096,
            iodepth: 8,
            numjobs: 1,
            runtime_ns: 3_600_000_000_000,
            ..WorkloadRecord::default()
        },
        segment: Some(Segment {
            of: "drive/soak".to_owned(),
            number,
            count: HOURS,
            written_bytes: None,
        }),
        ..CellPlan::default()
    };
    Manifest {
        schema: SCHEMA,
        run_id: format!("run-{drive}"),
        created: "2026-03-14T09:00:00Z".to_owned(),
        tool: BuildRecord {
            name: "assay".to_owned(),
            version: "0.1.0".to_owned(),
            commit: "fixture".to_owned(),
        },
        command_line: Vec::new(),
        suite: SuiteRecord {
            name: "endurance".to_owned(),
            title: "Soak".to_owned(),
            summary: String::new(),
            source: String::new(),
            text: String::new(),
        },
        parameters: BTreeMap::new(),
        scale: 1.0,
        seed: 1,
        host: HostRecord::default(),
        drives: vec![DriveRecord {
            label: "drive".to_owned(),
            kind: "block".to_owned(),
            model: "FIXTURE".to_owned(),
            serial: serial(drive),
            firmware: "1".to_owned(),
            warning_c: Some(70),
            ..DriveRecord::default()
        }],
        cells: (1..=HOURS).map(segment).collect(),
        imported: None,
    }
}

/// The logarithm of the rate of a minute, less noise.
fn truth(drive: usize, minute: u32) -> f64 {
    let share = f64::from(minute) / f64::from(60 * HOURS);
    let step = if minute >= STEP { -0.05 } else { 0.0 };
    let own = if drive == DRIFTING { -0.04 * share } else { 0.0 };
    let level = if drive == INTERRUPTED && minute >= 120 { 0.1 } else { 0.0 };
    step + own + level
}

fn run_folder(at: &Path, drive: usize) {
    let manifest = manifest(drive);
    let path = at.join(format!("run-{drive}"));
    let mut writer = RunWriter::create(&Destination::At(path.clone()), &manifest).unwrap();
    let mut rng = Rng::stream(20, &serial(drive));
    let level = 0.02 * rng.normal();
    let mut noise = rng.normal();
    let start = |resumed, at: &str| Entry::Start { at: at.to_owned(), resumed };
    writer.append(&start(0, "2026-03-14T09:00:00Z")).unwrap();
    for (hour, cell) in (0..HOURS).zip(&manifest.cells) {
        let is_late = drive == INTERRUPTED && hour >= 2;
        let date = |hour: u32| match is_late {
            true => format!("2026-03-14T{:02}:40:00Z", 9 + hour),
            false => format!("2026-03-14T{:02}:00:00Z", 9 + hour),
        };
        if is_late && hour == 2 {
            writer.finish(RunEnd::Interrupted, "2026-03-14T11:00:00Z").unwrap();
            writer = RunWriter::resume(&path).unwrap().0;
            writer.append(&start(1, &date(hour))).unwrap();
        }
        let mut entries = vec![Entry::CellStart { cell: cell.id.clone(), at: date(hour) }];
        let mut totals = JobTotals::default();
        for index in 0..60 {
            let minute = 60 * hour + index;
            noise = 0.7 * noise + 0.51_f64.sqrt() * rng.normal();
            let rate = (level + truth(drive, minute) + 0.01 * noise).exp();
            let ios = (2_000.0 * rate) as u64;
            let mut reads = OpInterval {
                ios,
                bytes: 4096 * ios,
                errors: u64::from(drive == FAILING && minute % 60 == 7),
                ..OpInterval::default()
            };
            for n in 0..ios {
                let tail = if n % 50 == 0 { 3.0 } else { 1.0 };
                reads.latency.record(Nanos((800_000.0 / rate * tail) as u64));
            }
            let start = Nanos::from_secs(60 * u64::from(index));
            let interval = Interval {
                index,
                ramp: false,
                start,
                end: Nanos(start.0 + 60_000_000_000),
                ops: vec![(Op::Read, reads)],
                submitted: Vec::new(),
            };
            totals.add(&interval);
            entries.push(Entry::Interval(IntervalRecord::new(&cell.id, 0, interval)));
            entries.push(Entry::Telemetry(TelemetryRecord {
                cell: cell.id.clone(),
                at: start,
                temperature_c: Some((50.0 + 0.02 * f64::from(minute) + rng.normal()).round()),
                ..TelemetryRecord::default()
            }));
        }
        entries.push(Entry::CellFinish {
            cell: cell.id.clone(),
            at: date(hour + 1),
            results: vec![CellResult {
                elapsed: totals.elapsed(),
                read: totals.summary(Op::Read),
                ..CellResult::default()
            }],
        });
        writer.append_all(&entries).unwrap();
    }
    writer.finish(RunEnd::Complete, "2026-03-14T14:00:00Z").unwrap();
}

fn drift<'c>(cohort: &'c Value, figure: &str) -> &'c Value {
    let mut soaks = cohort["soaks"].as_array().unwrap().iter();
    soaks.find(|d| d["figure"] == figure).unwrap()
}

fn drifting(cohort: &Value, figure: &str) -> Vec<String> {
    let values = drift(cohort, figure)["values"].as_array().unwrap().iter();
    let found = values.filter(|v| v["verdict"] == "drifts");
    let serial = |v: &Value| {
        cohort["drives"][v["drive"].as_u64().unwrap() as usize]["serial"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    found.map(serial).collect()
}

#[test]
fn one_drive_drifts_beside_a_step_of_all_and_a_gap_of_another() {
    let fixture = Fixture::new();
    let runs = fixture.path("runs");
    fs::create_dir_all(&runs).unwrap();
    (0..DRIVES).for_each(|drive| run_folder(&runs, drive));
    let words = [
        "fleet",
        "cohort",
        "runs",
        "-o",
        "cohort.html",
        "--limit",
        "soak.mean_us=1000",
        "--limit",
        "soak.errors_per_bit=1e-14",
    ];
    let document = fixture.json(&words);
    let text = fixture.text(0, &words);
    let page = fs::read_to_string(fixture.path("cohort.html")).unwrap();
    if let Ok(folder) = std::env::var("COHORT_PAGES") {
        fs::write(format!("{folder}/soaks.html"), &page).unwrap();
        fs::write(format!("{folder}/soaks.txt"), &text).unwrap();
    }
    let cohort = &document["cohort"];
    for figure in ["endurance/soak.iops", "endurance/soak.mean_us", "endurance/soak.p99_us"] {
        assert_eq!(drifting(cohort, figure), [serial(DRIFTING)], "{figure}");
        let found = drift(cohort, figure);
        let common = &found["common"][0];
        assert_eq!(common["drifts"], true, "{common}");
        // A step, at its time and of its height.
        let step = [0, 1].map(|at| common["step"][at].as_f64().unwrap());
        let height = if figure.ends_with("iops") { -0.05 } else { 0.05 };
        assert!((step[0] - f64::from(STEP) / 60.0).abs() < 0.2, "{step:?}");
        assert!((step[1] - height).abs() < 0.01, "{step:?}");
        // The change across the gap is that of the others.
        let gap = &found["values"][INTERRUPTED];
        assert_eq!((gap["spans"].as_u64(), gap["hours"].as_f64().unwrap().round()), (Some(2), 4.0));
        // Bridged, its 10 % would be a change of 15 %.
        let [low, high] = [0, 1].map(|at| gap["relative"]["interval"][at].as_f64().unwrap());
        assert!(-0.1 < low && low < 0.0 && 0.0 < high && high < 0.1, "{gap}");
    }
    let own = &drift(cohort, "endurance/soak.iops")["values"][DRIFTING];
    let change = own["relative"]["change"].as_f64().unwrap();
    assert!((change + 0.04).abs() < 0.015, "{own}");
    assert_eq!(own["worse"], true);
    // From some 900 us, by the drift and the step together.
    let slower = &drift(cohort, "endurance/soak.mean_us")["values"][DRIFTING]["to_limit"];
    assert_eq!(slower[0], 1000.0);
    assert!((1.0..12.0).contains(&slower[1].as_f64().unwrap()), "{slower}");
    // All become warmer by 4.8 degrees together; none of them alone.
    let heat = drift(cohort, "endurance/soak.temperature_c");
    assert_eq!(drifting(cohort, "endurance/soak.temperature_c"), [""; 0]);
    assert_eq!(
        (&heat["common"][0]["drifts"], &heat["common"][0]["step"]),
        (&Value::Bool(true), &Value::Null)
    );
    assert!((heat["common"][0]["change"]["change"].as_f64().unwrap() - 4.8).abs() < 1.0);
    // Its own warning temperature, 70 degrees: 15 more, at 1.2 per hour.
    let warm = heat["values"][0]["to_limit"][1].as_f64().unwrap();
    assert!((6.0..25.0).contains(&warm), "{warm}");
    let errors = cohort["error_rates"].as_array().unwrap();
    let beyond = |e: &&Value| e["result"] == "exceeded";
    let beyond: Vec<&Value> = errors.iter().filter(beyond).collect();
    assert_eq!(beyond.len(), 1);
    assert_eq!(
        (&beyond[0]["drive"], &beyond[0]["errors"]),
        (&Value::from(FAILING), &Value::from(4))
    );

    let lines: Vec<&str> = text.lines().filter(|l| l.contains(&serial(DRIFTING))).collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(page.contains("id=\"drift\"") && page.contains("Drives that drift"));
    assert!(page.contains(&format!("<title>{}: ", serial(DRIFTING))));
    fixture.error(2, &["fleet", "cohort", "runs", "--limit", "soak.iops=-1"]);
}
