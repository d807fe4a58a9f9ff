//! Exports: runs as JSON, CSV, Parquet, fio's JSON and logs, and Open Compute's artifacts; many
//! runs as joined tables.
//!
//! # Architecture
//! [`json`], [`csv`] and [`parquet`] hold everything in figures (not the raw histograms: those stay
//! in the run folder), with what `analysis` concludes; [`fio`], [`bench_fio`] and [`fio_logs`] are
//! for tools made for fio; [`ocp`] is written line by line, also of a run in progress. CSV, Parquet
//! and [`lake`] share their tables (module [`table`]). Every format marks simulated drives.
//!
//! # Non-goals
//! Pages and terminal tables: they are in `report`. Figures of its own: they come from run folders
//! and from `analysis`.
//!
//! # Key constants
//! [`lake::FILE_BYTES`], the size at which a file of a joined table is closed.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use assay_analysis::conclusions::{self, Conclusions};
use assay_output::Replacement;
use assay_output::owner::create_folders;
use assay_store::{Run, StoreError};
use serde::Serialize;

use self::table::Table;

pub mod bench_fio;
pub mod csv;
mod error;
pub mod fio;
pub mod fio_logs;
pub mod json;
pub mod lake;
pub mod ocp;
pub mod parquet;
pub mod table;

pub use self::csv::export_csv;
pub use self::error::ExportError;
pub use self::parquet::export_parquet;
pub use bench_fio::export_bench_fio;
pub use fio::export_fio_json;
pub use fio_logs::export_fio_logs;
pub use json::export_json;
pub use ocp::export_ocp;

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
    /// A folder of such documents, one per cell and drive, named as fio-plot's bench-fio does.
    BenchFio,
    /// A folder of fio's logs of bandwidth, IOPS, latency and histograms over time.
    FioLogs,
    /// Open Compute's Test & Validation output 2.0, one artifact per line.
    Ocp,
}

impl ExportFormat {
    /// All, in the order that help texts list them.
    pub const ALL: [ExportFormat; 7] = [
        ExportFormat::Parquet,
        ExportFormat::Json,
        ExportFormat::Csv,
        ExportFormat::FioJson,
        ExportFormat::BenchFio,
        ExportFormat::FioLogs,
        ExportFormat::Ocp,
    ];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ExportFormat::Parquet => "parquet",
            ExportFormat::Json => "json",
            ExportFormat::Csv => "csv",
            ExportFormat::FioJson => "fio-json",
            ExportFormat::BenchFio => "bench-fio",
            ExportFormat::FioLogs => "fio-logs",
            ExportFormat::Ocp => "ocp",
        }
    }

    /// How every output begins that is one document; none of a folder.
    pub fn head(self) -> Option<&'static str> {
        match self {
            ExportFormat::Json | ExportFormat::FioJson => Some("{"),
            ExportFormat::Ocp => Some(ocp::HEAD),
            ExportFormat::Parquet
            | ExportFormat::Csv
            | ExportFormat::BenchFio
            | ExportFormat::FioLogs => None,
        }
    }

    /// Default name of the output file or folder.
    pub fn default_name(self, run_id: &str) -> String {
        if self == ExportFormat::Ocp {
            return format!("{run_id}.ocp.jsonl");
        }
        format!("{run_id}.{}", self.name().replace('-', "."))
    }
}

impl FromStr for ExportFormat {
    type Err = ExportError;

    fn from_str(name: &str) -> Result<ExportFormat, ExportError> {
        ExportFormat::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| ExportError::UnknownFormat(name.to_owned()))
    }
}

/// `out` is the file (json, fio-json, ocp) or the folder to write into (csv, parquet, bench-fio,
/// fio-logs). Existing files are replaced, each only when the new one is whole. Returns the files.
pub fn export(run: &Run, format: ExportFormat, out: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let files = match format {
        ExportFormat::Csv => export_csv(run, &conclusions::conclude_run(run), out)?,
        ExportFormat::Parquet => export_parquet(run, &conclusions::conclude_run(run), out)?,
        ExportFormat::BenchFio => export_bench_fio(run, out)?,
        ExportFormat::FioLogs => export_fio_logs(run, out)?,
        ExportFormat::Json | ExportFormat::FioJson | ExportFormat::Ocp => {
            replace_file(out, |file| export_document(run, format, file))?;
            vec![out.to_owned()]
        }
    };
    match files.is_empty() {
        true => Err(ExportError::Nothing { run: run.path.clone(), format: format.name() }),
        false => Ok(files),
    }
}

/// Fails with [`ExportError::SeveralFiles`] for a format that is no single document.
pub fn export_document(
    run: &Run,
    format: ExportFormat,
    out: &mut impl Write,
) -> Result<(), ExportError> {
    match format {
        ExportFormat::Json => export_json(run, &conclusions::conclude_run(run), out),
        ExportFormat::FioJson => export_fio_json(run, out),
        ExportFormat::Ocp => {
            let figures = ocp::RuleFigures::read(&run.path)?;
            export_ocp(&run.path, &|drive| figures.of_drive(drive), out)
        }
        ExportFormat::Csv
        | ExportFormat::Parquet
        | ExportFormat::BenchFio
        | ExportFormat::FioLogs => Err(ExportError::SeveralFiles(format.name())),
    }
}

/// Each table into a file of its own; returns the files.
fn write_tables(
    run: &Run,
    found: &Conclusions,
    folder: &Path,
    extension: &str,
    write: impl Fn(Table<'_>, &Path, &mut BufWriter<File>) -> Result<(), ExportError>,
) -> Result<Vec<PathBuf>, ExportError> {
    create_folders(folder).map_err(StoreError::io("create the folder", folder))?;
    let files = table::tables(run, found).into_iter().map(|table| {
        let path = folder.join(format!("{}.{extension}", table.name));
        replace_file(&path, |file| write(table, &path, file))?;
        Ok(path)
    });
    files.collect()
}

/// Ends with a line end.
fn write_document(document: &impl Serialize, out: &mut impl Write) -> Result<(), ExportError> {
    serde_json::to_writer_pretty(&mut *out, document)
        .map_err(|error| output_error(error.into()))?;
    out.write_all(b"\n").map_err(output_error)
}

/// [`Replacement`] of a file. [`output_error`]s of the closure are reported for `path`.
fn replace_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let mut new = Replacement::begin(path).map_err(StoreError::io("create", path))?;
    let written = write(&mut new.file).and_then(|()| new.commit().map_err(output_error));
    written.map_err(|error| match error {
        ExportError::Store(StoreError::Io { action, source, .. }) if action == WRITING => {
            StoreError::io(WRITING, path)(source).into()
        }
        other => other,
    })
}

const WRITING: &str = "write";

/// The caller knows the path of the output.
fn output_error(error: io::Error) -> ExportError {
    StoreError::io(WRITING, Path::new("the output"))(error).into()
}
