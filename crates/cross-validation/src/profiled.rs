//! Public drives that have a profile: their random reads at saturation, simulated, beside what
//! others measured (`reference/public/measurements.csv.zst`). Prints its section of
//! docs/fidelity.md.

use anyhow::Context;
use assay_analysis::rank::public::{PublicFigure, PublicTable};
use assay_calibrate::figure_kind::FigureKind;
use assay_calibrate::inference::posterior::quantile;
use assay_calibrate::measurement::{AccessPattern, Measurement, ReferenceWorkload};
use assay_calibrate::predictive;
use assay_calibrate::{Effort, simulate};
use assay_ssd::Profile;
use assay_units::{MIB, median};

use crate::public::{is_by_host, reads_in_flight};

/// Drive, profile, and the capacity in bytes where it is not the profile's.
const DRIVES: [(&str, &str, Option<u64>); 2] = [
    ("Intel_P4510_1TB", "intel-p4510", Some(1_000_000_000_000)),
    ("Intel_P4800X_375GB", "intel-optane-p4800x", None),
];
/// In flight of all threads. More give either drive no more reads, but for one process of the
/// P4510, which the table does not mark as limited by the host.
const SATURATED: u32 = 128;
/// The figures do not depend on it, and take seconds.
const THREADS: usize = 1;

const INTRODUCTION: &str = "\
## Public drives with a profile

Random reads with 128 and more in flight, of the drives of which `reference/public/` has such
figures and `profiles/` the model; those that the host limited are left out. No figure is shifted by
a measured one. The interval is the one that `assay job` prints of a simulated drive where the host
is not the limit. `make predictions PART=public` repeats it in seconds.

| drive | block | threads of 128 | measured, reads/s | simulated | error | in the interval |
|---|--:|--:|--:|--:|--:|--:|
";

const READ_WITH_CARE: &str = "
Cells of a drive err together, so these are two drives, not as many as there are cells. The model
of the P4510 was made with percentiles of its 4 KiB reads in view. The 4 KiB figures of the P4800X
are 587,000 reads/s where fio 3.19 ran and 507,000 where 3.35 did, and 548,000 is the median of
both; the model's rates were fitted to figures of other laboratories, its p99 with these runs in
view. The host is that of the profile's bench.
";

/// A cell, with the median of its repeated figures.
struct Cell {
    drive: &'static str,
    workload: ReferenceWorkload,
    measured: f64,
    simulated: f64,
    interval: [f64; 2],
}

impl Cell {
    fn error_pct(&self) -> f64 {
        (self.simulated / self.measured - 1.0) * 100.0
    }

    fn is_inside(&self) -> bool {
        let [low, high] = self.interval;
        (low..=high).contains(&(self.measured / self.simulated))
    }
}

fn workload(figure: &PublicFigure) -> ReferenceWorkload {
    let block_bytes = figure.bs_bytes as u32;
    ReferenceWorkload {
        queue_depth: figure.iodepth,
        ..ReferenceWorkload::read(AccessPattern::Random, figure.numjobs, block_bytes)
    }
}

fn measured(drive: &str) -> Vec<(ReferenceWorkload, f64)> {
    let table = PublicTable::built_in();
    let is_saturated = |figure: &&PublicFigure| {
        table.drives[figure.drive].drive == drive
            && reads_in_flight(figure).is_some_and(|all| all >= SATURATED)
            && !is_by_host(figure)
    };
    let mut cells: Vec<(ReferenceWorkload, Vec<f64>)> = Vec::new();
    for figure in table.figures.iter().filter(is_saturated) {
        let workload = workload(figure);
        match cells.iter_mut().find(|(other, _)| *other == workload) {
            Some((_, values)) => values.push(figure.value),
            None => cells.push((workload, vec![figure.value])),
        }
    }
    cells.sort_by_key(|(workload, _)| (workload.block_bytes, workload.threads));
    cells.into_iter().filter_map(|(workload, values)| Some((workload, median(values)?))).collect()
}

fn cells() -> anyhow::Result<Vec<Cell>> {
    let mut out = Vec::new();
    for (drive, name, capacity_bytes) in DRIVES {
        let profile = Profile::builtin(name).context(name)?;
        let profile = match capacity_bytes {
            Some(bytes) => profile.of_capacity(bytes)?,
            None => profile,
        };
        let factors = predictive::of_profile(name, capacity_bytes.is_some(), &[])?;
        let of_reads = factors.iter().find(|(_, one)| one.kind == FigureKind::RandomRead);
        let (_, interval) = of_reads.context("no interval of random reads")?;
        let (workloads, values): (Vec<_>, Vec<_>) = measured(drive).into_iter().unzip();
        let wanted = workloads.iter().map(|&one| Measurement::to_simulate(one, "public"));
        let found = simulate(&profile, &wanted.collect::<Vec<_>>(), Effort::Full, THREADS)?;
        for ((workload, measured), mib_per_s) in workloads.into_iter().zip(values).zip(found) {
            let mib_per_s = mib_per_s.with_context(|| format!("{name}: no rate"))?;
            let simulated = mib_per_s * MIB as f64 / f64::from(workload.block_bytes);
            let interval = [interval.low, interval.high];
            out.push(Cell { drive, workload, measured, simulated, interval });
        }
    }
    Ok(out)
}

/// `a`, or `a to b`, in thousands.
fn span(values: impl Iterator<Item = f64>) -> String {
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    values.for_each(|value| (low, high) = (low.min(value), high.max(value)));
    let (low, high) = (format!("{:.0}k", low / 1e3), format!("{:.0}k", high / 1e3));
    if low == high { low } else { format!("{low} to {high}") }
}

/// Cells of one drive and block.
fn row(cells: &[Cell]) -> Option<String> {
    let (first, last) = (cells.first()?, cells.last()?);
    Some(format!(
        "| {} | {} KiB | {} to {} | {} | {} | {:+.1} % | {} of {} |\n",
        first.drive,
        first.workload.block_bytes >> 10,
        first.workload.threads,
        last.workload.threads,
        span(cells.iter().map(|cell| cell.measured)),
        span(cells.iter().map(|cell| cell.simulated)),
        median(cells.iter().map(Cell::error_pct))?,
        cells.iter().filter(|cell| cell.is_inside()).count(),
        cells.len()
    ))
}

/// The section, from a simulation.
pub fn markdown() -> anyhow::Result<String> {
    let cells = cells()?;
    let of_one =
        |a: &Cell, b: &Cell| (a.drive, a.workload.block_bytes) == (b.drive, b.workload.block_bytes);
    let rows = cells.chunk_by(of_one).filter_map(row);
    let errors: Vec<(f64, f64)> = cells.iter().map(|c| (c.error_pct().abs(), 1.0)).collect();
    let share = |share| quantile(&errors, share).context("no cell");
    let sums = format!(
        "\nOver all cells: median error {:.1} %, nine of ten within {:.1} %, worst {:.1} %.\n",
        median(errors.iter().map(|e| e.0)).context("no cell")?,
        share(0.9)?,
        share(1.0)?
    );
    Ok(format!("{INTRODUCTION}{}{sums}{READ_WITH_CARE}", rows.collect::<String>()))
}

#[cfg(test)]
#[path = "../tests/unit/profiled.rs"]
mod tests;
