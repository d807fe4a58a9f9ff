//! Traces and layouts in plotly's JSON, common to all charts.

use serde_json::{Value, json};

use crate::chart::plain;
use crate::format::for_drawing;
use crate::thin;

/// One line, or one set of dots.
pub struct Trace<'t> {
    /// Name in the legend, plain text.
    pub name: String,
    /// Points, in the order they are joined.
    pub points: Vec<(f64, f64)>,
    /// `lines`, `markers` or `lines+markers`.
    pub mode: &'t str,
    /// A colour of the palette.
    pub colour: String,
    /// plotly's line style: `solid`, `dash`, `dot`, `dashdot`, `longdash`.
    pub dash: &'t str,
    /// Width of the line or diameter of the dots, pixels.
    pub size: f64,
    /// plotly's marker: `circle`, `square`, `diamond`, ... .
    pub symbol: &'t str,
    /// Vertical axis: `y`, `y2`, ... .
    pub axis: &'t str,
    /// Text at the pointer, in plotly's template language.
    pub hover: String,
    /// Listed in the legend.
    pub listed: bool,
    /// Text per point for `%{text}` of the template; may be empty.
    pub texts: Vec<String>,
    /// Traces of the same group are stacked.
    pub stack: Option<&'t str>,
    /// Name of the drive, whose lines are one entry of the legend; empty where each line is one.
    pub group: String,
}

impl Default for Trace<'_> {
    fn default() -> Self {
        Trace {
            name: String::new(),
            points: Vec::new(),
            mode: "lines",
            colour: crate::chart::colour(0),
            dash: "solid",
            size: 2.0,
            symbol: "circle",
            axis: "y",
            hover: "%{y:,.4~g}".to_owned(),
            listed: true,
            texts: Vec::new(),
            stack: None,
            group: String::new(),
        }
    }
}

impl Trace<'_> {
    pub fn json(self) -> Value {
        let points = self.points.iter();
        let (x, y): (Vec<Value>, Vec<Value>) = points.map(|p| (number(p.0), number(p.1))).unzip();
        let dots = self.mode == "markers";
        let marker_size = if dots { self.size } else { 7.0 };
        let mut trace = json!({
            "type": "scatter", "name": plain(&self.name), "x": x, "y": y, "mode": self.mode,
            "yaxis": self.axis,
            "line": {"color": self.colour, "dash": self.dash, "width": self.size},
            "hovertemplate": self.hover,
        });
        if self.mode != "lines" {
            trace["marker"] =
                json!({"color": self.colour, "symbol": self.symbol, "size": marker_size});
        }
        if !self.listed {
            trace["showlegend"] = false.into();
        }
        if !self.texts.is_empty() {
            trace["text"] = self.texts.iter().map(|t| plain(t)).collect();
        }
        if !self.group.is_empty() {
            trace["legendgroup"] = plain(&self.group).into();
        }
        if let Some(group) = self.stack {
            trace["stackgroup"] = group.into();
        }
        trace
    }
}

/// A number as short as drawing permits; null, where a line breaks, for NaN.
fn number(value: f64) -> Value {
    if value.is_nan() {
        return Value::Null;
    }
    let value = for_drawing(value);
    if value.fract() == 0.0 && value.abs() < 1e15 { (value as i64).into() } else { value.into() }
}

/// A ring around a knee.
pub fn ring(name: &str, at: (f64, f64), colour: &str, axis: &str, hover: &str) -> Value {
    let mut ring = Trace {
        name: format!("{name}, knee"),
        points: vec![at],
        mode: "markers",
        colour: colour.to_owned(),
        symbol: "circle-open",
        size: 15.0,
        axis,
        hover: hover.to_owned(),
        listed: false,
        ..Trace::default()
    }
    .json();
    ring["marker"]["line"] = json!({"width": 2.5});
    ring["key"] = json!({"knee": {"symbol": "circle-open"}});
    ring
}

