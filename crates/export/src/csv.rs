//! CSV export (RFC 4180): CRLF line ends, a header line, an empty field for an absent value.
//! Numbers read back to the same bits. Texts that a spreadsheet would take for a formula begin with
//! an apostrophe.

use std::io::Write;
use std::path::{Path, PathBuf};

use assay_analysis::conclusions::Conclusions;
use assay_analysis::spreadsheet::without_formula;
use assay_store::read::Run;

use super::table::{Table, Value};
use super::{output_error, write_tables};
use crate::ExportError;

/// Writes each of [`tables`](super::table::tables) into `NAME.csv` in a folder; returns the files.
pub fn export_csv(
    run: &Run,
    found: &Conclusions,
    folder: &Path,
) -> Result<Vec<PathBuf>, ExportError> {
    write_tables(run, found, folder, "csv", |table, _, out| write(table, out))
}

fn write(table: Table<'_>, out: &mut impl Write) -> Result<(), ExportError> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
    let failed = |error: csv::Error| output_error(error.into());
    let names = table.columns.iter().map(|(name, _)| name);
    writer.write_record(names).map_err(failed)?;
    for row in table.rows {
        let fields = row.into_iter().map(|value| match value {
            Value::Absent => String::new(),
            Value::Count(n) => n.to_string(),
            Value::Figure(x) => x.to_string(),
            Value::Flag(flag) => flag.to_string(),
            Value::Text(text) => without_formula(text),
        });
        writer.write_record(fields).map_err(failed)?;
    }
    writer.flush().map_err(output_error)
}

#[cfg(test)]
#[path = "../tests/unit/csv.rs"]
mod tests;
