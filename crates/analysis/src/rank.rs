//! Where a drive stands among public measurements of other drives (`reference/public/`), figure by
//! figure. Only figures of like procedures are compared: the same operation, block size, depth and
//! threads, direct I/O, an area of the same length; of writes, which depend on what was written
//! before, only those of the suite `iocost`, whose order of tests is that of its public figures.

use std::collections::{BTreeMap, BTreeSet};

use assay_store::model::{CellResult, DriveRecord, WorkloadRecord, rw_text};
use assay_store::read::{CellRecord, CellState, Run};
use assay_units::median;
use serde::Serialize;

use crate::check::LEAST_DRIVES;
use crate::link::Link;

pub mod contribution;
pub mod public;

use public::{PublicDrive, PublicFigure, PublicTable};

/// The suite whose procedure is that of iocost-benchmarks.
pub const IOCOST: &str = "iocost";
/// Block of its public figures of bandwidth.
const IOCOST_BLOCK_BYTES: u64 = 128 << 20;
/// The source of its public figures.
const IOCOST_SOURCE: &str = "iocost-benchmark/iocost-benchmarks";
/// Areas that differ by more are other procedures: caches and maps hold a share of a larger one.
const AREA_RATIO: f64 = 1.5;
/// Share of the public measured time below which a rate is another figure: of caches, not of the
/// drive.
const LEAST_TIME: f64 = 0.5;
/// Share of the capacity from which on an area is the whole drive.
const WHOLE: f64 = 0.9;

/// A figure of a cell among those of public drives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankedFigure {
    /// [`assay_store::model::CellPlan::id`].
    pub cell: String,
    /// `4 KiB random read, depth 64`.
    pub workload: String,
    /// `iops`, `mib_s`, `mean`, `median`, `p99`, `p99.9`, `p99.99`; latencies in microseconds.
    pub metric: String,
    /// Of this drive.
    pub value: f64,
    /// From 1, the best.
    pub rank: usize,
    /// Drives with this one.
    pub of: usize,
    /// Among the public drives whose link is known, and no faster than that of this drive.
    pub class: Option<InClass>,
    /// The best public drive.
    pub best: Standing,
    /// Median of the public drives.
    pub median: f64,
    /// Of the last public drive.
    pub last: f64,
    /// Least and most of other units of this model.
    pub same_model: Option<[f64; 2]>,
    /// Repository, area and state of the public figures.
    pub procedure: String,
}

/// The rank within a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InClass {
    /// The fastest link of the class: `PCIe 3 x4`.
    pub link: String,
    /// From 1, the best.
    pub rank: usize,
    /// Drives with this one; without [`LEAST_DRIVES`] others there is no class.
    pub of: usize,
}

/// A public drive and its value: the median of its measurements.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// Model, with the firmware where the source has it.
    pub model: String,
    /// As [`RankedFigure::value`].
    pub value: f64,
}

/// Public figures of the same workload by another procedure, which are not compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Unlike {
    /// `4 KiB random read, depth 64`.
    pub workload: String,
    /// Where they are from.
    pub repository: String,
    /// Why.
    pub reason: &'static str,
}

/// The figures of one drive of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Ranking {
    /// In the order of the cells.
    pub figures: Vec<RankedFigure>,
    /// Not compared.
    pub unlike: Vec<Unlike>,
}

/// Ranks the drive with this index among those of a table.
pub fn rank(run: &Run, drive: usize, table: &PublicTable) -> Ranking {
    let mut ranking = Ranking::default();
    let Some(record) = run.manifest.drives.get(drive) else {
        return ranking;
    };
    let mut unlike = BTreeSet::new();
    let is_iocost = run.manifest.suite.name == IOCOST;
    for (cell, result) in comparable(run, drive) {
        let cell = Ranked { table, cell, record, result, is_iocost };
        cell.rank(&mut ranking.figures, &mut unlike);
    }
    ranking.unlike = unlike.into_iter().collect();
    ranking
}

/// Finished cells of a drive by itself whose figures are those of a plain workload.
fn comparable(run: &Run, drive: usize) -> impl Iterator<Item = (&CellRecord, &CellResult)> {
    let fits = |cell: &&CellRecord| {
        cell.state == CellState::Finished
            && cell.plan.unfit.is_none()
            && cell.plan.drives.len() == 1
            && is_plain(cell)
    };
    run.cells.iter().filter(fits).filter_map(move |cell| {
        let result = cell.drive(drive)?.result.as_ref()?;
        Some((cell, result))
    })
}

