//! Figures of twins at cells that were not measured, beside those of their truths:
//! `reference/twins.csv` (embedded), from which the intervals of a twin's figures come.

use crate::CalibrateError;
use crate::figure_kind::FigureKind;
use crate::inference::posterior::quantile;
use crate::table::{CsvRow, CsvTable};

const TEXT: &str = include_str!("../../../reference/twins.csv");
const FILE: &str = "twins.csv";
pub const HEADING: &str = "truth,nearest,figure,measurement,unit,true,twin,spread";
/// Probability of the intervals.
const LEVEL: f64 = 0.9;

#[derive(Clone, Debug, PartialEq)]
pub struct TwinCell {
    /// Profile of the truth.
    pub truth: String,
    /// Profile from which the twin began.
    pub nearest: String,
    pub kind: FigureKind,
    pub key: String,
    pub unit: String,
    pub actual: f64,
    pub predicted: f64,
    /// Spread of the twin's fit to measured figures of this kind, see [`crate::spread`].
    pub spread: f64,
}

impl TwinCell {
    /// As a share of the truth.
    pub fn error(&self) -> f64 {
        self.predicted / self.actual - 1.0
    }

    /// Logarithm of true over predicted, in spreads of the fit.
    pub fn in_spreads(&self) -> f64 {
        (self.actual / self.predicted).ln() / self.spread
    }
}

pub fn table(cells: &[TwinCell]) -> String {
    let mut out = format!("{HEADING}\n");
    for c in cells {
        out.push_str(&format!(
            "{},{},{},\"{}\",{},{:.1},{:.1},{:.4}\n",
            c.truth,
            c.nearest,
            c.kind.name(),
            c.key,
            c.unit,
            c.actual,
            c.predicted,
            c.spread
        ));
    }
    out
}

pub fn parse(text: &str) -> Result<Vec<TwinCell>, CalibrateError> {
    let one = |row: &CsvRow| {
        Ok(TwinCell {
            truth: row.text("truth")?.to_owned(),
            nearest: row.text("nearest")?.to_owned(),
            kind: row.named("figure", FigureKind::parse)?,
            key: row.text("measurement")?.to_owned(),
            unit: row.text("unit")?.to_owned(),
            actual: row.figure("true")?,
            predicted: row.figure("twin")?,
            spread: row.figure("spread")?,
        })
    };
    CsvTable::parse(FILE, text)?.rows.iter().map(one).collect()
}

pub fn embedded() -> Result<Vec<TwinCell>, CalibrateError> {
    parse(TEXT)
}

/// Half width, in spreads of the fit, that holds 90 % of the errors of these cells of one kind.
pub fn half_width(cells: &[&TwinCell]) -> Option<f64> {
    let sizes: Vec<(f64, f64)> = cells.iter().map(|c| (c.in_spreads().abs(), 1.0)).collect();
    quantile(&sizes, LEVEL)
}
