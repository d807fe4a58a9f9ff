//! Export as fio's logs. The formats are those of fio 3.33 with `log_avg_msec` (HOWTO.rst, "Log
//! File Formats"; `flush_samples` and `flush_hist_samples` in iolog.c): lines of `time (ms), value,
//! direction (0 read, 1 write, 2 trim), block size, priority`, an entry for each recording interval
//! at its end, time from the start of the cell. Block size and priority are 0, as in fio's
//! averages. A histogram line is `time, direction, block size` and the completions of each of fio's
//! 1856 latency bins within the interval. Intervals of the ramp are left out, as in fio. There is
//! no `slat` log: the submission is not measured apart.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use assay_stats::{Histogram, Interval, OpInterval};
use assay_store::StoreError;
use assay_store::journal::{JOURNAL_FILE, JournalReader, LineContent};
use assay_store::model::Entry;
use assay_store::read::{CellDrive, Run};
use assay_store::series::OpSample;
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
    /// Number of the [`Part`] that it was measured in.
    part: usize,
    start: Nanos,
    end: Nanos,
    ios: u64,
    bytes: u64,
    latency: Mean,
    completion: Mean,
    /// Of the latency from the submission: fio's bins that are not empty, ascending. A run has as
    /// many rows as intervals, and these fit a hundredth of the memory of a [`Histogram`].
    bins: Vec<(usize, u64)>,
}

impl Row {
    fn seconds(&self) -> f64 {
        (self.end - self.start).as_secs_f64()
    }

    fn add(&mut self, interval: &Interval, counts: &OpInterval) {
        self.start = self.start.min(interval.start);
        self.end = self.end.max(interval.end);
        self.ios += counts.ios;
        self.bytes += counts.bytes;
        let completion = counts.service.as_ref().unwrap_or(&counts.latency);
        self.latency.add(&counts.latency);
        self.completion.add(completion);
        add_to_bins(&mut self.bins, completion);
    }
}

#[derive(Default)]
struct Mean {
    count: u64,
    sum_ns: u128,
}

impl Mean {
    fn add(&mut self, histogram: &Histogram) {
        self.count += histogram.count();
        self.sum_ns += histogram.sum_ns();
    }

    fn ns(&self) -> f64 {
        self.sum_ns as f64 / self.count as f64
    }
}

fn add_to_bins(bins: &mut Vec<(usize, u64)>, histogram: &Histogram) {
    let mut before = 0;
    for (highest, up_to) in histogram.cumulative() {
        let (bin, ios) = (bin_of(highest.0), up_to - before);
        before = up_to;
        match bins.binary_search_by_key(&bin, |&(other, _)| other) {
            Ok(place) => bins[place].1 += ios,
            Err(place) => bins.insert(place, (bin, ios)),
        }
    }
}

/// The rows of a cell on a drive, by interval. The ramp's part of an interval is left out.
struct Rows {
    rows: BTreeMap<(u32, Op), Row>,
    ramp_end: Nanos,
    /// Of each operation's intervals, by start: the end and the index.
    indices: BTreeMap<(Op, Nanos), (Nanos, u32)>,
}

/// A cell of the journal: one of the run, or a segment of one.
struct Part {
    number: usize,
    /// Place of the cell of the run.
    cell: usize,
    /// For each drive of the cell: what is added to times and indices.
    begins: Vec<(Nanos, u32)>,
    is_begun: bool,
}

impl Part {
    /// By identifier.
    fn all(run: &Run) -> HashMap<&str, Part> {
        let whole = run.cells.iter().enumerate().map(|(cell, record)| {
            (record.plan.id.as_str(), cell, vec![(Nanos::ZERO, 0); record.drives.len()])
        });
        let segments = run.segments.iter();
        let segments = segments.map(|(id, place)| (id.as_str(), place.cell, place.begins.clone()));
        let part =
            |(number, (id, cell, begins))| (id, Part { number, cell, begins, is_begun: false });
        whole.chain(segments).enumerate().map(part).collect()
    }
}

/// The logs of a run.
pub struct FioLogs<'a> {
    run: &'a Run,
    /// By place of the cell and drive of the run.
    rows: HashMap<(usize, usize), Rows>,
}

/// Writes every cell of a run as logs, named as [`super::export_bench_fio`] does:
/// `DRIVE/STEP/BLOCK/RW-iodepth-N-numjobs-N_bw.1.log`. `fio-plot -i` takes one of the innermost
/// folders, and every file whose name begins with `..._clat` for a log of latencies, so the name of
/// the histograms begins otherwise. Returns the files.
pub fn export_fio_logs(run: &Run, folder: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let logs = FioLogs::read(run)?;
    let mut files: Vec<PathBuf> = Vec::new();
    for (place, cell) in run.cells.iter().enumerate() {
        for part in &cell.drives {
            let Some(rows) = logs.rows(place, part.drive) else {
                continue;
            };
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
                replace_file(&path, |file| write_rows(rows, log, file))?;
                files.push(path);
            }
        }
    }
    Ok(files)
}

