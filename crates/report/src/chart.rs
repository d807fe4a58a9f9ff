//! A chart as plotly's JSON, embedded in the page and drawn there by `page/page.js`.
//!
//! Colours are named `@0`, `@1`, ...: the script replaces them by the palette of the light or dark
//! theme. A drive has the same colour in every chart.

use std::collections::{BTreeMap, HashMap};

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::format::slug;

/// Colours of the palette; further drives reuse them and differ by dash and marker.
pub const PALETTE: usize = 8;

/// Height of a chart on the first screen, pixels.
const FIRST_HEIGHT: u32 = 310;

/// One chart: one or several views that the reader switches between.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    pub id: String,
    pub title: String,
    /// Property by which the views differ: `figure`, `cell`.
    pub switch: &'static str,
    /// The first y axis can be switched between linear and logarithmic.
    pub log_switch: bool,
    /// The x axis can be switched between linear and logarithmic.
    pub log_x_switch: bool,
    /// It shows figures of simulated drives.
    pub simulated: bool,
    pub first: usize,
    pub height: u32,
    /// The chart whose views it draws once more, where it has none of its own.
    pub of: Option<String>,
    pub views: Vec<ChartView>,
    /// Lines below.
    pub notes: Vec<String>,
}

impl Chart {
    /// A chart of these views, with a switch of the y axis; `None` without any.
    pub fn new(
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

/// The parts that the page's script reads.
#[derive(Serialize)]
struct EmbeddedChart<'a> {
    id: &'a str,
    simulated: bool,
    first: usize,
    height: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<&'a str>,
    /// Each once: most views have the traces of the same drives.
    styles: Vec<&'a RawValue>,
    views: Vec<EmbeddedView<'a>>,
}

/// A trace is the number of its style, and its lists.
#[derive(Serialize)]
struct EmbeddedView<'a> {
    data: Vec<(usize, &'a RawValue)>,
    layout: &'a Value,
}

impl Serialize for Chart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (mut styles, mut numbers) = (Vec::new(), HashMap::new());
        let mut views = Vec::new();
        for view in &self.views {
            let mut data = Vec::new();
            for Trace { style, lists } in &view.data {
                let number = *numbers.entry(style.get()).or_insert_with(|| {
                    styles.push(&**style);
                    styles.len() - 1
                });
                data.push((number, &**lists));
            }
            views.push(EmbeddedView { data, layout: &view.layout });
        }
        EmbeddedChart {
            id: &self.id,
            simulated: self.simulated,
            first: self.first,
            height: self.height,
            of: self.of.as_deref(),
            styles,
            views,
        }
        .serialize(serializer)
    }
}

/// As text: parsed, a number takes four times the memory, and a page has millions.
#[derive(Clone, Debug)]
struct Trace {
    /// All that is not a list.
    style: Box<RawValue>,
    lists: Box<RawValue>,
}

impl Trace {
    fn new(trace: &Value) -> Trace {
        let fields = trace.as_object().expect("a trace is an object");
        let (lists, style): (Vec<_>, Vec<_>) =
            fields.iter().partition(|(_, value)| value.is_array());
        let text = |fields: Vec<(&String, &Value)>| {
            to_raw_value(&fields.into_iter().collect::<BTreeMap<_, _>>())
                .expect("a value has a text")
        };
        Trace { style: text(style), lists: text(lists) }
    }
}

#[derive(Clone, Debug, Default)]
pub struct ChartView {
    /// Its name on the switch, plain text.
    pub label: String,
    data: Vec<Trace>,
    layout: Value,
}

impl ChartView {
    pub fn with(label: impl Into<String>, data: &[Value], layout: Value) -> ChartView {
        ChartView { label: label.into(), data: data.iter().map(Trace::new).collect(), layout }
    }

    /// A view of these traces; `None` without any.
    pub fn new(label: impl Into<String>, data: Vec<Value>, layout: Value) -> Option<ChartView> {
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
