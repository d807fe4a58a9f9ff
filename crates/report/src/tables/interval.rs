//! Half-widths of confidence intervals beside means, and the reasons why means have none.

use assay_analysis::estimate::{MeanEstimate, Missing};
use assay_stats::confidence::{Estimate, FEWEST_EFFECTIVE, NoInterval};

use crate::format;
use crate::table::{Number, Row, TableCell};
use crate::tables::cells::any_number;

/// Half-width of a confidence interval in `unit`, as text.
pub fn half_width(half: f64) -> Option<String> {
    half.is_finite().then(|| match half {
        tiny if tiny > 0.0 && tiny < 0.005 => "< 0.01".to_owned(),
        half => format::figure(half),
    })
}

/// Half-width of an estimate; `unit` is one unit of the cell in units of the estimate.
fn spread(estimate: &Estimate, unit: f64) -> Option<String> {
    half_width((estimate.high - estimate.low) / 2.0 / unit)
}

/// Gives a mean the half-width of its confidence interval, or the reason why it has none.
pub fn set_spread(number: &mut Number, estimate: MeanEstimate, unit: f64) {
    match estimate {
        Ok(estimate) => number.spread = spread(&estimate, unit),
        Err(missing) => number.no_spread = Some(missing),
    }
}

/// A mean's cell with its [`set_spread`].
pub fn with_spread(cell: TableCell, estimate: MeanEstimate, unit: f64) -> TableCell {
    cell.with(|number| set_spread(number, estimate, unit))
}

/// The note that explains a [`spread`], where there is one.
fn spread_note(rows: &[Row]) -> Option<String> {
    any_number(rows, |n| n.spread.is_some()).then(|| {
        "\u{b1}: half-width of the 95 % confidence interval of the mean of this run, which allows \
         for the correlation of its intervals"
            .to_owned()
    })
}

/// Notes with the legend of \u{b1} and the reason why means have none.
pub fn spread_notes(mut notes: Vec<String>, rows: &[Row]) -> Vec<String> {
    notes.extend(spread_note(rows));
    let cells = rows.iter().flat_map(|r| &r.cells);
    let missing = cells.filter_map(|cell| match cell {
        TableCell::Number(number) => number.no_spread,
        _ => None,
    });
    notes.extend(no_interval_note("means without \u{b1}", missing));
    notes
}

/// Why figures have no confidence interval, in one note: each kind of reason once, with its range.
pub fn no_interval_note(what: &str, missing: impl IntoIterator<Item = Missing>) -> Option<String> {
    let (mut reasons, mut memories_s) = (Vec::new(), Vec::new());
    let (mut short, mut bursts) = (Vec::new(), Vec::new());
    for one in missing {
        match one.reason {
            NoInterval::NoValues => {}
            NoInterval::TooShort { samples } => short.push(samples),
            NoInterval::Dependent { memory, .. } => {
                // To the second, and below one to a hundredth.
                let memory_s = memory * one.step_s;
                let digits = if memory_s < 1.0 { 100.0 } else { 1.0 };
                memories_s.push((memory_s * digits).round() / digits);
            }
            NoInterval::Bursts { bursts: seen } => bursts.push(seen),
        }
    }
    let range = |low: f64, high: f64| match low == high {
        true => format!("{low}"),
        false => format!("{low} to {high}"),
    };
    let ends = |values: &[f64]| {
        let low = values.iter().copied().reduce(f64::min);
        low.zip(values.iter().copied().reduce(f64::max))
    };
    let counts = |values: &[u64]| {
        let values: Vec<f64> = values.iter().map(|v| *v as f64).collect();
        ends(&values).map(|(low, high)| range(low, high))
    };
    let least = FEWEST_EFFECTIVE;
    if let Some(samples) = counts(&short) {
        reasons.push(format!("too short ({samples} intervals recorded, at least {least} needed)"));
    }
    if let Some((low, high)) = ends(&memories_s) {
        let memory = range(low, high);
        reasons.push(format!(
            "successive intervals depend on each other over {memory} s, which leaves fewer than \
             {least} independent values"
        ));
    }
    if let Some(seen) = counts(&bursts) {
        reasons.push(format!("the variation lies in {seen} bursts, about {least} needed"));
    }
    (!reasons.is_empty()).then(|| format!("{what}: {}", reasons.join("; ")))
}