/// At most [`thin::MAX_POINTS`] points that preserve every extreme, and whether points were left
/// out.
pub fn thinned(points: &[(f64, f64)]) -> (Vec<(f64, f64)>, bool) {
    thinned_to(points, thin::MAX_POINTS)
}

/// The same with another number of points.
pub fn thinned_to(points: &[(f64, f64)], most: usize) -> (Vec<(f64, f64)>, bool) {
    let values: Vec<f64> = points.iter().map(|p| p.1).collect();
    let kept = thin::min_max(&values, most);
    let left_out = kept.len() < points.len();
    (kept.into_iter().map(|i| points[i]).collect(), left_out)
}

/// The note below a chart with thinned lines.
pub fn thinned_note() -> String {
    format!(
        "thinned for drawing to at most {} points a line, keeping the minimum and maximum of \
         every group; the run folder contains every interval",
        thin::MAX_POINTS
    )
}

/// One of the panels above each other on a common horizontal axis.
#[derive(Clone, Copy)]
pub struct Panel<'p> {
    /// Title of its vertical axis, with the unit.
    pub title: &'p str,
    /// Logarithmic axis.
    pub log: bool,
    /// Its share of the height, relative to the others.
    pub share: f64,
}

pub const fn linear(title: &str) -> Panel<'_> {
    Panel { title, log: false, share: 1.0 }
}

pub const fn logarithmic(title: &str) -> Panel<'_> {
    Panel { log: true, ..linear(title) }
}

/// Name of the vertical axis of panel `i`: `y`, `y2`, ... .
pub fn axis_name(i: usize) -> &'static str {
    ["y", "y2", "y3", "y4"][i]
}

/// A layout of panels from the top down: `y`, `y2`, ... on one horizontal axis.
pub fn panels(x_title: &str, panels: &[Panel<'_>]) -> Value {
    const GAP: f64 = 0.07;
    // Without a panel there is neither a gap nor an axis.
    let last = panels.len().saturating_sub(1);
    let available = 1.0 - GAP * last as f64;
    let all: f64 = panels.iter().map(|p| p.share).sum();
    let mut layout = json!({
        "xaxis": {"title": {"text": x_title}, "anchor": axis_name(last), "rangemode": "tozero"},
    });
    let mut top = 1.0;
    for (i, panel) in panels.iter().enumerate() {
        let below = top - available * panel.share / all;
        let bottom = if i == last { 0.0 } else { below };
        layout[axis_name(i).replace('y', "yaxis")] = json!({
            "title": {"text": panel.title},
            "type": if panel.log { "log" } else { "linear" },
            "rangemode": "tozero",
            "domain": [bottom.max(0.0), top],
        });
        top = bottom - GAP;
    }
    layout
}

/// A shaded band over the whole height between two positions on the horizontal axis.
pub fn band(from: f64, to: f64, colour: &str) -> Value {
    json!({
        "type": "rect", "layer": "below", "xref": "x", "yref": "paper",
        "x0": for_drawing(from), "x1": for_drawing(to), "y0": 0, "y1": 1,
        "fillcolor": colour, "line": {"width": 0},
    })
}

/// Puts ticks at `values` of the horizontal axis; a wide range makes it logarithmic.
pub fn set_ticks(layout: &mut Value, values: &[f64], labels: &[String]) {
    let ends = values.first().zip(values.last());
    let wide = ends.is_some_and(|(first, last)| *first > 0.0 && last / first > 8.0);
    let axis = &mut layout["xaxis"];
    axis["tickvals"] = values.iter().copied().map(for_drawing).collect();
    axis["ticktext"] = labels.iter().map(|l| plain(l)).collect();
    axis["type"] = if wide { "log" } else { "linear" }.into();
    if let Some(axis) = axis.as_object_mut() {
        axis.remove("rangemode");
    }
}

#[cfg(test)]
#[path = "../../tests/unit/charts/draw.rs"]
mod tests;
