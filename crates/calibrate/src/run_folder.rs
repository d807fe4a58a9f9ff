//! The cells of a run of assay as measurements, to fit a custom profile to.
//!
//! A finished cell of one plain workload (reads or writes, closed loop, direct I/O) gives its rate
//! and, with enough I/Os, median and 99th percentile of latency. The mean would follow from rate,
//! threads and depth (Little's law).

use assay_store::Run;
use assay_store::model::{CellKind, CellResult, WorkloadRecord};
use assay_store::read::{CellRecord, CellState};
use assay_units::{DataClass, Op};

use crate::CalibrateError;
use crate::measurement::{
    AccessPattern, Measurement, PriorState, Procedure, ReferenceMetric, ReferenceWorkload, Role,
    Tolerance,
};

const MEDIAN_IOS: u64 = 200;
const P99_IOS: u64 = 5_000;
/// A 99th percentile varies more from run to run than a rate.
pub const P99_TOLERANCE: f64 = 0.20;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct FitTargets {
    /// Label of fitted parameters.
    pub label: String,
    pub measurements: Vec<Measurement>,
    /// Capacity of the measured drive, where known.
    pub capacity_bytes: Option<u64>,
    /// Cells without a usable figure, each with the reason.
    pub left_out: Vec<(String, String)>,
}

impl FitTargets {
    /// These, if there are any. [`CalibrateError::NoTargets`] with the reason of the first cell.
    pub fn required(self) -> Result<FitTargets, CalibrateError> {
        match (self.measurements.is_empty(), self.left_out.first()) {
            (true, Some((cell, why))) => Err(CalibrateError::NoTargets {
                what: self.label,
                why: format!("none of its {} cells has one; {cell}: {why}", self.left_out.len()),
            }),
            _ => Ok(self),
        }
    }
}

