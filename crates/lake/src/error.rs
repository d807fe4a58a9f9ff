use std::io;
use std::path::{Path, PathBuf};

use assay_store::StoreError;
use assay_units::{Classified, ErrorClass};

#[derive(Debug, thiserror::Error)]
pub enum LakeError {
    #[error("cannot {action} {path}: {source}; the tables are as they were before", path = .path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error(
        "another process joins runs into {path}; wait until it has ended, and try again",
        path = .0.display()
    )]
    Busy(PathBuf),
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
