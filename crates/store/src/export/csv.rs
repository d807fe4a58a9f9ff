//! CSV export (RFC 4180): CRLF line ends, a header line, fields quoted where necessary. An absent value is an empty field; numbers read
//! back to the same bits.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::table::{self, Column, Value};
use super::{make_folder, output_error, replace};
use crate::error::StoreError;
use crate::read::Run;

/// Write `cells.csv`, `intervals.csv`, `telemetry.csv` and `host.csv` into a folder, made when missing. Returns the files.
///
/// # Errors
/// When the folder or a file cannot be written.
pub fn export_csv(run: &Run, folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    make_folder(folder)?;
    let files = table::NAMES.map(|name| folder.join(format!("{name}.csv")));
    replace(&files[0], |out| {
        write(out, &table::cell_columns(), table::cell_rows(run))
    })?;
    replace(&files[1], |out| {
        write(out, &table::interval_columns(), table::interval_rows(run))
    })?;
    replace(&files[2], |out| {
        write(out, &table::telemetry_columns(), table::telemetry_rows(run))
    })?;
    replace(&files[3], |out| {
        write(out, &table::host_columns(), table::host_rows(run))
    })?;
    Ok(files.to_vec())
}

fn write<R>(
    out: &mut impl Write,
    columns: &[Column<R>],
    rows: impl Iterator<Item = R>,
) -> Result<(), StoreError> {
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(out);
    let failed = |error: csv::Error| output_error(error.into());
    writer
        .write_record(columns.iter().map(|column| &column.name))
        .map_err(failed)?;
    for row in rows {
        let fields = columns.iter().map(|column| match (column.get)(&row) {
            Value::Absent => String::new(),
            Value::Count(n) => n.to_string(),
            Value::Figure(x) => x.to_string(),
            Value::Flag(flag) => flag.to_string(),
            Value::Text(text) => text,
        });
        writer.write_record(fields).map_err(failed)?;
    }
    writer.flush().map_err(output_error)
}

#[cfg(test)]
#[path = "../../tests/unit/export/csv.rs"]
mod tests;
