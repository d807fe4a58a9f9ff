//! `assay predict`: random reads of a drive without a profile, from its data sheet.

use std::fmt::Write;

use assay_calibrate::hardware::Hardware;
use assay_calibrate::read_curve::{Cell, DriveReads, LogRate, Population, Rated};
use assay_report::{figure, interval_text};
use assay_store::model::PREDICTIVE_LEVEL;
use assay_units::MIB;
use assay_units::text::format_size;
use serde_json::json;

use super::fit::measured;
use crate::args::predict::PredictArguments;
use crate::exit::{CommandOutcome, bail_usage};
use crate::terminal::Output;

/// Synchronous threads of the drives that teach: at other numbers nothing was ever tested.
const THREADS: [u32; 2] = [16, 64];
const SMALLEST: u32 = 512;
const SIZES: u32 = 10;

struct Prediction {
    threads: u32,
    block_bytes: u32,
    rate: LogRate,
    /// No higher rate is expected.
    most_iops: f64,
}

impl Prediction {
    /// Reads per second and the ends of the interval.
    fn iops(&self) -> [f64; 3] {
        let LogRate { centre, half_width } = self.rate;
        let ends = [centre, centre - half_width, centre + half_width];
        ends.map(|log| log.exp().min(self.most_iops))
    }

    fn mib_per_s(&self) -> [f64; 3] {
        self.iops()
            .map(|iops| iops * f64::from(self.block_bytes) / MIB as f64)
    }
}

pub fn run(arguments: &PredictArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let rated = Rated {
        random_iops: arguments.rated_iops,
        sequential_bytes_per_s: arguments.rated_mb * 1e6,
    };
    let mut drive = DriveReads {
        rated: Some(rated),
        known: Vec::new(),
    };
    if let Some(cells) = &arguments.cells {
        let targets = measured("--cells", cells, arguments.drive.as_deref())?;
        drive.known = DriveReads::of(&Hardware::embedded()?, "", &targets.measurements).known;
        if drive.known.is_empty() {
            bail_usage!("--cells {cells}: it has no random read of incompressible data");
        }
    }
    let population = Population::of_published()?;
    let blocks = (0..SIZES).map(|n| SMALLEST << n);
    let cells = blocks.flat_map(|bytes| THREADS.map(|threads| (threads, bytes)));
    let predicted = |(threads, block_bytes): (u32, u32)| {
        let cell = Cell {
            threads: threads.into(),
            in_flight: threads.into(),
            block_bytes: block_bytes.into(),
        };
        Prediction {
            threads,
            block_bytes,
            rate: population.predict(&drive, &[cell])[0],
            most_iops: population.most(&rated, &cell),
        }
    };
    let all: Vec<Prediction> = cells.map(predicted).collect();
    output.show(
        || shown(&all, &population, drive.known.len()),
        || {
            let cell = |p: &Prediction| {
                let ([iops, low, high], [mib, mib_low, mib_high]) = (p.iops(), p.mib_per_s());
                json!({
                    "rw": "randread",
                    "bs_bytes": p.block_bytes,
                    "numjobs": p.threads,
                    "iodepth": 1,
                    "iops": iops,
                    "iops_interval": [low, high],
                    "mib_per_s": mib,
                    "mib_per_s_interval": [mib_low, mib_high],
                })
            };
            json!({
                "drives": population.drives(),
                "known_cells": drive.known.len(),
                "level": PREDICTIVE_LEVEL,
                "cells": all.iter().map(cell).collect::<Vec<_>>(),
            })
        },
    )
}

fn shown(all: &[Prediction], population: &Population, known: usize) -> String {
    let basis = match known {
        0 => "the data sheet".to_owned(),
        1 => "the data sheet, a measured cell".to_owned(),
        known => format!("the data sheet, {known} measured cells"),
    };
    let mut out = format!(
        "Random read by synchronous threads, MiB/s, predicted from {basis} and {} other drives,\n\
         with the interval in which nine of ten drives are expected\n\n{:<10}",
        population.drives(),
        "block"
    );
    for threads in THREADS {
        let _ = write!(out, "{:>32}", format!("{threads} threads"));
    }
    for row in all.chunks(THREADS.len()) {
        let _ = write!(out, "\n{:<10}", format_size(row[0].block_bytes.into()));
        for one in row {
            let [mib, low, high] = one.mib_per_s();
            let ends = interval_text([low, high]);
            let mib = figure(mib.round());
            let _ = write!(out, "{:>32}", format!("{mib}  ({ends})"));
        }
    }
    out.push_str(
        "\n\nNot predicted, because drives differ by factors: writes, tails of latency, sequential \
         reads.\n",
    );
    out
}
