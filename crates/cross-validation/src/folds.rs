//! Cross-validation by whole drives: what is left out, and the predictions of it.
//!
//! | fold | known of the drive | predicted |
//! |---|---|---|
//! | `threads=64`, `threads=16` | the other column of random reads | this one |
//! | `long blocks` | random reads below 32 KiB | the others |
//! | `two cells` | 4 KiB random reads by 16 and 64 threads | the others |
//! | `quick` | what the suite measures, [`QUICK`] | the others |
//! | `drive` | hardware facts and the data sheet | random and sequential reads |
//! | `sequential` | all random reads | sequential reads |
//!
//! In each fold curve ([`assay_calibrate::read_curve`]) and simulation ([`crate::simulation`]) know
//! the other drives, and of this one only what the table says. The prediction is the mean of their
//! logarithms, neither with more of its ratings than any known drive gave of its own; its interval
//! is that of the curve, scaled by the errors of the other drives in the same fold. Of sequential
//! reads the curve says nothing: their interval comes from these errors.

use std::collections::BTreeMap;

use assay_calibrate::CalibrateError;
use assay_calibrate::figure_kind::FigureKind;
use assay_calibrate::hardware::Hardware;
use assay_calibrate::measurement::{
    AccessPattern, Measurement, Procedure, ReferenceMetric, ReferenceWorkload,
};
use assay_calibrate::observed::{Observed, on_scale};
use assay_calibrate::predictive::Situation;
use assay_calibrate::published::published;
use assay_calibrate::read_curve::{Cell, DriveReads, LEAST_CELLS, LogRate, Population, Rated};
use assay_calibrate::template::ReferenceDrive;
use assay_units::MIB;

use crate::score::Scored;
use crate::simulation::Simulation;
use crate::template::by_facts;

/// Threads and bytes of random reads.
type Read = (u32, u32);

/// Error of a known figure for the simulation: its deficiencies, of which the cells of a column
/// share most, so that ten cells do not choose a structure with the weight of ten.
const FIGURE_SCALE: f64 = 0.12;
/// The reads that the curve, which knows the data sheet, says to the simulation of a drive of
/// which nothing was measured.
const ANCHORS: [Read; 2] = [(64, 4096), (16, 262_144)];
/// The random reads that the suite `quick` measures. Where one was not published of a drive, the
/// next longer block by as many threads that was stands for it.
const QUICK: [Read; 5] = [(16, 4096), (64, 4096), (64, 512), (64, 16_384), (64, 131_072)];

struct Fold {
    name: &'static str,
    situation: Situation,
    /// Whether the figure of a read is known, of those that were published.
    is_known: fn(&[Read], Read) -> bool,
    /// Whether the drive needs reads by 64 threads.
    is_of_both_columns: bool,
}

const FOLDS: [Fold; 6] = [
    Fold {
        name: "threads=64",
        situation: Situation::AnotherDepth,
        is_known: |_, (threads, _)| threads != 64,
        is_of_both_columns: true,
    },
    Fold {
        name: "threads=16",
        situation: Situation::AnotherDepth,
        is_known: |_, (threads, _)| threads != 16,
        is_of_both_columns: true,
    },
    Fold {
        name: "long blocks",
        situation: Situation::AnotherBlock,
        is_known: |_, (_, bytes)| bytes < 32_768,
        is_of_both_columns: false,
    },
    Fold {
        name: "two cells",
        situation: Situation::AnotherBlock,
        is_known: |_, (_, bytes)| bytes == 4096,
        is_of_both_columns: true,
    },
    Fold {
        name: "quick",
        situation: Situation::AnotherBlock,
        is_known: |published, read| {
            let stands_for = |&(threads, bytes): &Read| {
                let column = published.iter().filter(|p| p.0 == threads && p.1 >= bytes);
                column.min() == Some(&read)
            };
            QUICK.iter().any(stands_for)
        },
        is_of_both_columns: true,
    },
    Fold {
        name: "drive",
        situation: Situation::FactsOnly,
        is_known: |_, _| false,
        is_of_both_columns: false,
    },
];

pub struct Study {
    hardware: Hardware,
    drives: Vec<ReferenceDrive>,
    figures: BTreeMap<String, Vec<Measurement>>,
    threads: usize,
}

