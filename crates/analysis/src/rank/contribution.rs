//! Figures of a run as lines of the public table: without serial numbers, names of hosts and paths.

use assay_store::model::DriveRecord;
use assay_store::model::warning::code;
use assay_store::read::{CellRecord, Run};
use assay_units::text::{format_size, hexadecimal};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::public::{CONTRIBUTED, Row};
use super::{METRICS, WHOLE, comparable};
use crate::link::Link;
use crate::spreadsheet::without_formula;

/// Characters of the identifier's hash: enough to tell units of a model apart, too few to be sure
/// of a serial number that is guessed.
const HASH_CHARS: usize = 10;

/// Warnings of a cell with which its figures are not those of a drive.
const NOT_OF_A_DRIVE: [&str; 6] = [
    code::NOT_FROM_DRIVE,
    code::BUFFERED,
    code::ENGINE_REPLACED,
    code::SCALED,
    code::IO_ERRORS,
    code::HOST_STOPPED,
];

/// What would be handed over of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Contribution {
    /// The table, as CSV.
    #[serde(skip)]
    pub csv: String,
    /// Every text in it, once, by its column; numbers are only counted.
    pub texts: Vec<(&'static str, Vec<String>)>,
    pub figures: usize,
    /// What of the run is left out, and why.
    pub left_out: Vec<String>,
}

/// Every comparable figure of the real drives of a run.
///
/// # Errors
/// When the table cannot be written.
pub fn contribution(run: &Run) -> Result<Contribution, csv::Error> {
    let mut left_out = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    for (number, drive) in run.manifest.drives.iter().enumerate() {
        let reason = if drive.simulated {
            "simulated, not measured"
        } else if !matches!(drive.kind.as_str(), "block" | "imported") {
            "not a drive"
        } else if drive.model.trim().is_empty() {
            "without a model (assay import --model)"
        } else {
            let before = rows.len();
            rows.extend(of_drive(run, number));
            if rows.len() > before {
                continue;
            }
            "without a finished cell of one plain operation"
        };
        left_out.push(format!("{}: {reason}", drive.label));
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in &rows {
        writer.serialize(row)?;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(Contribution {
        csv: String::from_utf8_lossy(&bytes).into_owned(),
        texts: texts(&rows),
        figures: rows.len(),
        left_out,
    })
}

fn of_drive(run: &Run, number: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    let judged = comparable(run, number).filter(|(cell, _)| {
        let rw = cell.plan.workload.rw.as_str();
        let is_one_operation = matches!(rw, "read" | "write" | "randread" | "randwrite");
        let of_cell = |id: &String| *id == cell.plan.id;
        let mut warnings = run.warnings.iter();
        is_one_operation
            && !warnings.any(|warning| {
                NOT_OF_A_DRIVE.contains(&warning.code.as_str())
                    && warning.drive.is_none_or(|drive| drive == number)
                    && warning.cell.as_ref().is_none_or(of_cell)
            })
    });
    for (cell, result) in judged {
        let row = row(run, number, cell, result.elapsed.as_secs_f64());
        let figures = METRICS.iter().filter_map(|metric| {
            let value = (metric.of)(result).filter(|value| value.is_finite() && *value > 0.0)?;
            Some(Row {
                metric: metric.name.to_owned(),
                value,
                unit: metric.unit.to_owned(),
                ..row.clone()
            })
        });
        rows.extend(figures);
    }
    rows
}

/// A line without its figure.
fn row(run: &Run, number: usize, cell: &CellRecord, elapsed_s: f64) -> Row {
    let drive = &run.manifest.drives[number];
    let workload = &cell.plan.workload;
    let capacity = drive.capacity_bytes as f64;
    let is_whole = capacity > 0.0 && workload.span_bytes as f64 >= WHOLE * capacity;
    let area = match workload.span_bytes {
        0 => "device".to_owned(),
        _ if is_whole => "device".to_owned(),
        bytes => format!("{} area", format_size(bytes).replace(' ', "")),
    };
    let imported = run.manifest.imported.as_ref();
    let (state, engine) = match imported {
        Some(import) => (import.state.clone(), workload.engine.clone()),
        None => (
            format!("data {}", workload.data),
            format!("{} assay {}", workload.engine, run.manifest.tool.version),
        ),
    };
    let limited = run.warnings.iter().any(|warning| {
        warning.code == code::HOST_LIMITED && warning.cell.as_ref() == Some(&cell.plan.id)
    });
    let date = run.manifest.created.get(..10).unwrap_or_default();
    Row {
        drive: drive_identifier(drive),
        model: without_formula(drive.model.trim().to_owned()),
        firmware: without_formula(drive.firmware.trim().to_owned()),
        capacity_gb: (capacity > 0.0).then(|| (capacity / 1e9).round()),
        interface: drive.details.get("transport").cloned().unwrap_or_default(),
        link: Link::new(drive).map_or_else(String::new, |link| link.to_string()),
        rw: workload.rw.clone(),
        bs_bytes: workload.bs_bytes,
        iodepth: workload.iodepth.to_string(),
        numjobs: workload.numjobs.to_string(),
        area,
        state,
        duration_s: format!("{elapsed_s:.1}"),
        engine,
        host_limited: if limited { "yes" } else { "no" }.to_owned(),
        source: format!("{CONTRIBUTED}, {date}"),
        ..Row::default()
    }
}

/// The model, and a part of a hash of model and serial number.
pub(super) fn drive_identifier(drive: &DriveRecord) -> String {
    let model = drive.model.trim();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = model.chars().map(plain).collect();
    let digest = Sha256::digest(format!("{model}\0{}", drive.serial.trim()));
    format!("{name}-{}", &hexadecimal(&digest)[..HASH_CHARS])
}

/// A text of a row.
type TextOf = fn(&Row) -> &String;

fn texts(rows: &[Row]) -> Vec<(&'static str, Vec<String>)> {
    let columns: [(&'static str, TextOf); 8] = [
        ("drive", |row| &row.drive),
        ("model", |row| &row.model),
        ("firmware", |row| &row.firmware),
        ("interface", |row| &row.interface),
        ("link", |row| &row.link),
        ("state", |row| &row.state),
        ("engine", |row| &row.engine),
        ("source", |row| &row.source),
    ];
    let distinct = |of: TextOf| {
        let mut found: Vec<String> = rows.iter().map(of).cloned().collect();
        found.sort();
        found.dedup();
        found
    };
    columns.map(|(name, of)| (name, distinct(of))).into()
}

#[cfg(test)]
#[path = "../../tests/unit/contribution.rs"]
mod tests;
