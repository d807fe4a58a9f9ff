//! The page of a drive: what changed, every figure with its history, its runs.

use assay_stats::compare::Better;
use maud::{Markup, html};

use crate::format::{capacity, figure, plural};
use crate::html::elements::{simulated_mark, titled};
use crate::library::history::{Change, changes, drawing};
use crate::library::index::with_unit;
use crate::library::{LibraryDrive, Series, shell};

/// With fewer, no change can be found.
const LEAST_RUNS: usize = 2 * assay_stats::change::LEAST_LEN;

const RUN_COLUMNS: [&str; 7] =
    ["began (UTC)", "suite", "firmware", "workloads", "warnings", "verdict", "run folder"];

pub fn page(drive: &LibraryDrive) -> String {
    let changed: Vec<(&String, &Series, Vec<Change>)> =
        drive.series.iter().map(|(name, series)| (name, series, changes(series))).collect();
    let body = html! {
        p.identity {
            @if drive.simulated { (simulated_mark()) " " }
            "serial " (drive.serial)
            @if !drive.firmware.is_empty() { " \u{b7} firmware " (drive.firmware) }
            @if drive.capacity_bytes > 0 { " \u{b7} " (capacity(drive.capacity_bytes)) }
            " \u{b7} " (plural(drive.runs.len(), "run"))
        }
        (titled("changes", "What changed", &what_changed(drive, &changed)))
        (titled("figures", "Figures", &figures(drive, &changed)))
        (titled("runs", "Runs", &runs(drive)))
    };
    shell::page(drive.title(), "../", &body, "")
}

fn what_changed(drive: &LibraryDrive, all: &[(&String, &Series, Vec<Change>)]) -> Markup {
    let each = all.iter().flat_map(|(name, series, changes)| {
        changes.iter().map(move |change| (name, series, change))
    });
    let mut each: Vec<_> = each.collect();
    each.sort_by(|a, b| a.2.began.cmp(&b.2.began));
    let longest = drive.series.values().map(|s| s.points.len()).max();
    html! {
        @if each.is_empty() {
            p {
                "No figure changed its level by 5 % or more. "
                @if longest.unwrap_or(0) < LEAST_RUNS {
                    "A change is found where three runs stand on each side of it, so it takes six "
                    "runs with the same figure."
                }
            }
        } @else {
            ul { @for (name, series, change) in &each {
                li {
                    (shell::minute(&change.began)) ": " (with_unit(name, "")) " is "
                    b { (figure(change.ratio)) " times" } " the level before"
                    @match (series.better, change.ratio > 1.0) {
                        (Some(Better::More), true) | (Some(Better::Less), false) => " (better)",
                        (Some(_), _) => " (worse)",
                        (None, _) => {}
                    }
                    @if let Some([before, since]) = &change.firmware {
                        ", with firmware " (since) " after " (before)
                    }
                }
            } }
        }
    }
}

fn figures(drive: &LibraryDrive, all: &[(&String, &Series, Vec<Change>)]) -> Markup {
    if all.is_empty() {
        return html! { p { "No cell of its runs finished." } };
    }
    let has_history = drive.series.values().any(|series| series.points.len() > 1);
    html! {
        p.how {
            "The newest value of each figure."
            @if has_history {
                " Dots are runs in the order of time; a dashed line is a change of firmware, "
                "a solid one a change of the level."
            }
        }
        div.scroll { table.site-table {
            thead { tr { th scope="col" { "figure" } th.number scope="col" { "newest" }
                @if has_history {
                    th.number scope="col" { "to the first, %" } th.number scope="col" { "runs" }
                    th scope="col" { "history" }
                } } }
            tbody { @for (name, series, changes) in all {
                @let first = series.points.first().map(|point| point.value);
                @let latest = series.latest();
                tr {
                    th scope="row" { (with_unit(name, &series.unit)) }
                    td.number { (latest.map_or(String::new(), figure)) }
                    @if has_history {
                        @let several = series.points.len() > 1;
                        @let both = first.zip(latest).filter(|(of, _)| several && *of != 0.0);
                        td.number {
                            @if let Some((first, latest)) = both {
                                (format!("{:+.1}", 100.0 * (latest / first - 1.0)))
                            }
                        }
                        td.number { (series.points.len()) }
                        td { @if several { (drawing(series, changes)) } }
                    }
                }
            } }
        } }
    }
}

fn runs(drive: &LibraryDrive) -> Markup {
    html! {
        div.scroll { table.site-table {
            thead { tr { @for heading in RUN_COLUMNS { th scope="col" { (heading) } } } }
            tbody { @for run in drive.runs.iter().rev() {
                tr {
                    td { (shell::minute(&run.began)) }
                    td {
                        (run.suite)
                        @if !run.imported.is_empty() {
                            ", imported from " (run.imported.join(", "))
                        }
                    }
                    td { (run.firmware) }
                    td.number { (run.finished_cells) }
                    td.number { (run.warnings) }
                    td { (run.verdicts.join(", ")) }
                    td { code { (run.folder) } }
                }
            } }
        } }
        p.how {
            "assay report RUN makes the page of a run, assay compare RUN RUN tells how sure a "
            "difference is."
        }
    }
}
