//! Charts as data: traces and layouts of the plotly crate's types, serialised into the page and drawn there by
//! `page/page.js`.
//!
//! Colours are not set here but named `@0`, `@1`, ... : the script puts the palette of the light or dark theme in. A
//! drive has the same colour in every chart.

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

use plotly::common::{DashType, MarkerSymbol};
use serde::Serialize;
use serde_json::Value;

use crate::grid::{Point, Section};
use crate::lineup::Lineup;

/// Colours of the palette; further drives start again and differ by dash and marker.
pub const PALETTE: usize = 8;

/// One chart: one or several views that the reader switches between.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Chart {
    /// Element id.
    pub id: String,
    /// Title.
    #[serde(skip)]
    pub title: String,
    /// What the views differ by: `figure`, `cell`.
    #[serde(skip)]
    pub switch: &'static str,
    /// Can its first y axis be switched between linear and logarithmic?
    #[serde(skip)]
    pub log_switch: bool,
    /// Can its horizontal axis be?
    #[serde(skip)]
    pub log_x_switch: bool,
    /// The view shown first.
    pub first: usize,
    /// Height in pixels.
    pub height: u32,
    /// The views.
    pub views: Vec<View>,
    /// Lines below.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// One view of a chart.
#[derive(Clone, Debug, Serialize)]
pub struct View {
    /// Its name on the switch.
    #[serde(skip)]
    pub label: String,
    /// Traces.
    pub data: Vec<Value>,
    /// Layout.
    pub layout: Value,
}

/// Text that plotly shows as it is: it reads a few HTML tags and entities in names and titles.
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

/// How the lines of one column differ from those of the next.
pub fn dash(n: usize) -> DashType {
    match n % 5 {
        0 => DashType::Solid,
        1 => DashType::Dash,
        2 => DashType::Dot,
        3 => DashType::DashDot,
        _ => DashType::LongDash,
    }
}

/// How the markers of one column differ from those of the next.
pub fn symbol(n: usize) -> MarkerSymbol {
    match n % 6 {
        0 => MarkerSymbol::Circle,
        1 => MarkerSymbol::Square,
        2 => MarkerSymbol::Diamond,
        3 => MarkerSymbol::TriangleUp,
        4 => MarkerSymbol::Cross,
        _ => MarkerSymbol::X,
    }
}

/// Colour and line style of a point's series: drives differ by colour and columns by style; of a single drive, columns
/// differ by both.
pub fn look(section: &Section<'_>, point: &Point<'_>) -> (String, usize) {
    if section.drives.len() > 1 {
        (colour(point.drive), point.column)
    } else {
        (colour(point.drive + point.column), point.column)
    }
}

/// Name of a point's series: drive, and column where there are several.
pub fn series_name(lineup: &Lineup<'_>, section: &Section<'_>, point: &Point<'_>) -> String {
    let drive = lineup.drives[point.drive].full_name();
    let column = section.column_label(point.column);
    plain(&if column.is_empty() {
        drive
    } else {
        format!("{drive}, {column}")
    })
}

/// All charts of a section, ids starting with `prefix`.
///
/// # Errors
/// When plotly's types cannot be serialised.
pub fn of_section(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    all: &[Section<'_>],
    prefix: &str,
) -> Result<Vec<Chart>, serde_json::Error> {
    use assay_store::model::CellKind;
    let viewed = match section.view {
        Some(assay_store::model::View::Consistency) => consistency::charts(lineup, section),
        Some(assay_store::model::View::Knee) => knee::charts(lineup, section),
        Some(assay_store::model::View::Load) => load::charts(lineup, section),
        Some(assay_store::model::View::Rounds) => rounds::charts(lineup, section),
        Some(assay_store::model::View::Saturation) => saturation::charts(lineup, section),
        Some(view) if view.is_stream() => stream::charts(lineup, section)?,
        _ => Vec::new(),
    };
    let charts = match section.kind {
        _ if !viewed.is_empty() => viewed.into_iter().map(Some).collect(),
        _ if section.view == Some(assay_store::model::View::Rounds) => Vec::new(),
        _ if section
            .view
            .is_some_and(assay_store::model::View::is_stream) =>
        {
            Vec::new()
        }
        _ if section.view == Some(assay_store::model::View::Capacity) => {
            vec![timeline::chart(lineup, section)?]
        }
        CellKind::Measure => vec![
            sweep::chart(lineup, section)?,
            percentiles::chart(lineup, section)?,
            timeline::chart(lineup, section)?,
        ],
        CellKind::Idle => idle::charts(lineup, section)
            .into_iter()
            .map(Some)
            .collect(),
        CellKind::Soak => vec![
            timeline::chart(lineup, section)?,
            percentiles::chart(lineup, section)?,
        ],
        CellKind::AllAboard => {
            let mut charts = Vec::new();
            for crowd in crate::tables::aboard::crowds(section, all) {
                charts.push(timeline::stacked(lineup, section, &crowd)?);
            }
            charts
        }
        CellKind::Prepare | CellKind::Inspect | CellKind::Purge => Vec::new(),
    };
    let mut charts: Vec<Chart> = charts.into_iter().flatten().collect();
    if let (CellKind::Measure, [.., curves, timeline]) = (section.kind, charts.as_mut_slice())
        && curves.switch != "figure"
    {
        // The two stand beside each other.
        curves.height = timeline.height;
    }
    for (i, chart) in charts.iter_mut().enumerate() {
        chart.id = format!("{prefix}-chart-{}", i + 1);
    }
    Ok(charts)
}
