//! Section descriptors: one per kind of section, with everything that a report shows of it.
//!
//! [`of`] selects the descriptor of a section by the view that its suite declares, else by the kind of its cells. No other
//! part of the report distinguishes views.

mod capacity;
mod concurrent;
mod consistency;
mod knee;
mod load;
mod measured;
mod rounds;
mod saturation;
mod simple;
mod streams;
mod thermal;

use assay_store::model::{CellKind, CellView};
use maud::{Markup, html};

use crate::axis::Axis;
use crate::charts::Chart;
use crate::drive_set::DriveSet;
use crate::grid::{Point, Section};
use crate::html::elements;
use crate::table::Table;
use crate::tables::{figures, phases};

/// A section with what its display refers to.
#[derive(Clone, Copy)]
pub struct Context<'c, 'a> {
    /// The drives and runs.
    pub set: &'c DriveSet<'a>,
    /// The section.
    pub section: &'c Section<'a>,
    /// All sections of the report.
    pub all: &'c [Section<'a>],
}

/// Which cells share a section with those of the same step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeRule {
    /// Variants of the same title.
    EqualTitles,
    /// Variants of the same title or the same workload.
    EqualWorkloads,
    /// All cells of the view in a suite.
    AllSteps,
    /// All cells of the view in all suites.
    AllSuites,
}

/// A key figure on a drive's card.
#[derive(Clone, Debug, Default)]
pub struct KeyFigure {
    /// Its name.
    pub label: String,
    /// Its value.
    pub value: String,
    /// Unit of the value.
    pub unit: &'static str,
    /// Conditions and related figures.
    pub details: String,
}

/// The display of one kind of section.
pub trait SectionView: Sync {
    /// Title of the section, where it is not that of its step.
    fn title(&self) -> Option<&'static str> {
        None
    }

    /// Which cells share a section.
    fn merge_rule(&self) -> MergeRule {
        MergeRule::EqualTitles
    }

    /// Preferred axes of the rows, best first.
    fn row_axes(&self) -> &'static [Axis] {
        &[]
    }

    /// Explanation of the section's charts and tables.
    fn how_to_read(&self, section: &Section<'_>) -> &'static str;

    /// Faults, stated before any table.
    fn alarms(&self, _cx: Context<'_, '_>) -> Vec<String> {
        Vec::new()
    }

    /// The principal tables, in the page and in the terminal.
    fn tables(&self, cx: Context<'_, '_>) -> Vec<Table>;

    /// The charts, without ids.
    fn charts(&self, _cx: Context<'_, '_>) -> Vec<Chart> {
        Vec::new()
    }

    /// Legend of the switch that selects the view of all charts at once, where there is one.
    fn switch_legend(&self) -> Option<&'static str> {
        None
    }

    /// Collapsed tables below the charts, with their summaries.
    fn folded_tables(&self, _cx: Context<'_, '_>) -> Vec<(&'static str, Table)> {
        Vec::new()
    }

    /// True when the causes of the rate are listed below the charts.
    fn lists_causes(&self) -> bool {
        false
    }

    /// True when every figure of every cell is listed at the end.
    fn lists_figures(&self) -> bool {
        true
    }

    /// The section below its explanation, as HTML; `id` is the section's.
    fn html(&self, cx: Context<'_, '_>, charts: &[Chart], id: &str) -> Markup {
        html! {
            @for alarm in self.alarms(cx) { (elements::alarm(&html! { (alarm) })) }
            @for table in self.tables(cx) { (elements::table_or_notes(&table)) }
            @match self.switch_legend() {
                Some(legend) => (elements::switched_charts(charts, id, legend)),
                None => (elements::charts(charts)),
            }
            @for (summary, table) in self.folded_tables(cx) { (elements::folded(summary, &table)) }
            @if self.lists_causes() { (elements::folded("Causes of the rate, and the evidence", &phases::table(cx.set, cx.section))) }
            @if self.lists_figures() { (all_figures(cx.set, cx.section, None)) }
        }
    }

    /// Key figures of a drive, from its measured points (at least one).
    fn key_figures(&self, _cx: Context<'_, '_>, _points: &[&Point<'_>]) -> Vec<KeyFigure> {
        Vec::new()
    }
}

/// The descriptor of a section.
pub fn of(view: Option<CellView>, kind: CellKind) -> &'static dyn SectionView {
    match (view, kind) {
        (_, CellKind::Idle) => &simple::Idle,
        (Some(CellView::Consistency), _) => &consistency::Consistency,
        (Some(CellView::Knee), _) => &knee::DepthSweep,
        (Some(CellView::Load), _) => &load::OfferedLoad,
        (Some(CellView::Rounds), _) => &rounds::Rounds,
        (Some(CellView::Saturation), _) => &saturation::WriteSaturation,
        (Some(CellView::Thermal), _) => &thermal::Thermal,
        (Some(CellView::Capacity), _) => &capacity::CapacityCheck,
        (Some(CellView::Peak | CellView::Continuous), _) => &streams::Streams,
        (None, CellKind::Soak) => &simple::Soak,
        (None, CellKind::Concurrent) => &concurrent::ConcurrentDrives,
        (None, CellKind::Inspect) => &simple::Inspection,
        (None, CellKind::Measure | CellKind::Prepare | CellKind::Purge) => &measured::Measured,
    }
}

/// The charts of a view, or those of the section's kind where the view has too little data for its own.
fn or_by_kind(charts: Vec<Chart>, cx: Context<'_, '_>) -> Vec<Chart> {
    if charts.is_empty() {
        of(None, cx.section.kind).charts(cx)
    } else {
        charts
    }
}

/// Every figure of every cell, collapsed, with the options that repeat a cell.
fn all_figures(set: &DriveSet<'_>, section: &Section<'_>, note: Option<&str>) -> Markup {
    if section.points.iter().all(|p| p.result().is_none()) {
        return html! {};
    }
    let mut table = figures::table(set, section, true);
    table.notes.splice(0..0, note.map(str::to_owned));
    let mut options: Vec<(&str, &str)> = Vec::new();
    for plan in section.points.iter().map(Point::plan) {
        let entry = (plan.id.as_str(), plan.workload.options.as_str());
        if !entry.1.is_empty() && !options.contains(&entry) {
            options.push(entry);
        }
    }
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
