//! A run folder that looks like a real one, for tests of whatever reads run folders.
//!
//! The figures are made up: nothing was measured, so both drives are marked simulated and their profiles `fixture`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_stats::{HostLoad, JobTotals};
use assay_units::Op;

use crate::model::{
    Audit, CellKind, CellPlan, CellResult, Entry, IntervalRecord, Manifest, Outcome, Reason,
    ReasonWeight, Steady, Verdict, VerdictResult, Warning,
};
use crate::run::{Destination, RunWriter};

mod made;
mod plan;

use made::{Made, telemetry};
pub use plan::manifest;

/// When the fixture's run was made.
pub const CREATED: &str = "2026-03-14T09:26:53Z";
/// The fixture's run id.
pub const RUN_ID: &str = "20260314T092653Z-bandwidth-f1x7";

/// The shape of the made-up drives: how fast, and how slow at worst.
struct Shape {
    label: &'static str,
    model: &'static str,
    serial: &'static str,
    /// Random reads per second at full depth.
    max_iops: f64,
    read_mib_per_s: f64,
    write_mib_per_s: f64,
    idle_temperature_c: f64,
}

const SHAPES: [Shape; 2] = [
    Shape {
        label: "samsung-951",
        model: "Samsung SM951 (simulated)",
        serial: "SIM-951-7",
        max_iops: 305_000.0,
        read_mib_per_s: 2_100.0,
        write_mib_per_s: 1_450.0,
        idle_temperature_c: 41.0,
    },
    Shape {
        label: "intel-600p",
        model: "Intel 600p (simulated)",
        serial: "SIM-600P-7",
        max_iops: 128_000.0,
        read_mib_per_s: 1_020.0,
        write_mib_per_s: 540.0,
        idle_temperature_c: 36.0,
    },
];

/// How much of a run is made.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Completions per interval at most: latencies are made by the million only where a test needs them.
    pub max_ios_per_interval: u64,
    /// Intervals per ordinary cell, ramp included.
    pub intervals: u64,
    /// Intervals of the soak.
    pub soak_intervals: u64,
    /// Is the whole table made, or one cell of each kind?
    pub whole_table: bool,
}

/// As [`fixture`] makes it.
pub const LARGE: Size = Size {
    max_ios_per_interval: 20_000,
    intervals: 5,
    soak_intervals: 60,
    whole_table: true,
};
/// A few kilobytes.
pub const SMALL: Size = Size {
    max_ios_per_interval: 3,
    intervals: 2,
    soak_intervals: 3,
    whole_table: false,
};

/// Make a complete run folder of two simulated drives under `dir`, and return its path.
///
/// # Panics
/// When the folder cannot be written.
pub fn fixture(dir: &Path) -> PathBuf {
    make(dir, LARGE)
}

/// A complete run folder of a given size.
///
/// # Panics
/// When the folder cannot be written.
pub fn make(dir: &Path, size: Size) -> PathBuf {
    let manifest = manifest(size);
    let mut writer = RunWriter::create(&Destination::Under(dir.to_owned()), &manifest)
        .expect("the fixture's folder can be made");
    for entry in entries(&manifest, size) {
        writer.append(&entry).expect("the fixture can be written");
    }
    writer
        .finish(Outcome::Complete, "2026-03-14T09:41:07Z")
        .expect("the fixture can be finished")
}

