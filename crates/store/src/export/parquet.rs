//! Parquet tables, zstd-compressed, written without Arrow. Counts are `INT64` with the logical type of an unsigned 64-bit
//! integer, figures `DOUBLE`, words `STRING`; every column is optional, absent where nothing was measured. The file's
//! metadata names the run, the build and whether any drive is simulated.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::table::{Table, Value, ValueType};
use super::write_tables;
use crate::error::StoreError;
use crate::read::Run;

/// Rows held in memory before they are written: bounds memory for runs of many hours.
const ROWS_PER_GROUP: usize = 64 << 10;

/// Write `runs.parquet`, `cells.parquet`, `intervals.parquet`, `telemetry.parquet` and `host.parquet` into a folder, made when missing.
/// Returns the files.
///
/// # Errors
/// When the folder or a file cannot be written.
pub fn export_parquet(run: &Run, folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    write_tables(run, folder, "parquet", |table, path, file| {
        let failed = |reason: String| StoreError::Parquet {
            path: path.to_owned(),
            reason,
        };
        write(run, file, table).map_err(|error| match error {
            // The library wraps the system's errors; a full disk must still be called one.
            ParquetError::External(source) => match source.downcast::<std::io::Error>() {
                Ok(source) => StoreError::io("write", path)(*source),
                Err(source) => failed(source.to_string()),
            },
            other => failed(other.to_string()),
        })
    })
}

fn write(
    run: &Run,
    file: &mut (impl Write + Send),
    mut table: Table<'_>,
) -> Result<(), ParquetError> {
    let schema = schema(&table.columns)?;
    let mut writer = SerializedFileWriter::new(file, schema, properties(run)?)?;
    loop {
        let mut rows: Vec<Vec<Value>> = table.rows.by_ref().take(ROWS_PER_GROUP).collect();
        if rows.is_empty() {
            break;
        }
        let mut group = writer.next_row_group()?;
        for (at, &(_, kind)) in table.columns.iter().enumerate() {
            let values = rows
                .iter_mut()
                .map(|row| std::mem::replace(&mut row[at], Value::Absent));
            write_column(&mut group, kind, values)?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

fn schema(columns: &[(String, ValueType)]) -> Result<TypePtr, ParquetError> {
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

fn properties(run: &Run) -> Result<WriterPropertiesPtr, ParquetError> {
    let manifest = &run.manifest;
    let metadata = [
        ("assay.run_id", manifest.run_id.clone()),
        ("assay.tool", manifest.tool.to_string()),
        ("assay.created", manifest.created.clone()),
        ("assay.suite", manifest.suite.name.clone()),
        ("assay.scale", manifest.scale.to_string()),
        ("assay.simulated", run.has_simulated().to_string()),
    ];
    let pair = |(key, value): (&str, String)| KeyValue::new(key.to_owned(), value);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_created_by(format!("assay {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(metadata.map(pair).to_vec()))
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
        return Err(ParquetError::General(
            "more columns than the schema has".to_owned(),
        ));
    };
    let values: Vec<Option<T::T>> = values.map(as_type).collect();
    let levels: Vec<i16> = values.iter().map(|v| i16::from(v.is_some())).collect();
    let present: Vec<T::T> = values.into_iter().flatten().collect();
    let batch = writer.typed::<T>();
    batch.write_batch(&present, Some(&levels), None)?;
    writer.close()
}
