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

use crate::drive_set::DriveSet;
use crate::grid::{Point, Section};
use crate::views::Context;

/// Colours of the palette; further drives reuse them and differ by dash and marker.
pub const PALETTE: usize = 8;

/// One chart: one or several views that the reader switches between.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Chart {
    /// Element id.
    pub id: String,
    /// Title.
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
    /// The view shown first.
    pub first: usize,
    /// Height in pixels.
    pub height: u32,
    /// The views.
    pub views: Vec<ChartView>,
    /// Lines below.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// One view of a chart.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ChartView {
    /// Its name on the switch, plain text.
    #[serde(skip)]
    pub label: String,
    /// Traces.
    pub data: Vec<Value>,
    /// Layout.
    pub layout: Value,
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
    if section.drives.len() > 1 {
        (colour(point.drive), point.column)
    } else {
        (colour(point.drive + point.column), point.column)
    }
}

/// Name of a point's series: drive, and column where there are several.
pub fn series_name(set: &DriveSet<'_>, section: &Section<'_>, point: &Point<'_>) -> String {
    let drive = set.full_name(point.drive);
    match section.column_label(point.column) {
        none if none.is_empty() => drive,
        column => format!("{drive}, {column}"),
    }
}

/// All charts of a section, with ids that start with `prefix`.
pub fn of_section(cx: Context<'_, '_>, prefix: &str) -> Vec<Chart> {
    let mut charts = cx.section.descriptor().charts(cx);
    for (i, chart) in charts.iter_mut().enumerate() {
        chart.id = format!("{prefix}-chart-{}", i + 1);
    }
    charts
}
