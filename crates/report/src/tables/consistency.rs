//! Performance consistency score (AnandTech M8Pe): mean of the last part of an hour of random
//! writes, and mean over standard deviation.

use assay_analysis::estimate::{of_series, step_s};
use assay_analysis::modes;
use assay_analysis::score::{self, CellScore};
use assay_stats::consistency::Score;
use assay_stats::modes::{LEAST_VALUES, Mode};
use assay_store::series::IntervalSample;

use crate::format::{self, distinct, joined};
use crate::grid::{Point, Section};
use crate::table::{Column, Table, TableCell};
use crate::tables::{mark, published, reason, saturation, set_spread, spread_notes};

/// The variants of a section, in the order of their first occurrence.
pub fn variants<'a>(section: &Section<'a>) -> Vec<&'a str> {
    distinct(section.points.iter().map(Point::variant))
}

/// The score of a point; `None` where too little was measured.
pub fn score(point: &Point<'_>) -> Option<CellScore> {
    score::of(point.data?)
}

/// The number of modes; of several, the details say which.
fn modes_cell(score: &Score) -> TableCell {
    match score.modes.len() {
        0 => TableCell::Missing("n/a", format!("fewer than {LEAST_VALUES} seconds to score")),
        count => TableCell::number(count.to_string()),
    }
}

/// The modes of a score of several, with shares and dwell times:
/// `2 modes: 2,400 IOPS for 30 % of the time, 12 s at a time; ...`.
pub fn modes_text(point: &Point<'_>, scored: &CellScore) -> Option<String> {
    let found = modes::of(point.plan(), point.data?).filter(|_| scored.score.modes.len() > 1)?;
    let text = |mode: &Mode| {
        format!(
            "{} IOPS for {} % of the time, {} s at a time",
            format::figure(mode.level),
            format::percent(mode.share_pct),
            format::figure(found.dwell_s(mode))
        )
    };
    let texts: Vec<String> = found.modes.iter().map(text).collect();
    Some(format!("{} modes: {}", texts.len(), texts.join("; ")))
}

/// One row per drive and variant.
pub fn table(section: &Section<'_>) -> Table {
    let several = variants(section).iter().any(|v| !v.is_empty());
    let mut columns = Column::list([
        ("variant", ""),
        ("mean", "IOPS"),
        ("mean \u{f7} std dev", ""),
        ("slowest second", "IOPS"),
        ("fastest second", "IOPS"),
        ("modes", ""),
        ("outliers below", "%"),
        ("outliers above", "%"),
    ]);
    columns.extend(saturation::steady_columns());
    columns.drain(..usize::from(!several));
    let scores: Vec<(&Point<'_>, Option<CellScore>)> =
        section.points.iter().map(|p| (p, score(p))).collect();
    // The highest of several drives with the same variant.
    let highest = |variant: &str, of: fn(&Score) -> Option<f64>| {
        let same = scores.iter().filter(|(p, _)| p.variant() == variant);
        let values: Vec<f64> = same.filter_map(|(_, s)| of(&s.as_ref()?.score)).collect();
        (values.len() > 1).then(|| values.into_iter().fold(f64::MIN, f64::max))
    };
    let figures = |point: &Point<'_>, score: &Score| {
        let intervals = point.measured_intervals();
        // The score never has more samples than the point has seconds.
        let scored = &intervals[intervals.len() - score.samples as usize..];
        let rates: Vec<f64> = scored.iter().map(IntervalSample::iops).collect();
        let mean = TableCell::figure(score.mean).with(|n| {
            set_spread(n, of_series(&rates, step_s(scored)), 1.0);
            n.best = highest(point.variant(), |s| Some(s.mean)) == Some(score.mean);
            n.mark = mark(point);
            let stddev = format::figure(score.stddev);
            n.details = format!(
                "{} seconds, standard deviation {stddev} IOPS",
                score.samples
            );
        });
        // Drives without any variation are the most consistent.
        let most = highest(point.variant(), |s| s.consistency.or(Some(f64::MAX)));
        let consistency =
            TableCell::figure(score.consistency).with(|n| n.best = most == score.consistency);
        let even = || TableCell::Missing("even", "no variation between seconds".to_owned());
        vec![
            mean,
            consistency.or(even),
            TableCell::figure(score.min),
            TableCell::figure(score.max),
            modes_cell(score),
            TableCell::percent(score.outliers_below_pct),
            TableCell::percent(score.outliers_above_pct),
        ]
    };
    let too_short =
        || TableCell::Missing("too short", "fewer than two seconds to score".to_owned());
    let rows = scores.iter().map(|(point, scored)| {
        let variant = several.then(|| TableCell::text(point.variant()));
        let cells = match scored {
            Some(scored) => {
                let mut cells = figures(point, &scored.score);
                cells.extend(saturation::steady_cells(point));
                cells
            }
            None => vec![reason(point).or(too_short)],
        };
        point.table_row(variant.into_iter().chain(cells).collect())
    });
    let rows: Vec<_> = rows.collect();
    let mut notes = spread_notes(section.remarks(), &rows);
    if let Some(span) = scores.iter().find_map(|(_, s)| s.as_ref()) {
        let part = format::duration(((span.to_s - span.from_s) * 1e9).round() as u64);
        let of = if span.shortened {
            ", a ninth of a run shorter than the hour of the procedure"
        } else {
            " of the hour"
        };
        notes.push(format!("scored: the last {part}{of}"));
    }
    let published = scores.iter();
    notes.extend(published.filter_map(|(p, s)| published::score_note(p, s.as_ref()?.score.mean)));
    let modes = scores.iter().filter_map(|(point, scored)| {
        let text = modes_text(point, scored.as_ref()?)?;
        Some(format!(
            "{}: {text}",
            joined([point.name(), point.variant().to_owned()], ", ")
        ))
    });
    notes.extend(modes);
    notes.push(
        "modes: levels to which the rate returns; outliers: seconds more than 3.5 standard \
         deviations below the lowest mode or above the highest (of one mode: robust ones, from \
         the median)"
            .to_owned(),
    );
    if section
        .points
        .iter()
        .any(|p| saturation::time_to_steady(p).is_some())
    {
        notes.push(saturation::STEADY_NOTE.to_owned());
    }
    if section.set.drives.len() > 1 {
        notes.push("bold: the highest of the drives with the same variant".to_owned());
    }
    let table = section.table("score", columns, rows, notes);
    table.without_empty_columns()
}
