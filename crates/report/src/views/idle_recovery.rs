//! Host idle recovery (SNIA SSS PTS).

use assay_analysis::recovery::{self, IdleSegment};
use serde_json::{Value, json};

use crate::chart::{Chart, ChartView, colour};
use crate::charts::draw::{Trace, band, linear, panels, thinned, thinned_note};
use crate::format::{duration, figure, percent};
use crate::grid::{Point, Section};
use crate::table::{Column, Table, TableCell};
use crate::tables::cells::{reason, section_remarks};
use crate::views::descriptor::{KeyFigure, SectionView};

/// Bursts of writes with idle time between them.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "A drive in steady state is written in bursts with idle time between them. What it does \
         with that time, collecting garbage or folding its write cache, is the difference between \
         the rate after idle time and that of the continuous writes before. A drive whose lines \
         coincide recovers nothing while the host is idle; one whose rate grows with the idle time \
         needs pauses, and its steady-state rate applies to loads without them."
    },
    tables: |section| vec![table(section)],
    charts,
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let segments = section.measured(drive).filter_map(segment);
    let recovered = segments.filter_map(|s| Some((s.recovery_pct()?, s)));
    let best = recovered.max_by(|a, b| a.0.total_cmp(&b.0));
    let key = best.map(|(pct, segment)| KeyFigure {
        label: "Rate after idle time, at most".to_owned(),
        value: percent(pct),
        unit: "%",
        details: format!(
            "of continuous writes, after {} of idle time: {} against {} IOPS",
            idle_text(&segment),
            figure(segment.iops().unwrap_or_default()),
            figure(segment.before_iops.unwrap_or_default()),
        ),
    });
    key.into_iter().collect()
}

/// The bursts of a point; `None` for continuous writes.
pub fn segment(point: &Point<'_>) -> Option<IdleSegment> {
    recovery::of_cell(&point.set.runs[point.run], point.cell, point.index)
}

/// Idle time as text.
pub fn idle_text(segment: &IdleSegment) -> String {
    duration((segment.idle_s * 1e9).round() as u64)
}

/// One row per drive and idle time.
pub fn table(section: &Section<'_>) -> Table {
    let columns = Column::list([
        ("idle time", ""),
        ("burst", ""),
        ("bursts", ""),
        ("continuous writes before", "IOPS"),
        ("first burst", "IOPS"),
        ("after idle time", "IOPS"),
        ("recovered", "% of before"),
    ]);
    let rows = section.points.iter().filter_map(|point| {
        let bursts = point.plan().workload.bursts?;
        let mut cells = vec![
            TableCell::Text(duration(bursts.idle_ns)),
            TableCell::Text(duration(bursts.active_ns)),
        ];
        let segment = segment(point).filter(|_| point.result().is_some());
        match segment {
            None => cells.push(reason(point)),
            Some(segment) => {
                let apart = || {
                    let why = "the intervals are too long to tell the bursts apart";
                    TableCell::Missing("n/a", why.to_owned())
                };
                let first = segment.bursts.first().map(|burst| burst.iops);
                cells.extend([
                    TableCell::number(segment.bursts.len().to_string()),
                    TableCell::figure(segment.before_iops),
                    TableCell::figure(first).or(apart),
                    TableCell::figure(segment.iops()).or(apart),
                    TableCell::percent(segment.recovery_pct()),
                ]);
            }
        }
        Some(point.table_row(cells))
    });
    let rows = rows.collect();
    let mut notes = section_remarks(section);
    notes.push(
        "after idle time: mean of all bursts but the first, which follows continuous writes; \
         before: the last half of the continuous writes before the segment. 100 %: idle time \
         recovers nothing"
            .to_owned(),
    );
    section.table("rate after idle time", columns, rows, notes)
}

