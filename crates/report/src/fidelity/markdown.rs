//! The page as Markdown.

use std::fmt::Write;

use super::{ABOUT, Drive, Figure, Kind, Page, SAME};
use crate::format::figure;

/// The page as Markdown, lines of text within 150 columns.
pub fn markdown(page: &Page) -> String {
    let mut out = String::from("# Fidelity: simulated drives against published figures\n\n");
    out.push_str("Written by `make fidelity`; do not edit. Published figures are those of [`reference/`](../reference/README.md).\n\n");
    for text in [ABOUT, SAME] {
        wrapped(&mut out, text);
        out.push('\n');
    }
    summary(&mut out, page);
    for drive in &page.drives {
        section(&mut out, drive);
    }
    misses(&mut out, page);
    if !page.limits.is_empty() {
        out.push_str("\n## What the model does not have\n\n");
        for limit in &page.limits {
            let _ = writeln!(out, "- {limit}");
        }
    }
    out
}

fn wrapped(out: &mut String, text: &str) {
    let mut column = 0;
    for word in text.split(' ') {
        if column > 0 && column + 1 + word.len() > 130 {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += word.len();
    }
    out.push('\n');
}

fn summary(out: &mut String, page: &Page) {
    out.push_str(
        "## Summary\n\nErrors in per cent; the goals are a median of 3 and a worst of 10 for random reads, and 10 for each sequential read.\n\n",
    );
    out.push_str("| drive | random cells | median | worst | sequential cells | worst | other figures met | predicted | median | worst |\n");
    out.push_str("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for drive in &page.drives {
        let random = drive.sum(|f| f.kind == Kind::RandomRead);
        let sequential = drive.sum(|f| f.kind == Kind::SequentialRead);
        let other = drive.sum(|f| f.kind > Kind::SequentialRead);
        let predicted = drive.sum(|f| f.predicted);
        let number = |count: usize, value: f64| {
            if count > 0 {
                format!("{value:.1}")
            } else {
                "-".to_owned()
            }
        };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} of {} | {} | {} | {} |",
            drive.name,
            random.count,
            number(random.count, random.median),
            number(random.count, random.worst),
            sequential.count,
            number(sequential.count, sequential.worst),
            other.met,
            other.count,
            predicted.count,
            number(predicted.count, predicted.median),
            number(predicted.count, predicted.worst),
        );
    }
}

fn row(out: &mut String, f: &Figure) {
    let _ = writeln!(
        out,
        "| {} | {} {} | {} | {} | {} | {} |",
        f.title,
        figure(f.published),
        f.unit,
        f.shown(),
        f.error_text(),
        if f.predicted { "predicted" } else { "" },
        f.source,
    );
}

fn section(out: &mut String, drive: &Drive) {
    let _ = writeln!(out, "\n## {}: {}\n", drive.name, drive.title);
    out.push_str(
        "| figure | published | simulated | error | | source |\n|---|--:|--:|--:|---|---|\n",
    );
    for figure in &drive.figures {
        row(out, figure);
    }
}

fn misses(out: &mut String, page: &Page) {
    out.push_str("\n## What misses\n\nFigures further off than their goal.\n\n");
    let mut any = false;
    for drive in &page.drives {
        for f in drive.figures.iter().filter(|f| !f.met) {
            if !any {
                out.push_str("| drive | figure | published | simulated | error | goal | |\n|---|---|--:|--:|--:|--:|---|\n");
                any = true;
            }
            let _ = writeln!(
                out,
                "| {} | {} | {} {} | {} | {} | {} {} | {} |",
                drive.name,
                f.title,
                figure(f.published),
                f.unit,
                f.shown(),
                f.error_text(),
                figure(f.goal),
                f.error_unit,
                if f.predicted { "predicted" } else { "" },
            );
        }
    }
    if !any {
        out.push_str("Nothing.\n");
    }
}
