//! Reports of tests of standards, per run and drive, in the form that SNIA's PTS gives them:
//! set-up, conditions, steady state, result.

use assay_analysis::standard::{self, StandardReport};
use maud::{Markup, html};

use super::elements::{alarm, facts, table, titled};
use crate::drive_set::DriveSet;
use crate::format::distinct;
use crate::table::Heading;
use crate::tables::standard::{conditions, verdict};

/// The reports of a suite's runs; nothing where the suite is no test of a standard. `sections`: id
/// and title of its sections.
pub fn reports(
    set: &DriveSet<'_>,
    suite: &str,
    id: &str,
    sections: &[(&str, &str)],
) -> Option<Markup> {
    let runs = set.runs.iter().enumerate();
    let of_suite = runs.filter(|(_, run)| run.manifest.suite.name == suite);
    let reports: Vec<(Heading, StandardReport)> = of_suite
        .flat_map(|(at, run)| {
            let drives = 0..run.manifest.drives.len();
            drives.filter_map(move |drive| {
                let position = set.position(at, drive)?;
                let heading = set.drives[position].heading.clone();
                Some((heading, standard::standard_report(run, drive)?))
            })
        })
        .collect();
    let (_, first) = reports.first()?;
    let title = format!("{} report", first.standard.name);
    Some(titled(
        id,
        &title,
        &html! {
            p.how {
                "The form of the specification's report: test set-up, every condition with what is \
                 required and what was found, and the result. A run with a deviation is no test of \
                 the standard, and its figures must not be quoted as such."
            }
            p {
                "Plots and tables: "
                @for (i, (id, title)) in sections.iter().enumerate() {
                    @if i > 0 { ", " } a href={ "#" (id) } { (title) }
                }
                "."
            }
            @for (heading, report) in &reports { (one(heading, report)) }
        },
    ))
}

fn one(heading: &Heading, report: &StandardReport) -> Markup {
    let groups = distinct(report.setup.iter().map(|(group, ..)| *group));
    let steady = report.is_steady().map(|steady| match steady {
        true => "steady state: achieved",
        false => "steady state: NOT achieved",
    });
    let verdict = verdict(report);
    html! {
        h3 { (heading) }
        @if report.complies() { p { strong { (verdict) "." } } }
        @else {
            (alarm(&html! {
                strong { (verdict) }
                ": "
                @for (i, deviation) in report.deviations().enumerate() {
                    @if i > 0 { "; " }
                    (deviation.about) ": " (deviation.found)
                }
                "."
            }))
        }
        @if let Some(steady) = steady { p { (steady) } }
        (table(&conditions(report, heading)))
        details {
            summary { "Test set-up" }
            @for group in groups {
                h4 { (group) }
                @let of_group = report.setup.iter().filter(|(of, ..)| *of == group);
                (facts(of_group.map(|(_, name, value)| (name.as_str(), value.clone()))))
            }
        }
    }
}