/// Options of `assay job`, which are fio's, with which a workload is another one, whatever its
/// operation and block size; without effect with [`NO_EFFECT`].
const NOT_PLAIN: [&str; 13] = [
    "random_distribution",
    "percentage_random",
    "blockalign",
    "thinktime",
    "latency_target",
    "verify",
    "iodepth_batch",
    "iodepth_batch_submit",
    "zonemode",
    "rate",
    "rate_iops",
    "fsync",
    "fdatasync",
];
const NO_EFFECT: [&str; 4] = ["0", "none", "random", "100"];

/// A closed loop of one operation and block size, as fast as the drive answers.
fn is_plain(cell: &CellRecord) -> bool {
    let workload = &cell.plan.workload;
    let limited = workload.rate_iops > 0.0 || workload.rate_limit_iops.is_some();
    let paused = workload.bursts.is_some() || workload.idle_before_io_ns.is_some();
    let another = workload.durability.is_some()
        || workload.trace.is_some()
        || workload.power_state.is_some()
        || cell.plan.job.is_some()
        || cell.plan.load.is_some();
    let words = workload.options.split([' ', '=']);
    let mut pairs = words.clone().zip(words.skip(1));
    let of_options = pairs.any(|(name, value)| match name.strip_prefix("--") {
        Some("bs") => value.contains([',', '/', '-', ':']),
        Some(name) => NOT_PLAIN.contains(&name) && !NO_EFFECT.contains(&value),
        None => false,
    });
    !(limited || paused || another || of_options)
}

struct Ranked<'a> {
    table: &'a PublicTable,
    cell: &'a CellRecord,
    record: &'a DriveRecord,
    result: &'a CellResult,
    is_iocost: bool,
}

impl Ranked<'_> {
    fn rank(&self, ranked: &mut Vec<RankedFigure>, unlike: &mut BTreeSet<Unlike>) {
        let workload = &self.cell.plan.workload;
        // The script submits 128 MiB at once, which the kernel splits; here they are 32 blocks.
        let is_bandwidth = self.is_iocost && self.cell.plan.step.ends_with("bps");
        let (bs_bytes, iodepth) = match is_bandwidth {
            true => (IOCOST_BLOCK_BYTES, 1),
            false => (workload.bs_bytes, workload.iodepth),
        };
        let same = |figure: &&PublicFigure| {
            // Numbers first: a page compares each of its cells with every figure.
            figure.bs_bytes == bs_bytes
                && (figure.iodepth, figure.numjobs) == (iodepth, workload.numjobs)
                && figure.rw == workload.rw
        };
        // By metric and procedure, the values of each drive.
        let mut groups: BTreeMap<(usize, String), BTreeMap<usize, Vec<f64>>> = BTreeMap::new();
        for figure in self.table.figures.iter().filter(same) {
            match self.reason_against(figure) {
                Some(reason) => {
                    unlike.insert(Unlike {
                        workload: workload_text(workload),
                        repository: figure.repository().to_owned(),
                        reason,
                    });
                }
                None => {
                    let key = (metric_place(&figure.metric), figure.procedure());
                    let of_drive = groups.entry(key).or_default();
                    of_drive.entry(figure.drive).or_default().push(figure.value);
                }
            }
        }
        for ((metric, procedure), values) in groups {
            ranked.extend(self.figure(METRICS.get(metric), procedure, values));
        }
    }

    /// `None` for figures of like procedures.
    fn reason_against(&self, figure: &PublicFigure) -> Option<&'static str> {
        let workload = &self.cell.plan.workload;
        let is_write = !matches!(workload.rw.as_str(), "read" | "randread");
        if self.is_iocost != (figure.repository() == IOCOST_SOURCE) && self.is_iocost {
            return Some("another procedure");
        }
        if is_write && !self.is_iocost {
            return Some("writes depend on what was written before");
        }
        let enough = figure.duration_s.map_or(0.0, |seconds| seconds * LEAST_TIME);
        if self.result.elapsed.as_secs_f64() < enough {
            return Some("measured for less than half as long");
        }
        let capacity = self.record.capacity_bytes as f64;
        let own = workload.span_bytes as f64;
        let is_whole = match workload.span_bytes {
            // An imported job without a size on a device is on all of it.
            0 => self.record.kind == "imported",
            _ => capacity > 0.0 && own >= WHOLE * capacity,
        };
        match figure.area_bytes() {
            None => Some("an area of zones, or none that is stated"),
            Some(0) if is_whole => None,
            Some(0) => Some("on the whole drive"),
            Some(area) => {
                let ratio = own / area as f64;
                let like = (1.0 / AREA_RATIO..=AREA_RATIO).contains(&ratio);
                (!like).then_some("an area of another length")
            }
        }
    }

    fn figure(
        &self,
        metric: Option<&Metric>,
        procedure: String,
        values: BTreeMap<usize, Vec<f64>>,
    ) -> Option<RankedFigure> {
        let metric = metric?;
        let value = (metric.of)(self.result).filter(|value| *value > 0.0)?;
        let own = contribution::drive_identifier(self.record);
        let of_drive = |(drive, values): (&usize, &Vec<f64>)| {
            // A contributed file may have this very drive.
            let drive = self.table.drives.get(*drive).filter(|d| d.drive != own)?;
            Some((drive, median(values.iter().copied())?))
        };
        let mut standings: Vec<(&PublicDrive, f64)> = values.iter().filter_map(of_drive).collect();
        standings.sort_by(|a, b| match metric.less_is_better {
            true => a.1.total_cmp(&b.1),
            false => b.1.total_cmp(&a.1),
        });
        let better = |other: f64| {
            if metric.less_is_better { other < value } else { other > value }
        };
        let standing =
            |(drive, value): &(&PublicDrive, f64)| Standing { model: drive.title(), value: *value };
        let same = standings.iter().filter(|(drive, _)| drive.is_of(self.record));
        let same: Vec<f64> = same.map(|(_, value)| *value).collect();
        let (low, high) =
            (same.iter().copied().reduce(f64::min), same.iter().copied().reduce(f64::max));
        let class = Link::new(self.record).and_then(|link| {
            let member = |drive: &PublicDrive| drive.class().is_some_and(|of| link.includes(of));
            let members = standings.iter().filter(|(drive, _)| member(drive));
            let values: Vec<f64> = members.map(|(_, value)| *value).collect();
            (values.len() >= LEAST_DRIVES).then(|| InClass {
                link: link.to_string(),
                rank: 1 + values.iter().filter(|other| better(**other)).count(),
                of: values.len() + 1,
            })
        });
        Some(RankedFigure {
            cell: self.cell.plan.id.clone(),
            workload: workload_text(&self.cell.plan.workload),
            metric: metric.name.to_owned(),
            value,
            rank: 1 + standings.iter().filter(|(_, other)| better(*other)).count(),
            of: standings.len() + 1,
            class,
            best: standing(standings.first()?),
            median: median(standings.iter().map(|(_, value)| *value))?,
            last: standings.last()?.1,
            same_model: low.zip(high).map(|(low, high)| [low, high]),
            procedure,
        })
    }
}

