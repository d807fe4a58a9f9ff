//! The cohort in the terminal.

use assay_analysis::cohort::conclude::{Cohort, CohortFigure};
use assay_analysis::cohort::groups::GroupComparison;
use assay_analysis::cohort::progress::RunProgress;

use crate::cohort::{drift, outline, tables, words};
use crate::format::{joined, plural};
use crate::table::{Column, Heading, Row, Table, TableCell};
use crate::terminal::Style;
use crate::terminal::text::{Paint, TextPage};

/// Figures shown.
const FEW_FIGURES: usize = 12;
/// Drives, failures and comparisons shown.
const MOST_LINES: usize = 20;
const MIN_WIDTH: usize = 60;

/// A summary at most `width` columns wide; everything is in the page and in JSON.
pub fn text(cohort: &Cohort, runs: &[RunProgress], width: usize, style: Style) -> String {
    let mut page = TextPage::new(width.max(MIN_WIDTH), style);
    page.line(&outline::subject(cohort), Some(Paint::Strong));
    let progress = tables::progress(runs);
    for (suite, [done, interrupted, unfinished]) in &progress.suites {
        let others = [(*interrupted, "interrupted"), (*unfinished, "unfinished")];
        let others = others.iter().filter(|(n, _)| *n > 0);
        let mut all = vec![format!("{done} done")];
        all.extend(others.map(|(n, what)| format!("{n} {what}")));
        let paint = (interrupted + unfinished > 0).then_some(Paint::Caution);
        page.pair(suite, &joined(all, ", "), paint);
    }
    for [serial, place, suite, what] in progress.failures.iter().take(MOST_LINES) {
        let text = format!("{serial} ({place}), {suite}: {what}");
        page.item("  ! ", &text, Some(Paint::Alarm));
    }
    more(&mut page, progress.failures.len(), "failures");
    outliers(&mut page, cohort);
    soaks(&mut page, cohort);
    groups(&mut page, cohort);
    spread(&mut page, cohort);
    for reason in &cohort.left_out {
        page.item("left out: ", reason, Some(Paint::Soft));
    }
    page.finish()
}

fn more(page: &mut TextPage, count: usize, what: &str) {
    if count > MOST_LINES {
        let text = format!("and {} more {what}", count - MOST_LINES);
        page.item("  ", &text, Some(Paint::Soft));
    }
}

fn outliers(page: &mut TextPage, cohort: &Cohort) {
    page.blank();
    let drives = outline::by_drive(cohort);
    let title = match drives.len() {
        0 => "Outliers: none".to_owned(),
        n => format!("Outliers: {}", plural(n, "drive")),
    };
    page.line(&title, Some(Paint::Strong));
    for (drive, own) in drives.iter().take(MOST_LINES) {
        let (d, first) = (&cohort.drives[*drive], own[0]);
        let others = match own.len() {
            1 => String::new(),
            n => format!(" and {}", plural(n - 1, "more figure")),
        };
        let text = format!(
            "{} ({}): {} {}{others}; {}; {}",
            d.serial,
            tables::place(&d.host, &d.slot),
            tables::name(cohort, &cohort.figures[first.figure]),
            tables::signed(first.deviation),
            tables::confirmation(first),
            outline::cause(first),
        );
        let paint = match first.worse {
            Some(true) => Paint::Alarm,
            _ => Paint::Caution,
        };
        page.item("  ", &text, Some(paint));
    }
    more(page, drives.len(), "drives");
    for (host, figures) in outline::hosts_off(cohort) {
        let text = format!("host {host}: {figures}");
        page.item("  ", &text, Some(Paint::Caution));
    }
    for text in outline::audits(cohort) {
        page.item("  ", &text, Some(Paint::Soft));
    }
    page.item("  ", &words::outliers(cohort), Some(Paint::Soft));
}

fn soaks(page: &mut TextPage, cohort: &Cohort) {
    if cohort.soaks.is_empty() && cohort.error_rates.is_empty() {
        return;
    }
    page.blank();
    let found = drift::drifting(cohort);
    let title = match drift::drifting_drives(cohort).len() {
        0 => "Drift in soaks: no drive".to_owned(),
        n => format!("Drift in soaks: {}", plural(n, "drive")),
    };
    page.line(&title, Some(Paint::Strong));
    for (d, v) in found.iter().take(MOST_LINES) {
        let paint = match v.worse {
            Some(true) => Paint::Alarm,
            _ => Paint::Caution,
        };
        page.item("  ", &drift::line(cohort, d, v), Some(paint));
    }
    more(page, found.len(), "drifts");
    for d in &cohort.soaks {
        for c in &d.common {
            let text = format!("{}, {}", drift::name(cohort, d), drift::together(cohort, d, c));
            page.item("  ", &text, c.drifts.then_some(Paint::Caution));
        }
    }
    for (beyond, text) in drift::errors(cohort) {
        page.item("  ", &text, beyond.then_some(Paint::Alarm));
    }
    if !cohort.soaks.is_empty() {
        page.item("  ", &drift::chance(cohort), Some(Paint::Soft));
    }
}

fn groups(page: &mut TextPage, cohort: &Cohort) {
    if cohort.groups.len() < 2 {
        return;
    }
    page.blank();
    page.line(&outline::groups_title(cohort), Some(Paint::Strong));
    let shown = outline::shown_comparisons(cohort);
    // Of two groups, the title names the one that is compared.
    let several = cohort.groups.len() > 2;
    let row = |c: &&GroupComparison| {
        let f = &cohort.figures[c.figure];
        let (low, high) = (tables::signed(c.interval.0), tables::signed(c.interval.1));
        let mark = if f.primary { "* " } else { "" };
        let cells = vec![
            match several {
                true => TableCell::text(outline::group_name(&cohort.groups[c.group])),
                false => TableCell::Empty,
            },
            TableCell::text(tables::answer(f, c.answer)),
            TableCell::number(tables::signed(c.difference)),
            TableCell::number(format!("{} .. {high}", low.trim_end_matches(" %"))),
            TableCell::number(tables::probability(c.adjusted)),
        ];
        let name = format!("{mark}{}", tables::name(cohort, f));
        Row::new(Heading::plain(name), cells)
    };
    let columns = Column::list([
        ("group", ""),
        ("result", ""),
        ("difference", ""),
        ("95 % interval", ""),
        ("p", ""),
    ]);
    let rows = shown.iter().take(MOST_LINES).map(row).collect();
    let caption = "* primary figure; p corrected".to_owned();
    let mut table = Table::of_drives(caption, columns, rows, Vec::new());
    table.corner = "figure".to_owned();
    page.table(&table.without_empty_columns());
    more(page, shown.len(), "comparisons");
    for text in words::groups(cohort) {
        page.item("  ", &text, Some(Paint::Soft));
    }
}

fn spread(page: &mut TextPage, cohort: &Cohort) {
    page.blank();
    let any_primary = cohort.figures.iter().any(|f| f.primary);
    let of_interest = |f: &&CohortFigure| !any_primary || f.primary;
    let shown: Vec<&CohortFigure> = cohort.figures.iter().filter(of_interest).collect();
    let shown = &shown[..shown.len().min(FEW_FIGURES)];
    let caption = "Spread between drives";
    page.table(&tables::figures(cohort, caption, shown.iter().copied()));
    let hidden = cohort.figures.len() - shown.len();
    if hidden > 0 {
        let text = format!("{hidden} more figures: with -o FILE and --json");
        page.item("  ", &text, Some(Paint::Soft));
    }
}
