//! The fidelity page as Markdown.

use std::fmt::Write;

use assay_units::text::word_lines;

use super::{ABOUT, ErrorStatistics, FidelityPage, SAME};
use crate::format::figure;

/// Of lines of text.
const COLUMNS: usize = 130;

/// The page as Markdown.
pub fn markdown(page: &FidelityPage) -> String {
    let mut out = String::from("# Fidelity: simulated drives against published figures\n\n");
    out.push_str(
        "Written by `make fidelity`; do not edit. Published figures are those of \
         [`reference/`](../reference/README.md).\n\n",
    );
    for text in [ABOUT, SAME] {
        out.push_str(&word_lines(text, COLUMNS).join("\n"));
        out.push_str("\n\n");
    }
    summary(&mut out, page);
    for drive in &page.drives {
        let _ = writeln!(out, "\n## {}: {}\n", drive.name, drive.title);
        out.push_str(
            "| figure | published | simulated | error | | source |\n|---|--:|--:|--:|---|---|\n",
        );
        for f in &drive.figures {
            let _ = writeln!(
                out,
                "| {} | {} {} | {} | {} | {} | {} |",
                f.title,
                figure(f.published),
                f.unit,
                f.shown(),
                f.error_text(),
                f.predicted_text(),
                f.source,
            );
        }
    }
    misses(&mut out, page);
    if !page.limits.is_empty() {
        out.push_str("\n## Limitations of the model\n\n");
        for limit in &page.limits {
            let _ = writeln!(out, "- {limit}");
        }
    }
    out
}

fn summary(out: &mut String, page: &FidelityPage) {
    out.push_str(
        "## Summary\n\nErrors in percent; the goals are a median of 3 and a worst of 10 for \
         random reads, and 10 for each sequential read.\n\n| drive | random cells | median | \
         worst | sequential cells | worst | other figures met | predicted | median | worst \
         |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let number = |s: &ErrorStatistics, value: f64| match s.count {
        0 => "-".to_owned(),
        _ => format!("{value:.1}"),
    };
    for drive in &page.drives {
        let [random, sequential, other, predicted] = drive.summary();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} of {} | {} | {} | {} |",
            drive.name,
            random.count,
            number(&random, random.median),
            number(&random, random.worst),
            sequential.count,
            number(&sequential, sequential.worst),
            other.met,
            other.count,
            predicted.count,
            number(&predicted, predicted.median),
            number(&predicted, predicted.worst),
        );
    }
}

fn misses(out: &mut String, page: &FidelityPage) {
    out.push_str("\n## Figures that miss their goals\n\n");
    if page.misses().next().is_none() {
        out.push_str("None.\n");
        return;
    }
    out.push_str(
        "| drive | figure | published | simulated | error | goal | \
         |\n|---|---|--:|--:|--:|--:|---|\n",
    );
    for (drive, f) in page.misses() {
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
            f.predicted_text(),
        );
    }
}
