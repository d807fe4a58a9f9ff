//! Errors of run folders, with advice.

use std::io;
use std::path::{Path, PathBuf};

use assay_output::UnsafeFile;
use assay_units::{Classified, ErrorClass};

use crate::model::SCHEMA;

/// Failure to make, read or continue a run folder.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// I/O error.
    #[error(
        "cannot {action} {path}: {source}; {advice}",
        path = .path.display(), advice = advice(.action, .source)
    )]
    Io {
        /// The action, as a verb (`append to`).
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// No manifest in this folder.
    #[error(
        "{path} is not a run folder (it has no manifest.json); name the folder that `assay run` \
         printed when it began, or make one of another program's results with `assay import`",
        path = .0.display()
    )]
    NotARun(PathBuf),
    /// A process was ended while it began this run: see [`crate::Destination::At`].
    #[error(
        "the start of the run in {path} was interrupted before anything was measured, so there is \
         nothing to resume; give the command of the run again, with --out {path}",
        path = .0.display()
    )]
    InterruptedStart(PathBuf),
    /// The manifest was removed after its run had begun.
    #[error(
        "{path} has lost its manifest.json, without which its journal.log cannot be read or \
         continued; restore the file from a copy, or begin another run in another folder (what \
         was measured stays in journal.log)",
        path = .0.display()
    )]
    NoManifest(PathBuf),
    /// An explicitly named folder already holds something.
    #[error(
        "{path} already holds files; name a new or empty folder; `assay run --resume {path}` \
         continues a measurement in it",
        path = .0.display()
    )]
    NotEmpty(PathBuf),
    /// The run's own folder exists already.
    #[error(
        "the run folder {path} exists already; start again, or choose another folder with --out",
        path = .0.display()
    )]
    Exists(PathBuf),
    /// A run id that would leave the parent folder.
    #[error(
        "{0:?} cannot be a folder's name; use letters, digits, '-', '_' and '.' only, and begin \
         with a letter or digit"
    )]
    BadRunId(String),
    /// Made by a newer version.
    #[error(
        "{path} was written by a newer assay (layout {found}, this build reads up to {SCHEMA}); \
         use that version to read it",
        path = .path.display()
    )]
    NewerSchema {
        /// The folder.
        path: PathBuf,
        /// Its layout's version.
        found: u64,
    },
    /// The manifest cannot be used.
    #[error(
        "{path} is damaged: {reason}; restore the file from a copy (the measurements in \
         journal.log are untouched)",
        path = .path.display()
    )]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The plan to be written contradicts itself, for this reason.
    #[error(
        "the run cannot be recorded: {0}; this is a bug of assay or of the suite, please report it"
    )]
    BadPlan(String),
    /// Another process writes this run (folder or journal).
    #[error(
        "{path} is being written by another assay process; wait until it has ended, or \
         end it, and try again",
        path = .0.display()
    )]
    Busy(PathBuf),
    /// Nothing left to resume.
    #[error(
        "{path} is already complete, there is nothing to resume; see it with `assay report {path}`",
        path = .0.display()
    )]
    AlreadyComplete(PathBuf),
    /// An entry that JSON cannot hold.
    #[error(
        "an event cannot be written to {path}: {reason}; this is a bug of assay, please report it",
        path = .path.display()
    )]
    Unwritable {
        /// The journal.
        path: PathBuf,
        /// Which event, and why.
        reason: String,
    },
    /// No regular file, where an output is to be.
    #[error("{path} is not a regular file and is left alone; name a file", path = .0.display())]
    NotAFile(PathBuf),
    /// Another file, where an output is to be.
    #[error(
        "{path} exists and is no earlier output of this command; remove it first or name another \
         file",
        path = .0.display()
    )]
    NotAnOutput(PathBuf),
    /// An output that cannot be written.
    #[error(
        "cannot write {path}: check that the folder exists, is writable and has free space",
        path = .path.display()
    )]
    Unwritten {
        /// The output.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl StoreError {
    /// There is nothing to continue yet.
    pub(crate) fn before_the_run(self) -> StoreError {
        match self {
            StoreError::Io { path, source, .. } => StoreError::io(BEGIN, &path)(source),
            other => other,
        }
    }

    /// For `map_err`: an I/O error of this action on this path.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
        let path = path.to_owned();
        move |source| StoreError::Io { action, path, source }
    }
}

/// Name of the action of [`crate::journal`]: what was measured before it can be continued.
pub(crate) const APPEND: &str = "append to";

/// The first lines of a journal, before anything is measured.
pub(crate) const BEGIN: &str = "begin";

fn advice(action: &str, error: &io::Error) -> &'static str {
    match error.kind() {
        _ if UnsafeFile::is_cause_of(error) => "nothing was written; name another file or folder",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded if action == BEGIN => {
            "the disk that holds the run folder is full: free some space and give the same command \
             again; nothing was measured yet"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded if action != APPEND => {
            "that disk is full: free some space and give the same command again; an earlier file \
             that was to be replaced is unchanged"
        }
        io::ErrorKind::FileTooLarge => {
            "this process may not write files as large as that: raise the limit (ulimit -f)"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk that holds the run folder is full: free some space and continue with \
             --resume; everything written before is kept"
        }
        io::ErrorKind::PermissionDenied => {
            "choose a folder you may write to with --out, or change its permissions"
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            "that file system is read-only: choose another folder (--out, or --output of an export)"
        }
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            "a file is in the way: choose another folder (--out, or --output of an export)"
        }
        _ if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => {
            "the disk that holds the run folder reports an I/O error: check it (dmesg), copy the \
             folder elsewhere and continue with --resume; everything written before is kept"
        }
        _ => "check the disk that holds the folder; everything written before is kept",
    }
}

impl Classified for StoreError {
    fn class(&self) -> ErrorClass {
        match self {
            StoreError::NotARun(_)
            | StoreError::InterruptedStart(_)
            | StoreError::NotEmpty(_)
            | StoreError::Exists(_)
            | StoreError::BadRunId(_)
            | StoreError::NewerSchema { .. }
            | StoreError::AlreadyComplete(_)
            | StoreError::NotAFile(_)
            | StoreError::NotAnOutput(_)
            | StoreError::BadPlan(_) => ErrorClass::Usage,
            StoreError::Busy(_) => ErrorClass::InUse,
            StoreError::Io { source, .. } | StoreError::Unwritten { source, .. }
                if UnsafeFile::is_cause_of(source) =>
            {
                ErrorClass::Refused
            }
            StoreError::Io { .. }
            | StoreError::Manifest { .. }
            | StoreError::NoManifest(_)
            | StoreError::Unwritten { .. } => ErrorClass::Io,
            StoreError::Unwritable { .. } => ErrorClass::Internal,
        }
    }
}
