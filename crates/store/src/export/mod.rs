//! Export of runs. [`json`], [`csv`] and [`parquet`] hold everything in figures (the raw histograms
//! stay in the run folder); [`fio`] is for tools made for fio. CSV and Parquet share the tables of
//! module `table`, and JSON has the conclusions in those of its tables. Every format marks
//! simulated drives.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use assay_output::Replacement;
use assay_output::owner::create_folders;
use serde::Serialize;

use self::table::{Conclusions, Table};
use crate::error::StoreError;
use crate::read::Run;

pub mod bench_fio;
pub mod csv;
pub mod fio;
pub mod fio_logs;
pub mod json;
pub mod ocp;
pub mod parquet;
pub mod table;

pub use self::csv::export_csv;
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

    /// Default name of the output file or folder.
    pub fn default_name(self, run_id: &str) -> String {
        if self == ExportFormat::Ocp {
            return format!("{run_id}.ocp.jsonl");
        }
        format!("{run_id}.{}", self.name().replace('-', "."))
    }
}

impl FromStr for ExportFormat {
    type Err = StoreError;

    fn from_str(name: &str) -> Result<ExportFormat, StoreError> {
        ExportFormat::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| StoreError::UnknownFormat(name.to_owned()))
    }
}

/// Finds what is concluded from a run: `analysis::conclusions::conclude_run`, which this crate cannot reach.
pub type Conclude<'a> = &'a (dyn Fn(&Run) -> Conclusions + Sync);

/// Exports a run folder, with what `conclude` finds. `out` is the file (json, fio-json, ocp; the
/// latter without the figures of verdict rules, which only [`ocp::export_ocp`] takes) or the folder
/// to write into (csv, parquet, bench-fio, fio-logs). Existing files are replaced, each only when
/// the new one is whole. Returns the files. Fails like [`Run::open`], and when the output cannot be
/// written.
pub fn export(
    run_path: &Path,
    format: ExportFormat,
    out: &Path,
    conclude: Conclude<'_>,
) -> Result<Vec<PathBuf>, StoreError> {
    let run = Run::open(run_path)?;
    match format {
        ExportFormat::Json => replace_file(out, |file| export_json(&run, &conclude(&run), file))?,
        ExportFormat::FioJson => replace_file(out, |file| export_fio_json(&run, file))?,
        ExportFormat::Csv => return export_csv(&run, &conclude(&run), out),
        ExportFormat::Parquet => return export_parquet(&run, &conclude(&run), out),
        ExportFormat::BenchFio => return export_bench_fio(&run, out),
        ExportFormat::FioLogs => return export_fio_logs(&run, out),
        ExportFormat::Ocp => replace_file(out, |file| export_ocp(run_path, &|_| Vec::new(), file))?,
    }
    Ok(vec![out.to_owned()])
}

/// Each table into a file of its own; returns the files.
fn write_tables(
    run: &Run,
    found: &Conclusions,
    folder: &Path,
    extension: &str,
    write: impl Fn(Table<'_>, &Path, &mut BufWriter<File>) -> Result<(), StoreError>,
) -> Result<Vec<PathBuf>, StoreError> {
    create_folders(folder).map_err(StoreError::io("create the folder", folder))?;
    let files = table::tables(run, found).into_iter().map(|table| {
        let path = folder.join(format!("{}.{extension}", table.name));
        replace_file(&path, |file| write(table, &path, file))?;
        Ok(path)
    });
    files.collect()
}

/// Ends with a line end.
fn write_document(document: &impl Serialize, out: &mut impl Write) -> Result<(), StoreError> {
    serde_json::to_writer_pretty(&mut *out, document)
        .map_err(|error| output_error(error.into()))?;
    out.write_all(b"\n").map_err(output_error)
}

/// [`Replacement`] of a file. [`output_error`]s of the closure are reported for `path`.
pub fn replace_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut new = Replacement::begin(path).map_err(StoreError::io("create", path))?;
    let written = write(&mut new.file).and_then(|()| new.commit().map_err(output_error));
    written.map_err(|error| match error {
        StoreError::Io { action, source, .. } if action == WRITING => {
            StoreError::io(WRITING, path)(source)
        }
        other => other,
    })
}

/// [`replace_file`] with these bytes.
pub fn replace_content(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    replace_file(path, |file| file.write_all(bytes).map_err(output_error))
}

const WRITING: &str = "write";

/// The caller knows the path of the output.
pub(crate) fn output_error(error: io::Error) -> StoreError {
    StoreError::io(WRITING, Path::new("the output"))(error)
}