/// Measurements of the drive with this label, or of the only one. [`CalibrateError::NoTargets`]
/// when it is not in the run, or several are and none is named.
pub fn measurements(run: &Run, label: Option<&str>) -> Result<FitTargets, CalibrateError> {
    let drives = &run.manifest.drives;
    let labels: Vec<&str> = drives.iter().map(|d| d.label.as_str()).collect();
    let index = match label {
        Some(label) => labels.iter().position(|known| *known == label),
        None => (drives.len() == 1).then_some(0),
    };
    let index = index.ok_or_else(|| CalibrateError::NoTargets {
        what: run.path.display().to_string(),
        why: format!("name one of its drives with --drive: {}", labels.join(", ")),
    })?;
    let run_id = &run.manifest.run_id;
    let mut out = FitTargets {
        label: format!("run {run_id} of {}", labels[index]),
        capacity_bytes: Some(drives[index].capacity_bytes).filter(|bytes| *bytes > 0),
        ..FitTargets::default()
    };
    let imported = run.manifest.imported.as_ref();
    let unknown = Unknown {
        state: match imported.map(|import| import.state.as_str()) {
            Some("empty") => PriorState::Fresh,
            _ => PriorState::Filled,
        },
        area_bytes: out.capacity_bytes.unwrap_or(0),
    };
    for cell in run.cells.iter().filter(|c| c.plan.drives.contains(&index)) {
        match figures(cell, index, run_id, unknown) {
            Ok(figures) => {
                for figure in figures {
                    // A cell that was measured twice must not count twice.
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

/// What stands for a workload's own values where an imported file does not have them.
#[derive(Clone, Copy)]
struct Unknown {
    /// As stated when it was imported; without that, filled: drives in use are.
    state: PriorState,
    /// The capacity: 0 where that is unknown too.
    area_bytes: u64,
}

fn figures(
    cell: &CellRecord,
    drive: usize,
    run_id: &str,
    unknown: Unknown,
) -> Result<Vec<Measurement>, String> {
    match &cell.state {
        CellState::Finished => {}
        CellState::Skipped(why) => return Err(format!("skipped: {why}")),
        CellState::Failed(why) => return Err(format!("failed: {why}")),
        CellState::Planned | CellState::Unfinished => return Err("not finished".to_owned()),
    }
    if cell.plan.kind != CellKind::Measure {
        return Err("not a measured workload of one drive in steady state".to_owned());
    }
    if let Some(why) = &cell.plan.unfit {
        return Err(why.clone());
    }
    let measured = cell.drives.iter().find(|d| d.drive == drive);
    let result = measured.and_then(|d| d.result.as_ref()).ok_or("no result")?;
    if result.errors() > 0 {
        return Err(format!("{} of its I/Os failed", result.errors()));
    }
    let workload = workload(&cell.plan.workload, result, unknown)?;
    let latency = result.latency();
    let us = |ns: u64, enough: bool| if enough { ns as f64 / 1000.0 } else { 0.0 };
    let mut out = Vec::new();
    for (metric, value) in [
        (ReferenceMetric::MibPerS, result.mib_per_s()),
        (ReferenceMetric::MedianUs, us(latency.p50, latency.samples >= MEDIAN_IOS)),
        (ReferenceMetric::P99Us, us(latency.p99, latency.samples >= P99_IOS)),
    ] {
        if value > 0.0 && value.is_finite() {
            out.push(Measurement {
                procedure: Procedure::Steady(workload),
                metric,
                value,
                tolerance: match metric {
                    ReferenceMetric::P99Us => Tolerance::Relative(P99_TOLERANCE),
                    _ => Tolerance::for_metric(metric),
                },
                source: format!("{run_id}, {}", cell.plan.id),
                role: Role::Target,
            });
        }
    }
    if out.is_empty() {
        return Err("no bytes were moved".to_owned());
    }
    Ok(out)
}

/// The cell's workload, or why it is no reference workload.
fn workload(
    cell: &WorkloadRecord,
    result: &CellResult,
    unknown: Unknown,
) -> Result<ReferenceWorkload, String> {
    let (access, op) = ReferenceWorkload::parse_rw(&cell.rw)
        .ok_or_else(|| format!("{}: mixed reads and writes", cell.rw))?;
    let is_limited = cell.rate_iops > 0.0 || cell.rate_limit_iops.is_some();
    if is_limited || cell.options.contains("--rate") {
        return Err("rate-limited".to_owned());
    }
    if !cell.direct && cell.engine != "sim" {
        return Err("buffered I/O through the page cache".to_owned());
    }
    if cell.engine == "null" {
        return Err("no drive".to_owned());
    }
    let unusual_options = ["--bs", "--zone", "--random_distribution", "--verify"];
    if unusual_options.iter().any(|option| unusual(&cell.options, option)) {
        let why = "mixed block sizes, zones, a non-uniform random distribution, or verification";
        return Err(why.to_owned());
    }
    if access == AccessPattern::Sequential && cell.numjobs > 1 && !cell.options.contains("--split")
    {
        return Err("sequential threads without regions of their own".to_owned());
    }
    let (data, state) = match cell.data.as_str() {
        "zero" => (DataClass::Zero, PriorState::Filled),
        "unwritten" => (DataClass::Incompressible, PriorState::Fresh),
        "incompressible" | "as found" | "" => (DataClass::Incompressible, PriorState::Filled),
        // fio writes random bytes unless it is told otherwise.
        "unknown" => (DataClass::Incompressible, unknown.state),
        other => return Err(format!("data {other:?}: not a class that is simulated")),
    };
    let area_bytes = match cell.span_bytes {
        0 if unknown.area_bytes == 0 => {
            return Err("unknown area: import it with --capacity".to_owned());
        }
        0 => unknown.area_bytes,
        span => span,
    };
    let block_bytes =
        u32::try_from(cell.bs_bytes).ok().filter(|&bytes| bytes > 0).ok_or("no block size")?;
    Ok(ReferenceWorkload {
        op,
        access,
        block_bytes,
        threads: cell.numjobs.max(1),
        queue_depth: cell.iodepth.max(1),
        data,
        state,
        area_bytes: area_bytes.max(cell.bs_bytes),
        // A write cache must fill as far as it did in the run.
        ios: (op == Op::Write).then(|| result.write.ios.max(1)),
    })
}

/// Whether an option has a value that a reference workload cannot repeat; of `--bs`, a mix.
fn unusual(options: &str, option: &str) -> bool {
    let Some(at) = options.find(option) else {
        return false;
    };
    let value = options[at..].split_whitespace().nth(1);
    option != "--bs" || value.is_some_and(|value| value.contains(':'))
}
