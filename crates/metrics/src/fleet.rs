//! OpenMetrics of a plan (`status --openmetrics`), and of the drives of a task on its host
//! (`run.metrics`), for watching, not for results. A task replaces its file every [`PERIOD`], and
//! measuring does not wait for it; the last figures stay in the file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use assay_fleet::status::{DriveStatus, DriveTaskState, PlanStatus};
use assay_fleet::task::view::{DriveView, JournalFollower, RunFigures, TaskState, TaskView};
use assay_fleet::{HostName, PlanId, Serial};
use assay_store::replace::check_replaceable;

use crate::encode::{Encoder, FamilyKind};
use crate::{Exporter, MetricsError};

/// Only a file that begins so may be replaced.
pub const HEAD: &str = "# HELP assay_fleet";
/// Prometheus asks every 15 to 60 s as a rule.
const PERIOD: Duration = Duration::from_secs(5);

const DRIVE_LABELS: &str = "plan, serial, host";

pub fn of_plan(status: &PlanStatus) -> String {
    let mut text = Encoder::default();
    let plan = status.plan.as_str();
    text.family(
        "assay_fleet_drives",
        FamilyKind::Gauge,
        "",
        "plan, state",
        "Drives of a plan by state.",
    );
    for state in DriveTaskState::ALL {
        let name = state.text().replace(' ', "_");
        let labels = [("plan", plan), ("state", &name)];
        text.sample("", &labels, status.count(state) as f64);
    }
    let mut family = |name, unit, help, value: fn(&DriveStatus) -> f64| {
        text.family(name, FamilyKind::Gauge, unit, DRIVE_LABELS, help);
        for drive in &status.drives {
            let host = drive.host.as_ref().map_or("", HostName::as_str);
            let labels = [("plan", plan), ("serial", drive.serial.as_str()), ("host", host)];
            text.sample("", &labels, value(drive));
        }
    };
    family(
        "assay_fleet_drive_progress_ratio",
        "ratio",
        "Share of the plan's cells that are complete.",
        |drive| drive.progress,
    );
    family("assay_fleet_drive_attempts", "", "Attempts so far.", |drive| drive.attempts as f64);
    text.finish()
}

/// Constant during a task.
pub struct TaskIdentity {
    pub plan: PlanId,
    pub host: HostName,
    pub models: BTreeMap<Serial, String>,
}

type Watched<'a> = (&'a Serial, &'a DriveView, &'a RunFigures);

/// `value` is `None` where it is not known.
struct DriveFamily {
    name: &'static str,
    unit: &'static str,
    help: &'static str,
    value: fn(&DriveView, &RunFigures) -> Option<f64>,
}

const DRIVE_FAMILIES: &[DriveFamily] = &[
    DriveFamily {
        name: "assay_fleet_task_attempt",
        unit: "",
        help: "Attempt of the drive's claim.",
        value: |view, _| (view.attempt > 0).then_some(view.attempt as f64),
    },
    DriveFamily {
        name: "assay_fleet_task_progress_ratio",
        unit: "ratio",
        help: "Share of the cells of all suites that are over, by the task's own run folders.",
        value: |view, run| {
            let of_suite = match run.cells {
                0 => 0.0,
                cells => (run.cells_done as f64 / cells as f64).min(1.0),
            };
            let of_suite = match view.suites_done < view.suites {
                true => of_suite,
                false => 0.0,
            };
            (view.suites > 0).then(|| (view.suites_done as f64 + of_suite) / view.suites as f64)
        },
    },
    DriveFamily {
        name: "assay_fleet_task_ios_per_second",
        unit: "",
        help: "IOPS of the last interval, in the drive's time; absent between cells.",
        value: |_, run| run.iops,
    },
    DriveFamily {
        name: "assay_fleet_task_bytes_per_second",
        unit: "",
        help: "Bytes moved per second of the last interval, in the drive's time; absent between \
               cells.",
        value: |_, run| run.bytes_per_s,
    },
    DriveFamily {
        name: "assay_fleet_task_temperature_celsius",
        unit: "celsius",
        help: "Composite temperature of the drive, last reported.",
        value: |_, run| run.temperature_c,
    },
    DriveFamily {
        name: "assay_fleet_task_errors",
        unit: "",
        help: "Failed I/Os in the run folder of the suite under way.",
        value: |view, run| view.folder.as_ref().map(|_| run.errors as f64),
    },
    DriveFamily {
        name: "assay_fleet_task_shipment_timestamp_seconds",
        unit: "seconds",
        help: "When the run folder was shipped last, in seconds since 1970: its age is time() \
               minus this.",
        value: |view, _| view.shipped_at_s.map(|at| at as f64),
    },
    DriveFamily {
        name: "assay_fleet_task_unshipped_bytes",
        unit: "bytes",
        help: "Length of the journals that is on this host only.",
        value: |view, _| Some(view.waiting_bytes as f64),
    },
];

