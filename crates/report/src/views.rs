//! Section descriptors: one per kind of section, with everything that a report shows of it.
//!
//! [`of`] selects the descriptor of a section by the view that its suite declares, else by the kind
//! of its cells. No other part of the report distinguishes views.

mod amplification;
mod cache;
mod capacity;
mod concurrent;
mod consistency;
mod cross_stimulus;
mod deadlines;
mod drain;
mod fill;
mod idle_recovery;
mod jobs;
mod knee;
mod load;
mod measured;
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
use maud::{Markup, html};

use crate::axis::Axis;
use crate::charts::Chart;
use crate::format::distinct;
use crate::grid::{Point, Section};
use crate::html::elements;
use crate::table::Table;
use crate::tables::{figures, phases};

/// Which cells share a section with those of the same step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeRule {
    /// Variants of the same title.
    EqualTitles,
    /// Variants of the same title or the same workload.
    EqualWorkloads,
    /// All cells of the same view in a suite.
    AllSteps,
    /// All cells of the view in all suites.
    AllSuites,
}

/// A key figure on a drive's card.
#[derive(Clone, Debug, Default)]
pub struct KeyFigure {
    pub label: String,
    pub value: String,
    pub unit: &'static str,
    /// Conditions and related figures.
    pub details: String,
}

/// The display of one kind of section.
pub struct SectionView {
    /// Title of the section, where it is not that of its step.
    pub title: Option<&'static str>,
    pub merge_rule: MergeRule,
    /// Preferred axes of the rows, best first.
    pub row_axes: &'static [Axis],
    /// Explanation of the section's charts and tables.
    pub how_to_read: fn(&Section<'_>) -> &'static str,
    /// Faults, stated before any table.
    pub alarms: fn(&Section<'_>) -> Vec<String>,
    /// The principal tables, in the page and in the terminal.
    pub tables: fn(&Section<'_>) -> Vec<Table>,
    pub charts: fn(&Section<'_>) -> Vec<Chart>,
    /// Legend of the switch that selects the view of all charts at once, where there is one.
    pub switch_legend: Option<&'static str>,
    /// Collapsed tables below the charts, with their summaries.
    pub folded_tables: fn(&Section<'_>) -> Vec<(&'static str, Table)>,
    /// True when every figure of every cell is listed at the end.
    pub lists_figures: bool,
    /// The section below its explanation, as HTML, from its charts and id.
    pub html: fn(&Section<'_>, &[Chart], &str) -> Markup,
    /// Key figures of a drive with at least one result in the section.
    pub key_figures: fn(&Section<'_>, usize) -> Vec<KeyFigure>,
}

impl SectionView {
    /// A section with its explanation and all figures.
    const DEFAULT: SectionView = SectionView {
        title: None,
        merge_rule: MergeRule::EqualTitles,
        row_axes: &[],
        how_to_read: |_| "",
        alarms: |_| Vec::new(),
        tables: |_| Vec::new(),
        charts: |_| Vec::new(),
        switch_legend: None,
        folded_tables: |_| Vec::new(),
        lists_figures: true,
        html: default_html,
        key_figures: |_, _| Vec::new(),
    };
}

fn default_html(section: &Section<'_>, charts: &[Chart], id: &str) -> Markup {
    let view = section.descriptor();
    html! {
        (alarms(section))
        @for table in (view.tables)(section) { (elements::table_or_notes(&table)) }
        @match view.switch_legend {
            Some(legend) => (elements::switched_charts(charts, id, legend)),
            None => div.pair { (elements::charts(charts)) },
        }
        @for (summary, table) in (view.folded_tables)(section) { (elements::folded(summary, &table)) }
        @if view.lists_figures { (all_figures(section, None)) }
    }
}

fn alarms(section: &Section<'_>) -> Markup {
    html! { @for alarm in (section.descriptor().alarms)(section) { (elements::alarm(&html! { (alarm) })) } }
}

/// The descriptor of a section.
pub fn of(view: Option<CellView>, kind: CellKind) -> &'static SectionView {
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

/// The charts of a view, or those of the section's kind where the view has too little data for its
/// own.
fn or_by_kind(charts: Vec<Chart>, section: &Section<'_>) -> Vec<Chart> {
    if charts.is_empty() {
        (of(None, section.kind).charts)(section)
    } else {
        charts
    }
}

/// The causes of the rate as a collapsed table.
fn causes(section: &Section<'_>) -> Vec<(&'static str, Table)> {
    let summary = "Causes of the rate, and the evidence";
    vec![(summary, phases::table(section))]
}

/// Every figure of every cell, collapsed, with the options that repeat a cell.
fn all_figures(section: &Section<'_>, note: Option<&str>) -> Markup {
    if section.results().next().is_none() {
        return html! {};
    }
    let mut table = figures::table(section, true).without_details();
    table.notes.splice(0..0, note.map(str::to_owned));
    let plans = section.points.iter().map(Point::plan);
    let options = plans.map(|p| (p.id.as_str(), p.workload.options.as_str()));
    let options = distinct(options.filter(|(_, options)| !options.is_empty()));
    html! {
        details {
            summary { "All figures: percentiles, errors, host" }
            div.tall { (elements::table(&table)) }
            @if !options.is_empty() {
                details {
                    summary { "Repeat a cell with " code { "assay job" } }
                    ul.options {
                        @for (id, text) in options { li { (id) br; code { (text) } } }
                    }
                }
            }
        }
    }
}
