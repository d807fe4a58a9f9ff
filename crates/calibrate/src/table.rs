//! Tables of measurements: comma-separated values under a heading that names the columns (RFC 4180, without line breaks in fields).
//!
//! A user's table (`measurements.csv`) may leave out every column but `value`, see [`measurements`]. Empty lines and lines that begin
//! with `#` are skipped.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use assay_units::{DataClass, Op, parse_size};

use crate::CalibrateError;
use crate::drive_under_test::AREA_BYTES;
use crate::measurement::{
    AccessPattern, FillFigure, Measurement, PriorState, Procedure, ReferenceMetric,
    ReferenceWorkload, Role, SoakFigure, Tolerance,
};
use crate::procedure::fill::{ZEROED_READ_BYTES, ZEROED_READ_THREADS};

/// Largest table that is read, in bytes: more than a hundred thousand measurements.
const MAX_BYTES: u64 = 16 << 20;
/// Columns that a user's table may have.
const COLUMNS: &str = "procedure, rw, block, threads, queue_depth, data, state, area, ios, metric, value, tolerance, role, source";

/// A parsed table.
#[derive(Clone, Debug)]
pub struct CsvTable {
    columns: Vec<String>,
    rows: Vec<CsvRow>,
}

/// A line of a table.
#[derive(Clone, Debug)]
pub struct CsvRow {
    file: String,
    line: usize,
    fields: BTreeMap<String, String>,
}

impl CsvTable {
    /// Parse a text. `file` is its name in errors.
    ///
    /// # Errors
    /// [`CalibrateError::Table`] for a missing heading, a repeated column, an unclosed quote, or a wrong number of fields.
    pub fn parse(file: &str, text: &str) -> Result<CsvTable, CalibrateError> {
        let error = |line: usize, what: String| CalibrateError::Table {
            file: file.to_owned(),
            line,
            column: None,
            what,
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = text
            .lines()
            .enumerate()
            .map(|(n, line)| (n + 1, line.trim()))
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let (at, heading) = lines
            .next()
            .ok_or_else(|| error(1, "no heading; the first line names the columns".to_owned()))?;
        let columns: Vec<String> = fields(heading)
            .ok_or_else(|| error(at, "a double quote is not closed".to_owned()))?
            .into_iter()
            .map(|name| name.to_lowercase())
            .collect();
        for (n, name) in columns.iter().enumerate() {
            if columns[..n].contains(name) {
                return Err(error(at, format!("column {name:?} is repeated")));
            }
        }
        let mut rows = Vec::new();
        for (line, text) in lines {
            let fields = fields(text)
                .ok_or_else(|| error(line, "a double quote is not closed".to_owned()))?;
            if fields.len() != columns.len() {
                return Err(error(
                    line,
                    format!(
                        "{} fields under a heading of {} columns",
                        fields.len(),
                        columns.len()
                    ),
                ));
            }
            rows.push(CsvRow {
                file: file.to_owned(),
                line,
                fields: columns.iter().cloned().zip(fields).collect(),
            });
        }
        Ok(CsvTable { columns, rows })
    }

    /// Its lines.
    pub fn rows(&self) -> &[CsvRow] {
        &self.rows
    }

    /// Its lines, out of the table.
    pub fn into_rows(self) -> Vec<CsvRow> {
        self.rows
    }

    /// The columns' names, in lower case.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }
}

/// The fields of a line; `None` when a quote is not closed.
fn fields(line: &str) -> Option<Vec<String>> {
    let mut out = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_start();
        let mut field = String::new();
        if let Some(mut quoted) = rest.strip_prefix('"') {
            loop {
                let end = quoted.find('"')?;
                field.push_str(&quoted[..end]);
                quoted = &quoted[end + 1..];
                let Some(more) = quoted.strip_prefix('"') else {
                    break;
                };
                field.push('"');
                quoted = more;
            }
            rest = quoted.trim_start();
            if !rest.is_empty() && !rest.starts_with(',') {
                return None;
            }
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            field.push_str(rest[..end].trim());
            rest = &rest[end..];
        }
        out.push(field);
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => return Some(out),
        }
    }
}

