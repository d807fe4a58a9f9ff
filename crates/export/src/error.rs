use std::io;
use std::path::{Path, PathBuf};

use assay_store::StoreError;
use assay_units::{Classified, ErrorClass};

#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(
        "{0:?} is not an export format; choose parquet, json, csv, fio-json, bench-fio, fio-logs \
         or ocp; of many runs, lake"
    )]
    UnknownFormat(String),
    #[error(
        "cannot write {path} as Parquet: {reason}; export as csv or json instead, \
         and please report it",
        path = .path.display()
    )]
    Parquet { path: PathBuf, reason: String },
    #[error(
        "{path} cannot be read as a table: {reason}; tables are made from run folders: remove it \
         and export again",
        path = .path.display()
    )]
    NotATable { path: PathBuf, reason: String },
    #[error("{0} writes several files, not one for stdout; name a folder with -o")]
    SeveralFiles(&'static str),
    #[error(
        "{run} has nothing that {format} could hold: bench-fio has a file per cell with results, \
         fio-logs files per cell with intervals; json and csv have all of a run",
        run = .run.display()
    )]
    Nothing { run: PathBuf, format: &'static str },
    #[error(
        "cannot {action} {path}: {source}; the tables are as they were before",
        path = .path.display()
    )]
    Lake { action: &'static str, path: PathBuf, source: io::Error },
    #[error(
        "another process joins runs into {path}; wait until it has ended, and try again",
        path = .0.display()
    )]
    Busy(PathBuf),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ExportError {
    pub(crate) fn lake(action: &'static str, path: &Path, source: io::Error) -> ExportError {
        let path = path.to_owned();
        ExportError::Lake { action, path, source }
    }
}

impl Classified for ExportError {
    fn class(&self) -> ErrorClass {
        match self {
            ExportError::UnknownFormat(_)
            | ExportError::SeveralFiles(_)
            | ExportError::Nothing { .. } => ErrorClass::Usage,
            ExportError::Busy(_) => ErrorClass::InUse,
            ExportError::Store(error) => error.class(),
            ExportError::Parquet { .. }
            | ExportError::NotATable { .. }
            | ExportError::Lake { .. } => ErrorClass::Io,
        }
    }
}
