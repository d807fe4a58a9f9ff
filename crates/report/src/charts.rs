//! Charts as plotly's JSON: traces and layouts, embedded in the page and drawn there by `page/page.js`.
//!
//! Colours are named `@0`, `@1`, ...: the script replaces them by the palette of the light or dark theme. A drive has the
//! same colour in every chart.

pub mod consistency;
pub mod draw;
pub mod idle;
pub mod knee;
pub mod load;
pub mod percentiles;
pub mod phases;
pub mod rounds;
pub mod saturation;
pub mod stream;
pub mod sweep;
pub mod timeline;

use serde::Serialize;
use serde_json::Value;

use crate::format::joined;
use crate::grid::{Point, Section};

/// Colours of the palette; further drives reuse them and differ by dash and marker.
pub const PALETTE: usize = 8;

/// One chart: one or several views that the reader switches between.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Chart {
    pub id: String,
    #[serde(skip)]
    pub title: String,
    /// Property by which the views differ: `figure`, `cell`.
    #[serde(skip)]
    pub switch: &'static str,
    /// The first y axis can be switched between linear and logarithmic.
    #[serde(skip)]
    pub log_switch: bool,
    /// The x axis can be switched between linear and logarithmic.
    #[serde(skip)]
    pub log_x_switch: bool,
    pub first: usize,
    pub height: u32,
    pub views: Vec<ChartView>,
    /// Lines below.
    #[serde(skip)]
    pub notes: Vec<String>,
}

impl Chart {
    /// A chart of these views, with a switch of the y axis; `None` without any.
    pub fn of(
        title: String,
        switch: &'static str,
        height: u32,
        views: Vec<ChartView>,
    ) -> Option<Chart> {
        (!views.is_empty()).then(|| Chart {
            title,
            switch,
            height,
            views,
            log_switch: true,
            ..Chart::default()
        })
    }
    pub fn with_notes(self, notes: Vec<String>) -> Chart {
        Chart { notes, ..self }
    }
}

/// One view of a chart.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ChartView {
    /// Its name on the switch, plain text.
    #[serde(skip)]
    pub label: String,
    pub data: Vec<Value>,
    pub layout: Value,
}

impl ChartView {
    /// A view of these traces; `None` without any.
    pub fn of(label: impl Into<String>, data: Vec<Value>, layout: Value) -> Option<ChartView> {
        (!data.is_empty()).then(|| ChartView {
            label: label.into(),
            data,
            layout,
        })
    }
}

/// Text escaped for plotly, which interprets a few HTML tags and entities in names and titles.
pub fn plain(text: &str) -> String {
    let text = crate::format::printable(text);
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Name of the palette's colour `n`.
pub fn colour(n: usize) -> String {
    format!("@{}", n % PALETTE)
}

/// Line style that distinguishes columns.
pub fn dash(n: usize) -> &'static str {
    ["solid", "dash", "dot", "dashdot", "longdash"][n % 5]
}

/// Marker that distinguishes columns.
pub fn symbol(n: usize) -> &'static str {
    ["circle", "square", "diamond", "triangle-up", "cross", "x"][n % 6]
}

/// Colour and line style of a point's series: drives differ by colour and columns by style; with a single drive, columns
/// differ by both.
pub fn style(section: &Section<'_>, point: &Point<'_>) -> (String, usize) {
    let several = section.drives.len() > 1;
    let offset = if several { 0 } else { point.column };
    (colour(point.drive + offset), point.column)
}

/// Name of a point's series: drive, and column where there are several.
pub fn series_name(section: &Section<'_>, point: &Point<'_>) -> String {
    joined([point.name(), section.column_label(point.column)], ", ")
}

/// All charts of a section, with ids that start with `prefix`.
pub fn of_section(section: &Section<'_>, prefix: &str) -> Vec<Chart> {
    numbered((section.descriptor().charts)(section), prefix)
}

/// Charts with ids that start with `prefix`.
pub fn numbered(mut charts: Vec<Chart>, prefix: &str) -> Vec<Chart> {
    for (i, chart) in charts.iter_mut().enumerate() {
        chart.id = format!("{prefix}-chart-{}", i + 1);
    }
    charts
}
