//! Writes a partition anew: the rows that stay are copied from its tables, those of new runs come
//! from their run folders. Run folders are read by several threads, some at a time, so that memory
//! is bounded; one thread writes rows in the order of the runs' names.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use assay_store::model::CellKind;
use assay_store::{Run, StoreError};

use crate::ExportError;
use crate::lake::changes::{Candidate, Candidates};
use crate::lake::figures::{self, Observe};
use crate::lake::index::Index;
use crate::lake::partition::{Partition, file_name, files};
use crate::lake::{FILE_BYTES, Joined, Lake, LeftOut, swap};
use crate::parquet::{TableReader, TableWriter};
use crate::table::{Column, JoinedRun, Row};

const MAX_READERS: usize = 8;
/// Run folders that are read at a time, per thread.
const RUNS_PER_READER: usize = 8;

/// Rows of a run, by table.
type RunRows = Vec<Vec<Row>>;

#[derive(Clone, Copy)]
pub(crate) struct Change<'a> {
    /// Runs that are added, or put in place of their earlier state.
    pub(crate) new: &'a Candidates,
    pub(crate) remove: &'a BTreeSet<String>,
    pub(crate) observe: Observe<'a>,
}

/// Tables in the order of [`RunRows`].
fn tables() -> impl Iterator<Item = (&'static str, Vec<Column>)> {
    let joined = JoinedRun::NAMES.into_iter().zip(JoinedRun::definitions());
    joined.chain([(figures::NAME, figures::columns())])
}

pub(crate) fn rebuild(
    lake: &Lake,
    partition: &Partition,
    change: Change<'_>,
    index: &Index,
    joined: &mut Joined,
) -> Result<(), ExportError> {
    let Change { new, remove, .. } = change;
    let target = partition.folder(lake.root());
    let staging = swap::staging(lake.root())?;
    let mut rebuilt = Vec::new();
    for (name, columns) in tables() {
        let before = Before::open(files(&target, name)?, &columns)?;
        let after = After::new(&staging, name, columns);
        rebuilt.push(Rebuilt { before, after });
    }
    let runs: Vec<(&String, &Candidate)> = new.iter().collect();
    let mut changed = !remove.is_empty();
    for batch in runs.chunks(readers() * RUNS_PER_READER) {
        for ((name, candidate), rows) in batch.iter().zip(read_runs(batch, change.observe)) {
            let rows = match rows {
                Ok(rows) => rows,
                Err(reason) => {
                    let folder = candidate.folder.clone();
                    joined.left_out.push(LeftOut { folder, reason });
                    continue;
                }
            };
            for (table, rows) in rebuilt.iter_mut().zip(rows) {
                table.copy_before(Some(name), remove)?;
                table.before.skip(name)?;
                for row in rows {
                    table.after.push(name, row)?;
                }
            }
            changed = true;
            let names = match index.runs.contains_key(*name) {
                true => &mut joined.replaced,
                false => &mut joined.added,
            };
            names.push((*name).clone());
        }
    }
    if !changed {
        return swap::clear_staging(lake.root());
    }
    let mut names = Vec::new();
    let mut is_empty = true;
    for mut table in rebuilt {
        table.copy_before(None, remove)?;
        // `runs` has rows of every run.
        is_empty &= table.after.last_run.is_empty();
        names.extend(table.after.finish()?);
    }
    if is_empty {
        return swap::remove(lake.root(), &target);
    }
    swap::install(lake.root(), &target)?;
    let files = names.into_iter().map(|name| target.join(name));
    joined.files.extend(files);
    Ok(())
}

fn readers() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get().min(MAX_READERS))
}

/// Rows, or why a run is left out, in the order of the runs.
fn read_runs(
    batch: &[(&String, &Candidate)],
    observe: Observe<'_>,
) -> Vec<Result<RunRows, String>> {
    let share = batch.len().div_ceil(readers()).max(1);
    std::thread::scope(|scope| {
        let shares: Vec<_> = batch
            .chunks(share)
            .map(|runs| scope.spawn(|| runs.iter().map(|(_, run)| rows_of(run, observe)).collect()))
            .collect();
        let read = |thread: std::thread::ScopedJoinHandle<'_, Vec<_>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        shares.into_iter().flat_map(read).collect()
    })
}

fn rows_of(candidate: &Candidate, observe: Observe<'_>) -> Result<RunRows, String> {
    let read = |run: Result<Run, StoreError>| run.map_err(|error| error.to_string());
    let run = read(Run::open(&candidate.folder))?;
    if let Some(reason) = damage(&run) {
        return Err(reason);
    }
    let figures = figures::rows(&run, &candidate.joined, observe);
    // Figures and conclusions are of the intervals as recorded, tables of soaks of minutes.
    let found = assay_analysis::conclusions::conclude_run(&run);
    let has_soak = run.cells.iter().any(|cell| cell.plan.kind == CellKind::Soak);
    let run = match has_soak {
        true => read(Run::open_minutes(&candidate.folder))?,
        false => run,
    };
    let tables = candidate.joined.tables(&run, &found).into_iter();
    let rows = tables.map(|table| table.rows.collect());
    Ok(rows.chain([figures]).collect())
}

