//! Errors of the lake, with advice.

use std::io;
use std::path::{Path, PathBuf};

use assay_store::StoreError;
use assay_units::{Classified, ErrorClass};

/// Why runs could not be joined, or rows not be read.
#[derive(Debug, thiserror::Error)]
pub enum LakeError {
    #[error("cannot {action} {path}: {source}; the tables are as they were before", path = .path.display())]
    Io {
        /// The action, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Another process joins runs.
    #[error(
        "another process joins runs into {path}; wait until it has ended, and try again",
        path = .0.display()
    )]
    Busy(PathBuf),
    /// A table that cannot be written or read back.
    #[error(transparent)]
    Table(#[from] StoreError),
}

impl LakeError {
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> LakeError {
        let path = path.to_owned();
        LakeError::Io {
            action,
            path,
            source,
        }
    }
}

impl Classified for LakeError {
    fn class(&self) -> ErrorClass {
        match self {
            LakeError::Busy(_) => ErrorClass::InUse,
            LakeError::Table(error) => error.class(),
            LakeError::Io { .. } => ErrorClass::Io,
        }
    }
}