/// The rate after idle time, and the rate over the whole test.
pub fn charts(section: &Section<'_>) -> Vec<Chart> {
    let by_idle = Chart::new(
        section.caption("rate by idle time"),
        "shown",
        420,
        by_idle_time(section).into_iter().collect(),
    );
    let by_idle = by_idle.map(|chart| {
        let note = "solid: mean of the bursts that follow idle time; dotted: the continuous \
                    writes before each segment";
        chart.with_notes(vec![note.to_owned()])
    });
    let mut left_out = false;
    let drives = section.drives.iter();
    let views = drives.filter_map(|drive| over_time(section, *drive, &mut left_out));
    let over_time = Chart::new(section.caption("over time"), "drive", 420, views.collect());
    let mut notes = vec![
        "a dot is a burst, drawn at its time; shaded: segments with idle time between the bursts, \
         each followed by continuous writes"
            .to_owned(),
    ];
    notes.extend(left_out.then(thinned_note));
    by_idle.into_iter().chain(over_time.map(|chart| chart.with_notes(notes))).collect()
}

/// Both rates over the idle time, of all drives.
fn by_idle_time(section: &Section<'_>) -> Option<ChartView> {
    let mut data: Vec<Value> = Vec::new();
    for &drive in &section.drives {
        let segments = section.measured(drive).filter_map(segment);
        let mut rates: Vec<(f64, f64, f64)> =
            segments.filter_map(|s| Some((s.idle_s, s.iops()?, s.before_iops?))).collect();
        rates.sort_by(|a, b| a.0.total_cmp(&b.0));
        if rates.is_empty() {
            continue;
        }
        let name = section.set.chart_name(drive);
        let lines = [
            (format!("{name}, after idle time"), "solid", true),
            (format!("{name}, continuous before"), "dot", false),
        ];
        for (name, dash, after) in lines {
            let rate = |r: &(f64, f64, f64)| (r.0, if after { r.1 } else { r.2 });
            let trace = Trace {
                name,
                points: rates.iter().map(rate).collect(),
                mode: "lines+markers",
                colour: colour(drive),
                dash,
                hover: "%{y:,.4~g} IOPS".to_owned(),
                ..Trace::default()
            };
            data.push(trace.json());
        }
    }
    ChartView::new(
        "rate by idle time",
        data,
        panels("idle time between bursts, s", &[linear("IOPS")]),
    )
}

/// The cells of a drive one after the other: a dot per burst, a line for continuous writes.
fn over_time(section: &Section<'_>, drive: usize, left_out: &mut bool) -> Option<ChartView> {
    let mut data: Vec<Value> = Vec::new();
    let mut shapes = Vec::new();
    let mut start_s = 0.0;
    let points: Vec<&Point<'_>> = section.measured(drive).collect();
    for point in points {
        let intervals = point.measured_intervals();
        let Some(last) = intervals.last() else {
            continue;
        };
        let segment = segment(point);
        let drawn: Vec<(f64, f64)> = match &segment {
            Some(segment) => {
                let bursts = segment.bursts.iter();
                bursts.map(|b| (start_s + b.start_s, b.iops)).collect()
            }
            None => intervals.iter().map(|i| (start_s + i.end_s(), i.iops())).collect(),
        };
        let (drawn, any) = thinned(&drawn);
        *left_out |= any;
        let end_s = start_s + last.end_s();
        let is_burst = segment.is_some();
        if is_burst {
            shapes.push(band(start_s, end_s, "@band"));
        }
        let name = match &segment {
            Some(segment) => format!("{} idle", idle_text(segment)),
            None => "continuous".to_owned(),
        };
        let trace = Trace {
            name,
            points: drawn,
            mode: if is_burst { "markers" } else { "lines" },
            colour: colour(drive + usize::from(is_burst)),
            size: if is_burst { 4.0 } else { 1.2 },
            hover: "%{y:,.4~g} IOPS".to_owned(),
            ..Trace::default()
        };
        data.push(trace.json());
        start_s = end_s;
    }
    let mut layout = panels("time since the start of the first segment, s", &[linear("IOPS")]);
    layout["shapes"] = json!(shapes);
    ChartView::new(section.set.chart_name(drive), data, layout)
}
