//! Performance consistency score (AnandTech M8Pe): mean of the last part of an hour of random writes, and mean over
//! standard deviation.

use assay_analysis::score::{self, CellScore};
use assay_stats::confidence;
use assay_stats::consistency::Score;
use assay_store::series::IntervalSample;

use crate::drive_set::DriveSet;
use crate::format;
use crate::grid::{Point, Section};
use crate::table::{Cell, Column, Row, Table};
use crate::tables::{mark, name, published, remarks, spread, spread_note};

/// The variants of a section, in the order of their first occurrence.
pub fn variants(section: &Section<'_>) -> Vec<String> {
    let mut variants: Vec<String> = Vec::new();
    for point in &section.points {
        let variant = point.plan().variant.clone().unwrap_or_default();
        if !variants.contains(&variant) {
            variants.push(variant);
        }
    }
    variants
}

/// The score of a point; `None` where too little was measured.
pub fn score(point: &Point<'_>) -> Option<CellScore> {
    score::of(point.data?)
}

/// One row per drive and variant.
pub fn table(set: &DriveSet<'_>, section: &Section<'_>) -> Table {
    let several = variants(section).iter().any(|v| !v.is_empty());
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
    let scores: Vec<(&Point<'_>, Option<CellScore>)> =
        section.points.iter().map(|p| (p, score(p))).collect();
    // The highest of several drives with the same variant.
    let highest = |variant: &Option<String>, of: fn(&Score) -> Option<f64>| {
        let same = scores.iter().filter(|(p, _)| p.plan().variant == *variant);
        let values: Vec<f64> = same.filter_map(|(_, s)| of(&s.as_ref()?.score)).collect();
        (values.len() > 1).then(|| values.into_iter().fold(f64::MIN, f64::max))
    };
    let mut rows = Vec::new();
    for (point, scored) in &scores {
        let variant = &point.plan().variant;
        let mut cells = Vec::new();
        if several {
            cells.push(Cell::text(variant.clone().unwrap_or_default()));
        }
        let reason = crate::tables::reason(point);
        match (scored, reason) {
            (Some(CellScore { score, .. }), _) => {
                let rates: Vec<f64> = point
                    .measured_intervals()
                    .iter()
                    .map(IntervalSample::iops)
                    .collect();
                // The score never has more samples than the point has seconds.
                let scored = &rates[rates.len() - score.samples as usize..];
                cells.push(Cell::figure(score.mean).with(|n| {
                    n.spread = spread(confidence::mean(scored, confidence::LEVEL), 1.0);
                    n.best = highest(variant, |s| Some(s.mean)) == Some(score.mean);
                    n.mark = mark(point);
                    let stddev = format::figure(score.stddev);
                    n.details = format!(
                        "{} seconds, standard deviation {stddev} IOPS",
                        score.samples
                    );
                }));
                cells.push(match score.consistency {
                    // Drives without any variation are the most consistent.
                    Some(value) => Cell::figure(value).with(|n| {
                        n.best =
                            highest(variant, |s| s.consistency.or(Some(f64::MAX))) == Some(value)
                    }),
                    None => Cell::Missing("even", "no variation between seconds".to_owned()),
                });
                cells.extend([Cell::figure(score.min), Cell::figure(score.max)]);
                cells.extend(
                    [score.outliers_below_pct, score.outliers_above_pct].map(Cell::percent),
                );
            }
            (None, Cell::Empty) => {
                cells.push(Cell::Missing(
                    "too short",
                    "fewer than two seconds to score".to_owned(),
                ));
            }
            (None, reason) => cells.push(reason),
        }
        rows.push(Row::new(name(set, point.drive), cells));
    }
    let mut notes = remarks(set, &section.points);
    notes.extend(spread_note(&rows));
    if let Some(span) = scores.iter().find_map(|(_, s)| s.as_ref()) {
        notes.push(format!(
            "scored: the last {}{}",
            format::duration(((span.to_s - span.from_s) * 1e9).round() as u64),
            if span.shortened {
                ", a ninth of a run shorter than the hour of the procedure"
            } else {
                " of the hour"
            }
        ));
    }
    let published = scores
        .iter()
        .filter_map(|(p, s)| published::score_note(set, p, s.as_ref()?.score.mean));
    notes.extend(published);
    notes.push(
        "outliers: seconds more than 3.5 robust standard deviations from the median".to_owned(),
    );
    if set.drives.len() > 1 {
        notes.push("bold: the highest of the drives with the same variant".to_owned());
    }
    Table::of_drives(section.caption("score"), columns, rows, notes)
}