/// All events of the fixture, without the ones that [`RunWriter`] writes itself.
pub fn entries(manifest: &Manifest, size: Size) -> Vec<Entry> {
    let mut entries = vec![
        Entry::Start {
            at: CREATED.to_owned(),
            resumed: 0,
        },
        Entry::Audit(Audit {
            null_iops_per_thread: 41_700_000.0,
            engine_ns_per_io: 23.98,
            clock_ns: 8.25,
            clock_step_ns: 1,
            clock_drift_ppm: 0.4,
        }),
        Entry::Warning(Warning {
            code: "scaled".to_owned(),
            cell: None,
            drive: None,
            message: "Every duration is 0.1 of the published procedure's.".to_owned(),
            advice: "Run again without --scale before you rely on the figures.".to_owned(),
        }),
    ];
    for (number, cell) in manifest.cells.iter().enumerate() {
        match &cell.skipped {
            None => cell_entries(&mut entries, cell, number as u64, size),
            Some(reason) => entries.push(Entry::CellSkipped {
                cell: cell.id.clone(),
                at: CREATED.to_owned(),
                reason: reason.clone(),
            }),
        }
    }
    entries.push(Entry::Steady(Steady {
        drive: 0,
        step: "random-read".to_owned(),
        group: "sim-a/random-read".to_owned(),
        rule: "range at most 20 %, excursion at most 10 % of the mean of 5 rounds".to_owned(),
        figure: "IOPS".to_owned(),
        achieved: true,
        values: vec![100.0, 98.0, 101.0, 99.0, 102.0],
        window: (1, 5),
        mean: 100.0,
        range_pct: 4.0,
        excursion_pct: 2.0,
        slope_per_round: 0.5,
        band: None,
        why: None,
    }));
    for (drive, shape) in SHAPES.iter().enumerate() {
        entries.push(Entry::Verdict {
            drive,
            verdict: Verdict {
                result: if drive == 0 {
                    VerdictResult::Recommended
                } else {
                    VerdictResult::Conditionally
                },
                reasons: vec![
                    Reason {
                        weight: ReasonWeight::For,
                        text: format!(
                            "Sequential read reaches {} MiB/s (simulated).",
                            shape.read_mib_per_s
                        ),
                    },
                    Reason {
                        weight: if drive == 0 {
                            ReasonWeight::Missing
                        } else {
                            ReasonWeight::Caution
                        },
                        text: "Reading through the file system was not measured.".to_owned(),
                    },
                ],
            },
        });
    }
    entries
}

fn cell_entries(entries: &mut Vec<Entry>, cell: &CellPlan, number: u64, size: Size) {
    let at = |second: u64| format!("2026-03-14T09:{:02}:{second:02}Z", 27 + number % 14);
    entries.push(Entry::CellStart {
        cell: cell.id.clone(),
        at: at(0),
    });
    if cell.step == "discard" {
        entries.push(Entry::CellFailed {
            cell: cell.id.clone(),
            at: at(1),
            message: "The drive refused to discard; update its firmware or leave the step out."
                .to_owned(),
        });
        return;
    }
    let intervals = if cell.kind == CellKind::Soak {
        size.soak_intervals
    } else {
        size.intervals
    };
    let mut results = Vec::new();
    for &drive in &cell.drives {
        let mut totals = JobTotals::new();
        let mut drive_model = Made::new(cell, drive, number, size);
        for second in 0..intervals {
            let interval = drive_model.interval();
            totals.add(&interval);
            entries.push(Entry::Interval(IntervalRecord::new(
                &cell.id, drive, interval,
            )));
            if matches!(cell.kind, CellKind::Soak | CellKind::AllAboard) {
                entries.push(Entry::Telemetry(telemetry(&cell.id, drive, second)));
            }
        }
        results.push(result(cell, drive, &totals));
    }
    if cell.kind == CellKind::AllAboard {
        for index in 0..intervals as u32 {
            entries.push(Entry::Host {
                cell: cell.id.clone(),
                index,
                load: HostLoad {
                    user_pct: 9.5 + f64::from(index),
                    system_pct: 30.25,
                    irq_pct: 2.5,
                    iowait_pct: 11.0,
                    idle_pct: 46.75 - f64::from(index),
                    steal_pct: 0.0,
                    context_switches_per_s: 81_234.5,
                    package_w: None,
                },
            });
        }
    }
    if cell.kind == CellKind::Soak && cell.drives == [1] {
        entries.push(Entry::Warning(Warning {
            code: "throttled".to_owned(),
            cell: Some(cell.id.clone()),
            drive: Some(1),
            message: "The drive was above its warning temperature for 12 s.".to_owned(),
            advice: "Cool it better, or judge it by the figures of the last minutes.".to_owned(),
        }));
    }
    entries.push(Entry::CellFinish {
        cell: cell.id.clone(),
        at: at(59),
        results,
    });
}

fn result(cell: &CellPlan, drive: usize, totals: &JobTotals) -> CellResult {
    let mut values = BTreeMap::new();
    if cell.step == "zero-area" {
        values.insert("ratio_to_incompressible".to_owned(), 1.5);
    }
    CellResult {
        process: None,
        drive,
        elapsed: totals.elapsed(),
        read: totals.summary(Op::Read),
        write: totals.summary(Op::Write),
        host: None,
        verify: None,
        values,
    }
}
