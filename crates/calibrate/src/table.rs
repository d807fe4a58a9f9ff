//! Tables of measurements: comma-separated values under a heading that names the columns (RFC 4180,
//! without line breaks in fields). Empty lines and lines that begin with `#` are skipped.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use assay_units::{DataClass, Op, parse_size};

use crate::CalibrateError;
use crate::measurement::{
    AREA_BYTES, AccessPattern, FillFigure, Measurement, PriorState, Procedure, ReferenceMetric,
    ReferenceWorkload, Role, SoakFigure, Tolerance,
};
use crate::procedure::fill::{ZEROED_READ_BYTES, ZEROED_READ_THREADS};

const COLUMNS: &str = "procedure, rw, block, threads, queue_depth, data, state, area, ios, \
                       metric, value, tolerance, role, source";

pub struct CsvTable {
    /// In lower case.
    columns: Vec<String>,
    pub rows: Vec<CsvRow>,
}

pub struct CsvRow {
    file: String,
    line: usize,
    fields: BTreeMap<String, String>,
}

impl CsvTable {
    /// `file` is the name in errors.
    pub fn parse(file: &str, text: &str) -> Result<CsvTable, CalibrateError> {
        let error = |line: usize, what: &str| CalibrateError::table(file, line, None, what);
        let fields_of =
            |line, text| fields(text).ok_or_else(|| error(line, "a double quote is not closed"));
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = text.lines().map(str::trim).zip(1..);
        let mut lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
        let (heading, at) =
            lines.next().ok_or_else(|| error(1, "no heading; the first line names the columns"))?;
        let columns = fields_of(at, heading)?;
        let columns: Vec<String> = columns.iter().map(|name| name.to_lowercase()).collect();
        for (n, name) in columns.iter().enumerate() {
            if columns[..n].contains(name) {
                return Err(error(at, &format!("column {name:?} is repeated")));
            }
        }
        let mut rows = Vec::new();
        for (text, line) in lines {
            let fields = fields_of(line, text)?;
            let (count, of) = (fields.len(), columns.len());
            if count != of {
                let what = format!("{count} fields under a heading of {of} columns");
                return Err(error(line, &what));
            }
            rows.push(CsvRow {
                file: file.to_owned(),
                line,
                fields: columns.iter().cloned().zip(fields).collect(),
            });
        }
        Ok(CsvTable { columns, rows })
    }
}

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
    pub fn error(&self, column: &str, what: impl AsRef<str>) -> CalibrateError {
        CalibrateError::table(&self.file, self.line, Some(column), what.as_ref())
    }

    fn get(&self, column: &str) -> Option<&str> {
        let field = self.fields.get(column)?;
        (!field.is_empty()).then_some(field)
    }

    pub fn text(&self, column: &str) -> Result<&str, CalibrateError> {
        self.get(column).ok_or_else(|| self.error(column, "missing; this column must have a value"))
    }

    pub fn number<T: FromStr>(&self, column: &str) -> Result<T, CalibrateError> {
        let text = self.text(column)?;
        let what = format!("{text:?} is not a whole number in the range of this column");
        text.parse().map_err(|_| self.error(column, what))
    }

    /// A number above 0.
    pub fn figure(&self, column: &str) -> Result<f64, CalibrateError> {
        let text = self.text(column)?;
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
            _ => {
                let what = format!("{text:?} is not a number above 0, such as 1660 or 81.5");
                Err(self.error(column, what))
            }
        }
    }

    pub fn optional(&self, column: &str) -> Result<Option<f64>, CalibrateError> {
        let field = self.get(column);
        field.map(|_| self.figure(column)).transpose()
    }

    pub fn named<T>(
        &self,
        column: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, CalibrateError> {
        let name = self.text(column)?;
        parse(name).ok_or_else(|| self.error(column, format!("no figure is called {name:?}")))
    }

    /// Read or write.
    pub fn op(&self, column: &str) -> Result<Op, CalibrateError> {
        let mut ops = [Op::Read, Op::Write].into_iter();
        let parse = |name: &str| ops.find(|op| op.name() == name);
        self.one_of(column, self.text(column)?, parse, "read or write")
    }

    /// Parse a field or its default; `names` are the valid ones.
    fn one_of<T>(
        &self,
        column: &str,
        default: &str,
        parse: impl FnOnce(&str) -> Option<T>,
        names: &str,
    ) -> Result<T, CalibrateError> {
        let field = self.get(column).unwrap_or(default);
        parse(field).ok_or_else(|| self.error(column, format!("{field:?}: write {names}")))
    }

    fn count(&self, column: &str, most: u32) -> Result<u32, CalibrateError> {
        match self.get(column).map_or(Ok(1), |_| self.number(column))? {
            number if (1..=most).contains(&number) => Ok(number),
            number => Err(self.error(column, format!("{number} is not within 1 to {most}"))),
        }
    }

    fn size(&self, column: &str, default: u64) -> Result<u64, CalibrateError> {
        let Some(text) = self.get(column) else {
            return Ok(default);
        };
        let size = parse_size(text).map_err(|error| {
            self.error(column, format!("{error}; a size looks like 4096, 4k or 16GiB"))
        })?;
        if size == 0 || size % assay_units::SECTOR_BYTES != 0 {
            let what = format!("{text:?} is not a positive multiple of 512 bytes");
            return Err(self.error(column, what));
        }
        Ok(size)
    }
}

