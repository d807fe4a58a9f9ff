//! Latency by percentile, on an axis with the same width for every further nine.

use std::ops::Range;

use assay_units::Nanos;
use serde_json::{Value, json};

use crate::chart::{Chart, ChartView, colour, dash};
use crate::charts::draw::{Trace, logarithmic, panels};
use crate::charts::series::{is_apart, series_name, style};
use crate::format::joined;
use crate::grid::{Point, Section};
use crate::thin;

/// Largest number of points of a drawn curve.
const MAX_POINTS: usize = 80;

/// Ticks of the horizontal axis: number of nines, and percentile.
const TICKS: [(f64, &str); 10] = [
    (0.0, "0"),
    (std::f64::consts::LOG10_2, "50 %"),
    (1.0, "90"),
    (2.0, "99"),
    (3.0, "99.9"),
    (4.0, "99.99"),
    (5.0, "99.999"),
    (6.0, "99.9999"),
    (7.0, "99.99999"),
    (8.0, "99.999999"),
];

/// A distribution as a curve: for every step `(x, latency in us)`, where x is `log10(1 / (1 - p))`,
/// the number of nines: 1 at 90 %, 2 at 99 %, 3 at 99.9 %. The page's script states the percentile
/// at the pointer.
pub fn curve(cumulative: &[(Nanos, u64)]) -> Vec<(f64, f64)> {
    let Some(&(_, total)) = cumulative.last() else {
        return Vec::new();
    };
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut below = 0;
    for &(latency, up_to) in cumulative {
        if up_to > below {
            // All percentiles above `below / total` up to `up_to / total` have this latency: a step
            // that begins here.
            let nines = (total as f64 / (total - below) as f64).log10();
            points.push((nines, latency.0 as f64 / 1e3));
            below = up_to;
        }
    }
    // The last step ends at the percentile of one sample in `total`.
    if let Some(&(_, slowest)) = points.last() {
        points.push(((total as f64).log10(), slowest));
    }
    let x: Vec<f64> = points.iter().map(|p| p.0).collect();
    let kept = thin::rising(&x, MAX_POINTS).into_iter();
    kept.map(|i| points[i]).collect()
}

/// The chart, with one view per row, and per column where columns are drawn apart; `None` when
/// nothing completed.
pub fn chart(section: &Section<'_>) -> Option<Chart> {
    let columns = section.columns.len();
    let shown = if is_apart(section) { 1 } else { columns };
    let firsts = (0..section.rows.len())
        .flat_map(|row| (0..columns).step_by(shown.max(1)).map(move |c| (row, c)));
    let views = firsts.filter_map(|(row, first)| view(section, row, first..first + shown));
    let switch = match section.row_axis {
        Some(axis) if !is_apart(section) => axis.title(),
        _ => "cell",
    };
    let chart = Chart::new(section.caption("latency percentiles"), switch, 280, views.collect())?;
    Some(Chart { first: preferred(&chart.views), ..chart })
}

/// 4 KiB where there is such a view, the most compared block size, else the last: the largest
/// block, the most threads.
pub fn preferred(views: &[ChartView]) -> usize {
    let exact = views.iter().rposition(|v| v.label.starts_with("4 KiB"));
    exact.or(views.len().checked_sub(1)).unwrap_or(0)
}

fn view(section: &Section<'_>, row: usize, columns: Range<usize>) -> Option<ChartView> {
    let label = match columns.len() {
        1 => section.location(row, columns.start),
        _ => section.rows[row].label.clone(),
    };
    let mut data = Vec::new();
    let mut most_nines = 1.0f64;
    let drives = section.drives.iter();
    let points = drives.flat_map(|d| columns.clone().filter_map(move |c| section.at(row, c, *d)));
    for point in points {
        let (colour, column) = style(section, point, is_apart(section));
        let name = series_name(section, point, is_apart(section));
        data.extend(traces(point, &name, &colour, column, &mut most_nines));
    }
    ChartView::new(label, data, layout(most_nines))
}

/// A chart with a view per drive, with a curve for each of its points that has a name.
pub fn by_drive(
    section: &Section<'_>,
    name: &dyn Fn(&Point<'_>) -> Option<String>,
) -> Option<Chart> {
    let drives = section.drives.iter();
    let groups = drives.map(|&drive| {
        let named = section.measured(drive).filter_map(|p| Some((p, name(p)?)));
        (section.set.chart_name(drive), named.collect())
    });
    grouped(section, "drive", groups)
}

/// Points of one view of a chart, each with the name of its curve.
type NamedPoints<'s, 'a> = Vec<(&'s Point<'a>, String)>;

/// A chart with a view per group: its label, and its points.
pub fn grouped<'s, 'a: 's>(
    section: &Section<'a>,
    switch: &'static str,
    groups: impl Iterator<Item = (String, NamedPoints<'s, 'a>)>,
) -> Option<Chart> {
    let view = |(label, points): (String, NamedPoints<'s, 'a>)| {
        let (mut data, mut most_nines) = (Vec::new(), 1.0f64);
        for (at, (point, name)) in points.iter().enumerate() {
            data.extend(traces(point, name, &colour(at), 0, &mut most_nines));
        }
        ChartView::new(label, data, layout(most_nines))
    };
    let views = groups.filter_map(view).collect();
    Chart::new(section.caption("latency percentiles"), switch, 420, views)
}

/// The curves of a point, one per operation.
fn traces(
    point: &Point<'_>,
    name: &str,
    colour: &str,
    column: usize,
    most_nines: &mut f64,
) -> Vec<Value> {
    let distributions = point.data.map_or(&[][..], |drive| &drive.distributions);
    let mut data = Vec::new();
    for (i, (op, cumulative)) in distributions.iter().enumerate() {
        let curve = curve(cumulative);
        let Some((nines, _)) = curve.last() else {
            continue;
        };
        *most_nines = most_nines.max(*nines);
        let several = distributions.len() > 1;
        let operation = if several { op.name() } else { "" };
        let trace = Trace {
            name: joined([name, operation], ", "),
            points: curve.into_iter().map(|(x, y)| ((x * 1e3).round() / 1e3, y)).collect(),
            colour: colour.to_owned(),
            dash: dash(column * distributions.len() + i),
            hover: "%{text} within %{y:,.4~g} \u{b5}s".to_owned(),
            ..Trace::default()
        };
        let mut trace = trace.json();
        trace["line"]["shape"] = "hv".into();
        trace["nines"] = true.into();
        data.push(trace);
    }
    data
}

fn layout(most_nines: f64) -> Value {
    let latency = logarithmic("latency, \u{b5}s");
    let mut layout = panels("percentile of operations, %", &[latency]);
    layout["xaxis"] = json!({
        "title": layout["xaxis"]["title"], "tickvals": TICKS.map(|t| t.0),
        "ticktext": TICKS.map(|t| t.1),
        "range": [0.0, most_nines + 0.05], "zeroline": false,
    });
    layout
}

#[cfg(test)]
#[path = "../../tests/unit/charts/percentiles.rs"]
mod tests;
