//! One section: what was done, how to read it, tables, charts, all figures.

use assay_store::model::CellKind;

use super::{views, words, write};
use crate::charts::Chart;
use crate::format::escape;
use crate::grid::Section;
use crate::lineup::Lineup;
use crate::tables::{aboard, figures, inspect, matrix, power, published, soak};

/// A section as HTML; `id` is unique on the page. `explained`: percentile curves were explained further up.
pub fn section(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    all: &[Section<'_>],
    charts: &[Chart],
    id: &str,
    explained: &mut bool,
) -> String {
    // Percentile curves are explained where the first one stands.
    let curves = charts
        .iter()
        .any(|c| c.title.ends_with("latency percentiles"));
    let explain = curves && !*explained;
    *explained |= curves;
    let mut out = format!(
        "<section class=\"step\" id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{}</h2>\n<p class=\"workload\">{}</p>\n<p class=\"how\">{}{}</p>\n",
        escape(section.title),
        escape(&section.common()),
        words::how_to_read(section),
        if explain {
            format!(" {}", words::PERCENTILES)
        } else {
            String::new()
        }
    );
    if section.view.is_some() {
        views::section(lineup, section, charts, id, &mut out);
        out.push_str("</section>\n");
        return out;
    }
    match section.kind {
        CellKind::Measure | CellKind::Prepare | CellKind::Purge => {
            measured(lineup, section, charts, id, &mut out);
        }
        CellKind::Idle => {
            out.push_str(&write::table(&power::idle(lineup, section)));
            push_charts(charts, &mut out);
        }
        CellKind::Soak => {
            out.push_str(&write::table(&soak::table(lineup, section)));
            push_charts(charts, &mut out);
            details(lineup, section, &mut out);
        }
        CellKind::AllAboard => {
            for (i, crowd) in aboard::crowds(section, all).iter().enumerate() {
                let table = aboard::alone_and_together(lineup, section);
                if let Some(table) = table.get(i) {
                    out.push_str(&write::table(table));
                }
                if let Some(chart) = charts.get(i) {
                    push_charts(std::slice::from_ref(chart), &mut out);
                }
                let iostat = aboard::iostat(lineup, section, crowd);
                if !iostat.is_empty() {
                    out.push_str(
                        "<details><summary>Second by second</summary>\n<div class=\"tall\">",
                    );
                    out.push_str(&write::table(&iostat));
                    out.push_str("</div></details>\n");
                }
            }
            details(lineup, section, &mut out);
        }
        CellKind::Inspect => {
            out.push_str(&write::table(&inspect::table(
                lineup,
                &section.points,
                section.title,
            )));
        }
    }
    out.push_str("</section>\n");
    out
}

pub(super) fn measured(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    charts: &[Chart],
    id: &str,
    out: &mut String,
) {
    let sweep = charts.iter().position(|c| c.switch == "figure");
    let metrics = section.metrics();
    let tables: Vec<_> = metrics
        .iter()
        .filter_map(|m| matrix::table(lineup, section, *m))
        .collect();
    if sweep.is_some() || !tables.is_empty() {
        let labels: Vec<&str> = metrics.iter().map(|m| m.label()).collect();
        out.push_str(&write::switch(
            id,
            "Figure shown in table and chart",
            &labels,
            0,
        ));
    }
    out.push_str("<div class=\"beside\">\n<div>");
    for (i, table) in tables.iter().enumerate() {
        out.push_str(&format!(
            "<div data-metric=\"{i}\"{}>\n{}</div>\n",
            if i == 0 { "" } else { " hidden" },
            write::table(table)
        ));
    }
    if tables.is_empty() {
        out.push_str(&write::table(&figures::table(lineup, section, false)));
    }
    out.push_str("</div>\n");
    if let Some(sweep) = sweep {
        out.push_str(&write::chart(&charts[sweep], true));
    }
    out.push_str("</div>\n<div class=\"pair\">\n");
    for (i, chart) in charts.iter().enumerate() {
        if sweep != Some(i) {
            out.push_str(&write::chart(chart, false));
        }
    }
    out.push_str("</div>\n");
    let mut published = published::tables(lineup, section);
    published.extend(published::latencies(lineup, section));
    if !published.is_empty() {
        // One below the other: side by side they would be too narrow for the errors, which are the point.
        out.push_str("<h3>Published and simulated</h3>\n");
        for table in &published {
            out.push_str(&write::table(table));
        }
    }
    if let Some(table) = power::table(lineup, section) {
        out.push_str("<details><summary>Power and what is done with it</summary>\n");
        out.push_str(&write::table(&table));
        out.push_str("</details>\n");
    }
    details(lineup, section, out);
}

pub(super) fn push_charts(charts: &[Chart], out: &mut String) {
    for chart in charts {
        out.push_str(&write::chart(chart, false));
    }
}

/// Every figure, folded away.
pub(super) fn details(lineup: &Lineup<'_>, section: &Section<'_>, out: &mut String) {
    details_noted(lineup, section, None, out);
}

/// The same, with what must be known of the figures.
pub(super) fn details_noted(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    note: Option<&str>,
    out: &mut String,
) {
    if section.points.iter().all(|p| p.result().is_none()) {
        return;
    }
    out.push_str(
        "<details><summary>All figures: percentiles, errors, host</summary>\n<div class=\"tall\">",
    );
    let mut table = figures::table(lineup, section, true);
    table.notes.splice(0..0, note.map(str::to_owned));
    out.push_str(&write::table(&table));
    out.push_str("</div>");
    let mut options: Vec<(String, String)> = Vec::new();
    for point in &section.points {
        let workload = &point.plan().workload;
        if workload.options.is_empty() {
            continue;
        }
        let entry = (point.plan().id.clone(), workload.options.clone());
        if !options.contains(&entry) {
            options.push(entry);
        }
    }
    if !options.is_empty() {
        out.push_str("<details><summary>Repeat a cell with <code>assay job</code></summary>\n<ul class=\"options\">");
        for (id, text) in options {
            out.push_str(&format!(
                "<li>{}<br><code>{}</code></li>",
                escape(&id),
                escape(&text)
            ));
        }
        out.push_str("</ul></details>\n");
    }
    out.push_str("</details>\n");
}
