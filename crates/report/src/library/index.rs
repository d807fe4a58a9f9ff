//! The table of all drives, and two of them side by side.

use std::collections::BTreeMap;

use assay_stats::compare::Better;
use maud::{Markup, html};
use serde_json::json;

use crate::format::{capacity, figure, plural};
use crate::html::elements::simulated_mark;
use crate::library::{LibraryDrive, shell};

/// Figures beside each drive: those that most drives have.
const KEY_FIGURES: usize = 5;

pub fn page(drives: &[LibraryDrive], files: &[String]) -> String {
    let runs: usize = drives.iter().map(|drive| drive.runs.len()).sum();
    let keys = key_figures(drives);
    let heading = |label: &str, numeric: bool| {
        html! {
            th scope="col" aria-sort="none" class=[numeric.then_some("number")] {
                button type="button" { (label) }
            }
        }
    };
    let body = html! {
        p.how {
            (plural(drives.len(), "drive")) " in " (plural(runs, "run"))
            ". The heading of a column sorts by it. Figures are those of the newest run that has "
            "them, of the " (keys.len()) " that most drives have; the page of a drive has all."
        }
        p {
            label { "Show drives with " input type="search" id="filter" autocomplete="off"; } " "
            output id="shown" for="filter" {}
        }
        div.scroll {
            table.site-table id="drives" {
                thead { tr {
                    (heading("drive", false)) (heading("serial", false))
                    (heading("firmware", false)) (heading("capacity", true))
                    (heading("runs", true)) (heading("newest", false))
                    @for (name, unit) in &keys { (heading(&with_unit(name, unit), true)) }
                } }
                tbody {
                    @for (drive, file) in drives.iter().zip(files) { (row(drive, file, &keys)) }
                }
            }
        }
    };
    shell::page("Drives", "", &body, include_str!("../page/site.js"))
}

fn row(drive: &LibraryDrive, file: &str, keys: &[(String, String)]) -> Markup {
    let newest = drive.runs.last().map_or("", |run| run.began.as_str());
    html! {
        tr {
            th scope="row" {
                a href=(file) { (drive.title()) }
                @if drive.simulated { " " (simulated_mark()) }
            }
            td { (drive.serial) }
            td { (drive.firmware) }
            td.number data-v=(drive.capacity_bytes) {
                @if drive.capacity_bytes > 0 { (capacity(drive.capacity_bytes)) }
            }
            td.number data-v=(drive.runs.len()) { (drive.runs.len()) }
            td { (shell::minute(newest)) }
            @for (name, _) in keys {
                @match drive.series.get(name).and_then(|series| series.latest()) {
                    Some(value) => td.number data-v=(value) { (figure(value)) },
                    None => td {},
                }
            }
        }
    }
}

/// A figure as shown: `quick \u{b7} random-read \u{b7} bs=4k, p99, \u{b5}s`.
pub fn with_unit(name: &str, unit: &str) -> String {
    let shown = match name.rsplit_once('.') {
        // The unit says what it is.
        Some((cell, "iops" | "mib_per_s")) if name.contains('/') => cell.to_owned(),
        Some((cell, key)) if name.contains('/') => {
            format!("{cell}, {}", key.trim_end_matches("_us"))
        }
        // Made of a step and a figure, of which the unit says what it is.
        Some((suite, headline)) => {
            let ends = ["-iops", "-mibpers"];
            let step = ends.iter().find_map(|end| headline.strip_suffix(end));
            format!("{suite}/{}", step.unwrap_or(headline))
        }
        None => name.to_owned(),
    };
    let shown = shown.replace('/', " \u{b7} ");
    match unit {
        "" => shown,
        unit => format!("{shown}, {unit}"),
    }
}

/// Names and units, headline figures (which have no cell in their name) first.
fn key_figures(drives: &[LibraryDrive]) -> Vec<(String, String)> {
    let mut counts: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for (name, series) in drives.iter().flat_map(|drive| &drive.series) {
        let entry = counts.entry(name).or_insert((0, &series.unit));
        entry.0 += 1;
    }
    let mut names: Vec<_> = counts.into_iter().collect();
    names.sort_by_key(|(name, (count, _))| (std::cmp::Reverse(*count), name.contains('/')));
    let owned = |(name, (_, unit)): (&str, (usize, &str))| (name.to_owned(), unit.to_owned());
    names.into_iter().take(KEY_FIGURES).map(owned).collect()
}

/// Two drives: figures that both have, from data in the page.
pub fn pair(drives: &[LibraryDrive]) -> String {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut figures = Vec::new();
    let mut of_drives = Vec::new();
    for drive in drives {
        let mut values = Vec::new();
        for (name, series) in &drive.series {
            let number = *numbers.entry(name).or_insert_with(|| {
                let better = match series.better {
                    Some(Better::More) => 1,
                    Some(Better::Less) => -1,
                    None => 0,
                };
                figures.push(json!([with_unit(name, &series.unit), better]));
                figures.len() - 1
            });
            // Seven digits, which is more than anything was measured with.
            let value = series.latest().map(|value| format!("{value:.6e}"));
            let value = value.and_then(|text| text.parse::<f64>().ok());
            values.push(json!([number, value]));
        }
        of_drives.push(json!({ "n": drive.name(), "s": drive.simulated, "v": values }));
    }
    let data = json!({ "figures": figures, "drives": of_drives }).to_string();
    let data = maud::PreEscaped(data.replace('<', "\\u003c"));
    let body = html! {
        p.how {
            "Figures of the newest run of each drive that has them, where both have them: the same "
            "suite, the same workload. assay compare tells how sure a difference is."
        }
        div.pair {
            label { "First drive " select id="first" {} }
            label { "Second drive " select id="second" {} }
        }
        p role="status" id="summary" {}
        div.scroll { table.site-table id="pair" { thead {} tbody {} } }
        script type="application/json" id="data" { (data) }
    };
    shell::page("Two drives side by side", "", &body, include_str!("../page/pair.js"))
}
