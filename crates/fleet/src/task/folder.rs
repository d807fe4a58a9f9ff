//! Run folders of a host: the local one, or the shipped one; and what a folder says about its run.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_store::journal::JOURNAL_FILE;
use assay_store::model::{Manifest, RunEnd, warning};
use assay_store::read::CellState;
use assay_store::run::{CHECKSUM_FILE, MANIFEST_FILE};
use assay_store::{Run, RunWriter, StoreError};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::machine::{FolderState, JournalEnd};
use crate::claim::SuiteOutcome;
use crate::shared_store::SharedStore;
use crate::ship::{self, Chain, ShipError};

#[derive(Clone)]
pub struct FolderSource {
    pub store: Arc<dyn SharedStore>,
    /// Prefix of the folder's keys in the store.
    pub prefix: String,
    /// The journal as shipped when the claim was taken.
    pub chain: Chain,
    /// An earlier attempt began the suite.
    pub was_begun: bool,
    pub path: PathBuf,
    pub attempt: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error(transparent)]
    Ship(#[from] ShipError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl FolderError {
    /// The next task can succeed without an operator.
    pub fn is_temporary(&self) -> bool {
        matches!(self, FolderError::Ship(ShipError::Store(error)) if error.is_temporary())
    }
}

impl FolderSource {
    /// The local folder where it goes on from what was shipped, else the shipped one, else none. A
    /// local folder that does not is set aside.
    pub fn prepare(&self) -> Result<FolderState, FolderError> {
        if self.path.exists() {
            if is_in_use(&self.path)? {
                return Ok(FolderState::InUse);
            }
            if self.is_local_current()? {
                return self.local_state();
            }
            self.set_aside()?;
        }
        // Nothing can have been shipped before the first attempt at this suite.
        let fetched = self.was_begun
            && ship::fetch(self.store.as_ref(), &self.prefix, &self.chain, &self.path)?;
        match fetched {
            true => self.local_state(),
            false => Ok(FolderState::New),
        }
    }

    /// The local folder is a run, and has all that was shipped.
    fn is_local_current(&self) -> Result<bool, FolderError> {
        match Manifest::load(&self.path) {
            // The run was killed before its first I/O, or what it measured cannot be read here.
            Err(
                StoreError::NotARun(_)
                | StoreError::InterruptedStart(_)
                | StoreError::NoManifest(_),
            ) => return Ok(false),
            loaded => loaded?,
        };
        if !self.was_begun {
            return Ok(true);
        }
        let journal = self.path.join(JOURNAL_FILE);
        let (crc, bytes) = ship::crc_of(&journal, self.chain.bytes)?;
        if (crc, bytes) != (self.chain.crc, self.chain.bytes) {
            return Ok(false);
        }
        let manifest = self.path.join(MANIFEST_FILE);
        let local = fs::read(&manifest).map_err(ShipError::file("read", &manifest))?;
        let key = format!("{}/{MANIFEST_FILE}", self.prefix);
        let shipped = self.store.get(&key).map_err(ShipError::from)?;
        Ok(shipped.is_none_or(|(shipped, _)| shipped == local))
    }

    fn set_aside(&self) -> Result<(), ShipError> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let attempt = self.attempt;
        let aside = self.path.with_file_name(format!("{name}.before-attempt-{attempt}"));
        fs::rename(&self.path, &aside).map_err(ShipError::file("rename", &self.path))
    }

    fn local_state(&self) -> Result<FolderState, FolderError> {
        if let JournalEnd::Complete(outcome) = journal_end(&self.path)? {
            if !self.path.join(CHECKSUM_FILE).exists() {
                // The run was killed before its checksums: resuming writes those, and says that it
                // is complete.
                match RunWriter::resume(&self.path) {
                    Err(StoreError::AlreadyComplete(_)) => {}
                    Err(StoreError::Busy(_)) => return Ok(FolderState::InUse),
                    Err(error) => return Err(error.into()),
                    Ok(_) => return Ok(FolderState::Resumable),
                }
            }
            return Ok(FolderState::Complete(outcome));
        }
        Ok(FolderState::Resumable)
    }
}

/// Whether a process holds the lock on the journal. Takes the lock for an instant.
fn is_in_use(folder: &Path) -> Result<bool, ShipError> {
    let path = folder.join(JOURNAL_FILE);
    let file = match File::open(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        file => file.map_err(ShipError::file("open", &path))?,
    };
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(false),
        Err(Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(ShipError::file("lock", &path)(error.into())),
    }
}

/// A folder without a manifest has an open end.
pub fn journal_end(folder: &Path) -> Result<JournalEnd, StoreError> {
    let run = match Run::open_segments(folder) {
        Err(
            StoreError::NotARun(_) | StoreError::InterruptedStart(_) | StoreError::NoManifest(_),
        ) => return Ok(JournalEnd::Open),
        run => run?,
    };
    Ok(match run.outcome {
        None => JournalEnd::Open,
        Some(RunEnd::Interrupted) => {
            let is_loss = |w: &assay_store::model::Warning| w.code == warning::code::DRIVE_LOST;
            JournalEnd::Interrupted {
                drive_lost: last_attempt_lost_a_drive(&run) && run.warnings.iter().any(is_loss),
            }
        }
        Some(RunEnd::Complete) => JournalEnd::Complete(outcome_of(&run)),
    })
}

/// A lost drive leaves its cell unfinished, though its warning stays in the journal when it is
/// back.
fn last_attempt_lost_a_drive(run: &Run) -> bool {
    run.cells.iter().any(|cell| cell.state == CellState::Unfinished)
}

/// Failed where the exit status of `assay run` is 1: a failed cell, failed I/Os, blocks that failed
/// verification.
fn outcome_of(run: &Run) -> SuiteOutcome {
    let failed = run.cells.iter().any(|cell| {
        let results = || cell.drives.iter().filter_map(|drive| drive.result.as_ref());
        matches!(cell.state, CellState::Failed(_))
            || results().any(|result| result.errors() > 0)
            || results()
                .filter_map(|result| result.verify.as_ref())
                .any(|verify| verify.found.values().sum::<u64>() > 0)
    });
    match failed {
        true => SuiteOutcome::Failed,
        false => SuiteOutcome::Passed,
    }
}