fn of_task(identity: &TaskIdentity, drives: &[Watched<'_>]) -> String {
    let (plan, host) = (identity.plan.as_str(), identity.host.as_str());
    let mut text = Encoder::default();
    text.family(
        "assay_fleet_task_drive_info",
        FamilyKind::Gauge,
        "",
        "plan, serial, host, model, cell",
        "A drive of a task with the cell that began last, always 1.",
    );
    for (serial, _, run) in drives {
        let model = identity.models.get(*serial).map_or("", String::as_str);
        let labels = [
            ("plan", plan),
            ("serial", serial.as_str()),
            ("host", host),
            ("model", model),
            ("cell", run.cell.as_deref().unwrap_or("")),
        ];
        text.sample("", &labels, 1.0);
    }
    text.family(
        "assay_fleet_task_drive_state",
        FamilyKind::Gauge,
        "",
        "plan, serial, host, state",
        "1 for what the task does with the drive, 0 for the other states.",
    );
    for (serial, view, _) in drives {
        for state in TaskState::ALL {
            let labels = [
                ("plan", plan),
                ("serial", serial.as_str()),
                ("host", host),
                ("state", state.name()),
            ];
            text.sample("", &labels, f64::from(u8::from(view.state == state)));
        }
    }
    for family in DRIVE_FAMILIES {
        text.family(family.name, FamilyKind::Gauge, family.unit, DRIVE_LABELS, family.help);
        for (serial, view, run) in drives {
            if let Some(value) = (family.value)(view, run) {
                let labels = [("plan", plan), ("serial", serial.as_str()), ("host", host)];
                text.sample("", &labels, value);
            }
        }
    }
    text.finish()
}

/// Begins to write into a folder; `serial` where the task is for one drive, beside others of the
/// host.
pub fn start(
    folder: &Path,
    serial: Option<&Serial>,
    identity: TaskIdentity,
    view: Arc<TaskView>,
) -> Result<Exporter, MetricsError> {
    if !folder.is_dir() {
        return Err(MetricsError::NoTaskFolder(folder.to_owned()));
    }
    let path = match serial {
        None => folder.join("assay-fleet.prom"),
        Some(serial) => folder.join(format!("assay-fleet-{}.prom", serial.key())),
    };
    check_replaceable(&path, HEAD)?;
    let mut writer = Writer { identity, view, runs: BTreeMap::new() };
    Exporter::of_file(path, PERIOD, move || writer.text())
}

struct Writer {
    identity: TaskIdentity,
    view: Arc<TaskView>,
    runs: BTreeMap<Serial, JournalFollower>,
}

impl Writer {
    fn text(&mut self) -> String {
        let drives = self.view.snapshot();
        for (serial, view) in &drives {
            let Some(folder) = &view.folder else {
                continue;
            };
            let known = self.runs.get(serial).and_then(JournalFollower::folder);
            // A folder without a manifest is looked at again.
            if known != Some(folder) && folder.exists() {
                self.runs.insert(serial.clone(), JournalFollower::new(folder));
            }
        }
        let none = RunFigures::default();
        let figures: BTreeMap<&Serial, &RunFigures> =
            self.runs.iter_mut().map(|(serial, run)| (serial, run.figures())).collect();
        let watched: Vec<Watched<'_>> = drives
            .iter()
            .map(|(serial, view)| (serial, view, *figures.get(serial).unwrap_or(&&none)))
            .collect();
        of_task(&self.identity, &watched)
    }
}

#[cfg(test)]
#[path = "../tests/unit/fleet.rs"]
mod tests;
