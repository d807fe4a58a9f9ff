//! CSV as RFC 4180 has it: CRLF line ends, a header line, quotes where a field holds a comma, quote or line end. An
//! absent value is an empty field. Numbers are written so that they read back to the same bits.

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
    let at = |name: &str| folder.join(format!("{name}.csv"));
    let files = ["cells", "intervals", "telemetry", "host"].map(at);
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
    let mut line = String::new();
    for column in columns {
        push_field(&mut line, &column.name);
    }
    end_line(out, &mut line)?;
    for row in rows {
        for column in columns {
            match (column.get)(&row) {
                Value::Absent => line.push(','),
                Value::Count(n) => push_field(&mut line, &n.to_string()),
                Value::Figure(x) => push_field(&mut line, &x.to_string()),
                Value::Flag(flag) => push_field(&mut line, if flag { "true" } else { "false" }),
                Value::Text(text) => push_field(&mut line, &text),
            }
        }
        end_line(out, &mut line)?;
    }
    Ok(())
}

/// Add a field and the comma after it.
fn push_field(line: &mut String, text: &str) {
    if text.contains([',', '"', '\r', '\n']) {
        line.push('"');
        line.push_str(&text.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(text);
    }
    line.push(',');
}

/// Write the line without its last comma, and begin the next.
fn end_line(out: &mut impl Write, line: &mut String) -> Result<(), StoreError> {
    line.pop();
    line.push_str("\r\n");
    out.write_all(line.as_bytes()).map_err(output_error)?;
    line.clear();
    Ok(())
}

#[cfg(test)]
#[path = "../../tests/unit/export/csv.rs"]
mod tests;
