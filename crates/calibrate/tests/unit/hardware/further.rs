//! Published figures that no procedure of this crate measures (`reference/further_figures.csv`),
//! and times of flash parts (`reference/flash_times.csv`), both embedded.

use crate::CalibrateError;
use crate::table::{CsvRow, CsvTable};

const FILE: &str = "further_figures.csv";
const TEXT: &str = include_str!("../../../../../reference/further_figures.csv");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Measured,
    /// Measured, rounded by the source.
    About,
    AtLeast,
    AtMost,
    Rated,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FurtherFigure {
    pub drive: String,
    pub figure: String,
    /// Workload or condition; empty where not stated.
    pub workload: String,
    pub bound: Bound,
    pub value: f64,
    /// C, GB, IOPS, MB/s, s, us or W.
    pub unit: String,
    /// The device that has the figure, where it is not the one modelled.
    pub device: Option<String>,
    pub source: String,
}

pub fn further_figures() -> Result<Vec<FurtherFigure>, CalibrateError> {
    let table = CsvTable::parse(FILE, TEXT)?;
    table.rows.iter().map(figure).collect()
}

fn figure(row: &CsvRow) -> Result<FurtherFigure, CalibrateError> {
    let bound = match row.text("bound")? {
        "measured" => Bound::Measured,
        "about" => Bound::About,
        "at least" => Bound::AtLeast,
        "at most" => Bound::AtMost,
        "rated" => Bound::Rated,
        _ => {
            let names = "write measured, about, at least, at most or rated";
            return Err(row.error("bound", names));
        }
    };
    let unit = row.text("unit")?;
    if !["C", "GB", "IOPS", "MB/s", "s", "us", "W"].contains(&unit) {
        return Err(row.error("unit", format!("{unit:?}: write C, GB, IOPS, MB/s, s, us or W")));
    }
    let optional = |column| row.text(column).map(str::to_owned).ok();
    Ok(FurtherFigure {
        drive: row.text("drive")?.to_owned(),
        figure: row.text("figure")?.to_owned(),
        workload: optional("workload").unwrap_or_default(),
        bound,
        value: row.figure("value")?,
        unit: unit.to_owned(),
        device: optional("device"),
        source: row.text("source")?.to_owned(),
    })
}

const FLASH_FILE: &str = "flash_times.csv";
const FLASH_TEXT: &str = include_str!("../../../../../reference/flash_times.csv");

/// What a source gives of a flash part or class; `None` and empty where it is silent.
#[derive(Clone, Debug, PartialEq)]
pub struct FlashTimes {
    /// Class: planar or 3D, bits per cell, layers or process, density.
    pub flash: String,
    /// The part, or the model whose constant it is.
    pub part: String,
    /// `data sheet`, `announcement`, `measured`, `fit of an emulator` or `simulator`.
    pub kind: String,
    pub page_bytes: Option<f64>,
    pub planes: Option<f64>,
    /// Interface rate in millions of transfers per second.
    pub bus_mt_s: Option<f64>,
    /// Per page type; a maximum in a data sheet.
    pub sense_us: Vec<f64>,
    pub program_us: Vec<f64>,
    pub erase_ms: Option<f64>,
    pub cycles: Option<f64>,
    pub source: String,
}

pub fn flash_times() -> Result<Vec<FlashTimes>, CalibrateError> {
    let table = CsvTable::parse(FLASH_FILE, FLASH_TEXT)?;
    table.rows.iter().map(times).collect()
}

fn times(row: &CsvRow) -> Result<FlashTimes, CalibrateError> {
    let kind = row.text("kind")?;
    let kinds = ["data sheet", "announcement", "measured", "fit of an emulator", "simulator"];
    if !kinds.contains(&kind) {
        return Err(row.error("kind", format!("{kind:?}: write {}", kinds.join(", "))));
    }
    let list = |column| {
        let text = row.text(column).unwrap_or_default();
        let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
        match numbers {
            Ok(numbers) if numbers.is_sorted() && numbers.iter().all(|&n| n > 0.0) => Ok(numbers),
            _ => Err(row.error(column, format!("{text:?} is not rising numbers above 0"))),
        }
    };
    Ok(FlashTimes {
        flash: row.text("flash")?.to_owned(),
        part: row.text("part")?.to_owned(),
        kind: kind.to_owned(),
        page_bytes: row.optional("page_bytes")?,
        planes: row.optional("planes")?,
        bus_mt_s: row.optional("bus_mt_s")?,
        sense_us: list("sense_us")?,
        program_us: list("program_us")?,
        erase_ms: row.optional("erase_ms")?,
        cycles: row.optional("cycles")?,
        source: row.text("source")?.to_owned(),
    })
}
