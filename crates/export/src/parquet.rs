//! Parquet tables, zstd-compressed, written without Arrow. Counts are `INT64` with the logical type
//! of an unsigned 64-bit integer, figures `DOUBLE`, words `STRING`; every column is optional. The
//! file's metadata names the run, the build and whether any drive is simulated.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_analysis::conclusions::Conclusions;
use assay_store::StoreError;
use assay_store::read::Run;
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::table::{Column, Row, Table, Value, ValueType};
use super::write_tables;
use crate::ExportError;

mod read;

pub use read::TableReader;

/// Bounds memory for runs of many hours.
const ROWS_PER_GROUP: usize = 64 << 10;

/// Writes each of [`tables`](super::table::tables) into `NAME.parquet`; returns the files.
pub fn export_parquet(
    run: &Run,
    found: &Conclusions,
    folder: &Path,
) -> Result<Vec<PathBuf>, ExportError> {
    let metadata = metadata(run);
    write_tables(run, found, folder, "parquet", |table, path, file| {
        write(file, table, &metadata).map_err(|error| write_error(path, error))
    })
}

/// The library wraps the system's errors; a full disk must still be called one.
fn write_error(path: &Path, error: ParquetError) -> ExportError {
    let failed = |reason: String| ExportError::Parquet { path: path.to_owned(), reason };
    match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(source) => StoreError::io("write", path)(*source).into(),
            Err(source) => failed(source.to_string()),
        },
        other => failed(other.to_string()),
    }
}

fn write(
    file: &mut (impl Write + Send),
    table: Table<'_>,
    metadata: &[(&str, String)],
) -> Result<(), ParquetError> {
    let mut writer = Groups::new(file, table.columns, metadata)?;
    table.rows.into_iter().try_for_each(|row| writer.push(row))?;
    writer.close().map(|_| ())
}

/// Writes the rows of a table to a Parquet file, group by group.
pub struct TableWriter<W: Write + Send> {
    path: PathBuf,
    groups: Groups<W>,
}

impl<W: Write + Send> TableWriter<W> {
    /// Begins the file with these columns and key-value metadata; `path` is named in errors.
    pub fn new(
        out: W,
        path: &Path,
        columns: Vec<Column>,
        metadata: &[(&str, String)],
    ) -> Result<TableWriter<W>, ExportError> {
        let groups = Groups::new(out, columns, metadata);
        Ok(TableWriter {
            groups: groups.map_err(|error| write_error(path, error))?,
            path: path.to_owned(),
        })
    }

    /// Adds a row, with a value for each column.
    pub fn push(&mut self, row: Row) -> Result<(), ExportError> {
        let pushed = self.groups.push(row);
        pushed.map_err(|error| write_error(&self.path, error))
    }

    /// Bytes of complete groups, without the rows since.
    pub fn bytes_written(&self) -> usize {
        self.groups.writer.bytes_written()
    }

    /// Writes the last group and the footer; returns the output.
    pub fn close(self) -> Result<W, ExportError> {
        let closed = self.groups.close();
        closed.map_err(|error| write_error(&self.path, error))
    }
}

struct Groups<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Column>,
    rows: Vec<Row>,
}

impl<W: Write + Send> Groups<W> {
    fn new(
        out: W,
        columns: Vec<Column>,
        metadata: &[(&str, String)],
    ) -> Result<Groups<W>, ParquetError> {
        let writer = SerializedFileWriter::new(out, schema(&columns)?, properties(metadata)?)?;
        Ok(Groups { writer, columns, rows: Vec::new() })
    }

    fn push(&mut self, row: Row) -> Result<(), ParquetError> {
        assert_eq!(row.len(), self.columns.len(), "a value for each column");
        self.rows.push(row);
        if self.rows.len() == ROWS_PER_GROUP {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for (at, &(_, kind)) in self.columns.iter().enumerate() {
            let values =
                self.rows.iter_mut().map(|row| std::mem::replace(&mut row[at], Value::Absent));
            write_column(&mut group, kind, values)?;
        }
        group.close()?;
        self.rows.clear();
        Ok(())
    }

    fn close(mut self) -> Result<W, ParquetError> {
        self.flush()?;
        self.writer.into_inner()
    }
}

fn schema(columns: &[Column]) -> Result<TypePtr, ParquetError> {
    let fields = columns.iter().map(|(name, kind)| {
        let (physical, logical) = match kind {
            ValueType::Count => (PhysicalType::INT64, Some(LogicalType::integer(64, false))),
            ValueType::Figure => (PhysicalType::DOUBLE, None),
            ValueType::Flag => (PhysicalType::BOOLEAN, None),
            ValueType::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        };
        Type::primitive_type_builder(name, physical)
            .with_logical_type(logical)
            .with_repetition(Repetition::OPTIONAL)
            .build()
            .map(Arc::new)
    });
    let fields = fields.collect::<Result<Vec<TypePtr>, ParquetError>>()?;
    let root = Type::group_type_builder("assay").with_fields(fields);
    root.build().map(Arc::new)
}

fn metadata(run: &Run) -> [(&'static str, String); 6] {
    let manifest = &run.manifest;
    [
        ("assay.run_id", manifest.run_id.clone()),
        ("assay.tool", manifest.tool.to_string()),
        ("assay.created", manifest.created.clone()),
        ("assay.suite", manifest.suite.name.clone()),
        ("assay.scale", manifest.scale.to_string()),
        ("assay.simulated", run.has_simulated().to_string()),
    ]
}

fn properties(metadata: &[(&str, String)]) -> Result<WriterPropertiesPtr, ParquetError> {
    let pair = |(key, value): &(&str, String)| KeyValue::new((*key).to_owned(), value.clone());
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_created_by(format!("assay {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(metadata.iter().map(pair).collect()))
        .build();
    Ok(Arc::new(properties))
}

fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    kind: ValueType,
    values: impl Iterator<Item = Value>,
) -> Result<(), ParquetError> {
    match kind {
        // Unsigned 64-bit integers travel as the same 64 bits (Parquet format, LogicalTypes, INT).
        ValueType::Count => write_values::<W, Int64Type>(group, values, |value| match value {
            Value::Count(n) => Some(n as i64),
            _ => None,
        }),
        ValueType::Figure => write_values::<W, DoubleType>(group, values, |value| match value {
            Value::Figure(x) => Some(x),
            _ => None,
        }),
        ValueType::Flag => write_values::<W, BoolType>(group, values, |value| match value {
            Value::Flag(flag) => Some(flag),
            _ => None,
        }),
        ValueType::Text => write_values::<W, ByteArrayType>(group, values, |value| match value {
            Value::Text(text) => Some(ByteArray::from(text.into_bytes())),
            _ => None,
        }),
    }
}

fn write_values<W: Write + Send, T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: impl Iterator<Item = Value>,
    as_type: impl Fn(Value) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else {
        return Err(ParquetError::General("more columns than the schema has".to_owned()));
    };
    let values: Vec<Option<T::T>> = values.map(as_type).collect();
    let levels: Vec<i16> = values.iter().map(|v| i16::from(v.is_some())).collect();
    let present: Vec<T::T> = values.into_iter().flatten().collect();
    let batch = writer.typed::<T>();
    batch.write_batch(&present, Some(&levels), None)?;
    writer.close()
}
