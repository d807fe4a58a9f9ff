//! Tables of a cohort, the same on the page and in the terminal.

use assay_analysis::cohort::conclude::{Cohort, CohortFigure};
use assay_analysis::cohort::outliers::{Confirmation, Outlier};
use assay_analysis::cohort::progress::{RunProgress, RunState};
use assay_stats::compare::Difference;

use crate::format::{distinct, figure, joined, plural};
use crate::table::{Column, Heading, Row, Table, TableCell};

/// A share of 1 as percent with a sign: `-3.2 %`.
pub fn signed(share: f64) -> String {
    match share.is_finite() {
        true => format!("{:+.1} %", 100.0 * share),
        false => "n/a".to_owned(),
    }
}

/// A spread on a figure's scale: percent, or in its unit.
pub fn spread(f: &CohortFigure, value: f64) -> String {
    match f.logarithmic {
        true => format!("{:.2} %", 100.0 * value),
        false => figure(value),
    }
}

pub fn probability(value: f64) -> String {
    match value {
        v if v < 0.001 => "< 0.001".to_owned(),
        v => format!("{v:.3}"),
    }
}

/// The suite in a figure's name.
fn suite(f: &CohortFigure) -> &str {
    f.figure.split(['/', '.']).next().unwrap_or_default()
}

/// The figure's name for tables: without the suite where there is one only.
pub fn name<'f>(cohort: &Cohort, f: &'f CohortFigure) -> &'f str {
    if cohort.figures.iter().any(|other| suite(other) != suite(f)) {
        return &f.figure;
    }
    f.figure[suite(f).len()..].trim_start_matches(['/', '.'])
}

fn drive(cohort: &Cohort, at: usize) -> Heading {
    let drive = &cohort.drives[at];
    Heading { text: drive.serial.clone(), simulated: drive.simulated }
}

/// Where a drive is: `host, slot`.
pub fn place(host: &str, slot: &str) -> String {
    let place = joined([host, slot], ", ");
    if place.is_empty() { "unknown host".to_owned() } else { place }
}

/// Spread of these figures.
pub fn figures<'f>(
    cohort: &Cohort,
    caption: &str,
    shown: impl Iterator<Item = &'f CohortFigure>,
) -> Table {
    let row = |f: &CohortFigure| {
        let hosts = f.hosts.adjusted.map(|p| match p <= 0.05 {
            true => "differ",
            false => "alike",
        });
        let share = f.run_share.map(|share| format!("{:.0} %", 100.0 * share));
        let cells = vec![
            TableCell::number(f.drives.to_string()),
            TableCell::number(format!("{} {}", figure(f.median), f.unit)),
            TableCell::number(spread(f, f.spread)),
            TableCell::number(format!("{} .. {}", figure(f.range.0), figure(f.range.1))),
            share.map_or(TableCell::Empty, TableCell::number),
            hosts.map_or(TableCell::Empty, TableCell::text),
        ];
        Row::new(Heading::plain(name(cohort, f)), cells)
    };
    let columns = Column::list([
        ("drives", ""),
        ("median", ""),
        ("spread", ""),
        ("range", ""),
        ("run to run", ""),
        ("hosts", ""),
    ]);
    let rows = shown.map(row).collect();
    let mut table = Table::of_drives(caption.to_owned(), columns, rows, Vec::new());
    table.corner = "figure".to_owned();
    table.without_empty_columns()
}

/// Outliers with their reasons, each with the number of figures of its drive if given.
pub fn outliers(cohort: &Cohort, caption: &str, shown: &[(&Outlier, Option<usize>)]) -> Table {
    let row = |(o, figures): &(&Outlier, Option<usize>)| {
        let (f, d) = (&cohort.figures[o.figure], &cohort.drives[o.drive]);
        let primary = if f.primary { " (primary)" } else { "" };
        let cells = vec![
            TableCell::text(format!("{}{primary}", name(cohort, f))),
            TableCell::number(signed(o.deviation)).with(|n| n.alarm = o.worse == Some(true)),
            TableCell::number(format!("{} {}", figure(o.value), f.unit)),
            TableCell::number(format!("{:.1} of {:.1}", o.distance.abs(), o.limit)),
            TableCell::text(confirmation(o)),
            TableCell::text(o.separation.label()),
            TableCell::text(place(&d.host, &d.slot)),
            figures.map_or(TableCell::Empty, |n| TableCell::number(n.to_string())),
        ];
        Row::new(drive(cohort, o.drive), cells)
    };
    let columns = Column::list([
        ("figure", ""),
        ("from median", ""),
        ("value", ""),
        ("distance, limit", "Q\u{2099}"),
        ("runs", ""),
        ("host or drive", ""),
        ("place", ""),
        ("figures", ""),
    ]);
    let rows = shown.iter().map(row).collect();
    Table::of_drives(caption.to_owned(), columns, rows, Vec::new()).without_empty_columns()
}

/// The answer in words of the figure's direction.
pub fn answer(f: &CohortFigure, answer: Difference) -> &'static str {
    match (answer, f.better) {
        (Difference::Faster, None) => "higher",
        (Difference::Slower, None) => "lower",
        (Difference::Faster, Some(_)) => "better",
        (Difference::Slower, Some(_)) => "worse",
        (other, _) => other.label(),
    }
}

/// What is known about the runs of the cohort.
pub struct Progress {
    /// Per suite: its name, runs that are done, interrupted and unfinished.
    pub suites: Vec<(String, [usize; 3])>,
    /// Serial, place, suite and what failed.
    pub failures: Vec<[String; 4]>,
}

/// Sum of the runs.
pub fn progress(runs: &[RunProgress]) -> Progress {
    let names = distinct(runs.iter().map(|r| r.suite.as_str()));
    let of = |name: &str| {
        let count = |state| {
            let own = runs.iter().filter(|r| r.suite == name && r.state == state);
            own.count()
        };
        let states = [RunState::Done, RunState::Interrupted, RunState::Unfinished];
        (name.to_owned(), states.map(count))
    };
    let mut failures = Vec::new();
    for run in runs {
        let mut add = |what: String| {
            let place = place(&run.host, &run.slot);
            failures.push([run.serial.clone(), place, run.suite.clone(), what]);
        };
        if run.drive_lost {
            add("the drive was lost".to_owned());
        }
        match run.state {
            RunState::Interrupted if !run.drive_lost => add("interrupted".to_owned()),
            RunState::Unfinished => add("unfinished: killed, or still in progress".to_owned()),
            _ => {}
        }
        for (cell, reason) in &run.failed {
            add(format!("{cell}: {reason}"));
        }
    }
    Progress { suites: names.into_iter().map(of).collect(), failures }
}

/// `suspected`, `confirmed by 2 runs`.
pub fn confirmation(outlier: &Outlier) -> String {
    match outlier.confirmation {
        Confirmation::Suspected => "suspected".to_owned(),
        Confirmation::Confirmed => format!("confirmed by {}", plural(outlier.runs, "run")),
    }
}
