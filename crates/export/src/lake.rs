//! The lake: Parquet tables of many run folders, for questions about many drives.
//!
//! The tables are made from run folders and can be thrown away. A thousand runs exported one by one
//! are thousands of small files, in which a count takes seconds; joined, they are one file per
//! table and partition.
//!
//! # Architecture
//! ```text
//! ROOT/plan=PLAN/month=YYYY-MM/{runs,cells,intervals,telemetry,warnings,inventory,conclusions,
//!    phases,modes,figures}-NNNN.parquet
//! ```
//! The partitioning is Hive's: `plan` and `month` (of the run's creation, UTC) are columns for
//! every reader that knows it, and are in no file. Columns and rows come from
//! [`crate::table`], as in exports of single runs. `figures` has the observations of
//! the runs, as the caller finds them; [`Lake::observations`] gives them back.
//!
//! [`Lake::join`] adds runs, [`Lake::read`] gives the rows back. A partition is a function of the
//! runs in it: they are in the order of their names, and files are cut where the runs before fill
//! one. So the same run folders give the same bytes, whatever the order and however often. A
//! partition that changes is written beside the old one, whose rows are copied and not read from
//! run folders again (`rebuild`), and exchanged with it in one step (`swap`). A run that is known
//! and has not grown is left alone; one that was resumed since, or of which more is known, replaces
//! its rows. A damaged run folder is left out and reported, and its earlier rows stay.
//!
//! # Non-goals
//! Raw histograms and the seconds of soaks, which stay in the run folder; a server; transactions
//! over several partitions; object stores: copy the files.

mod changes;
mod figures;
mod index;
mod partition;
mod rebuild;
mod swap;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::ExportError;
use crate::parquet::TableReader;
use crate::table::{Column, Row};

pub use crate::table::{JoinedRun, RunFacts, Value, ValueType};
pub use figures::Observe;
pub use partition::{NO_PLAN, Partition};

use changes::{Candidates, Changes};
use index::Index;
use rebuild::{Change, rebuild};

/// A file is closed at the end of the run with which it reaches this size.
pub const FILE_BYTES: usize = 64 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub folder: PathBuf,
    /// Facts known of the run beside its folder.
    pub facts: RunFacts,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    pub added: Vec<String>,
    /// Runs whose rows were replaced.
    pub replaced: Vec<String>,
    pub unchanged: usize,
    pub left_out: Vec<LeftOut>,
    /// Files of the partitions that changed.
    pub files: Vec<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub folder: PathBuf,
    pub reason: String,
}

#[derive(Clone, Debug)]
pub struct Lake {
    root: PathBuf,
}

impl Lake {
    /// [`Lake::join`] makes the directory when it is missing.
    pub fn new(root: &Path) -> Lake {
        let root = root.to_owned();
        Lake { root }
    }

    /// Adds the runs that are new or have changed; `observe` finds the figures of a run. Fails with
    /// [`ExportError::Busy`] while another process joins. A run folder that cannot be read is no
    /// error: it is [`Joined::left_out`].
    pub fn join(&self, sources: &[Source], observe: Observe<'_>) -> Result<Joined, ExportError> {
        let io = |action, error| ExportError::lake(action, &self.root, error);
        fs::create_dir_all(&self.root).map_err(|e| io("create the folder", e))?;
        let _lock = swap::lock(&self.root)?;
        swap::clear_staging(&self.root)?;
        let index = Index::read(self)?;
        let mut joined = Joined::default();
        let Changes { new, moved } = changes::find_changes(sources, &index, &mut joined);
        let none = BTreeSet::new();
        for (partition, runs) in &new {
            let change = Change { new: runs, remove: &none, observe };
            rebuild(self, partition, change, &index, &mut joined)?;
        }
        // After the runs are in their new partition: one that could not be read stays where it is.
        let added: BTreeSet<&String> = joined.added.iter().chain(&joined.replaced).collect();
        let mut leaving = Vec::new();
        for (partition, runs) in moved {
            let runs: BTreeSet<String> = runs.into_iter().filter(|r| added.contains(r)).collect();
            leaving.push((partition, runs));
        }
        for (partition, runs) in leaving.into_iter().filter(|(_, runs)| !runs.is_empty()) {
            let new = &Candidates::new();
            let change = Change { new, remove: &runs, observe };
            rebuild(self, &partition, change, &index, &mut joined)?;
        }
        for names in [&mut joined.added, &mut joined.replaced] {
            names.sort();
        }
        joined.left_out.sort_by(|a, b| a.folder.cmp(&b.folder));
        Ok(joined)
    }

    pub fn partitions(&self) -> Result<Vec<Partition>, ExportError> {
        partition::list(&self.root)
    }

    pub fn files(&self, partition: &Partition, table: &str) -> Result<Vec<PathBuf>, ExportError> {
        partition::files(&partition.folder(&self.root), table)
    }

    /// Rows of all partitions, in order of plan, month and run. A `wanted` column that a file does
    /// not have is absent.
    pub fn read<E: From<ExportError>>(
        &self,
        table: &str,
        wanted: &[Column],
        each: &mut dyn FnMut(&Partition, Row) -> Result<(), E>,
    ) -> Result<(), E> {
        for partition in self.partitions()? {
            for file in self.files(&partition, table)? {
                let mut reader = TableReader::open(&file, wanted)?;
                while let Some(row) = reader.next_row()? {
                    each(&partition, row)?;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }
}