const FIGURES: [(&str, Procedure, ReferenceMetric); 14] = {
    use Procedure::{Fill, Soak, Steady, ZeroedRead};
    use ReferenceMetric::{Celsius, Gb, MbPerS, MibPerS, Seconds};
    let (threads, block_bytes) = (ZEROED_READ_THREADS, ZEROED_READ_BYTES);
    let data_read = ReferenceWorkload::read(AccessPattern::Random, threads, block_bytes);
    [
        ("write_steady", Fill(FillFigure::Steady), MbPerS),
        ("write_first", Fill(FillFigure::First), MbPerS),
        ("write_full", Fill(FillFigure::Full), MbPerS),
        ("write_cache_gb", Fill(FillFigure::Cache), Gb),
        ("zeroed_read", ZeroedRead, MibPerS),
        ("data_read", Steady(data_read), MibPerS),
        ("celsius_after_120_s", Soak(SoakFigure::CelsiusAfter120S), Celsius),
        ("settled_celsius", Soak(SoakFigure::SettledCelsius), Celsius),
        ("second_sensor", Soak(SoakFigure::SecondSensor), Celsius),
        ("settled_read", Soak(SoakFigure::SettledRead), MibPerS),
        ("throttle_celsius", Soak(SoakFigure::ThrottleCelsius), Celsius),
        ("throttled_read", Soak(SoakFigure::ThrottledRead), MibPerS),
        ("throttled_s", Soak(SoakFigure::ThrottledS), Seconds),
        ("recovered_s", Soak(SoakFigure::RecoveredS), Seconds),
    ]
};

pub fn figure_named(name: &str) -> Option<(Procedure, ReferenceMetric)> {
    let found = FIGURES.iter().find(|(known, ..)| *known == name);
    found.map(|&(_, procedure, metric)| (procedure, metric))
}

pub fn load(path: &Path) -> Result<Vec<Measurement>, CalibrateError> {
    let file = CalibrateError::file(path);
    let text = assay_output::read_text(path).map_err(file)?;
    let name = path.file_name().unwrap_or(path.as_os_str());
    measurements(&name.to_string_lossy(), &text)
}

/// The measurements of a user's table. Columns and fields other than `value` are optional:
///
/// | column | default | meaning |
/// |---|---|---|
/// | `procedure` | `steady` | `steady` (of the next columns), or a name of `figures.csv` |
/// | `rw` | `randread` | `read`, `write`, `randread`, `randwrite` |
/// | `block` | `4k` | bytes per I/O; `block_bytes` is the same |
/// | `threads`, `queue_depth` | 1 | threads, I/Os in flight per thread |
/// | `data` | `incompressible` | or `zero` |
/// | `state` | `filled` | state of the drive before: `fresh`, `filled`, `overwritten` |
/// | `area` | `16GiB` | area, from the drive's start |
/// | `ios` | as many as needed | I/Os measured from idle on, if not in steady state |
/// | `metric` | `mib_per_s` | a name of a [`ReferenceMetric`] |
/// | `value` | | the figure |
/// | `tolerance` | [`Tolerance::for_metric`] | per cent, or kelvin for temperatures |
/// | `role` | `target` | or `held_out`: not fitted to, a prediction |
/// | `source` | the file's name | who measured it |
///
/// [`CalibrateError::Table`] names line, column and the expected form.
pub fn measurements(file: &str, text: &str) -> Result<Vec<Measurement>, CalibrateError> {
    let table = CsvTable::parse(file, text)?;
    let known = |name: &str| name == "block_bytes" || COLUMNS.split(", ").any(|c| c == name);
    if let Some(unknown) = table.columns.iter().find(|name| !known(name)) {
        let what = format!("no such column; there are: {COLUMNS}");
        return Err(CalibrateError::table(file, 1, Some(unknown), &what));
    }
    table.rows.iter().map(measurement).collect()
}