/// Of the public table, whose units are in ASCII.
const TABLE_MICROSECOND: &str = "us";

struct Metric {
    /// As in the public table.
    name: &'static str,
    /// As in the public table.
    unit: &'static str,
    less_is_better: bool,
    of: fn(&CellResult) -> Option<f64>,
}

fn us(result: &CellResult, percentile: &str) -> Option<f64> {
    let found = result.latency().percentile(percentile)?;
    Some(found.0 as f64 / 1e3)
}

const METRICS: [Metric; 7] = [
    Metric { name: "iops", unit: "IOPS", less_is_better: false, of: |r| Some(r.iops()) },
    Metric { name: "bw", unit: "MiB/s", less_is_better: false, of: |r| Some(r.mib_per_s()) },
    Metric {
        name: "mean",
        unit: TABLE_MICROSECOND,
        less_is_better: true,
        of: |r| Some(r.latency().mean / 1e3),
    },
    Metric { name: "median", unit: TABLE_MICROSECOND, less_is_better: true, of: |r| us(r, "p50") },
    Metric { name: "p99", unit: TABLE_MICROSECOND, less_is_better: true, of: |r| us(r, "p99") },
    Metric { name: "p99.9", unit: TABLE_MICROSECOND, less_is_better: true, of: |r| us(r, "p99_9") },
    Metric {
        name: "p99.99",
        unit: TABLE_MICROSECOND,
        less_is_better: true,
        of: |r| us(r, "p99_99"),
    },
];

/// One past the last of what is not ranked: figures of one direction of a mix.
fn metric_place(name: &str) -> usize {
    let place = METRICS.iter().position(|metric| metric.name == name);
    place.unwrap_or(METRICS.len())
}

fn workload_text(workload: &WorkloadRecord) -> String {
    let threads = match workload.numjobs {
        0 | 1 => String::new(),
        n => format!(", {n} threads"),
    };
    let size = workload.block_size_text();
    let operation = rw_text(&workload.rw);
    format!("{size} {operation}, depth {}{threads}", workload.iodepth)
}

#[cfg(test)]
#[path = "../tests/unit/rank.rs"]
mod tests;
