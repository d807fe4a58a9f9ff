//! Observations from run folders: IOPS, MiB/s, median and 99th percentile latency of every measured
//! cell and drive. Cells in rounds are left out: their figure is the mean over the measurement
//! window, which suites declare as a headline metric. So are cells that measure several drives at
//! once, whose figures depend on the other drives, and cells without a result. Headline metrics are
//! those of the run's suite ([`headlines`]), named by [`headline_figure`].

use assay_store::model::{CellKind, CellPlan, DriveRecord};
use assay_store::read::{CellState, Run};

use super::Observation;
use crate::figure::headline::HeadlineMetric;
use crate::figure::{self, Figure};

/// Facts that a run folder does not record; empty fields are unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    pub plan: String,
    pub lot: String,
    pub group: String,
    pub host: String,
    pub slot: String,
}

/// Figures of every measured cell, in the order they are shown.
pub const CELL_FIGURES: [Figure; 4] =
    [figure::IOPS, figure::MIB_PER_S, figure::P50_US, figure::P99_US];

/// `SUITE/STEP/AXES.FIGURE`, as `quick/random-read-latency/bs=4k.p99_us`. `cell` is
/// [`CellPlan::id`], which begins with the drive's `label`.
pub fn cell_figure(suite: &str, cell: &str, label: &str, figure: Figure) -> String {
    figure_of_cell(suite, cell, label, figure.key)
}

pub(super) fn figure_of_cell(suite: &str, cell: &str, label: &str, key: &str) -> String {
    let own = cell.strip_prefix(label).and_then(|c| c.strip_prefix('/'));
    format!("{suite}/{}.{key}", own.unwrap_or(cell))
}

/// `SUITE.KEY`, as `consistency.score`.
pub fn headline_figure(suite: &str, key: &str) -> String {
    format!("{suite}.{key}")
}

/// A plan declares a figure by its name, or by that of a cell's figure without the suite.
pub fn is_named(figure: &str, name: &str) -> bool {
    let without_suite = figure.split_once('/').map(|(_, own)| own);
    figure == name || without_suite == Some(name)
}

/// Cells whose figures describe one drive.
fn is_observed(plan: &CellPlan) -> bool {
    matches!(plan.kind, CellKind::Measure | CellKind::Soak)
        && plan.drives.len() == 1
        && plan.round.is_none()
}

/// The drive's own serial, else its specification without the seed, which does not change the
/// drive.
pub fn serial_of(drive: &DriveRecord) -> String {
    match drive.serial.trim() {
        "" => {
            let options = drive.spec.split(',');
            let kept = options.filter(|option| !option.trim_start().starts_with("seed="));
            kept.collect::<Vec<_>>().join(",")
        }
        serial => serial.to_owned(),
    }
}

/// Fields common to all observations of a drive in a run; `None` for an index that the manifest
/// does not have.
pub fn template(run: &Run, drive: usize, origin: &Origin) -> Option<Observation> {
    let record = run.manifest.drives.get(drive)?;
    Some(Observation {
        plan: origin.plan.clone(),
        serial: serial_of(record),
        model: record.model.clone(),
        firmware: record.firmware.clone(),
        lot: origin.lot.clone(),
        group: origin.group.clone(),
        host: origin.host.clone(),
        slot: origin.slot.clone(),
        run_id: run.manifest.run_id.clone(),
        began: run.manifest.created.clone(),
        simulated: record.simulated,
        ..Observation::default()
    })
}

/// Leaves out those of a cell that was interrupted, or not steady where it should be.
pub fn headlines(run: &Run, origin: &Origin, metrics: &[HeadlineMetric]) -> Vec<Observation> {
    let mut found = Vec::new();
    for drive in 0..run.manifest.drives.len() {
        let Some(template) = template(run, drive, origin) else {
            continue;
        };
        found.extend(metrics.iter().filter_map(|metric| {
            let score = metric.of_drive(run, drive)?;
            let is_partial = score.of.is_some_and(|of| of.remark().is_some());
            (!is_partial).then(|| Observation {
                figure: headline_figure(&run.manifest.suite.name, &metric.key),
                unit: metric.figure.unit.text().to_owned(),
                better: metric.figure.better,
                value: score.value,
                ..template.clone()
            })
        }));
    }
    found
}

/// Figures of finished cells.
pub fn of_run(run: &Run, origin: &Origin) -> Vec<Observation> {
    let mut found = Vec::new();
    for cell in &run.cells {
        if cell.state != CellState::Finished || !is_observed(&cell.plan) {
            continue;
        }
        for part in &cell.drives {
            let known = run.manifest.drives.get(part.drive).zip(part.result.as_ref());
            let Some((record, result)) = known else {
                continue;
            };
            for figure in CELL_FIGURES {
                let Some(value) = figure.of_result(result) else {
                    continue;
                };
                let Some(template) = template(run, part.drive, origin) else {
                    continue;
                };
                let suite = &run.manifest.suite.name;
                found.push(Observation {
                    figure: cell_figure(suite, &cell.plan.id, &record.label, figure),
                    unit: figure.unit.text().to_owned(),
                    better: figure.better,
                    value,
                    ..template
                });
            }
        }
    }
    found
}

#[cfg(test)]
#[path = "../../tests/unit/cohort/observe.rs"]
mod tests;