impl CsvRow {
    /// An error about a field of this line.
    pub fn error(&self, column: &str, what: &str) -> CalibrateError {
        CalibrateError::Table {
            file: self.file.clone(),
            line: self.line,
            column: Some(column.to_owned()),
            what: what.to_owned(),
        }
    }

    /// A field, unless the column is missing or the field empty.
    fn get(&self, column: &str) -> Option<&str> {
        self.fields
            .get(column)
            .map(String::as_str)
            .filter(|text| !text.is_empty())
    }

    /// A required field.
    ///
    /// # Errors
    /// When it is missing.
    pub fn text(&self, column: &str) -> Result<&str, CalibrateError> {
        self.get(column)
            .ok_or_else(|| self.error(column, "missing; this column must have a value"))
    }

    /// A whole number.
    ///
    /// # Errors
    /// When it is missing, not a number, or out of range.
    pub fn number<T: FromStr>(&self, column: &str) -> Result<T, CalibrateError> {
        let text = self.text(column)?;
        text.parse().map_err(|_| {
            self.error(
                column,
                &format!("{text:?} is not a whole number in the range of this column"),
            )
        })
    }

    /// A figure: a number above 0.
    ///
    /// # Errors
    /// When it is missing or not a number above 0.
    pub fn figure(&self, column: &str) -> Result<f64, CalibrateError> {
        self.text(column)?;
        self.optional(column)?
            .ok_or_else(|| self.error(column, "missing; this column must have a value"))
    }

    /// An optional figure.
    ///
    /// # Errors
    /// When it is not a number above 0.
    pub fn optional(&self, column: &str) -> Result<Option<f64>, CalibrateError> {
        let Some(text) = self.get(column) else {
            return Ok(None);
        };
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() && value > 0.0 => Ok(Some(value)),
            _ => Err(self.error(
                column,
                &format!("{text:?} is not a number above 0, such as 1660 or 81.5"),
            )),
        }
    }

    /// Read or write.
    ///
    /// # Errors
    /// When it is missing or something else.
    pub fn op(&self, column: &str) -> Result<Op, CalibrateError> {
        match self.text(column)? {
            "read" => Ok(Op::Read),
            "write" => Ok(Op::Write),
            other => Err(self.error(column, &format!("{other:?}: write read or write"))),
        }
    }

    fn count(&self, column: &str, default: u32, most: u32) -> Result<u32, CalibrateError> {
        if self.get(column).is_none() {
            return Ok(default);
        }
        let number: u32 = self.number(column)?;
        if (1..=most).contains(&number) {
            Ok(number)
        } else {
            Err(self.error(column, &format!("{number} is not within 1 to {most}")))
        }
    }

    fn size(&self, column: &str, default: u64) -> Result<u64, CalibrateError> {
        let Some(text) = self.get(column) else {
            return Ok(default);
        };
        let size = parse_size(text).map_err(|error| {
            self.error(
                column,
                &format!("{error}; a size looks like 4096, 4k or 16GiB"),
            )
        })?;
        if size == 0 || size % assay_units::SECTOR_BYTES != 0 {
            return Err(self.error(
                column,
                &format!("{text:?} is not a positive multiple of 512 bytes"),
            ));
        }
        Ok(size)
    }
}

