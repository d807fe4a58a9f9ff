//! The figures of a drive among those of public drives ([`assay_analysis::rank`]).

use assay_analysis::rank::public::PublicTable;
use assay_analysis::rank::{InClass, RankedFigure, Ranking, rank};
use maud::{Markup, html};

use crate::drive_set::DriveSet;
use crate::format::{figure, plural};
use crate::html::elements;
use crate::table::{Column, Heading, Row, Table, TableCell};
use crate::terminal::Style;
use crate::terminal::text::TextPage;

/// Workloads that are named as not compared; others are counted.
const UNLIKE_SHOWN: usize = 8;

/// A table for each procedure; `drive` is empty where there is only one.
fn tables(drive: &str, ranking: &Ranking) -> Vec<Table> {
    let mut procedures: Vec<(&str, Vec<&RankedFigure>)> = Vec::new();
    for figure in &ranking.figures {
        let procedure = figure.procedure.as_str();
        match procedures.iter_mut().find(|(known, _)| *known == procedure) {
            Some((_, figures)) => figures.push(figure),
            None => procedures.push((procedure, vec![figure])),
        }
    }
    let drive = match drive.is_empty() {
        true => String::new(),
        false => format!("{drive}: "),
    };
    let table = |(procedure, figures): (&str, Vec<&RankedFigure>)| {
        let columns = Column::list([
            ("value", ""),
            ("rank", ""),
            ("in its class", ""),
            ("other units", ""),
            ("median", ""),
            ("last", ""),
            ("best", ""),
            ("the best is", ""),
        ]);
        let row = |of: &&RankedFigure| {
            let same = of.same_model.map(|[low, high]| match low == high {
                true => figure(low),
                false => format!("{} to {}", figure(low), figure(high)),
            });
            let cells = vec![
                TableCell::number(figure(of.value)),
                TableCell::text(format!("{} of {}", ordinal(of.rank), of.of)),
                of.class.as_ref().map_or(TableCell::Empty, class),
                same.map_or(TableCell::Empty, TableCell::text),
                TableCell::figure(of.median),
                TableCell::figure(of.last),
                TableCell::figure(of.best.value),
                TableCell::text(&of.best.model),
            ];
            Row::new(Heading::plain(format!("{}, {}", of.workload, metric(of))), cells)
        };
        let rows = figures.iter().map(row).collect();
        let table = Table {
            caption: format!("{drive}beside {procedure}"),
            corner: "figure".to_owned(),
            columns,
            rows,
            notes: figures
                .iter()
                .any(|of| of.same_model.is_some())
                .then(|| "Other units: of the same model.".to_owned())
                .into_iter()
                .collect(),
        };
        table.without_empty_columns()
    };
    procedures.into_iter().map(table).collect()
}

fn class(class: &InClass) -> TableCell {
    let InClass { link, rank, of } = class;
    TableCell::text(format!("{} of {of}, up to {link}", ordinal(*rank)))
}

/// With its unit.
fn metric(figure: &RankedFigure) -> String {
    match figure.metric.as_str() {
        "iops" => "IOPS".to_owned(),
        "bw" => "MiB/s".to_owned(),
        latency => format!("{latency} latency, \u{b5}s"),
    }
}

/// 1st, 2nd, 3rd, 11th, 21st.
fn ordinal(n: usize) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

/// What was not compared, a line for each reason and source.
fn unlike(ranking: &Ranking) -> Vec<String> {
    let shown = ranking.unlike.iter().take(UNLIKE_SHOWN);
    let line = |of: &assay_analysis::rank::Unlike| {
        format!("{}: {} ({})", of.workload, of.reason, of.repository)
    };
    let mut lines: Vec<String> = shown.map(line).collect();
    let more = ranking.unlike.len().saturating_sub(UNLIKE_SHOWN);
    if more > 0 {
        lines.push(format!("and {more} more (assay rank --json lists them)"));
    }
    lines
}

/// As lines of a terminal.
pub fn text(ranking: &Ranking, width: usize, style: Style) -> String {
    let mut page = TextPage::new(width, style);
    for table in tables("", ranking) {
        page.blank();
        page.table(&table);
    }
    if ranking.figures.is_empty() {
        page.line("no public figure is of a like procedure", None);
    }
    if !ranking.unlike.is_empty() {
        page.blank();
        page.line("not compared, since the procedure is another:", None);
        for line in unlike(ranking) {
            page.item("  ", &line, None);
        }
    }
    page.finish()
}

pub(crate) const TITLE: &str = "Among public drives";

/// A section, where a figure of any drive is of a like procedure.
pub(crate) fn section(id: &str, set: &DriveSet<'_>) -> Option<Markup> {
    let mut all: Vec<Table> = Vec::new();
    for drive in &set.drives {
        let name = match set.drives.len() {
            1 => String::new(),
            _ => drive.heading.to_string(),
        };
        for (run, index) in &drive.origins {
            all.extend(tables(&name, &rank(&set.runs[*run], *index, PublicTable::built_in())));
        }
    }
    let rows: usize = all.iter().map(|table| table.rows.len()).sum();
    let text = format!(
        "{} beside public measurements of other drives by a like procedure: the same operation, \
         block size, depth and threads, and an area of the same length. Others ran on other hosts. \
         assay rank names what is not compared.",
        plural(rows, "figure")
    );
    let content = html! {
        p.how { (text) }
        @for table in &all { (elements::table(table)) }
    };
    (rows > 0).then(|| elements::titled(id, TITLE, &content))
}

#[cfg(test)]
#[path = "../tests/unit/ranked.rs"]
mod tests;
