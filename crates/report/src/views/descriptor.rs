//! The descriptor of a section: everything that a report shows of it.

use maud::{Markup, html};

use crate::chart::Chart;
use crate::format::distinct;
use crate::grid::{Point, Section};
use crate::html::elements;
use crate::table::Table;
use crate::tables::{figures, phases};

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
    /// Explanation of the section's charts and tables.
    pub how_to_read: fn(&Section<'_>) -> &'static str,
    /// Faults, stated before any table.
    pub alarms: fn(&Section<'_>) -> Vec<String>,
    /// The principal tables, in the page and in the terminal.
    pub tables: fn(&Section<'_>) -> Vec<Table>,
    pub charts: fn(&Section<'_>) -> Vec<Chart>,
    /// True when a section with too little data for these charts has those of its kind.
    pub or_charts_of_kind: bool,
    /// Legend of the switch that selects the view of all charts at once, where there is one.
    pub switch_legend: Option<&'static str>,
    /// Collapsed tables below the charts, with their summaries.
    pub folded_tables: fn(&Section<'_>) -> Vec<(&'static str, Table)>,
    /// True when every figure of every cell is listed at the end.
    pub lists_figures: bool,
    /// The section below its explanation, as HTML, from its charts and id.
    pub html: fn(&SectionView, &Section<'_>, &[Chart], &str) -> Markup,
    /// Key figures of a drive with at least one result in the section.
    pub key_figures: fn(&Section<'_>, usize) -> Vec<KeyFigure>,
}

impl SectionView {
    /// A section with its explanation and all figures.
    pub const DEFAULT: SectionView = SectionView {
        how_to_read: |_| "",
        alarms: |_| Vec::new(),
        tables: |_| Vec::new(),
        charts: |_| Vec::new(),
        or_charts_of_kind: false,
        switch_legend: None,
        folded_tables: |_| Vec::new(),
        lists_figures: true,
        html: default_html,
        key_figures: |_, _| Vec::new(),
    };
}

pub fn default_html(
    view: &SectionView,
    section: &Section<'_>,
    charts: &[Chart],
    id: &str,
) -> Markup {
    let drives = section.drives.len();
    html! {
        (alarms(view, section))
        (elements::tables(drives, &(view.tables)(section)))
        @match view.switch_legend {
            Some(legend) => (elements::switched_charts(charts, id, legend)),
            None => (elements::pairs(drives, &charts.iter().collect::<Vec<_>>(), 2)),
        }
        @for (summary, table) in (view.folded_tables)(section) {
            (elements::folded(summary, &table))
        }
        @if view.lists_figures { (all_figures(section, None)) }
    }
}

pub fn alarms(view: &SectionView, section: &Section<'_>) -> Markup {
    html! { @for alarm in (view.alarms)(section) { (elements::alarm(&html! { (alarm) })) } }
}

/// The causes of the rate as a collapsed table.
pub fn causes(section: &Section<'_>) -> Vec<(&'static str, Table)> {
    let summary = "Causes of the rate, and the evidence";
    vec![(summary, phases::table(section))]
}

/// Every figure of every cell, collapsed, with the options that repeat a cell.
pub fn all_figures(section: &Section<'_>, note: Option<&str>) -> Markup {
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