fn write_rows(rows: &Rows, log: FioLog, file: &mut impl Write) -> Result<(), ExportError> {
    for ((_, op), row) in &rows.rows {
        let direction = match op {
            Op::Read => 0,
            Op::Write => 1,
            _ => 2,
        };
        let ms = (row.end.0 + 500_000) / 1_000_000;
        let per_second = |amount: f64| (amount / row.seconds()).round();
        let value = match log {
            FioLog::Histogram => {
                let line = format!("{ms}, {direction}, 0{}\n", all_bins(&row.bins));
                file.write_all(line.as_bytes()).map_err(output_error)?;
                continue;
            }
            FioLog::Bandwidth => per_second(row.bytes as f64 / KIB as f64),
            FioLog::Iops => per_second(row.ios as f64),
            // As fio, no line where nothing completed.
            FioLog::Latency | FioLog::Completion if row.latency.count == 0 => continue,
            FioLog::Latency => row.latency.ns().round(),
            FioLog::Completion => row.completion.ns().round(),
        };
        writeln!(file, "{ms}, {value:.0}, {direction}, 0, 0").map_err(output_error)?;
    }
    Ok(())
}

impl<'a> FioLogs<'a> {
    /// Reads the journal once, for all cells and drives.
    pub fn read(run: &'a Run) -> Result<FioLogs<'a>, ExportError> {
        let path = run.path.join(JOURNAL_FILE);
        let mut reader = JournalReader::open(&path)?;
        let mut parts = Part::all(run);
        let mut logs = FioLogs { run, rows: HashMap::new() };
        while let Some(line) = reader.next_line().map_err(StoreError::io("read", &path))? {
            let LineContent::Entry(entry) = line.content else {
                continue;
            };
            match *entry {
                Entry::CellStart { cell: started, .. } => {
                    if let Some(part) = parts.get_mut(started.as_str()) {
                        logs.begin(part);
                    }
                }
                Entry::Interval(record) => {
                    if let Some(part) = parts.get(record.cell.as_str()) {
                        logs.add(part, record.drive, record.interval());
                    }
                }
                _ => {}
            }
        }
        for rows in logs.rows.values_mut() {
            rows.finish();
        }
        Ok(logs)
    }

    /// An earlier attempt does not count.
    fn begin(&mut self, part: &mut Part) {
        if std::mem::replace(&mut part.is_begun, true) {
            let of_cell = self.rows.iter_mut().filter(|((cell, _), _)| *cell == part.cell);
            of_cell.for_each(|(_, rows)| rows.rows.retain(|_, row| row.part != part.number));
        }
    }

    /// Of a drive that the cell does not have, nothing is kept.
    fn add(&mut self, part: &Part, drive: usize, mut interval: Interval) {
        let cell = &self.run.cells[part.cell];
        let Some(place) = cell.drives.iter().position(|one| one.drive == drive) else {
            return;
        };
        let (begin, index) = part.begins[place];
        interval.index = interval.index.saturating_add(index);
        (interval.start, interval.end) = (interval.start + begin, interval.end + begin);
        let rows = self.rows.entry((part.cell, drive));
        rows.or_insert_with(|| Rows::new(&cell.drives[place])).add(part.number, &interval);
    }

    /// None of a cell without an interval.
    fn rows(&self, place: usize, drive: usize) -> Option<&Rows> {
        self.rows.get(&(place, drive)).filter(|rows| !rows.rows.is_empty())
    }

    /// Writes one log of cells, one after the other; an existing file is replaced.
    pub fn write(&self, cells: &[&str], log: FioLog, path: &Path) -> Result<(), ExportError> {
        let all = self.run.cells.iter().enumerate();
        let named = all.filter(|(_, cell)| cells.contains(&cell.plan.id.as_str()));
        let rows = named.filter_map(|(place, cell)| self.rows(place, cell.drives.first()?.drive));
        replace_file(path, |file| {
            for rows in rows {
                write_rows(rows, log, file)?;
            }
            Ok(())
        })
    }
}

impl Rows {
    fn new(drive: &CellDrive) -> Rows {
        let samples = drive.series.iter().filter(|sample| !sample.ramp);
        let index = |s: &OpSample| ((s.op, s.start), (s.end, s.index));
        let indices = samples.map(index).collect();
        Rows { rows: BTreeMap::new(), ramp_end: Nanos::ZERO, indices }
    }

    /// The rest of the last interval, in which the I/Os in flight complete, counts as part of the
    /// interval before it (docs/run-folder.md).
    fn add(&mut self, part: usize, interval: &Interval) {
        if interval.ramp {
            self.ramp_end = self.ramp_end.max(interval.end);
            return;
        }
        for (op, counts) in &interval.ops {
            if !matches!(op, Op::Read | Op::Write | Op::Discard) {
                continue;
            }
            let before = self.indices.range((*op, Nanos::ZERO)..=(*op, interval.start)).next_back();
            let within = before.filter(|(_, (end, _))| interval.end <= *end);
            let index = within.map_or(interval.index, |(_, (_, index))| *index);
            let begin = || Row { part, start: interval.start, ..Row::default() };
            self.rows.entry((index, *op)).or_insert_with(begin).add(interval, counts);
        }
    }

    fn finish(&mut self) {
        self.rows.retain(|_, row| row.end > row.start);
        // fio's times begin where the ramp ends.
        for row in self.rows.values_mut() {
            (row.start, row.end) = (row.start - self.ramp_end, row.end - self.ramp_end);
        }
    }
}

/// Each with a comma before it.
fn all_bins(occupied: &[(usize, u64)]) -> String {
    const EMPTY: &str = ", 0";
    let mut text = String::with_capacity(BINS * EMPTY.len());
    let mut next = 0;
    for &(bin, ios) in occupied {
        text.push_str(&EMPTY.repeat(bin - next));
        text.push_str(&format!(", {ios}"));
        next = bin + 1;
    }
    text + &EMPTY.repeat(BINS - next)
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
