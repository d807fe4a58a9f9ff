//! Published figures that no procedure of this crate measures (`reference/further_figures.csv`, embedded).

use crate::CalibrateError;
use crate::table::{CsvRow, CsvTable};

const FILE: &str = "further_figures.csv";
const TEXT: &str = include_str!("../../../../reference/further_figures.csv");

/// How a figure is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Measured by the source.
    Measured,
    /// Measured, rounded by the source.
    About,
    /// A lower bound.
    AtLeast,
    /// An upper bound.
    AtMost,
    /// Claimed by the manufacturer.
    Rated,
}

/// A published figure of a drive, or of a related one.
#[derive(Clone, Debug, PartialEq)]
pub struct FurtherFigure {
    /// The profile that the figure concerns.
    pub drive: String,
    /// What it is.
    pub figure: String,
    /// Workload or condition; empty where not stated.
    pub workload: String,
    /// How it is stated.
    pub bound: Bound,
    /// Its value.
    pub value: f64,
    /// Its unit: C, GB, IOPS, MB/s, s, us or W.
    pub unit: String,
    /// The device that has it, where it is not the one modelled.
    pub device: Option<String>,
    /// Key of docs/sources.md.
    pub source: String,
}

/// All rows of the file; [`CalibrateError::Table`] where it is damaged.
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
        return Err(row.error(
            "unit",
            format!("{unit:?}: write C, GB, IOPS, MB/s, s, us or W"),
        ));
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
