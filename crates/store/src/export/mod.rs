//! Export of runs to JSON, CSV, Parquet and fio's JSON.
//!
//! [`json`], [`csv`] and [`parquet`] hold everything in figures (not the raw histograms: those stay in the run folder);
//! [`fio`] is the layout of fio's `--output-format=json`, for tools made for fio. The tables of CSV and Parquet are one
//! definition (module `table`), so they cannot disagree. Every format marks simulated drives.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::error::StoreError;
use crate::read::Run;

pub mod csv;
pub mod fio;
pub mod json;
pub mod parquet;
pub(crate) mod table;

pub use self::csv::export_csv;
pub use self::parquet::export_parquet;
pub use fio::export_fio_json;
pub use json::export_json;

/// A format to export to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// A folder of Parquet tables.
    Parquet,
    /// One JSON document.
    Json,
    /// A folder of CSV tables.
    Csv,
    /// One JSON document in the layout of fio 3.33.
    FioJson,
}

impl ExportFormat {
    /// All, in the order that help texts list them.
    pub const ALL: [ExportFormat; 4] = [
        ExportFormat::Parquet,
        ExportFormat::Json,
        ExportFormat::Csv,
        ExportFormat::FioJson,
    ];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ExportFormat::Parquet => "parquet",
            ExportFormat::Json => "json",
            ExportFormat::Csv => "csv",
            ExportFormat::FioJson => "fio-json",
        }
    }

    /// Default name of the output file or folder.
    pub fn default_name(self, run_id: &str) -> String {
        match self {
            ExportFormat::Json => format!("{run_id}.json"),
            ExportFormat::FioJson => format!("{run_id}.fio.json"),
            ExportFormat::Parquet | ExportFormat::Csv => format!("{run_id}.{}", self.name()),
        }
    }
}

impl FromStr for ExportFormat {
    type Err = StoreError;

    fn from_str(name: &str) -> Result<ExportFormat, StoreError> {
        ExportFormat::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| StoreError::UnknownFormat {
                name: name.to_owned(),
            })
    }
}

/// Export a run folder. `out` is the file to write (json, fio-json) or the folder to write tables into (csv, parquet;
/// made when missing). Existing files of the same names are replaced, each only when the new one is whole. Returns the
/// files written.
///
/// # Errors
/// Everything that [`Run::open`] refuses, and when the output cannot be written.
pub fn export(
    run_path: &Path,
    format: ExportFormat,
    out: &Path,
) -> Result<Vec<PathBuf>, StoreError> {
    let run = Run::open(run_path)?;
    match format {
        ExportFormat::Json => {
            replace(out, |file| export_json(&run, file))?;
            Ok(vec![out.to_owned()])
        }
        ExportFormat::FioJson => {
            replace(out, |file| export_fio_json(&run, file))?;
            Ok(vec![out.to_owned()])
        }
        ExportFormat::Csv => export_csv(&run, out),
        ExportFormat::Parquet => export_parquet(&run, out),
    }
}

/// Make the folder that tables go into.
fn make_folder(folder: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(folder).map_err(StoreError::io("create the folder", folder))
}

/// Write to a temporary name, renamed only when the file is complete. An I/O error of the writing closure
/// is reported for the final path.
fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let Some(name) = path.file_name() else {
        return Err(StoreError::io("write", path)(
            io::ErrorKind::IsADirectory.into(),
        ));
    };
    let mut temporary_name = std::ffi::OsString::from(".");
    temporary_name.push(name);
    temporary_name.push(".tmp");
    let temporary = path.with_file_name(temporary_name);
    let file = File::create(&temporary).map_err(StoreError::io("create", path))?;
    let mut file = BufWriter::with_capacity(1 << 20, file);
    let written = write(&mut file).and_then(|()| {
        file.flush()
            .and_then(|()| file.get_ref().sync_all())
            .and_then(|()| fs::rename(&temporary, path))
            .map_err(StoreError::io("write", path))
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(|error| match error {
        StoreError::Io { action, source, .. } if action == WRITING => StoreError::Io {
            action,
            path: path.to_owned(),
            source,
        },
        other => other,
    })
}

const WRITING: &str = "write";

/// An I/O error of an output whose path the caller knows.
fn output_error(error: io::Error) -> StoreError {
    StoreError::io(WRITING, Path::new("the output"))(error)
}
