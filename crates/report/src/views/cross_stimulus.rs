//! Cross stimulus recovery (SNIA SSS PTS).

use assay_analysis::stimulus::{self, Stimulus, WITHIN_PCT};
use assay_units::Op;
use serde_json::{Value, json};

use crate::chart::{Chart, ChartView, colour};
use crate::charts::draw::{Panel, Trace, band, linear, logarithmic, panels, thinned, thinned_note};
use crate::format::{duration, figure, joined, percent};
use crate::grid::{Point, Section};
use crate::table::{Column, Table, TableCell};
use crate::tables::cells::{reason, section_remarks};
use crate::views::descriptor::{KeyFigure, SectionView};

/// Sequential, random and sequential writes without a pause.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "Sequential writes, then random writes, then the same sequential writes again, without a \
         pause. Random writes leave blocks in which valid and stale data are mixed, so the second \
         sequential phase begins below the level of the first until the drive has rewritten them. \
         The table has the level of each phase, the time until it, and the second sequential level \
         relative to the first; a drive that recovers at once keeps the two apart."
    },
    tables: |section| vec![table(section)],
    charts,
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let measured = section.measured(drive);
    let keys = measured.filter_map(|point| {
        let found = stimulus_of_point(point)?;
        let reached = match found.settled_s {
            Some(0.0) => "at once".to_owned(),
            Some(s) => format!("after {}", duration((s * 1e9) as u64)),
            None => "not settled".to_owned(),
        };
        let recovered =
            recovered_pct(point).map(|pct| format!("{} % of the level before", percent(pct)));
        Some(KeyFigure {
            label: point.plan().title.clone(),
            value: figure(found.level_mib_per_s),
            unit: "MiB/s",
            details: joined([Some(reached), recovered].into_iter().flatten(), ", "),
        })
    });
    keys.collect()
}

/// The level of a point, and the time until it.
pub fn stimulus_of_point(point: &Point<'_>) -> Option<Stimulus> {
    point.result()?;
    stimulus::stimulus_of_cell(point.data?)
}

/// The level relative to that of the same workload earlier in the sequence, percent.
pub fn recovered_pct(point: &Point<'_>) -> Option<f64> {
    let run = &point.set.runs[point.run];
    let before = stimulus::same_before(run, point.cell)?;
    let before = stimulus::stimulus_of_cell(before.drive(point.index)?)?.level_mib_per_s;
    (before > 0.0).then_some(100.0 * stimulus_of_point(point)?.level_mib_per_s / before)
}

/// One row per drive and workload.
pub fn table(section: &Section<'_>) -> Table {
    let mut columns = Column::list([("workload", ""), ("length", "")]);
    columns.extend(Column::all_under("rate, MiB/s", ["first block", "lowest block", "level"]));
    columns.extend(Column::list([
        ("level reached after", ""),
        ("level \u{f7} level before", "%"),
        ("mean latency", "ms"),
        ("maximum latency", "ms"),
    ]));
    let rows = section.points.iter().map(|point| {
        let plan = point.plan();
        let mut cells = vec![
            TableCell::Text(plan.title.clone()),
            TableCell::Text(duration(plan.workload.runtime_ns)),
        ];
        let Some(result) = point.result() else {
            cells.push(reason(point));
            return point.table_row(cells);
        };
        let found = stimulus_of_point(point);
        let short = || {
            let why = "fewer than ten intervals";
            TableCell::Missing("too short", why.to_owned())
        };
        let rate = |of: fn(&Stimulus) -> f64| TableCell::figure(found.as_ref().map(of)).or(short);
        cells.extend([
            rate(|s| s.first_mib_per_s),
            rate(|s| s.lowest_mib_per_s),
            rate(|s| s.level_mib_per_s),
        ]);
        cells.push(match &found {
            None => short(),
            Some(found) => match found.settled_s {
                Some(settled_s) => TableCell::Text(match settled_s {
                    0.0 => "at once".to_owned(),
                    s => duration((s * 1e9) as u64),
                }),
                None => TableCell::Missing(
                    "not settled",
                    "the rate still changes in the last fifth".to_owned(),
                ),
            },
        });
        let latency = result.write.latency_ns;
        cells.extend([
            TableCell::percent(recovered_pct(point)),
            TableCell::figure((latency.samples > 0).then_some(latency.mean / 1e6)),
            TableCell::figure((latency.samples > 0).then_some(latency.max as f64 / 1e6)),
        ]);
        point.table_row(cells)
    });
    let rows = rows.collect();
    let mut notes = section_remarks(section);
    notes.push(format!(
        "level: mean of the last fifth; reached: from then on every block (a sixtieth of the \
         length) is within {WITHIN_PCT:.0} % of it; level before: of the same workload earlier in \
         the sequence"
    ));
    section.table("changes of the workload", columns, rows, notes)
}

