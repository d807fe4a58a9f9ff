//! Performance consistency of random writes (AnandTech M8Pe, see docs/sources.md).

use assay_analysis::estimate::{of_series, step_s};
use assay_analysis::modes;
use assay_analysis::score::{self, CellScore};
use assay_stats::consistency::Score;
use assay_stats::modes::{LEAST_VALUES, Mode};
use assay_store::series::IntervalSample;
use serde_json::Value;

use crate::chart::{Chart, ChartView, colour, symbol};
use crate::charts::draw::{Trace, linear, logarithmic, panels};
use crate::charts::phases;
use crate::format::{self, distinct, duration, figure, joined};
use crate::grid::{Point, Section};
use crate::table::{Column, Row, Table, TableCell};
use crate::tables::cells::{mark, reason, section_remarks};
use crate::tables::interval::{set_spread, spread_notes};
use crate::tables::published;
use crate::thin;
use crate::views::descriptor::{KeyFigure, SectionView, causes};
use crate::views::saturation;

/// An hour of random writes, scored over its last part.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "Every dot is one interval of random writes, on a logarithmic axis. A narrow band is a \
         consistent drive; a cloud or two bands indicate stalls or throttling. The first drop is \
         where over-provisioning is used up and garbage collection begins. The last part, shown \
         again below, is scored: its mean is the score, and its mean over standard deviation the \
         consistency (twice the value is half the scatter). The difference between the variants is \
         the gain from additional over-provisioning."
    },
    tables: |section| vec![table(section)],
    charts,
    or_charts_of_kind: true,
    switch_legend: Some("Over-provisioning shown"),
    folded_tables: causes,
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let key = |point: &Point<'_>| {
        let scored = score(point)?;
        let score = &scored.score;
        let ratio = score.consistency.map_or_else(
            || "no variation between intervals".to_owned(),
            |c| format!("mean \u{f7} std dev {}", figure(c)),
        );
        let modes = modes_text(point, &scored).map_or(String::new(), |text| format!(", {text}"));
        let details = format!("{ratio}, slowest interval {}{modes}", figure(score.min));
        Some(KeyFigure {
            label: joined([section.title, point.variant()], ", "),
            value: figure(score.mean),
            unit: "IOPS",
            details: Some(details).filter(|_| !is_shrunk(point)).unwrap_or_default(),
        })
    };
    section.measured(drive).filter_map(key).collect()
}

/// The variants of a section, in the order of their first occurrence.
pub fn variants<'a>(section: &Section<'a>) -> Vec<&'a str> {
    distinct(section.points.iter().map(Point::variant))
}

/// The score of a point; `None` where too little was measured.
pub fn score(point: &Point<'_>) -> Option<CellScore> {
    score::score_of_cell(point.data?)
}

/// The number of modes; of several, the details say which.
fn modes_cell(score: &Score) -> TableCell {
    match score.modes.len() {
        0 => TableCell::Missing("n/a", format!("fewer than {LEAST_VALUES} intervals to score")),
        count => TableCell::number(count.to_string()),
    }
}

