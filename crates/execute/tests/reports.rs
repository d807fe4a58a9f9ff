//! docs/reports.md: everything in the five published reports has a suite, step, view and figure
//! that exist, and a command whose plan has it.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test fails by panicking")]

use crate::common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use assay_analysis::figure::Figure;
use assay_store::model::CellKind;
use assay_suite::catalogue;
use assay_suite::schema::{Suite, SuiteStep};

use common::plan;

/// Sources of figures in `reference/`, as its files and docs/sources.md name the five reports.
const REPORTS: [&str; 5] = [
    "DragonFly NVMe tests",
    "AnandTech M8Pe",
    "MLE NVMe Streamer",
    "AnandTech PBlaze5",
    "AnandTech Optane Memory",
];

/// Suites that are the procedure of one of the reports.
const SUITES: [&str; 7] = [
    "bandwidth",
    "thermal",
    "consistency",
    "streamer-peak",
    "streamer-continuous",
    "enterprise",
    "client",
];

/// Files of `reference/` with published figures: those with a column of figures' names, and those
/// of one kind of figure.
const NAMED_FIGURES: [&str; 2] = ["figures.csv", "consistency.csv"];
const ONE_KIND: [&str; 4] = [
    "random_read_bandwidth.csv",
    "sequential_read_bandwidth.csv",
    "streamer_chunk_sweep.csv",
    "latency_percentiles.csv",
];

/// Commands that give what no suite does.
const COMMANDS: [&str; 6] = ["probe", "verdict", "compare", "record", "replay", "testbench"];

fn at_root(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A row of the tables.
#[derive(Debug)]
struct Row {
    report: String,
    measures: String,
    place: String,
    view: String,
    shown: String,
    command: String,
    published: String,
}

/// The texts in `code` of a cell.
fn codes(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

fn rows() -> Vec<Row> {
    let page = at_root("docs/reports.md");
    let mut report = None;
    let mut rows = Vec::new();
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            let lettered = heading.split_once(". ").filter(|(letter, _)| letter.len() == 1);
            report = lettered.map(|(_, name)| name.to_owned());
            continue;
        }
        let Some(report) = report.as_ref().filter(|_| line.starts_with("| ")) else {
            continue;
        };
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [measures, place, view, shown, command, published] = cells[..] else {
            panic!("{line}: not six cells");
        };
        if measures.starts_with("measures, ") {
            continue;
        }
        let text = |cell: &str| cell.to_owned();
        rows.push(Row {
            report: report.clone(),
            measures: text(measures),
            place: text(place),
            view: text(view),
            shown: text(shown),
            command: text(command),
            published: text(published),
        });
    }
    rows
}

/// Suite and step of a row, unless a command gives it.
fn step_of(row: &Row) -> Option<(&str, &str)> {
    let place = codes(&row.place).into_iter().next()?;
    place.split_once('/').filter(|_| !place.contains(' '))
}

/// The name of a step's view in TOML, or that of its kind.
fn view_of(suite: &Suite, step: &SuiteStep) -> String {
    let table: toml::Table = toml::from_str(&suite.text).unwrap();
    let steps = table["step"].as_array().unwrap();
    let own = steps.iter().find(|s| s["id"].as_str() == Some(&step.id));
    let own = own.unwrap();
    let view = own.get("view").unwrap_or(&own["kind"]);
    view.as_str().unwrap().to_owned()
}

#[test]
fn every_row_names_a_report_a_step_its_view_and_figures_that_exist() {
    let rows = rows();
    let reports: BTreeSet<&str> = rows.iter().map(|r| r.report.as_str()).collect();
    assert_eq!(reports.len(), REPORTS.len());
    for report in REPORTS {
        let of_report = |name: &&&str| name.starts_with(report);
        assert!(reports.iter().any(|name| of_report(&name)), "{report}");
    }
    for row in &rows {
        for figure in codes(&row.shown) {
            let key = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            if !figure.chars().all(key) {
                continue;
            }
            let exists = Figure::by_key(figure).is_some();
            assert!(exists, "{}: no figure {figure}", row.measures);
        }
        let Some((suite, step)) = step_of(row) else {
            let places = codes(&row.place);
            assert!(!places.is_empty(), "{row:?} has neither a step nor a command");
            for place in places {
                let word = place.strip_prefix("assay ").unwrap_or_default();
                assert!(COMMANDS.contains(&word), "{row:?}: no command {place}");
            }
            continue;
        };
        let loaded = catalogue::load(suite).unwrap_or_else(|e| panic!("{row:?}: {e}"));
        let found = loaded.steps.iter().find(|s| s.id == step);
        let found = found.unwrap_or_else(|| panic!("{row:?}: {suite} has no step {step}"));
        assert_eq!(codes(&row.view), [view_of(&loaded, found)], "{row:?}");
    }
}

