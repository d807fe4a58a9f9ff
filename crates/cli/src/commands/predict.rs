//! `assay predict`: random reads of a drive without a profile, from its data sheet and cells.

use assay_calibrate::hardware::Hardware;
use assay_calibrate::read_curve::kind::{Kind, MOST_SATA_MB_S};
use assay_calibrate::read_curve::{DriveReads, Population, PredictedReads, Rated};
use assay_calibrate::run_folder;
use assay_report::predicted::{self, PredictedMatrix, PredictedRate};
use assay_store::Run;
use assay_store::model::{DriveRecord, PREDICTIVE_LEVEL};
use assay_units::MIB;
use serde_json::json;

use super::fit::measured;
use crate::args::predict::{Interface, Medium, PredictArguments};
use crate::exit::{CommandOutcome, bail_usage};
use crate::terminal::Output;

/// Suite after whose run the rest is predicted: for its cells intervals were checked
/// (docs/fidelity.md).
const SUITE: &str = "quick";
/// Of its random reads; with fewer (small drives, failed cells) nothing was checked.
const LEAST_CELLS: usize = 8;

pub fn run(arguments: &PredictArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let rated = arguments.rated_iops.zip(arguments.rated_mb);
    let (kind, assumed) = kind(arguments)?;
    let mut drive = DriveReads {
        rated: rated.map(|(iops, mb_s)| Rated {
            capacity_gb: arguments.capacity.map(|bytes| bytes as f64 / 1e9),
            ..Rated::in_use(iops, mb_s, kind)
        }),
        known: Vec::new(),
    };
    if let Some(cells) = &arguments.cells {
        let targets = measured("--cells", cells, arguments.drive.as_deref())?;
        drive.known = DriveReads::new(&Hardware::embedded()?, "", &targets.measurements).known;
        if drive.known.is_empty() {
            bail_usage!("--cells {cells}: it has no random read of incompressible data");
        }
    }
    let population = Population::of_all()?;
    let all = population.matrix(&drive);
    output.show(
        || {
            let matrix = matrix(String::new(), &drive, assumed, &population, &all);
            predicted::text(&matrix, output.columns(), output.style())
        },
        || {
            json!({
                "kind": rated.map(|_| kind.name()),
                "kind_assumed": assumed,
                "drives": population.teachers(&drive),
                "known_cells": drive.known.len(),
                "level": PREDICTIVE_LEVEL,
                "cells": all.iter().map(cell_json).collect::<Vec<_>>(),
            })
        },
    )
}

/// Kind of the drive of the ratings, and why, where no option says so.
fn kind(arguments: &PredictArguments) -> anyhow::Result<(Kind, Option<&'static str>)> {
    let PredictArguments { medium, interface, cell_bits, .. } = arguments;
    let is_slow = arguments.rated_mb.is_some_and(|mb| mb <= MOST_SATA_MB_S);
    if *medium == Some(Medium::XPoint) {
        if cell_bits.is_some() {
            bail_usage!("--cell-bits: 3D XPoint is not rated by bits per cell; leave it out");
        }
        if *interface == Some(Interface::Sata) {
            bail_usage!(
                "--medium 3d-xpoint --interface sata: no such drive was ever measured, so nothing \
                 is predicted; --interface nvme, or --medium flash"
            );
        }
        return Ok((Kind::XPoint, None));
    }
    match (interface, cell_bits) {
        (Some(Interface::Sata), _) if arguments.rated_mb.is_some() && !is_slow => bail_usage!(
            "--interface sata: SATA carries no more than {MOST_SATA_MB_S} MB/s, and --rated-mb is \
             more; correct the rating, or --interface nvme"
        ),
        (Some(Interface::Sata), _) => Ok((Kind::Sata, None)),
        (None, _) if is_slow => Ok((
            Kind::Sata,
            Some("SATA, since no NVMe drive is rated for 600 MB/s or less (--interface)"),
        )),
        (_, Some(bits)) => Ok((Kind::of_flash(*bits), None)),
        (_, None) => {
            Ok((Kind::Cached, Some("NVMe, three or more bits per cell (--cell-bits, --medium)")))
        }
    }
}

fn mib_per_s(reads: &PredictedReads) -> [f64; 3] {
    reads.iops.map(|iops| iops * f64::from(reads.block_bytes) / MIB as f64)
}

fn cell_json(reads: &PredictedReads) -> serde_json::Value {
    let ([iops, low, high], [mib, mib_low, mib_high]) = (reads.iops, mib_per_s(reads));
    json!({
        "rw": "randread",
        "bs_bytes": reads.block_bytes,
        "numjobs": reads.threads,
        "iodepth": 1,
        "measured": reads.is_known,
        "iops": iops,
        "iops_interval": [low, high],
        "mib_per_s": mib,
        "mib_per_s_interval": [mib_low, mib_high],
    })
}

fn matrix(
    label: String,
    drive: &DriveReads,
    assumed: Option<&str>,
    population: &Population,
    all: &[PredictedReads],
) -> PredictedMatrix {
    let known = match drive.known.len() {
        0 => None,
        1 => Some("a measured cell".to_owned()),
        known => Some(format!("{known} measured cells")),
    };
    let sheet = drive.rated.map(|_| {
        assumed
            .map_or("the data sheet".to_owned(), |kind| format!("the data sheet (assumed: {kind})"))
    });
    let others = format!("{} other drives", population.teachers(drive));
    let basis: Vec<String> = sheet.into_iter().chain(known).chain([others]).collect();
    let rate = |reads: &PredictedReads| PredictedRate {
        threads: reads.threads,
        block_bytes: reads.block_bytes,
        mib_per_s: mib_per_s(reads),
        is_known: reads.is_known,
    };
    PredictedMatrix { drive: label, basis: basis.join(", "), rates: all.iter().map(rate).collect() }
}

/// The rest of the random reads of the drives of which the suite `quick` was run.
pub fn rest(runs: &[Run]) -> anyhow::Result<Vec<PredictedMatrix>> {
    let runs = runs.iter().filter(|run| run.manifest.suite.name == SUITE);
    let runs: Vec<&Run> = runs.collect();
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    let hardware = Hardware::embedded()?;
    let mut drives = Vec::new();
    for run in runs {
        for (number, record) in run.manifest.drives.iter().enumerate() {
            if !is_nvme(record) {
                continue;
            }
            let targets = run_folder::measurements(run, Some(&record.label))?;
            let profile = record.profile.as_deref().unwrap_or_default();
            let drive = DriveReads::new(&hardware, profile, &targets.measurements);
            let is_limited = |cell: &str| run.is_host_limited(cell, number);
            let by_host = run.cells.iter().any(|cell| is_limited(&cell.plan.id));
            if drive.known.len() >= LEAST_CELLS && !by_host {
                let mark = if record.simulated { " (simulated)" } else { "" };
                drives.push((format!("{}{mark}", record.label), drive));
            }
        }
    }
    if drives.is_empty() {
        return Ok(Vec::new());
    }
    let population = Population::of_published()?;
    let of_drive = |(label, drive)| {
        let all = population.matrix(&drive);
        matrix(label, &drive, None, &population, &all)
    };
    Ok(drives.into_iter().map(of_drive).collect())
}

/// The drives that teach are NVMe SSDs.
fn is_nvme(record: &DriveRecord) -> bool {
    record.simulated || record.details.get("transport").is_some_and(|t| t.starts_with("nvme"))
}
