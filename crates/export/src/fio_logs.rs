//! Export as fio's logs. The formats are those of fio 3.33 with `log_avg_msec` (HOWTO.rst, "Log
//! File Formats"; `flush_samples` and `flush_hist_samples` in iolog.c): lines of `time (ms), value,
//! direction (0 read, 1 write, 2 trim), block size, priority`, an entry for each recording interval
//! at its end, time from the start of the cell. Block size and priority are 0, as in fio's
//! averages. A histogram line is `time, direction, block size` and the completions of each of fio's
//! 1856 latency bins within the interval. Intervals of the ramp are left out, as in fio. There is
//! no `slat` log: the submission is not measured apart.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use assay_stats::Histogram;
use assay_store::StoreError;
use assay_store::journal::{JOURNAL_FILE, JournalReader, LineContent};
use assay_store::model::Entry;
use assay_store::read::{CellRecord, Run};
use assay_units::{KIB, Nanos, Op};

use super::bench_fio::bench_fio_path;
use super::{output_error, replace_file};
use crate::ExportError;

/// `FIO_IO_U_PLAT_BITS` in stat.h.
const BIN_BITS: u32 = 6;
/// `FIO_IO_U_PLAT_NR`: 29 groups of 64.
const BINS: usize = 29 << BIN_BITS;

/// A log of fio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioLog {
    /// `bw`: KiB per second.
    Bandwidth,
    /// `iops`.
    Iops,
    /// `lat`: mean latency from the intended start, nanoseconds.
    Latency,
    /// `clat`: mean latency from the submission, nanoseconds.
    Completion,
    /// `clat_hist`: histograms of the latency from the submission.
    Histogram,
}

impl FioLog {
    /// All of them.
    pub const ALL: [FioLog; 5] =
        [FioLog::Bandwidth, FioLog::Iops, FioLog::Latency, FioLog::Completion, FioLog::Histogram];

    /// What fio's file names say: `PREFIX_bw.1.log`.
    pub fn suffix(self) -> &'static str {
        match self {
            FioLog::Bandwidth => "bw",
            FioLog::Iops => "iops",
            FioLog::Latency => "lat",
            FioLog::Completion => "clat",
            FioLog::Histogram => "clat_hist",
        }
    }
}

#[derive(Default)]
struct Row {
    start: Nanos,
    end: Nanos,
    ios: u64,
    bytes: u64,
    latency: Histogram,
    /// Set where it differs from the latency.
    service: Option<Histogram>,
}

impl Row {
    fn completion(&self) -> &Histogram {
        self.service.as_ref().unwrap_or(&self.latency)
    }

    fn seconds(&self) -> f64 {
        (self.end - self.start).as_secs_f64()
    }
}

/// The ramp's part of an interval is left out.
type Rows = BTreeMap<(u32, Op), Row>;

/// Writes every cell of a run as logs, named as [`super::export_bench_fio`] does:
/// `DRIVE/STEP/BLOCK/RW-iodepth-N-numjobs-N_bw.1.log`. `fio-plot -i` takes one of the innermost
/// folders, and every file whose name begins with `..._clat` for a log of latencies, so the name of
/// the histograms begins otherwise. Returns the files.
pub fn export_fio_logs(run: &Run, folder: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let mut files: Vec<PathBuf> = Vec::new();
    for cell in &run.cells {
        for part in &cell.drives {
            let rows = rows(run, cell, part.drive)?;
            if rows.is_empty() {
                continue;
            }
            let (own, _) = bench_fio_path(cell, &run.manifest.drives[part.drive]);
            let workload = &cell.plan.workload;
            let rw = workload.rw.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
            let prefix = format!("{rw}-iodepth-{}-numjobs-{}", workload.iodepth, workload.numjobs);
            let path_of = |number: usize, log: FioLog| {
                let mark = if log == FioLog::Histogram { "-hist" } else { "" };
                let name = format!("{prefix}{mark}_{}.{number}.log", log.suffix());
                folder.join(&own).join(name)
            };
            let free = |number: &usize| !files.contains(&path_of(*number, FioLog::Bandwidth));
            let number = (1..).find(free).unwrap_or(1);
            for log in FioLog::ALL {
                let path = path_of(number, log);
                if let Some(parent) = path.parent() {
                    fs::create_dir_all(parent)
                        .map_err(StoreError::io("create the folder", parent))?;
                }
                write_rows(std::slice::from_ref(&rows), log, &path)?;
                files.push(path);
            }
        }
    }
    Ok(files)
}

/// Writes one log of cells of one drive, one after the other; an existing file is replaced.
pub fn write_fio_log(
    run: &Run,
    cells: &[&str],
    log: FioLog,
    path: &Path,
) -> Result<(), ExportError> {
    let named = run.cells.iter().filter(|cell| cells.contains(&cell.plan.id.as_str()));
    let with_drive = named.filter_map(|cell| Some((cell, cell.drives.first()?.drive)));
    let rows: Result<Vec<Rows>, ExportError> =
        with_drive.map(|(cell, drive)| rows(run, cell, drive)).collect();
    write_rows(&rows?, log, path)
}

