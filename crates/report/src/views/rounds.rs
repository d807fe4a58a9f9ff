//! Rounds repeated until steady state (SNIA SSS PTS).

use maud::{Markup, html};

use super::{KeyFigure, SectionView};
use crate::axis::Axis;
use crate::charts::{self, Chart};
use crate::format::figure;
use crate::grid::Section;
use crate::html::elements;
use crate::table::Table;
use crate::tables::{remarks, rounds};

/// The same cells, measured round after round.
pub const VIEW: SectionView = SectionView {
    row_axes: &[Axis::BlockSize],
    how_to_read: |_| {
        "The same cells are measured round after round until the tracked one is in steady state, \
         by the rule stated below the first table (SNIA's unless the suite defines another: over \
         five rounds all values lie within 20 % of their mean, and the best-fit line rises or \
         falls by at most 10 %). The charts show the means of the measurement window by block \
         size, the convergence round by round, and the window with its mean, the limits of the \
         rule and the best-fit line. Tables contain only figures of that window; where steady \
         state was not achieved they are marked, and are not steady-state figures."
    },
    tables,
    charts: charts::rounds::charts,
    html,
    key_figures,
    ..SectionView::DEFAULT
};

fn tables(section: &Section<'_>) -> Vec<Table> {
    let mut tables = vec![rounds::verdicts(section)];
    if let Some(first) = rounds::figures(section).first() {
        let drives = rounds::of_section(section).into_iter();
        tables.extend(drives.map(|drive| rounds::matrix(section, &drive, first)));
    }
    tables
}

fn html(section: &Section<'_>, charts: &[Chart], id: &str) -> Markup {
    let drives = rounds::of_section(section);
    let figures = rounds::figures(section);
    let mut labels: Vec<&str> = figures.iter().map(|f| f.label).collect();
    labels.retain(|_| !drives.is_empty());
    // One round is representative of the window: all rounds would be thousands of rows.
    let mut last = section.clone();
    last.points.retain(|p| {
        let round = p.plan().round.as_ref().map_or(0, |r| r.number);
        drives
            .iter()
            .any(|d| d.drive == p.drive && d.window.1 == round)
    });
    let note =
        "last round of the measurement window; the tables above contain the means of the window";
    html! {
        @for drive in drives.iter().filter(|d| d.achieved() == Some(false)) {
            (elements::alarm(&html! {
                strong { (section.set.full_name(drive.drive)) ": " (rounds::NOT_ACHIEVED) " in " (drive.done) " rounds." }
                " "
                (drive.steady.iter().filter_map(|s| s.why.as_deref()).collect::<Vec<_>>().join("; "))
            }))
        }
        (elements::table(&rounds::verdicts(section)))
        (elements::switch(id, "Figure shown in the tables", &labels, 0))
        @for (i, figure) in figures.iter().enumerate() {
            div.matrices data-metric=(i) hidden[i > 0] {
                @for drive in &drives { div { (elements::table(&rounds::matrix(section, drive, figure))) } }
            }
        }
        div.pair { (elements::charts(charts)) }
        (elements::notes(&remarks(&section.incomplete())))
        (super::all_figures(&last, Some(note)))
    }
}

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let mut keys = Vec::new();
    for rounds in rounds::of_section(section)
        .iter()
        .filter(|d| d.drive == drive)
    {
        for steady in &rounds.steady {
            let (from, to) = steady.window;
            let state = if steady.achieved {
                format!("steady in rounds {from} to {to}")
            } else {
                rounds::NOT_ACHIEVED.to_uppercase()
            };
            keys.push(KeyFigure {
                label: format!("{}, {}", section.title, steady.figure),
                value: figure(steady.mean),
                unit: "",
                details: format!("{}, {state}", rounds.location_of(steady, section)),
            });
        }
    }
    keys
}