/// The procedure and metric of a figure's name in `figures.csv`.
pub fn figure_named(name: &str) -> Option<(Procedure, ReferenceMetric)> {
    use FillFigure as Fill;
    use SoakFigure as Soak;
    let fill = |figure, metric| Some((Procedure::Fill(figure), metric));
    let soak = |figure, metric| Some((Procedure::Soak(figure), metric));
    match name {
        "write_steady" => fill(Fill::Steady, ReferenceMetric::MbPerS),
        "write_first" => fill(Fill::First, ReferenceMetric::MbPerS),
        "write_full" => fill(Fill::Full, ReferenceMetric::MbPerS),
        "write_cache_gb" => fill(Fill::Cache, ReferenceMetric::Gb),
        "zeroed_read" => Some((Procedure::ZeroedRead, ReferenceMetric::MibPerS)),
        "data_read" => {
            let job = ReferenceWorkload::read(
                AccessPattern::Random,
                ZEROED_READ_THREADS,
                ZEROED_READ_BYTES,
            );
            Some((Procedure::Steady(job), ReferenceMetric::MibPerS))
        }
        "celsius_after_120_s" => soak(Soak::CelsiusAfter120S, ReferenceMetric::Celsius),
        "settled_celsius" => soak(Soak::SettledCelsius, ReferenceMetric::Celsius),
        "second_sensor" => soak(Soak::SecondSensor, ReferenceMetric::Celsius),
        "settled_read" => soak(Soak::SettledRead, ReferenceMetric::MibPerS),
        "throttle_celsius" => soak(Soak::ThrottleCelsius, ReferenceMetric::Celsius),
        "throttled_read" => soak(Soak::ThrottledRead, ReferenceMetric::MibPerS),
        "throttled_s" => soak(Soak::ThrottledS, ReferenceMetric::Seconds),
        "recovered_s" => soak(Soak::RecoveredS, ReferenceMetric::Seconds),
        _ => None,
    }
}

/// The names that [`figure_named`] accepts.
pub const FIGURE_NAMES: &str = "write_steady, write_first, write_full, write_cache_gb, zeroed_read, data_read, celsius_after_120_s, settled_celsius, second_sensor, settled_read, throttle_celsius, throttled_read, throttled_s, recovered_s";

/// The measurements of a user's file.
///
/// # Errors
/// [`CalibrateError::File`] when it cannot be read, else as [`measurements`].
pub fn load(path: &Path) -> Result<Vec<Measurement>, CalibrateError> {
    let file = |source| CalibrateError::File {
        path: path.to_owned(),
        source,
    };
    let length = std::fs::metadata(path).map_err(file)?.len();
    if length > MAX_BYTES {
        return Err(file(std::io::Error::other(
            "larger than 16 MiB, so it is not a table of measurements",
        )));
    }
    let text = std::fs::read_to_string(path).map_err(file)?;
    let name = path.file_name().map_or_else(
        || path.display().to_string(),
        |n| n.to_string_lossy().into_owned(),
    );
    measurements(&name, &text)
}

/// The measurements of a user's table. Columns and fields other than `value` are optional:
///
/// | column | default | meaning |
/// |---|---|---|
/// | `procedure` | `steady` | `steady` (the workload of the next columns), or a name of [`FIGURE_NAMES`] |
/// | `rw` | `randread` | `read`, `write`, `randread`, `randwrite` |
/// | `block` | `4k` | bytes per I/O; `block_bytes` is the same |
/// | `threads`, `queue_depth` | 1 | threads, I/Os in flight per thread |
/// | `data` | `incompressible` | or `zero` |
/// | `state` | `filled` | state of the drive before: `fresh`, `filled`, `overwritten` |
/// | `area` | `16GiB` | area, from the drive's start |
/// | `ios` | as many as needed | I/Os measured from an idle drive on, where the rate is not in steady state |
/// | `metric` | `mib_per_s` | a name of a [`ReferenceMetric`] |
/// | `value` | | the figure |
/// | `tolerance` | [`Tolerance::of`] | per cent, or kelvin for temperatures |
/// | `role` | `target` | or `held_out`: not fitted to, a prediction |
/// | `source` | the file's name | who measured it |
///
/// # Errors
/// [`CalibrateError::Table`] with line, column and the expected form.
pub fn measurements(file: &str, text: &str) -> Result<Vec<Measurement>, CalibrateError> {
    let table = CsvTable::parse(file, text)?;
    let known = |name: &str| name == "block_bytes" || COLUMNS.split(", ").any(|c| c == name);
    if let Some(unknown) = table.columns().iter().find(|name| !known(name)) {
        return Err(CalibrateError::Table {
            file: file.to_owned(),
            line: 1,
            column: Some(unknown.clone()),
            what: format!("no such column; there are: {COLUMNS}"),
        });
    }
    table.rows().iter().map(measurement).collect()
}