/// Each command's plan has a cell of the row's step that runs. Files and real drives are not
/// planned here.
#[test]
fn every_command_plans_its_step() {
    let mut planned: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in &rows() {
        let [command] = codes(&row.command)[..] else {
            panic!("{row:?}: one command");
        };
        let words: Vec<&str> = command.split(' ').collect();
        let Some((suite, step)) = step_of(row) else {
            let places = codes(&row.place);
            let known = places.iter().any(|place| command.starts_with(place));
            assert!(known, "{row:?}: another command");
            continue;
        };
        assert_eq!(words[..3], ["assay", "run", suite], "{row:?}");
        let drives: Vec<&str> =
            words[3..].iter().copied().take_while(|word| *word != "--set").collect();
        if drives.iter().any(|drive| !drive.starts_with("sim:")) {
            continue;
        }
        let set = words[3 + drives.len()..].iter();
        let set = set.filter_map(|word| word.split_once('='));
        let set: Vec<(&str, &str)> = set.collect();
        let steps = planned.entry(command.to_owned()).or_insert_with(|| {
            let plan = plan(suite, &drives, &set, 1.0);
            let plan = plan.unwrap_or_else(|e| panic!("{command}: {e}"));
            let runs = plan.cells.iter().filter(|c| c.plan.skipped.is_none());
            runs.map(|c| c.plan.step.clone()).collect()
        });
        assert!(steps.contains(step), "{command} has no cell of {step}");
    }
    assert!(planned.len() > 20);
}

/// What a suite of a report measures is in the report, or is said to be assay's own.
#[test]
fn every_measuring_step_of_the_reports_suites_has_a_row() {
    let rows = rows();
    let shown: BTreeSet<(&str, &str)> = rows.iter().filter_map(step_of).collect();
    for name in SUITES {
        let suite = catalogue::load(name).unwrap();
        let measures = |step: &&SuiteStep| {
            use CellKind::{Concurrent, Idle, Inspect, Measure, Soak};
            matches!(step.kind(), Measure | Soak | Concurrent | Idle | Inspect)
        };
        for step in suite.steps.iter().filter(measures) {
            let step = step.id.as_str();
            assert!(shown.contains(&(name, step)), "{name}/{step} has no row");
        }
    }
}

/// Every published figure of the five reports has a row, and every figure that a row names is
/// published.
#[test]
fn every_published_figure_has_a_row() {
    let mut published: BTreeSet<String> = ONE_KIND.map(str::to_owned).into();
    for file in NAMED_FIGURES {
        let text = at_root(&format!("reference/{file}"));
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let head = lines.next().unwrap();
        let column = |name: &str| head.iter().position(|c| *c == name).unwrap();
        let (figure, source) = (column("figure"), column("source"));
        let mut count = 0;
        for cells in lines {
            if REPORTS.iter().any(|report| cells[source].starts_with(report)) {
                published.insert(format!("{file}/{}", cells[figure]));
                count += 1;
            }
        }
        assert!(count > 3, "{file}");
    }
    let mut shown = BTreeSet::new();
    for row in &rows() {
        let mut names = codes(&row.published).into_iter();
        let Some(file) = names.next() else {
            continue;
        };
        let names: Vec<&str> = names.collect();
        match NAMED_FIGURES.contains(&file) {
            true => {
                assert!(!names.is_empty(), "{row:?}");
                shown.extend(names.iter().map(|name| format!("{file}/{name}")));
            }
            false => {
                assert!(names.is_empty(), "{row:?}");
                shown.insert(file.to_owned());
            }
        }
    }
    assert_eq!(published, shown);
}
