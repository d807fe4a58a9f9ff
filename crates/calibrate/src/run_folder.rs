//! The cells of a run of assay as measurements: what a *digital twin* is fitted to.
//!
//! A finished cell of one plain workload (reads or writes, closed loop, straight to the drive) gives its rate and, with enough I/Os
//! behind them, median and 99th percentile of latency. The mean is left out: threads and depth make it out of the rate (Little's law).
//! Everything else is named with the reason why it gives nothing.

use assay_store::Run;
use assay_store::model::{CellKind, CellResult, Workload as CellWorkload};
use assay_store::read::{CellRecord, CellState};
use assay_units::{DataClass, Op};

use crate::CalibrateError;
use crate::measurement::{
    AccessPattern, Measurement, PriorState, Procedure, ReferenceMetric, ReferenceWorkload, Role,
    Tolerance,
};

/// I/Os behind a median, at least.
const FOR_MEDIAN: u64 = 200;
/// I/Os behind a 99th percentile, at least.
const FOR_P99: u64 = 5_000;
/// A 99th percentile differs from run to run by more than a rate does.
const P99_TOLERANCE: f64 = 0.20;

/// What a run gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunMeasurements {
    /// The drive's label in the run.
    pub drive: String,
    /// Its figures.
    pub measurements: Vec<Measurement>,
    /// Cells that give none, each with the reason.
    pub left_out: Vec<(String, String)>,
}

/// The measurements of one drive of a run: of the one with this label, or of the only one.
///
/// # Errors
/// [`CalibrateError::NoTargets`] when the drive is not in the run, or several are and none is named.
pub fn measurements(run: &Run, label: Option<&str>) -> Result<RunMeasurements, CalibrateError> {
    let drives = &run.manifest.drives;
    let labels: Vec<&str> = drives.iter().map(|d| d.label.as_str()).collect();
    let index = match label {
        Some(label) => labels.iter().position(|known| *known == label),
        None if drives.len() == 1 => Some(0),
        None => None,
    };
    let Some(index) = index else {
        return Err(CalibrateError::NoTargets {
            what: run.path.display().to_string(),
            why: format!("name one of its drives with --drive: {}", labels.join(", ")),
        });
    };
    let mut out = RunMeasurements {
        drive: labels[index].to_owned(),
        ..RunMeasurements::default()
    };
    for cell in run.cells.iter().filter(|c| c.plan.drives.contains(&index)) {
        match figures(cell, index, &run.manifest.run_id) {
            Ok(figures) => {
                for figure in figures {
                    // A cell measured twice would count twice.
                    if !out.measurements.iter().any(|m| m.key() == figure.key()) {
                        out.measurements.push(figure);
                    }
                }
            }
            Err(why) => out.left_out.push((cell.plan.id.clone(), why)),
        }
    }
    Ok(out)
}

fn figures(cell: &CellRecord, drive: usize, run_id: &str) -> Result<Vec<Measurement>, String> {
    match &cell.state {
        CellState::Finished => {}
        CellState::Skipped(why) => return Err(format!("skipped: {why}")),
        CellState::Failed(why) => return Err(format!("failed: {why}")),
        CellState::Planned | CellState::Unfinished => return Err("not finished".to_owned()),
    }
    if cell.plan.kind != CellKind::Measure {
        return Err("no measured workload of one drive in its steady state".to_owned());
    }
    let result = cell
        .drives
        .iter()
        .find(|d| d.drive == drive)
        .and_then(|d| d.result.as_ref())
        .ok_or("no result")?;
    if result.errors() > 0 {
        return Err(format!("{} of its I/Os failed", result.errors()));
    }
    let workload = workload(&cell.plan.workload, result)?;
    let source = format!("{run_id}, {}", cell.plan.id);
    let measurement = |metric, value, tolerance| Measurement {
        procedure: Procedure::Steady(workload),
        metric,
        value,
        tolerance,
        source: source.clone(),
        role: Role::Target,
    };
    let latency = result.latency();
    let us = |ns: u64| ns as f64 / 1000.0;
    let mut out = vec![measurement(
        ReferenceMetric::MibPerS,
        result.mib_per_s(),
        Tolerance::of(ReferenceMetric::MibPerS),
    )];
    if latency.samples >= FOR_MEDIAN && latency.p50 > 0 {
        let tolerance = Tolerance::of(ReferenceMetric::MedianUs);
        out.push(measurement(
            ReferenceMetric::MedianUs,
            us(latency.p50),
            tolerance,
        ));
    }
    if latency.samples >= FOR_P99 {
        let tolerance = Tolerance::Relative(P99_TOLERANCE);
        out.push(measurement(
            ReferenceMetric::P99Us,
            us(latency.p99),
            tolerance,
        ));
    }
    out.retain(|m| m.value > 0.0 && m.value.is_finite());
    if out.is_empty() {
        return Err("nothing was moved".to_owned());
    }
    Ok(out)
}

/// The cell's workload as a procedure here can repeat it, or why not.
fn workload(cell: &CellWorkload, result: &CellResult) -> Result<ReferenceWorkload, String> {
    let (access, op) = match cell.rw.as_str() {
        "read" => (AccessPattern::Sequential, Op::Read),
        "write" => (AccessPattern::Sequential, Op::Write),
        "randread" => (AccessPattern::Random, Op::Read),
        "randwrite" => (AccessPattern::Random, Op::Write),
        other => return Err(format!("{other}: reads and writes mixed")),
    };
    if cell.rate_iops > 0.0 || cell.options.contains("--rate") {
        return Err("held to a rate".to_owned());
    }
    if !cell.direct && cell.engine != "sim" {
        return Err("through the page cache, not straight to the drive".to_owned());
    }
    if cell.engine == "null" {
        return Err("no drive".to_owned());
    }
    if ["--bs", "--zone", "--random_distribution", "--verify"]
        .iter()
        .any(|option| unusual(&cell.options, option))
    {
        return Err(
            "block sizes mixed, zones, another law of randomness, or verification".to_owned(),
        );
    }
    if access == AccessPattern::Sequential && cell.numjobs > 1 && !cell.options.contains("--split")
    {
        return Err("sequential threads that do not keep to regions of their own".to_owned());
    }
    let (data, state) = match cell.data.as_str() {
        "zero" => (DataClass::Zero, PriorState::Filled),
        "unwritten" => (DataClass::Incompressible, PriorState::Fresh),
        "incompressible" | "as found" | "" => (DataClass::Incompressible, PriorState::Filled),
        other => return Err(format!("data {other:?}: of no class that is simulated")),
    };
    let block_bytes = u32::try_from(cell.bs_bytes)
        .ok()
        .filter(|&bytes| bytes > 0)
        .ok_or("no block size")?;
    let ios = match op {
        // A cache fills as far as it was filled.
        Op::Write => Some(result.write.ios.max(1)),
        _ => None,
    };
    Ok(ReferenceWorkload {
        op,
        access,
        block_bytes,
        threads: cell.numjobs.max(1),
        queue_depth: cell.iodepth.max(1),
        data,
        state,
        area_bytes: cell.span_bytes.max(cell.bs_bytes),
        ios,
    })
}

/// Is an option there with a value that is out of the ordinary?
fn unusual(options: &str, option: &str) -> bool {
    let Some(at) = options.find(option) else {
        return false;
    };
    match option {
        "--bs" => options[at..]
            .split_whitespace()
            .nth(1)
            .is_some_and(|value| value.contains(':')),
        _ => true,
    }
}
