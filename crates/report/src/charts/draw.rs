//! Traces and layouts that the charts of the suites share: plotly's JSON, written down where its Rust types have no word for it.

use serde_json::{Value, json};

use super::plain;
use crate::format::for_drawing;

/// One line, or one set of dots.
pub struct Trace<'t> {
    /// What the legend calls it; plain text.
    pub name: String,
    /// Points, in the order they are joined.
    pub points: Vec<(f64, f64)>,
    /// `lines`, `markers` or `lines+markers`.
    pub mode: &'t str,
    /// Of the palette.
    pub colour: String,
    /// plotly's word for a broken line: `solid`, `dash`, `dot`, `dashdot`, `longdash`.
    pub dash: &'t str,
    /// Of the line, or of the dots, pixels.
    pub size: f64,
    /// plotly's word for the marker: `circle`, `square`, `diamond`, ... .
    pub symbol: &'t str,
    /// Vertical axis: `y`, `y2`, ... .
    pub axis: &'t str,
    /// What is shown at the pointer, in plotly's template language.
    pub hover: String,
    /// Shown in the legend?
    pub listed: bool,
    /// Words per point for `%{text}` of the template; may be empty.
    pub texts: Vec<String>,
}

impl Default for Trace<'_> {
    fn default() -> Self {
        Trace {
            name: String::new(),
            points: Vec::new(),
            mode: "lines",
            colour: super::colour(0),
            dash: "solid",
            size: 2.0,
            symbol: "circle",
            axis: "y",
            hover: "%{y:,.4~g}".to_owned(),
            listed: true,
            texts: Vec::new(),
        }
    }
}

impl Trace<'_> {
    /// As plotly takes it.
    pub fn json(self) -> Value {
        let (x, y): (Vec<f64>, Vec<f64>) = self
            .points
            .iter()
            .map(|p| (for_drawing(p.0), for_drawing(p.1)))
            .unzip();
        let marker_size = if self.mode == "markers" {
            self.size
        } else {
            7.0
        };
        let mut trace = json!({
            "type": "scatter",
            "name": plain(&self.name),
            "x": x,
            "y": y,
            "mode": self.mode,
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
        trace
    }
}

/// plotly's words for the styles of `super::dash`.
pub fn dash_word(n: usize) -> &'static str {
    ["solid", "dash", "dot", "dashdot", "longdash"][n % 5]
}

/// plotly's words for the markers of `super::symbol`.
pub fn symbol_word(n: usize) -> &'static str {
    ["circle", "square", "diamond", "triangle-up", "cross", "x"][n % 6]
}

/// One of the panels that stand above each other on a common horizontal axis.
pub struct Panel<'p> {
    /// Title of its vertical axis, with the unit.
    pub title: &'p str,
    /// Logarithmic?
    pub log: bool,
    /// Share of the height, among the shares of the others.
    pub share: f64,
}

/// A layout of panels from the top down: `y`, `y2`, ... on one horizontal axis.
pub fn panels(x_title: &str, panels: &[Panel<'_>]) -> Value {
    const GAP: f64 = 0.07;
    let room = 1.0 - GAP * panels.len().saturating_sub(1) as f64;
    let all: f64 = panels.iter().map(|p| p.share).sum();
    let lowest = match panels.len() {
        0 | 1 => "y".to_owned(),
        n => format!("y{n}"),
    };
    let mut layout = json!({
        "xaxis": {"title": {"text": x_title}, "anchor": lowest, "rangemode": "tozero"},
    });
    let mut top = 1.0;
    for (i, panel) in panels.iter().enumerate() {
        let height = room * panel.share / all;
        let bottom = if i + 1 == panels.len() {
            0.0
        } else {
            top - height
        };
        let key = if i == 0 {
            "yaxis".to_owned()
        } else {
            format!("yaxis{}", i + 1)
        };
        layout[key] = json!({
            "title": {"text": panel.title},
            "type": if panel.log { "log" } else { "linear" },
            "rangemode": "tozero",
            "domain": [bottom.max(0.0), top],
        });
        top = bottom - GAP;
    }
    layout
}

/// A shaded band over the whole height between two places on the horizontal axis.
pub fn band(from: f64, to: f64, colour: &str) -> Value {
    json!({
        "type": "rect", "layer": "below", "xref": "x", "yref": "paper",
        "x0": for_drawing(from), "x1": for_drawing(to), "y0": 0, "y1": 1,
        "fillcolor": colour, "line": {"width": 0},
    })
}

/// Puts the values of the rows on the horizontal axis, each with its words; wide ranges on a logarithmic one.
pub fn place_ticks(layout: &mut Value, values: &[f64], labels: &[String]) {
    let wide = match (values.first(), values.last()) {
        (Some(first), Some(last)) => *first > 0.0 && last / first > 8.0,
        _ => false,
    };
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
