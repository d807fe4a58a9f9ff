//! Rounds repeated until steady state (SNIA SSS PTS).

use maud::{Markup, html};

use super::{Context, KeyFigure, SectionView};
use crate::axis::Axis;
use crate::charts::{self, Chart};
use crate::format::figure;
use crate::grid::{Point, Section};
use crate::html::elements;
use crate::table::Table;
use crate::tables::{remarks, rounds};

/// The same cells, measured round after round.
pub struct Rounds;

impl SectionView for Rounds {
    fn row_axes(&self) -> &'static [Axis] {
        &[Axis::BlockSize]
    }

    fn how_to_read(&self, _section: &Section<'_>) -> &'static str {
        "The same cells are measured round after round until the tracked one is in steady state, by the rule stated below the first table (SNIA's unless the suite defines another: over five rounds all values lie within 20 % of their mean, and the best-fit line rises or falls by at most 10 %). The charts show the means of the measurement window by block size, the convergence round by round, and the window with its mean, the limits of the rule and the best-fit line. Tables contain only figures of that window; where steady state was not achieved they are marked, and are not steady-state figures."
    }

    fn tables(&self, cx: Context<'_, '_>) -> Vec<Table> {
        let mut tables = vec![rounds::verdicts(cx.set, cx.section)];
        if let Some(first) = rounds::figures(cx.set, cx.section).first() {
            let drives = rounds::of_section(cx.set, cx.section);
            tables.extend(
                drives
                    .iter()
                    .map(|drive| rounds::matrix(cx.set, cx.section, drive, first)),
            );
        }
        tables
    }

    fn charts(&self, cx: Context<'_, '_>) -> Vec<Chart> {
        charts::rounds::charts(cx.set, cx.section)
    }

    fn html(&self, cx: Context<'_, '_>, charts: &[Chart], id: &str) -> Markup {
        let drives = rounds::of_section(cx.set, cx.section);
        let figures = rounds::figures(cx.set, cx.section);
        let labels: Vec<&str> = figures.iter().map(|f| f.label).collect();
        let labels = if drives.is_empty() {
            &[]
        } else {
            labels.as_slice()
        };
        // One round is representative of the window: all rounds would be thousands of rows.
        let mut last = cx.section.clone();
        last.points.retain(|p| {
            let round = p.plan().round.as_ref().map_or(0, |r| r.number);
            drives
                .iter()
                .any(|d| d.drive == p.drive && d.window.1 == round)
        });
        let note = "last round of the measurement window; the tables above contain the means of the window";
        html! {
            @for drive in drives.iter().filter(|d| d.achieved() == Some(false)) {
                (elements::alarm(&html! {
                    strong { (cx.set.full_name(drive.drive)) ": " (rounds::NOT_ACHIEVED) " in " (drive.done) " rounds." }
                    " "
                    (drive.steady.iter().filter_map(|s| s.why.as_deref()).collect::<Vec<_>>().join("; "))
                }))
            }
            (elements::table(&rounds::verdicts(cx.set, cx.section)))
            (elements::switch(id, "Figure shown in the tables", labels, 0))
            @for (i, figure) in figures.iter().enumerate() {
                div.matrices data-metric=(i) hidden[i > 0] {
                    @for drive in &drives { div { (elements::table(&rounds::matrix(cx.set, cx.section, drive, figure))) } }
                }
            }
            div.pair { (elements::charts(charts)) }
            (elements::notes(&remarks(cx.set, &cx.section.incomplete())))
            (super::all_figures(cx.set, &last, Some(note)))
        }
    }

    fn key_figures(&self, cx: Context<'_, '_>, points: &[&Point<'_>]) -> Vec<KeyFigure> {
        let drive = points[0].drive;
        let drives = rounds::of_section(cx.set, cx.section);
        let own = drives.iter().filter(|d| d.drive == drive);
        own.flat_map(|d| d.steady.iter().map(move |steady| (d, steady)))
            .map(|(d, steady)| {
                let state = if steady.achieved {
                    format!(
                        "steady in rounds {} to {}",
                        steady.window.0, steady.window.1
                    )
                } else {
                    rounds::NOT_ACHIEVED.to_uppercase()
                };
                KeyFigure {
                    label: format!("{}, {}", cx.section.title, steady.figure),
                    value: figure(steady.mean),
                    unit: "",
                    details: format!("{}, {state}", d.location_of(steady, cx.section)),
                }
            })
            .collect()
    }
}