/// Why the rows of a run would be wrong. The torn last line of a run that was killed is no damage.
fn damage(run: &Run) -> Option<String> {
    let (first, rest) = run.damaged_lines.split_first()?;
    let is_torn = rest.is_empty() && run.outcome.is_none() && first.contains("cut short");
    let more = match rest.len() {
        0 => String::new(),
        n => format!(", and {n} more"),
    };
    (!is_torn).then(|| format!("it is damaged: {first}{more}"))
}

struct Rebuilt {
    before: Before,
    after: After,
}

impl Rebuilt {
    /// Copies the rows of the runs before this one, or of all that are left.
    fn copy_before(
        &mut self,
        run: Option<&str>,
        remove: &BTreeSet<String>,
    ) -> Result<(), ExportError> {
        while let Some(name) = self.before.run()
            && run.is_none_or(|run| name < run)
        {
            let Some((name, row)) = self.before.take()? else {
                break;
            };
            if !remove.contains(&name) {
                self.after.push(&name, row)?;
            }
        }
        Ok(())
    }
}

/// The rows that a table has, in order.
struct Before {
    columns: Vec<Column>,
    files: std::vec::IntoIter<PathBuf>,
    reader: Option<TableReader>,
    next: Option<(String, Row)>,
}

impl Before {
    fn open(files: Vec<PathBuf>, columns: &[Column]) -> Result<Before, ExportError> {
        let mut before = Before {
            columns: columns.to_vec(),
            files: files.into_iter(),
            reader: None,
            next: None,
        };
        before.take()?;
        Ok(before)
    }

    fn run(&self) -> Option<&str> {
        self.next.as_ref().map(|(run, _)| run.as_str())
    }

    fn take(&mut self) -> Result<Option<(String, Row)>, ExportError> {
        let taken = self.next.take();
        loop {
            if let Some(reader) = &mut self.reader
                && let Some(row) = reader.next_row()?
            {
                // The first column of every table.
                let run = row[0].text().unwrap_or_default().to_owned();
                self.next = Some((run, row));
                return Ok(taken);
            }
            let Some(path) = self.files.next() else {
                return Ok(taken);
            };
            self.reader = Some(TableReader::open(&path, &self.columns)?);
        }
    }

    fn skip(&mut self, run: &str) -> Result<(), ExportError> {
        while self.run() == Some(run) {
            self.take()?;
        }
        Ok(())
    }
}

/// A table being written, in as many files as its rows fill.
struct After {
    folder: PathBuf,
    table: &'static str,
    columns: Vec<Column>,
    names: Vec<String>,
    writer: Option<TableWriter<BufWriter<File>>>,
    last_run: String,
}

impl After {
    fn new(folder: &Path, table: &'static str, columns: Vec<Column>) -> After {
        After {
            folder: folder.to_owned(),
            table,
            columns,
            names: Vec::new(),
            writer: None,
            last_run: String::new(),
        }
    }

    fn push(&mut self, run: &str, row: Row) -> Result<(), ExportError> {
        if self.last_run != run {
            // Only here: where files are cut depends on the runs before, not on how they came.
            if let Some(writer) = self.writer.take_if(|w| w.bytes_written() >= FILE_BYTES) {
                self.close(writer)?;
            }
            run.clone_into(&mut self.last_run);
        }
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.begin()?,
        };
        writer.push(row)?;
        self.writer = Some(writer);
        Ok(())
    }

    fn begin(&mut self) -> Result<TableWriter<BufWriter<File>>, ExportError> {
        let name = file_name(self.table, self.names.len());
        let path = self.folder.join(&name);
        let file =
            assay_output::create_new(&path).map_err(|e| ExportError::lake("create", &path, e))?;
        self.names.push(name);
        let out = BufWriter::with_capacity(1 << 20, file);
        let metadata = [("assay.table", self.table.to_owned())];
        TableWriter::new(out, &path, self.columns.clone(), &metadata)
    }

    fn close(&self, writer: TableWriter<BufWriter<File>>) -> Result<(), ExportError> {
        let path = self.names.last().map(|name| self.folder.join(name));
        let path = path.unwrap_or_else(|| self.folder.clone());
        let written = writer.close()?.into_inner().map_err(|e| e.into_error());
        let synced = written.and_then(|file| file.sync_all());
        synced.map_err(|e| ExportError::lake("write", &path, e))
    }

    /// A table without rows has one file too, so that every query finds it.
    fn finish(mut self) -> Result<Vec<String>, ExportError> {
        let writer = match self.writer.take() {
            Some(writer) => Some(writer),
            None if self.names.is_empty() => Some(self.begin()?),
            None => None,
        };
        if let Some(writer) = writer {
            self.close(writer)?;
        }
        Ok(self.names)
    }
}