/// The writes of a point, as drawn over time: middle of the interval in seconds, rate in MiB/s,
/// mean and maximum latency in milliseconds.
pub fn samples(point: &Point<'_>) -> Vec<(f64, [f64; 3])> {
    let series = point.data.into_iter().flat_map(|data| &data.series);
    let writes = series.filter(|s| s.op == Op::Write && !s.ramp && s.end > s.start);
    writes
        .map(|s| {
            let middle = (s.start.as_secs_f64() + s.end.as_secs_f64()) / 2.0;
            let latency = [s.latency.mean / 1e6, s.latency.max as f64 / 1e6];
            (middle, [s.mib_per_s(), latency[0], latency[1]])
        })
        .collect()
}

/// Height of the chart, pixels.
const HEIGHT: u32 = 560;

/// One view per drive: the workloads one after the other.
pub fn charts(section: &Section<'_>) -> Vec<Chart> {
    let mut left_out = false;
    let drives = section.drives.iter();
    let views = drives.filter_map(|drive| view(section, *drive, &mut left_out));
    let title = section.caption("rate and latency over time");
    let chart = Chart::new(title, "drive", HEIGHT, views.collect());
    let mut notes = vec!["shaded: the random writes between the sequential ones".to_owned()];
    notes.extend(left_out.then(thinned_note));
    chart.map(|c| c.with_notes(notes)).into_iter().collect()
}

fn view(section: &Section<'_>, drive: usize, left_out: &mut bool) -> Option<ChartView> {
    let mut data: Vec<Value> = Vec::new();
    let mut shapes = Vec::new();
    let mut start_s = 0.0;
    for (at, point) in section.measured(drive).enumerate() {
        let samples = samples(point);
        let Some(last) = point.data.and_then(|data| data.series.last()) else {
            continue;
        };
        let end_s = start_s + last.end.as_secs_f64();
        if point.plan().workload.rw.starts_with("rand") {
            shapes.push(band(start_s, end_s, "@band"));
        }
        let lines = [
            ("rate", "y", "MiB/s", "solid", 1.8),
            ("mean latency", "y2", "ms", "solid", 1.8),
            ("maximum latency", "y2", "ms", "dot", 1.2),
        ];
        for (figure, (what, axis, unit, dash, size)) in lines.into_iter().enumerate() {
            let values = samples.iter().map(|(x, values)| (start_s + x, values[figure]));
            let (points, any) = thinned(&values.collect::<Vec<_>>());
            *left_out |= any;
            let trace = Trace {
                name: format!("{}, {what}", point.plan().title),
                points,
                colour: colour(drive + at),
                dash,
                size,
                axis,
                hover: format!("%{{y:,.4~g}} {unit}"),
                ..Trace::default()
            };
            data.push(trace.json());
        }
        start_s = end_s;
    }
    let rate = Panel { share: 1.3, ..linear("MiB/s") };
    let mut layout = panels("time since the start, s", &[rate, logarithmic("latency, ms")]);
    layout["shapes"] = json!(shapes);
    ChartView::new(section.set.chart_name(drive), data, layout)
}
