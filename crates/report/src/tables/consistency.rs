//! The score of report B: the mean of the last part of an hour of random writes, and that mean over the standard deviation.

use assay_analysis::score::{self, CellScore};
use assay_stats::confidence;
use assay_stats::consistency::Score;
use assay_store::read::CellDrive;
use assay_store::series::IntervalSample;

use crate::format;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Number, Row, Table};
use crate::tables::{name, published, remarks, spread, spread_note};

/// The circumstances that occur, in the order they first do.
pub fn circumstances(section: &Section<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for point in &section.points {
        let variant = point.plan().variant.clone().unwrap_or_default();
        if !found.contains(&variant) {
            found.push(variant);
        }
    }
    found
}

/// The measured intervals of a point.
pub fn measured_intervals(point: &Point<'_>) -> Vec<IntervalSample> {
    let part = point.part.map(CellDrive::measured_intervals);
    part.unwrap_or_default()
}

/// The score of a point; `None` where too little was measured for one.
pub fn score(point: &Point<'_>) -> Option<CellScore> {
    score::of(point.part?)
}

/// One row per drive and circumstance.
pub fn table(lineup: &Lineup<'_>, section: &Section<'_>) -> Table {
    let several = circumstances(section).iter().any(|c| !c.is_empty());
    let mut columns = Vec::new();
    if several {
        columns.push(Column::of("variant", ""));
    }
    columns.extend([
        Column::of("mean", "IOPS"),
        Column::of("mean \u{f7} std dev", ""),
        Column::of("slowest second", "IOPS"),
        Column::of("fastest second", "IOPS"),
        Column::of("outliers below", "%"),
        Column::of("outliers above", "%"),
    ]);
    let spans: Vec<Option<CellScore>> = section.points.iter().map(score).collect();
    let scores: Vec<Option<Score>> = spans.iter().map(|s| s.map(|s| s.score)).collect();
    let highest = |variant: &Option<String>, of: fn(&Score) -> f64| {
        let all = section.points.iter().zip(&scores);
        let same = all.filter(|(p, _)| p.plan().variant == *variant);
        let values = same.filter_map(|(_, s)| s.as_ref().map(of));
        let (count, most) = values.fold((0, f64::MIN), |(n, most), v| (n + 1, most.max(v)));
        (count > 1).then_some(most)
    };
    let mut rows = Vec::new();
    for (point, score) in section.points.iter().zip(&scores) {
        let variant = &point.plan().variant;
        let mut cells = Vec::new();
        if several {
            cells.push(Cell::Text(variant.clone().unwrap_or_default()));
        }
        match (score, point.remark()) {
            (Some(score), remark) => {
                let steadiness = |s: &Score| s.consistency.unwrap_or(f64::MAX);
                let rates: Vec<f64> = measured_intervals(point)
                    .iter()
                    .map(IntervalSample::iops)
                    .collect();
                let scored = &rates[rates.len().saturating_sub(score.samples as usize)..];
                cells.push(Cell::Number(Number {
                    text: format::figure(score.mean),
                    spread: spread(confidence::mean(scored, confidence::LEVEL), 1.0),
                    best: highest(variant, |s| s.mean) == Some(score.mean),
                    mark: remark.map(|(short, _)| short.to_owned()),
                    more: format!(
                        "{} seconds, standard deviation {} IOPS",
                        score.samples,
                        format::figure(score.stddev)
                    ),
                    ..Number::default()
                }));
                cells.push(match score.consistency {
                    Some(value) => Cell::Number(Number {
                        text: format::figure(value),
                        best: highest(variant, steadiness) == Some(value),
                        ..Number::default()
                    }),
                    None => Cell::Missing("even", "every second was the same".to_owned()),
                });
                cells.push(Cell::number(format::figure(score.min)));
                cells.push(Cell::number(format::figure(score.max)));
                cells.push(Cell::number(format::percent(score.outliers_below_pct)));
                cells.push(Cell::number(format::percent(score.outliers_above_pct)));
            }
            (None, Some((short, full))) => cells.push(Cell::Missing(short, full)),
            (None, None) => cells.push(Cell::Missing(
                "too short",
                "fewer than two seconds to score".to_owned(),
            )),
        }
        cells.resize(columns.len(), Cell::Empty);
        rows.push(Row {
            name: name(lineup, point.drive),
            cells,
        });
    }
    let mut notes = remarks(lineup, &section.points);
    notes.extend(spread_note(&rows));
    if let Some(span) = spans.iter().flatten().next() {
        notes.push(format!(
            "scored: the last {}{}",
            format::duration(((span.to_s - span.from_s) * 1e9).round() as u64),
            if span.shortened {
                ", a ninth of a run that was shorter than the hour of the procedure"
            } else {
                " of the hour"
            }
        ));
    }
    for (point, score) in section.points.iter().zip(&scores) {
        notes.extend(score.and_then(|score| published::score_note(lineup, point, score.mean)));
    }
    notes.push(
        "outliers: seconds farther from the median than 3.5 robust standard deviations".to_owned(),
    );
    if lineup.drives.len() > 1 {
        notes.push("bold: the highest of the drives under the same circumstance".to_owned());
    }
    Table {
        caption: format!("{}: score", section.title),
        corner: "drive".to_owned(),
        columns,
        rows,
        notes,
    }
}