/// The modes of a score of several, with shares and dwell times:
/// `2 modes: 2,400 IOPS for 30 % of the time, 12 s at a time; ...`.
pub fn modes_text(point: &Point<'_>, scored: &CellScore) -> Option<String> {
    let found =
        modes::modes_of_cell(point.plan(), point.data?).filter(|_| scored.score.modes.len() > 1)?;
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

fn is_shrunk(point: &Point<'_>) -> bool {
    point.set.drives[point.drive].info.shrink().is_some()
}

/// A row's mean, consistency, extremes, modes and outliers.
fn figure_cells(
    point: &Point<'_>,
    score: &Score,
    scores: &[(&Point<'_>, Option<CellScore>)],
) -> Vec<TableCell> {
    // The highest of several drives with the same variant.
    let highest = |variant: &str, of: fn(&Score) -> Option<f64>| {
        let same = scores.iter().filter(|(p, _)| p.variant() == variant);
        let values: Vec<f64> = same.filter_map(|(_, s)| of(&s.as_ref()?.score)).collect();
        (values.len() > 1).then(|| values.into_iter().fold(f64::MIN, f64::max))
    };
    let intervals = point.measured_intervals();
    // The score never has more samples than the point has intervals.
    let scored = &intervals[intervals.len() - score.samples as usize..];
    let rates: Vec<f64> = scored.iter().map(IntervalSample::iops).collect();
    let mean = TableCell::figure(score.mean).with(|n| {
        set_spread(n, of_series(&rates, step_s(scored)), 1.0);
        n.best = highest(point.variant(), |s| Some(s.mean)) == Some(score.mean);
        n.mark = mark(point);
        let stddev = format::figure(score.stddev);
        n.details = format!("{} intervals, standard deviation {stddev} IOPS", score.samples);
    });
    // Drives without any variation are the most consistent.
    let most = highest(point.variant(), |s| s.consistency.or(Some(f64::MAX)));
    let consistency =
        TableCell::figure(score.consistency).with(|n| n.best = most == score.consistency);
    let even = || TableCell::Missing("even", "no variation between intervals".to_owned());
    // Intervals of a small copy of a drive have less data, and deviate by more.
    let of_whole = |cell: TableCell| match is_shrunk(point) {
        true => TableCell::Missing("n/a", "a drive with shrink= has others".to_owned()),
        false => cell,
    };
    vec![
        mean,
        of_whole(consistency.or(even)),
        of_whole(TableCell::figure(score.min)),
        of_whole(TableCell::figure(score.max)),
        modes_cell(score),
        TableCell::percent(score.outliers_below_pct),
        TableCell::percent(score.outliers_above_pct),
    ]
}

fn notes(
    section: &Section<'_>,
    scores: &[(&Point<'_>, Option<CellScore>)],
    rows: &[Row],
) -> Vec<String> {
    let mut notes = spread_notes(section_remarks(section), rows);
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
        Some(format!("{}: {text}", joined([point.name(), point.variant().to_owned()], ", ")))
    });
    notes.extend(modes);
    notes.push(
        "modes: levels to which the rate returns; outliers: intervals more than 3.5 standard \
         deviations below the lowest mode or above the highest (of one mode: robust ones, from \
         the median)"
            .to_owned(),
    );
    if section.points.iter().any(|p| saturation::time_to_steady(p).is_some()) {
        notes.push(saturation::STEADY_NOTE.to_owned());
    }
    if section.set.drives.len() > 1 {
        notes.push("bold: the highest of the drives with the same variant".to_owned());
    }
    notes
}

/// One row per drive and variant.
pub fn table(section: &Section<'_>) -> Table {
    let several = variants(section).iter().any(|v| !v.is_empty());
    let mut columns = Column::list([
        ("variant", ""),
        ("mean", "IOPS"),
        ("mean \u{f7} std dev", ""),
        ("slowest interval", "IOPS"),
        ("fastest interval", "IOPS"),
        ("modes", ""),
        ("outliers below", "%"),
        ("outliers above", "%"),
    ]);
    columns.extend(saturation::steady_columns());
    columns.drain(..usize::from(!several));
    let scores: Vec<(&Point<'_>, Option<CellScore>)> =
        section.points.iter().map(|p| (p, score(p))).collect();
    let too_short =
        || TableCell::Missing("too short", "fewer than two intervals to score".to_owned());
    let rows = scores.iter().map(|(point, scored)| {
        let variant = several.then(|| TableCell::text(point.variant()));
        let cells = match scored {
            Some(scored) => {
                let mut cells = figure_cells(point, &scored.score, &scores);
                cells.extend(saturation::steady_cells(point));
                cells
            }
            None => vec![reason(point).or(too_short)],
        };
        point.table_row(variant.into_iter().chain(cells).collect())
    });
    let rows: Vec<_> = rows.collect();
    let notes = notes(section, &scores, &rows);
    let table = section.table("score", columns, rows, notes);
    table.without_empty_columns()
}

/// Resolution of the drawing of the whole run, dots across and up: that of a wide window.
const DOTS: (usize, usize) = (1200, 260);

/// Height of the chart of the whole run, pixels.
const HEIGHT: u32 = 460;

/// Markers by variant.
const SYMBOLS: [&str; 4] = ["circle", "x-thin-open", "diamond-open", "square-open"];

/// The views of both charts, and what their notes depend on.
#[derive(Default)]
struct Drawing {
    whole: Vec<ChartView>,
    scored: Vec<ChartView>,
    /// Durations of an interval.
    lengths: Vec<String>,
    thinned: bool,
    without_completions: usize,
}

impl Drawing {
    /// Adds a view of the `chosen` variants.
    fn add_view(&mut self, section: &Section<'_>, label: &str, chosen: &[&str]) {
        let (mut hour, mut zoom, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for point in &section.points {
            let variant = point.variant();
            let Some(style) = chosen.iter().position(|v| *v == variant) else {
                continue;
            };
            let seconds = point.measured_intervals();
            if seconds.len() < 3 {
                continue;
            }
            let length = duration((1e9 * step_s(&seconds)).round() as u64);
            self.lengths.push(length);
            let drive = point.chart_name();
            let name = if chosen.len() == 1 { drive } else { format!("{drive}, {variant}") };
            let all = seconds.iter().map(|s| (s.start_s() + s.elapsed_s() / 2.0, s.iops()));
            let all: Vec<(f64, f64)> = all.collect();
            let kept = thin::cloud(&all, DOTS.0, DOTS.1, true);
            let positive = all.iter().filter(|p| p.1 > 0.0).count();
            self.thinned |= kept.len() < positive;
            self.without_completions += all.len() - positive;
            let from = score(point).map_or(f64::INFINITY, |s| s.from_s);
            let dots = |points: Vec<(f64, f64)>, size: f64| {
                let trace = Trace {
                    name: name.clone(),
                    points,
                    mode: "markers",
                    colour: colour(point.drive),
                    symbol: SYMBOLS.get(style).copied().unwrap_or(symbol(style)),
                    size,
                    hover: "%{y:,.4~g} IOPS at %{x:,.4~g} s".to_owned(),
                    ..Trace::default()
                };
                trace.json()
            };
            let size = if all.len() > 600 { 3.0 } else { 5.0 };
            hour.push(dots(kept.into_iter().map(|i| all[i]).collect(), size));
            let late = all.iter().copied().filter(|p| p.0 >= from);
            zoom.push(dots(late.collect(), 5.0));
            rows.push(phases::PhaseRow::new(point, name));
        }
        if hour.is_empty() {
            return;
        }
        let mut layout = panels("time since the start, s", &[logarithmic("IOPS")]);
        phases::put(&mut layout, &mut hour, &rows, HEIGHT);
        self.whole.extend(view(label, hour, layout, "yaxis"));
        let layout = panels("time since the start, s", &[linear("IOPS")]);
        self.scored.extend(view(label, zoom, layout, "xaxis"));
    }
}

/// The whole run and its scored part, each with one view per variant and, where there are several,
/// one of all.
pub fn charts(section: &Section<'_>) -> Vec<Chart> {
    let mut drawing = Drawing::default();
    let variants = variants(section);
    let mut choices: Vec<(&str, &[&str])> =
        variants.iter().map(|v| (*v, std::slice::from_ref(v))).collect();
    if choices.len() > 1 {
        choices.push(("both", &variants));
    }
    for (label, chosen) in choices {
        drawing.add_view(section, label, chosen);
    }
    let Drawing { whole, scored, lengths, thinned, without_completions } = drawing;
    let lengths = distinct(lengths).join(" or ");
    let mut notes = vec![format!("one dot per interval of {lengths}")];
    if thinned {
        notes.push(
            "intervals whose dots would coincide are drawn once; the run folder contains every one"
                .to_owned(),
        );
    }
    if without_completions > 0 {
        notes.push(format!(
            "{without_completions} intervals without completions have no position on a logarithmic \
             axis; the table includes them in its minimum"
        ));
    }
    let title = section.caption("rate by interval");
    let whole = Chart::new(title, "variant", HEIGHT, whole).map(|c| c.with_notes(notes));
    let scored = Chart::new(section.caption("scored part"), "variant", 360, scored);
    whole.into_iter().chain(scored).collect()
}

/// A view in which one axis need not contain zero.
fn view(label: &str, data: Vec<Value>, mut layout: Value, axis: &str) -> Option<ChartView> {
    layout[axis]["rangemode"] = "normal".into();
    layout["hovermode"] = "closest".into();
    ChartView::new(label, data, layout)
}
