//! How far a fitted profile is from the rates to which it was fitted.
//!
//! Per kind of figure the root mean square of the logarithms of simulated over measured rates,
//! corrected for the free parameters (residual variance of a regression: sum of squares over
//! `n - p`). `reference/twins.csv` says how many spreads the errors at unmeasured cells have.

use std::collections::BTreeMap;

use toml_edit::{DocumentMut, InlineTable, Item, Table, TomlError};

use crate::CalibrateError;
use crate::figure_kind::FigureKind;
use crate::measurement::Role;
use crate::residual::Residuals;

/// Rates of a run repeat to about a hundredth, so a smaller spread is chance.
const LEAST: f64 = 0.01;
/// Keys of the profile's section `fit`.
const KEYS: [(FigureKind, &str); 2] = [
    (FigureKind::RandomRead, "random_read_spread"),
    (FigureKind::SequentialRead, "sequential_read_spread"),
];

/// Spreads by kind; none where the figures do not outnumber the parameters.
pub fn spreads(residuals: &Residuals, parameters: usize) -> BTreeMap<FigureKind, f64> {
    let targets: Vec<_> = residuals.with_role(Role::Target).collect();
    let free = targets.len().saturating_sub(parameters);
    if free == 0 {
        return BTreeMap::new();
    }
    let taken = targets.len() as f64 / free as f64;
    let of_kind = |kind| {
        let mine = targets.iter().filter(|r| FigureKind::from_measurement(&r.measurement) == kind);
        let ratios = mine.filter_map(|r| Some((r.simulated? / r.measurement.value).ln()));
        let squares: Vec<f64> = ratios.filter(|l| l.is_finite()).map(|l| l * l).collect();
        let mean = squares.iter().sum::<f64>() / squares.len() as f64;
        (!squares.is_empty()).then(|| (kind, (mean * taken).sqrt().max(LEAST)))
    };
    KEYS.iter().filter_map(|(kind, _)| of_kind(*kind)).collect()
}

/// Replace the section `fit` of a profile's text; `label` says to what it was fitted.
pub fn with_spreads(
    text: &str,
    spreads: &BTreeMap<FigureKind, f64>,
    label: &str,
) -> Result<String, CalibrateError> {
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error: TomlError| CalibrateError::parameter("fit", &error.to_string()))?;
    document.remove("fit");
    let mut section = Table::new();
    for (kind, key) in KEYS {
        if let Some(spread) = spreads.get(&kind) {
            let mut number = InlineTable::new();
            number.insert("value", ((spread * 1e4).round() / 1e4).into());
            number.insert("fitted", label.into());
            section.insert(key, Item::Value(number.into()));
        }
    }
    if !section.is_empty() {
        document.insert("fit", Item::Table(section));
    }
    Ok(document.to_string())
}

#[cfg(test)]
#[path = "../tests/unit/spread.rs"]
mod tests;
