//! Where the events of cells go: into the run folder, or to the thread that holds it.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use assay_analysis::steady_state;
use assay_store::model::Entry;
use assay_store::read::Run;
use assay_store::{EncodedEntries, RunWriter, StoreError};

/// Receives the events of cells in the order of the journal.
pub(super) trait RunLog {
    fn run_id(&self) -> &str;
    fn folder(&self) -> &Path;
    fn append(&self, entry: &Entry) -> Result<(), StoreError>;
    fn append_encoded(&self, entry: EncodedEntries) -> Result<(), StoreError>;
    fn sync(&self) -> Result<(), StoreError>;
    /// Before a cell: wait until what was appended is not too much to hold.
    fn wait_for_room(&self);
    /// From the run folder, by the rule that reports and verdicts use.
    fn not_steady_reasons(&self, cell: &str) -> Result<Vec<(usize, String)>, StoreError>;
}

pub(super) struct FolderLog<'a> {
    run_id: String,
    folder: PathBuf,
    writer: RefCell<&'a mut RunWriter>,
}

impl FolderLog<'_> {
    pub(super) fn new(writer: &mut RunWriter) -> FolderLog<'_> {
        FolderLog {
            run_id: writer.run_id.clone(),
            folder: writer.path.clone(),
            writer: RefCell::new(writer),
        }
    }
}

impl RunLog for FolderLog<'_> {
    fn run_id(&self) -> &str {
        &self.run_id
    }

    fn folder(&self) -> &Path {
        &self.folder
    }

    fn append(&self, entry: &Entry) -> Result<(), StoreError> {
        self.writer.borrow_mut().append(entry)
    }

    fn append_encoded(&self, entry: EncodedEntries) -> Result<(), StoreError> {
        self.writer.borrow_mut().append_encoded(&entry)
    }

    fn sync(&self) -> Result<(), StoreError> {
        self.writer.borrow_mut().sync()
    }

    fn wait_for_room(&self) {}

    fn not_steady_reasons(&self, cell: &str) -> Result<Vec<(usize, String)>, StoreError> {
        self.writer.borrow_mut().sync()?;
        let run = Run::open_segments(&self.folder)?;
        let Some(record) = run.cells.iter().find(|c| c.plan.id == cell) else {
            return Ok(Vec::new());
        };
        let reason = |&drive: &usize| {
            steady_state::not_steady_reason(&run, record, drive).map(|why| (drive, why))
        };
        Ok(record.plan.drives.iter().filter_map(reason).collect())
    }
}