fn measurement(row: &CsvRow) -> Result<Measurement, CalibrateError> {
    let (procedure, usual) = match row.get("procedure") {
        None | Some("steady") => (Procedure::Steady(workload(row)?), ReferenceMetric::MibPerS),
        Some(name) => figure_named(name).ok_or_else(|| {
            row.error(
                "procedure",
                &format!("{name:?} is not steady or one of: {FIGURE_NAMES}"),
            )
        })?,
    };
    let metric = match row.get("metric") {
        None => usual,
        Some(name) => ReferenceMetric::parse(name).ok_or_else(|| {
            let names: Vec<&str> = ReferenceMetric::all().map(ReferenceMetric::name).collect();
            row.error(
                "metric",
                &format!("{name:?} is not one of: {}", names.join(", ")),
            )
        })?,
    };
    let steady = matches!(procedure, Procedure::Steady(_));
    if !steady && metric != usual {
        return Err(row.error(
            "metric",
            &format!("this procedure measures {}; leave it empty", usual.name()),
        ));
    }
    if steady
        && matches!(
            metric,
            ReferenceMetric::Celsius | ReferenceMetric::Watts | ReferenceMetric::Ratio
        )
    {
        return Err(row.error(
            "metric",
            &format!(
                "a workload gives rates and latencies, not {}; for temperatures name a procedure",
                metric.name()
            ),
        ));
    }
    let tolerance = match row.optional("tolerance")? {
        None => Tolerance::of(metric),
        Some(kelvin) if metric == ReferenceMetric::Celsius => Tolerance::Absolute(kelvin),
        Some(percent) => Tolerance::Relative(percent / 100.0),
    };
    let role = match row.get("role") {
        None | Some("target") => Role::Target,
        Some("held_out") => Role::HeldOut,
        Some(other) => {
            return Err(row.error("role", &format!("{other:?}: write target or held_out")));
        }
    };
    Ok(Measurement {
        procedure,
        metric,
        value: row.figure("value")?,
        tolerance,
        source: row.get("source").unwrap_or(&row.file).to_owned(),
        role,
    })
}

fn workload(row: &CsvRow) -> Result<ReferenceWorkload, CalibrateError> {
    let rw = row.get("rw").unwrap_or("randread");
    let (access, op) = ReferenceWorkload::parse_rw(rw).ok_or_else(|| {
        row.error(
            "rw",
            &format!("{rw:?}: write read, write, randread or randwrite"),
        )
    })?;
    let column = if row.get("block_bytes").is_some() {
        "block_bytes"
    } else {
        "block"
    };
    let block = row.size(column, 4096)?;
    let block_bytes = u32::try_from(block)
        .ok()
        .filter(|&bytes| bytes <= 64 << 20)
        .ok_or_else(|| row.error(column, "larger than 64 MiB"))?;
    let (threads, queue_depth) = (
        row.count("threads", 1, 1024)?,
        row.count("queue_depth", 1, 65_535)?,
    );
    if u64::from(threads) * u64::from(queue_depth) > 65_536 {
        return Err(row.error("queue_depth", "more than 65536 I/Os in flight in all"));
    }
    let data = match row.get("data").unwrap_or("incompressible") {
        "incompressible" => DataClass::Incompressible,
        "zero" => DataClass::Zero,
        other => {
            return Err(row.error("data", &format!("{other:?}: write incompressible or zero")));
        }
    };
    let state = row.get("state").unwrap_or(PriorState::Filled.name());
    let state = PriorState::parse(state).ok_or_else(|| {
        row.error(
            "state",
            &format!("{state:?}: write fresh, filled or overwritten"),
        )
    })?;
    let area_bytes = row.size("area", AREA_BYTES)?;
    if area_bytes < block {
        return Err(row.error("area", "smaller than a block"));
    }
    Ok(ReferenceWorkload {
        op,
        access,
        block_bytes,
        threads,
        queue_depth,
        data,
        state,
        area_bytes,
        ios: row.get("ios").map(|_| row.number("ios")).transpose()?,
    })
}

#[cfg(test)]
#[path = "../tests/unit/table.rs"]
mod tests;
