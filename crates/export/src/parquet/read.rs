use std::fs::File;
use std::path::{Path, PathBuf};

use assay_store::StoreError;
use parquet::basic::Type as PhysicalType;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::ExportError;
use crate::table::{Column, Row, Value, ValueType};

/// Reads the rows of a Parquet table in order, one group of rows in memory at a time.
pub struct TableReader {
    path: PathBuf,
    file: SerializedFileReader<File>,
    /// For each wanted column: its place in the file, or none.
    places: Vec<Option<usize>>,
    next_group: usize,
    rows: std::vec::IntoIter<Row>,
}

impl TableReader {
    /// Opens a table for the values of these columns; one that the file lacks is absent in every
    /// row. Fails when the file is no Parquet file, or a column has another type.
    pub fn open(path: &Path, wanted: &[Column]) -> Result<TableReader, ExportError> {
        let opened = assay_output::open_to_read(path).map_err(StoreError::io("open", path))?;
        let file = SerializedFileReader::new(opened).map_err(|e| read_error(path, &e))?;
        let known = file.metadata().file_metadata().schema_descr();
        let place = |(name, kind): &Column| {
            let at = known.columns().iter().position(|c| c.name() == name);
            match at {
                Some(at) if known.column(at).physical_type() != physical(*kind) => {
                    let reason = format!("its column {name} has another type than this build's");
                    Err(damaged(path, reason))
                }
                at => Ok(at),
            }
        };
        Ok(TableReader {
            places: wanted.iter().map(place).collect::<Result<_, _>>()?,
            path: path.to_owned(),
            file,
            next_group: 0,
            rows: Vec::new().into_iter(),
        })
    }

    /// The next row; `None` after the last one.
    pub fn next_row(&mut self) -> Result<Option<Row>, ExportError> {
        loop {
            if let Some(row) = self.rows.next() {
                return Ok(Some(row));
            }
            if self.next_group == self.file.num_row_groups() {
                return Ok(None);
            }
            let rows = self.group(self.next_group);
            self.rows = rows.map_err(|e| read_error(&self.path, &e))?.into_iter();
            self.next_group += 1;
        }
    }

    fn group(&self, at: usize) -> Result<Vec<Row>, ParquetError> {
        let group = self.file.get_row_group(at)?;
        let count = usize::try_from(group.metadata().num_rows())
            .map_err(|_| ParquetError::General("a negative number of rows".to_owned()))?;
        let mut rows = vec![Row::with_capacity(self.places.len()); count];
        for &place in &self.places {
            let Some(place) = place else {
                rows.iter_mut().for_each(|row| row.push(Value::Absent));
                continue;
            };
            let values = match group.get_column_reader(place)? {
                ColumnReader::Int64ColumnReader(column) => {
                    values(column, count, |n: i64| Ok(Value::Count(n as u64)))?
                }
                ColumnReader::DoubleColumnReader(column) => {
                    values(column, count, |x| Ok(Value::Figure(x)))?
                }
                ColumnReader::BoolColumnReader(column) => {
                    values(column, count, |flag| Ok(Value::Flag(flag)))?
                }
                ColumnReader::ByteArrayColumnReader(column) => values(column, count, text)?,
                _ => return Err(ParquetError::General("a column of another type".to_owned())),
            };
            rows.iter_mut().zip(values).for_each(|(row, v)| row.push(v));
        }
        Ok(rows)
    }
}

fn text(bytes: ByteArray) -> Result<Value, ParquetError> {
    bytes.as_utf8().map(|text| Value::Text(text.to_owned()))
}

fn physical(kind: ValueType) -> PhysicalType {
    match kind {
        ValueType::Count => PhysicalType::INT64,
        ValueType::Figure => PhysicalType::DOUBLE,
        ValueType::Flag => PhysicalType::BOOLEAN,
        ValueType::Text => PhysicalType::BYTE_ARRAY,
    }
}

/// One value per row of the group.
fn values<T: DataType>(
    mut column: ColumnReaderImpl<T>,
    count: usize,
    value: impl Fn(T::T) -> Result<Value, ParquetError>,
) -> Result<Vec<Value>, ParquetError> {
    let (mut levels, mut present) = (Vec::with_capacity(count), Vec::with_capacity(count));
    while levels.len() < count {
        let left = count - levels.len();
        let (read, ..) = column.read_records(left, Some(&mut levels), None, &mut present)?;
        if read == 0 {
            let reason = "a column has fewer rows than its group";
            return Err(ParquetError::General(reason.to_owned()));
        }
    }
    let mut present = present.into_iter();
    let row = |level: i16| match level {
        0 => Ok(Value::Absent),
        _ => {
            let next = present.next().ok_or_else(|| {
                ParquetError::General("a column has fewer values than its levels".to_owned())
            })?;
            value(next)
        }
    };
    levels.into_iter().map(row).collect()
}

fn read_error(path: &Path, error: &ParquetError) -> ExportError {
    damaged(path, error.to_string())
}

fn damaged(path: &Path, reason: String) -> ExportError {
    ExportError::NotATable { path: path.to_owned(), reason }
}
