//! Views: one file per kind of section, with its descriptor, its tables and its charts.
//!
//! [`of`] selects the descriptor of a section by the view that its suite declares, else by the kind
//! of its cells. No other part of the report distinguishes views, but for the rules by which
//! [`crate::grid::layout`] makes sections.

mod amplification;
mod cache;
mod capacity;
mod concurrent;
mod consistency;
mod cross_stimulus;
mod deadlines;
mod descriptor;
mod drain;
mod fill;
mod idle_recovery;
mod jobs;
mod knee;
mod load;
mod measured;
mod placement;
mod queues;
mod response_times;
mod rounds;
mod saturation;
mod simple;
mod streams;
mod thermal;
mod trace_replay;
mod wake;

use assay_store::model::{CellKind, CellView};

use crate::chart::{Chart, numbered};
use crate::grid::Section;
pub use descriptor::{KeyFigure, SectionView};

/// The descriptor of a section.
pub fn of_section(section: &Section<'_>) -> &'static SectionView {
    section_view(section.view, section.kind)
}

fn section_view(view: Option<CellView>, kind: CellKind) -> &'static SectionView {
    match (view, kind) {
        (_, CellKind::Idle) => &simple::IDLE,
        (Some(CellView::Consistency), _) => &consistency::VIEW,
        (Some(CellView::Knee), _) => &knee::VIEW,
        (Some(CellView::Load), _) => &load::VIEW,
        (Some(CellView::Queues), _) => &queues::VIEW,
        (Some(CellView::Rounds), _) => &rounds::VIEW,
        (Some(CellView::Saturation), _) => &saturation::VIEW,
        (Some(CellView::IdleRecovery), _) => &idle_recovery::VIEW,
        (Some(CellView::ResponseTimes), _) => &response_times::VIEW,
        (Some(CellView::CrossStimulus), _) => &cross_stimulus::VIEW,
        (Some(CellView::Amplification), _) => &amplification::VIEW,
        (Some(CellView::Cache), _) => &cache::VIEW,
        (Some(CellView::Deadlines), _) => &deadlines::VIEW,
        (Some(CellView::Drain), _) => &drain::VIEW,
        (Some(CellView::Fill), _) => &fill::VIEW,
        (Some(CellView::Wake), _) => &wake::VIEW,
        (Some(CellView::Jobs), _) => &jobs::JOBS,
        (Some(CellView::Interference), _) => &jobs::INTERFERENCE,
        (Some(CellView::Placement), _) => &placement::VIEW,
        (Some(CellView::Thermal), _) => &thermal::VIEW,
        (Some(CellView::Capacity), _) => &capacity::VIEW,
        (Some(CellView::TraceReplay), _) => &trace_replay::VIEW,
        (Some(CellView::Peak | CellView::Continuous), _) => &streams::VIEW,
        (None, CellKind::Soak) => &simple::SOAK,
        (None, CellKind::Concurrent) => &concurrent::VIEW,
        (None, CellKind::Inspect) => &simple::INSPECTION,
        (None, CellKind::Measure | CellKind::Prepare | CellKind::Purge) => &measured::VIEW,
    }
}

/// All charts of a section, with ids that start with `prefix`; marked where the section has
/// simulated drives.
pub fn charts(section: &Section<'_>, prefix: &str) -> Vec<Chart> {
    let view = of_section(section);
    let mut charts = (view.charts)(section);
    if charts.is_empty() && view.or_charts_of_kind {
        charts = (section_view(None, section.kind).charts)(section);
    }
    let mut drives = section.drives.iter().map(|d| &section.set.drives[*d]);
    let simulated = drives.any(|drive| drive.info.simulated);
    let mut charts = numbered(charts, prefix);
    for chart in &mut charts {
        chart.simulated = simulated;
    }
    charts
}
