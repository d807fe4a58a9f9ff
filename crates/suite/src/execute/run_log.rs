//! Where the events of cells go: into the run folder, or to the thread that holds it.

use std::path::Path;

use assay_analysis::steady_state;
use assay_store::model::Entry;
use assay_store::read::Run;
use assay_store::{EncodedEntry, RunWriter, StoreError};

/// Receives the events of cells in the order of the journal.
pub(super) trait RunLog {
    /// The run's identifier.
    fn run_id(&self) -> &str;
    /// The run folder.
    fn folder(&self) -> &Path;
    /// Append an event.
    fn append(&mut self, entry: &Entry) -> Result<(), StoreError>;
    /// Append an event that another thread encoded.
    fn append_encoded(&mut self, entry: EncodedEntry) -> Result<(), StoreError>;
    /// Make what was appended durable.
    fn sync(&mut self) -> Result<(), StoreError>;
    /// Before a cell: wait until what was appended is not too much to hold.
    fn wait_for_room(&mut self);
    /// Why a cell that ends now was not in steady state, by drive: from the run folder, by the rule
    /// that reports and verdicts use. Nothing where the receiver of the events checks it.
    fn not_steady_reasons(&mut self, cell: &str) -> Result<Vec<(usize, String)>, StoreError>;
}

/// Writes to the run folder.
pub(super) struct FolderLog<'a> {
    pub(super) writer: &'a mut RunWriter,
}

impl RunLog for FolderLog<'_> {
    fn run_id(&self) -> &str {
        &self.writer.run_id
    }

    fn folder(&self) -> &Path {
        &self.writer.path
    }

    fn append(&mut self, entry: &Entry) -> Result<(), StoreError> {
        self.writer.append(entry)
    }

    fn append_encoded(&mut self, entry: EncodedEntry) -> Result<(), StoreError> {
        self.writer.append_encoded(&entry)
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.writer.sync()
    }

    fn wait_for_room(&mut self) {}

    fn not_steady_reasons(&mut self, cell: &str) -> Result<Vec<(usize, String)>, StoreError> {
        self.writer.sync()?;
        let run = Run::open_segments(&self.writer.path)?;
        let Some(record) = run.cells.iter().find(|c| c.plan.id == cell) else {
            return Ok(Vec::new());
        };
        let reason = |&drive: &usize| {
            steady_state::not_steady_reason(&run, record, drive).map(|why| (drive, why))
        };
        Ok(record.plan.drives.iter().filter_map(reason).collect())
    }
}
