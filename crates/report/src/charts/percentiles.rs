//! Latency against percentile, on an axis that gives every further nine the same room.

use assay_units::{Nanos, Op};
use plotly::common::{Line, LineShape, Mode};
use plotly::layout::{Axis as PlotAxis, AxisType};
use plotly::{Layout, Scatter};

use super::{Chart, View, dash, look, plain, series_name};
use crate::format::for_drawing;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::thin;

/// Most points of a drawn curve.
const MOST_POINTS: usize = 240;

/// A distribution as a curve: for every step `(x, latency in us, percentile in words)`, where x is `log10(1 / (1 - p))`,
/// the number of nines: 1 at 90 %, 2 at 99 %, 3 at 99.9 %.
pub fn curve(cumulative: &[(Nanos, u64)]) -> Vec<(f64, f64, String)> {
    let Some(&(_, total)) = cumulative.last() else {
        return Vec::new();
    };
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut below = 0;
    for &(latency, up_to) in cumulative {
        if up_to > below {
            // All percentiles above `below / total` up to `up_to / total` are this latency: a step that begins here.
            points.push((
                (total as f64 / (total - below) as f64).log10(),
                latency.0 as f64 / 1e3,
            ));
            below = up_to;
        }
    }
    // The last step reaches as far as one sample in `total` does.
    if let Some(&(_, slowest)) = points.last() {
        points.push(((total as f64).log10(), slowest));
    }
    let x: Vec<f64> = points.iter().map(|p| p.0).collect();
    let kept = thin::rising(&x, MOST_POINTS);
    kept.into_iter()
        .map(|i| (points[i].0, points[i].1, percentile_words(points[i].0)))
        .collect()
}

/// `99.9 %` for 3 nines: as many decimals as there are nines to tell apart.
fn percentile_words(nines: f64) -> String {
    let percent = 100.0 * (1.0 - 10f64.powf(-nines));
    let decimals = (nines.floor() as usize).max(1);
    format!("{percent:.decimals$} %")
}

/// The chart, with one view per row; `None` when nothing completed.
///
/// # Errors
/// When plotly's types cannot be serialised.
pub fn chart(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
) -> Result<Option<Chart>, serde_json::Error> {
    let mut views = Vec::new();
    for row in 0..section.rows.len() {
        let mut points: Vec<&Point<'_>> = Vec::new();
        for &drive in &section.drives {
            for column in 0..section.columns.len() {
                points.extend(section.at(row, column, drive));
            }
        }
        let label = section.rows[row].label.clone();
        views.extend(view(lineup, section, &points, label)?);
    }
    if views.is_empty() {
        return Ok(None);
    }
    Ok(Some(Chart {
        id: String::new(),
        title: format!("{}: latency percentiles", section.title),
        switch: section.row_axis.map_or("cell", crate::axis::Axis::title),
        log_switch: true,
        log_x_switch: false,
        first: preferred(&views),
        height: 400,
        views,
        notes: Vec::new(),
    }))
}

/// 4 KiB where there is such a view, the most compared block size, else the last: the largest block, the most threads.
pub fn preferred(views: &[View]) -> usize {
    let exact = views.iter().rposition(|v| v.label.starts_with("4 KiB"));
    exact.unwrap_or(views.len().saturating_sub(1))
}

fn view(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    points: &[&Point<'_>],
    label: String,
) -> Result<Option<View>, serde_json::Error> {
    let mut data = Vec::new();
    let mut most_nines = 1.0f64;
    for point in points {
        let Some(part) = point.part else { continue };
        let several = part.distributions.len() > 1;
        for (i, (op, cumulative)) in part.distributions.iter().enumerate() {
            let curve = curve(cumulative);
            let Some((nines, _, _)) = curve.last() else {
                continue;
            };
            most_nines = most_nines.max(*nines);
            let (colour, style) = look(section, point);
            let mut name = series_name(lineup, section, point);
            if several {
                name = format!("{name}, {}", Op::name(*op));
            }
            let trace = Scatter::new(
                curve.iter().map(|p| for_drawing(p.0)).collect(),
                curve.iter().map(|p| for_drawing(p.1)).collect(),
            )
            .name(name)
            .mode(Mode::Lines)
            .text_array(curve.into_iter().map(|p| p.2).collect::<Vec<String>>())
            .line(
                Line::new()
                    .color(colour)
                    .dash(dash(style * part.distributions.len() + i))
                    .shape(LineShape::Hv)
                    .width(2.0),
            )
            .hover_template("%{text} within %{y:,.4~g} \u{b5}s");
            data.push(serde_json::to_value(trace)?);
        }
    }
    if data.is_empty() {
        return Ok(None);
    }
    let ticks: [(f64, &str); 10] = [
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
    let layout = Layout::new()
        .x_axis(
            PlotAxis::new()
                .title("percentile of operations, %")
                .tick_values(ticks.iter().map(|t| t.0).collect())
                .tick_text(ticks.iter().map(|t| t.1).collect::<Vec<&str>>())
                .range(vec![0.0, most_nines + 0.05])
                .zero_line(false),
        )
        .y_axis(
            PlotAxis::new()
                .title("latency, \u{b5}s")
                .type_(AxisType::Log),
        );
    Ok(Some(View {
        label: plain(&label),
        data,
        layout: serde_json::to_value(layout)?,
    }))
}

#[cfg(test)]
#[path = "../../tests/unit/charts/percentiles.rs"]
mod tests;
