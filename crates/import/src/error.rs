use std::io;
use std::path::PathBuf;

use assay_store::StoreError;
use assay_units::{Classified, ErrorClass};

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A path that was named cannot be read.
    #[error("cannot read {path}: {source}", path = .path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// No file has results.
    #[error(
        "no results in {0}; assay reads fio's JSON, text and terse output and logs, and results of \
         DiskSpd, elbencho, vdbench, ezFIO, CrystalDiskMark, yabs.sh, iotune and iocost_coef_gen.py"
    )]
    Nothing(String),
    /// One identity for several drives.
    #[error(
        "the files name several drives ({0}), so --model, --serial, --firmware, --capacity and \
         --drive-from need --device to choose one of them"
    )]
    SeveralDrives(String),
    /// `--device` of another name.
    #[error("no result is of the device {device:?}; the files name {known}")]
    NoSuchDevice {
        /// As asked for.
        device: String,
        /// Those of the files.
        known: String,
    },
    /// The run folder cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Classified for ImportError {
    fn class(&self) -> ErrorClass {
        match self {
            ImportError::Read { source, .. } => ErrorClass::of_named_file(source),
            ImportError::Nothing(_)
            | ImportError::SeveralDrives(_)
            | ImportError::NoSuchDevice { .. } => ErrorClass::Usage,
            ImportError::Store(error) => error.class(),
        }
    }
}
