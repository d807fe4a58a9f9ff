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

use super::table::{self, Column, Value, ValueType};
use super::{make_folder, replace};
use crate::error::StoreError;
use crate::read::Run;

/// Rows held in memory before they are written: bounds memory for runs of many hours.
const ROWS_PER_GROUP: usize = 64 << 10;

/// Write `cells.parquet`, `intervals.parquet`, `telemetry.parquet` and `host.parquet` into a folder, made when missing.
/// Returns the files.
///
/// # Errors
/// When the folder or a file cannot be written.
pub fn export_parquet(run: &Run, folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    make_folder(folder)?;
    let files = table::NAMES.map(|name| folder.join(format!("{name}.parquet")));
    let [cells, intervals, telemetry, host] = &files;
    write(run, cells, &table::cell_columns(), table::cell_rows(run))?;
    write(
        run,
        intervals,
        &table::interval_columns(),
        table::interval_rows(run),
    )?;
    write(
        run,
        telemetry,
        &table::telemetry_columns(),
        table::telemetry_rows(run),
    )?;
    write(run, host, &table::host_columns(), table::host_rows(run))?;
    Ok(files.to_vec())
}

fn write<R>(
    run: &Run,
    path: &Path,
    columns: &[Column<R>],
    rows: impl Iterator<Item = R>,
) -> Result<(), StoreError> {
    replace(path, |file| {
        write_table(run, file, columns, rows).map_err(|error| match error {
            // The library wraps the system's errors; a full disk must still be called one.
            ParquetError::External(source) => match source.downcast::<std::io::Error>() {
                Ok(source) => StoreError::io("write", path)(*source),
                Err(source) => StoreError::Parquet {
                    path: path.to_owned(),
                    reason: source.to_string(),
                },
            },
            other => StoreError::Parquet {
                path: path.to_owned(),
                reason: other.to_string(),
            },
        })
    })
}

fn write_table<R>(
    run: &Run,
    file: &mut (impl Write + Send),
    columns: &[Column<R>],
    mut rows: impl Iterator<Item = R>,
) -> Result<(), ParquetError> {
    let mut writer = SerializedFileWriter::new(file, schema(columns)?, properties(run)?)?;
    loop {
        let mut values: Vec<Vec<Value>> = columns.iter().map(|_| Vec::new()).collect();
        for row in rows.by_ref().take(ROWS_PER_GROUP) {
            for (column, values) in columns.iter().zip(&mut values) {
                values.push((column.get)(&row));
            }
        }
        if values.first().is_none_or(Vec::is_empty) {
            break;
        }
        let mut group = writer.next_row_group()?;
        for (column, values) in columns.iter().zip(values) {
            write_column(&mut group, column.kind, values)?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

fn schema<R>(columns: &[Column<R>]) -> Result<TypePtr, ParquetError> {
    let fields = columns
        .iter()
        .map(|column| {
            let (physical, logical) = match column.kind {
                ValueType::Count => (PhysicalType::INT64, Some(LogicalType::integer(64, false))),
                ValueType::Figure => (PhysicalType::DOUBLE, None),
                ValueType::Flag => (PhysicalType::BOOLEAN, None),
                ValueType::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            };
            Type::primitive_type_builder(&column.name, physical)
                .with_logical_type(logical)
                .with_repetition(Repetition::OPTIONAL)
                .build()
                .map(Arc::new)
        })
        .collect::<Result<Vec<TypePtr>, ParquetError>>()?;
    let root = Type::group_type_builder("assay").with_fields(fields);
    root.build().map(Arc::new)
}

fn properties(run: &Run) -> Result<WriterPropertiesPtr, ParquetError> {
    let manifest = &run.manifest;
    let pair = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
    let metadata = vec![
        pair("assay.run_id", manifest.run_id.clone()),
        pair(
            "assay.tool",
            format!(
                "{} {} ({})",
                manifest.tool.name, manifest.tool.version, manifest.tool.commit
            ),
        ),
        pair("assay.created", manifest.created.clone()),
        pair("assay.suite", manifest.suite.name.clone()),
        pair("assay.scale", manifest.scale.to_string()),
        pair("assay.simulated", run.has_simulated().to_string()),
    ];
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_created_by(format!("assay {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(metadata))
        .build();
    Ok(Arc::new(properties))
}

fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    kind: ValueType,
    values: Vec<Value>,
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
    values: Vec<Value>,
    as_type: impl Fn(Value) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else {
        return Err(ParquetError::General(
            "more columns than the schema has".to_owned(),
        ));
    };
    let mut present = Vec::with_capacity(values.len());
    let mut levels = Vec::with_capacity(values.len());
    for value in values {
        match as_type(value) {
            Some(value) => {
                present.push(value);
                levels.push(1);
            }
            None => levels.push(0),
        }
    }
    writer
        .typed::<T>()
        .write_batch(&present, Some(&levels), None)?;
    writer.close()
}
