//! How far a fitted profile is from the rates to which it was fitted, as its predictive intervals
//! need it.
//!
//! Per kind of figure the root mean square of the logarithms of simulated over measured rates, with
//! the degrees of freedom that the free parameters take (residual variance of a regression: sum of
//! squares over `n - p`). `reference/twins.csv` says how many of these spreads the
//! errors at cells that were not measured have.

use std::collections::BTreeMap;

use toml_edit::{DocumentMut, InlineTable, Item, Table, TomlError};

use crate::CalibrateError;
use crate::figure_kind::FigureKind;
use crate::measurement::Role;
use crate::residual::Residuals;

/// Least spread: rates of a run repeat to about a hundredth, so a smaller one is chance.
const LEAST: f64 = 0.01;
/// Kinds whose rates a profile keeps a spread of, with the key of its section `fit`.
const KEYS: [(FigureKind, &str); 2] = [
    (FigureKind::RandomRead, "random_read_spread"),
    (FigureKind::SequentialRead, "sequential_read_spread"),
];

/// Spreads by kind, after a fit of so many parameters; none where the figures do not outnumber
/// them.
pub fn spreads(residuals: &Residuals, parameters: usize) -> BTreeMap<FigureKind, f64> {
    let targets: Vec<_> = residuals.of(Role::Target).collect();
    let free = targets.len().saturating_sub(parameters);
    if free == 0 {
        return BTreeMap::new();
    }
    let taken = targets.len() as f64 / free as f64;
    let of_kind = |kind| {
        let mine = targets
            .iter()
            .filter(|r| FigureKind::of(&r.measurement) == kind);
        let ratios = mine.filter_map(|r| Some((r.simulated? / r.measurement.value).ln()));
        let squares: Vec<f64> = ratios.filter(|l| l.is_finite()).map(|l| l * l).collect();
        let mean = squares.iter().sum::<f64>() / squares.len() as f64;
        (!squares.is_empty()).then(|| (kind, (mean * taken).sqrt().max(LEAST)))
    };
    KEYS.iter().filter_map(|(kind, _)| of_kind(*kind)).collect()
}

/// A profile's text with these spreads in its section `fit`, in place of earlier ones; `label` says
/// to what it was fitted.
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