fn workload(m: &Measurement) -> Option<ReferenceWorkload> {
    match m.procedure {
        Procedure::Steady(w) if m.metric == ReferenceMetric::MibPerS => Some(w),
        _ => None,
    }
}

fn is_random(m: &Measurement) -> bool {
    workload(m).is_some() && Cell::new(m).is_some()
}

fn is_sequential(m: &Measurement) -> bool {
    workload(m).is_some() && FigureKind::from_measurement(m) == FigureKind::SequentialRead
}

impl Study {
    /// The drives of which random reads are published.
    pub fn new(threads: usize) -> Result<Study, CalibrateError> {
        let (mut figures, mut drives) = (BTreeMap::new(), Vec::new());
        for name in assay_ssd::Profile::names() {
            let mut all = published(name)?;
            all.retain(|m| is_random(m) || is_sequential(m));
            if all.iter().filter(|m| is_random(m)).count() >= LEAST_CELLS {
                drives.push(ReferenceDrive::new(name)?);
                figures.insert(name.to_owned(), all);
            }
        }
        Ok(Study { hardware: Hardware::embedded()?, drives, figures, threads })
    }

    pub fn drives(&self) -> Vec<&str> {
        self.drives.iter().map(|d| d.name.as_str()).collect()
    }

    fn reads(&self, name: &str, figures: &[Measurement]) -> DriveReads {
        DriveReads::new(&self.hardware, name, figures)
    }

    /// All predictions of a drive's figures, each without the figures that its fold leaves out.
    pub fn predict(&self, name: &str) -> Vec<Scored> {
        let others = self.drives().into_iter().filter(|other| *other != name);
        let others = others.map(|other| self.reads(other, &self.figures[other]));
        let population = Population::searched(&others.collect::<Vec<_>>());
        let figures = &self.figures[name];
        let read = |m: &Measurement| {
            let workload = workload(m).filter(|_| is_random(m))?;
            Some((workload.threads, workload.block_bytes))
        };
        let published: Vec<Read> = figures.iter().filter_map(read).collect();
        let has_both = published.iter().any(|&(threads, _)| threads == 64);
        let mut out = Vec::new();
        for fold in FOLDS.iter().filter(|f| has_both || !f.is_of_both_columns) {
            let is_known =
                |m: &Measurement| read(m).is_some_and(|r| (fold.is_known)(&published, r));
            let (known, left_out): (Vec<_>, Vec<_>) = figures.iter().cloned().partition(is_known);
            let is_asked = |m: &Measurement| is_random(m) || fold.situation == Situation::FactsOnly;
            let asked: Vec<Measurement> = left_out.into_iter().filter(is_asked).collect();
            let what = (fold.name, fold.situation);
            out.extend(self.fold(what, name, &population, &known, &asked));
        }
        let (asked, known): (Vec<_>, Vec<_>) = figures.iter().cloned().partition(is_sequential);
        let what = ("sequential", Situation::OtherKinds);
        out.extend(self.fold(what, name, &population, &known, &asked));
        out
    }

    fn fold(
        &self,
        (fold, situation): (&str, Situation),
        name: &str,
        population: &Population,
        known: &[Measurement],
        asked: &[Measurement],
    ) -> Vec<Scored> {
        let own = self.reads(name, known);
        let curve = asked.iter().map(|m| {
            let found = population.predict(&own, &[Cell::new(m)?]);
            Some(in_mib_per_s(found[0], Cell::new(m)?))
        });
        let curve: Vec<Option<LogRate>> = curve.collect();
        let most = |m| {
            let cell = Cell::new(m)?;
            Some((population.likeliest(&own, &cell) * cell.block_bytes / MIB as f64).ln())
        };
        let simulated = self.simulate(name, population, known, asked).into_iter();
        let rows = simulated.zip(asked);
        let simulated = rows.map(|(log, m)| Some(log?.min(most(m).unwrap_or(f64::INFINITY))));
        let rows = asked.iter().zip(curve).zip(simulated);
        let row = |((m, curve), simulated): ((&Measurement, Option<LogRate>), Option<f64>)| {
            let logs = [simulated, curve.map(|c| c.centre)];
            let logs: Vec<f64> = logs.into_iter().flatten().collect();
            let centre =
                (!logs.is_empty()).then(|| logs.iter().sum::<f64>() / logs.len() as f64)?;
            let half_width = curve.map(|c| c.half_width);
            Some(Scored {
                fold: fold.to_owned(),
                drive: name.to_owned(),
                kind: FigureKind::from_measurement(m),
                key: m.key(),
                unit: m.metric.unit().to_owned(),
                situation,
                published: m.value,
                predicted: centre.exp(),
                half_width,
                simulated: simulated.map(f64::exp),
                curve: curve.map(|c| c.centre.exp()),
                data_sheet: self.data_sheet(name, m),
                nearest: self.nearest(name, m, known),
            })
        };
        rows.filter_map(row).collect()
    }