fn write_rows(cells: &[Rows], log: FioLog, path: &Path) -> Result<(), ExportError> {
    replace_file(path, |file| {
        for ((_, op), row) in cells.iter().flatten() {
            let direction = match op {
                Op::Read => 0,
                Op::Write => 1,
                _ => 2,
            };
            let ms = (row.end.0 + 500_000) / 1_000_000;
            let per_second = |amount: f64| (amount / row.seconds()).round();
            let value = match log {
                FioLog::Histogram => {
                    write!(file, "{ms}, {direction}, 0").map_err(output_error)?;
                    for ios in bins(row.completion()) {
                        write!(file, ", {ios}").map_err(output_error)?;
                    }
                    writeln!(file).map_err(output_error)?;
                    continue;
                }
                FioLog::Bandwidth => per_second(row.bytes as f64 / KIB as f64),
                FioLog::Iops => per_second(row.ios as f64),
                // As fio, no line where nothing completed.
                FioLog::Latency | FioLog::Completion if row.latency.is_empty() => continue,
                FioLog::Latency => row.latency.mean_ns().round(),
                FioLog::Completion => row.completion().mean_ns().round(),
            };
            writeln!(file, "{ms}, {value:.0}, {direction}, 0, 0").map_err(output_error)?;
        }
        Ok(())
    })
}

/// The rest of the last interval, in which the I/Os in flight complete, counts as part of the
/// interval before it (docs/run-folder.md).
fn rows(run: &Run, cell: &CellRecord, drive: usize) -> Result<Rows, ExportError> {
    let path = run.path.join(JOURNAL_FILE);
    let mut reader = JournalReader::open(&path)?;
    let mut rows = Rows::new();
    let mut ramp_end = Nanos::ZERO;
    let part = cell.drives.iter().find(|part| part.drive == drive);
    let series = part.map_or(&[][..], |part| part.series.as_slice());
    while let Some(line) = reader.next_line().map_err(StoreError::io("read", &path))? {
        let LineContent::Entry(entry) = line.content else {
            continue;
        };
        match *entry {
            // An earlier attempt does not count.
            Entry::CellStart { cell: started, .. } if started == cell.plan.id => rows.clear(),
            Entry::Interval(record) if record.cell == cell.plan.id && record.drive == drive => {
                let interval = record.interval();
                if interval.ramp {
                    ramp_end = ramp_end.max(interval.end);
                    continue;
                }
                for (op, counts) in &interval.ops {
                    if !matches!(op, Op::Read | Op::Write | Op::Discard) {
                        continue;
                    }
                    let holds = |p: &&assay_store::series::OpSample| {
                        !p.ramp && p.op == *op && p.start <= interval.start && interval.end <= p.end
                    };
                    let within = series.iter().find(holds);
                    let index = within.map_or(interval.index, |p| p.index);
                    let row = rows
                        .entry((index, *op))
                        .or_insert_with(|| Row { start: interval.start, ..Row::default() });
                    row.start = row.start.min(interval.start);
                    row.end = row.end.max(interval.end);
                    row.ios += counts.ios;
                    row.bytes += counts.bytes;
                    row.latency.merge(&counts.latency);
                    if let Some(service) = &counts.service {
                        row.service.get_or_insert_default().merge(service);
                    }
                }
            }
            _ => {}
        }
    }
    rows.retain(|_, row| row.end > row.start);
    // fio's times begin where the ramp ends.
    for row in rows.values_mut() {
        (row.start, row.end) = (row.start - ramp_end, row.end - ramp_end);
    }
    Ok(rows)
}

fn bins(histogram: &Histogram) -> Vec<u64> {
    let mut bins = vec![0; BINS];
    let mut before = 0;
    for (highest, up_to) in histogram.cumulative() {
        bins[bin_of(highest.0)] += up_to - before;
        before = up_to;
    }
    bins
}

/// `plat_val_to_idx` in fio's stat.c: exact below 128 ns, 64 bins for each power of two above.
fn bin_of(ns: u64) -> usize {
    let highest_bit = ns.checked_ilog2().unwrap_or(0);
    if highest_bit <= BIN_BITS {
        return ns as usize;
    }
    let dropped = highest_bit - BIN_BITS;
    let base = (u64::from(dropped) + 1) << BIN_BITS;
    let within = (ns >> dropped) & ((1 << BIN_BITS) - 1);
    ((base + within) as usize).min(BINS - 1)
}

#[cfg(test)]
#[path = "../tests/unit/fio_logs.rs"]
mod tests;
