//! A chart as plotly's JSON, embedded in the page and drawn there by `page/page.js`.
//!
//! Colours are named `@0`, `@1`, ...: the script replaces them by the palette of the light or dark
//! theme. A drive has the same colour in every chart.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::format::slug;

/// Colours of the palette; further drives reuse them and differ by dash and marker.
pub const PALETTE: usize = 8;

/// Height of a chart on the first screen, pixels.
const FIRST_HEIGHT: u32 = 310;

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
    /// It shows figures of simulated drives.
    pub simulated: bool,
    pub first: usize,
    pub height: u32,
    /// The chart whose views it draws once more, where it has none of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
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

    /// The same chart in another place.
    pub fn again(&self, id: String) -> Chart {
        Chart {
            id,
            title: self.title.clone(),
            simulated: self.simulated,
            first: self.first,
            height: FIRST_HEIGHT,
            of: Some(self.id.clone()),
            ..Chart::default()
        }
    }
    pub fn with_notes(self, notes: Vec<String>) -> Chart {
        Chart { notes, ..self }
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct ChartView {
    /// Its name on the switch, plain text.
    #[serde(skip)]
    pub label: String,
    /// Traces as text: parsed, a number takes four times the memory, and a page has millions.
    data: Vec<Box<RawValue>>,
    layout: Value,
}

impl ChartView {
    pub fn with(label: impl Into<String>, data: &[Value], layout: Value) -> ChartView {
        let text = |trace: &Value| to_raw_value(trace).expect("a value has a text");
        ChartView { label: label.into(), data: data.iter().map(text).collect(), layout }
    }

    /// A view of these traces; `None` without any.
    pub fn of(label: impl Into<String>, data: Vec<Value>, layout: Value) -> Option<ChartView> {
        (!data.is_empty()).then(|| ChartView::with(label, &data, layout))
    }
}

/// Text escaped for plotly, which interprets a few HTML tags and entities in names and titles.
pub fn plain(text: &str) -> String {
    let text = crate::format::printable(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Name of the palette's colour `n`.
pub fn colour(n: usize) -> String {
    format!("@{}", n % PALETTE)
}

/// Line style that distinguishes columns, or drives beside their colours.
pub fn dash(n: usize) -> &'static str {
    ["solid", "dash", "dot", "dashdot", "longdash"][n % 5]
}

/// Marker that distinguishes columns, or drives beside their colours.
pub fn symbol(n: usize) -> &'static str {
    const SYMBOLS: [&str; PALETTE] =
        ["circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "star"];
    SYMBOLS[n % PALETTE]
}

/// Charts with ids of `prefix` and the end of their titles, so that links stay valid; a number
/// follows where two are equal.
pub fn numbered(mut charts: Vec<Chart>, prefix: &str) -> Vec<Chart> {
    let mut taken: Vec<String> = Vec::new();
    for chart in &mut charts {
        let what = chart.title.rsplit_once(": ").map_or(chart.title.as_str(), |(_, what)| what);
        let id = format!("{prefix}--{}", slug(what));
        let equal = taken.iter().filter(|other| **other == id).count();
        chart.id = if equal == 0 { id.clone() } else { format!("{id}-{}", equal + 1) };
        taken.push(id);
    }
    charts
}