    fn simulate(
        &self,
        name: &str,
        population: &Population,
        known: &[Measurement],
        asked: &[Measurement],
    ) -> Vec<Option<f64>> {
        let is = |d: &&ReferenceDrive| d.name == name;
        let own = self.drives.iter().find(is).expect("a drive of the study");
        let others: Vec<&ReferenceDrive> = self.drives.iter().filter(|d| !is(d)).collect();
        let (template, alternatives) = by_facts(own, &others, &self.hardware);
        let unseen = ANCHORS.iter().filter(|_| known.is_empty());
        let anchors = unseen.map(|&(threads, bytes)| {
            let read = ReferenceWorkload::read(AccessPattern::Random, threads, bytes);
            let mut anchor = Measurement::to_simulate(read, "data sheet");
            let cell = Cell::new(&anchor).expect("a random read");
            let rate = population.predict(&self.reads(name, &[]), &[cell])[0];
            let rate = in_mib_per_s(rate, cell);
            anchor.value = rate.centre.exp();
            (anchor, rate.half_width / 2.0)
        });
        let all: Vec<(Measurement, f64)> =
            known.iter().map(|m| (m.clone(), FIGURE_SCALE)).chain(anchors).collect();
        let simulation = Simulation {
            template: &template,
            alternatives: &alternatives,
            observed: &Observed::new(all.iter().map(|(m, scale)| (m, *scale))),
            threads: self.threads,
        };
        // Where the simulation misses the known figures, it misses others of like size as well.
        let mut found = simulation.predict(&[known, asked].concat());
        let rest = found.split_off(known.len());
        let lack = |(m, simulated): (&Measurement, &Option<f64>)| {
            Some((Cell::new(m)?, on_scale(m, m.value) - (*simulated)?))
        };
        let lacks: Vec<(Cell, f64)> = known.iter().zip(&found).filter_map(lack).collect();
        let correct = |(m, simulated): (&Measurement, Option<f64>)| {
            let lack = Cell::new(m).map_or(0.0, |cell| population.lacking(&lacks, &cell));
            Some(simulated? + lack)
        };
        asked.iter().zip(rest).map(correct).collect()
    }

    /// 0.8 times what the data sheet allows.
    fn data_sheet(&self, name: &str, m: &Measurement) -> Option<f64> {
        let rated = self.hardware.drive(name).and_then(Rated::new)?;
        let bytes = match Cell::new(m) {
            Some(cell) => rated.most(&cell) * cell.block_bytes,
            None => rated.sequential_bytes_per_s,
        };
        Some(0.8 * bytes / MIB as f64)
    }

    /// Same block at another number of threads, else the longest shorter block, else other drives.
    fn nearest(&self, name: &str, m: &Measurement, known: &[Measurement]) -> Option<f64> {
        let w = workload(m)?;
        let near = known.iter().filter(|k| is_random(k) && is_random(m));
        let near = near.filter_map(|k| {
            let o = workload(k)?;
            let blocks = (f64::from(o.block_bytes) / f64::from(w.block_bytes)).ln().abs();
            Some(((blocks, o.threads.abs_diff(w.threads)), k.value))
        });
        if let Some((_, value)) = near.min_by(|a, b| a.0.partial_cmp(&b.0).expect("finite")) {
            return Some(value);
        }
        let others = self.drives().into_iter().filter(|other| *other != name);
        let same = others.filter_map(|other| {
            let found = self.figures[other].iter().find(|o| o.key() == m.key());
            found.map(|o| on_scale(m, o.value))
        });
        let same: Vec<f64> = same.collect();
        (!same.is_empty()).then(|| (same.iter().sum::<f64>() / same.len() as f64).exp())
    }
}

fn in_mib_per_s(rate: LogRate, cell: Cell) -> LogRate {
    LogRate { centre: rate.centre + (cell.block_bytes / MIB as f64).ln(), ..rate }
}