fn measurement(row: &CsvRow) -> Result<Measurement, CalibrateError> {
    let (procedure, usual) = match row.get("procedure").unwrap_or("steady") {
        "steady" => (Procedure::Steady(workload(row)?), ReferenceMetric::MibPerS),
        name => figure_named(name).ok_or_else(|| {
            let names = FIGURES.map(|(name, ..)| name).join(", ");
            row.error("procedure", format!("{name:?} is not steady or one of: {names}"))
        })?,
    };
    let name = row.get("metric").unwrap_or(usual.name());
    let metric = ReferenceMetric::parse(name).ok_or_else(|| {
        let names: Vec<&str> = ReferenceMetric::all().map(ReferenceMetric::name).collect();
        let what = format!("{name:?} is not one of: {}", names.join(", "));
        row.error("metric", what)
    })?;
    use ReferenceMetric::{Celsius, Ratio, Watts};
    let impossible = match procedure {
        Procedure::Steady(_) if matches!(metric, Celsius | Watts | Ratio) => Some(format!(
            "a workload gives rates and latencies, not {name}; for temperatures name a procedure"
        )),
        Procedure::Steady(_) => None,
        _ => (metric != usual)
            .then(|| format!("this procedure measures {}; leave it empty", usual.name())),
    };
    if let Some(what) = impossible {
        return Err(row.error("metric", what));
    }
    let tolerance = match row.optional("tolerance")? {
        None => Tolerance::for_metric(metric),
        Some(kelvin) if metric == Celsius => Tolerance::Absolute(kelvin),
        Some(percent) => Tolerance::Relative(percent / 100.0),
    };
    Ok(Measurement {
        procedure,
        metric,
        role: row.one_of("role", "target", Role::parse, "target or held_out")?,
        value: row.figure("value")?,
        tolerance,
        source: row.get("source").unwrap_or(&row.file).to_owned(),
    })
}

fn workload(row: &CsvRow) -> Result<ReferenceWorkload, CalibrateError> {
    let (parse_rw, names) = (ReferenceWorkload::parse_rw, "read, write, randread or randwrite");
    let (access, op) = row.one_of("rw", "randread", parse_rw, names)?;
    let column = match row.get("block_bytes") {
        Some(_) => "block_bytes",
        None => "block",
    };
    let block = row.size(column, 4096)?;
    if block > 64 << 20 {
        return Err(row.error(column, "larger than 64 MiB"));
    }
    let threads = row.count("threads", 1024)?;
    let queue_depth = row.count("queue_depth", 65_535)?;
    if u64::from(threads) * u64::from(queue_depth) > 65_536 {
        return Err(row.error("queue_depth", "more than 65536 I/Os in flight in all"));
    }
    let class = |name: &str| match name {
        "incompressible" => Some(DataClass::Incompressible),
        "zero" => Some(DataClass::Zero),
        _ => None,
    };
    let data = row.one_of("data", "incompressible", class, "incompressible or zero")?;
    let (parse_state, names) = (PriorState::parse, "fresh, filled or overwritten");
    let state = row.one_of("state", "filled", parse_state, names)?;
    let area_bytes = row.size("area", AREA_BYTES)?;
    if area_bytes < block {
        return Err(row.error("area", "smaller than a block"));
    }
    Ok(ReferenceWorkload {
        op,
        access,
        block_bytes: block as u32,
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
