//! The sections of the review lab's suites: what each concludes first, then the charts that show it, then every figure.

use assay_store::model::{CellKind, View};

use super::section::{details, details_noted, measured, push_charts};
use super::write;
use crate::charts::Chart;
use crate::format::escape;
use crate::grid::Section;
use crate::lineup::Lineup;
use crate::tables::{
    capacity, consistency, knee, load, phases, power, published, remarks, rounds, saturation,
    stream, thermal,
};

/// What stands below a section's heading and its words on how to read it.
pub fn section(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    charts: &[Chart],
    id: &str,
    out: &mut String,
) {
    match section.view {
        Some(View::Consistency) => {
            out.push_str(&write::table(&consistency::table(lineup, section)));
            followed(charts, id, "Over-provisioning shown", out);
            causes(lineup, section, out);
            details(lineup, section, out);
        }
        Some(View::Knee) => {
            let knees = knee::table(lineup, section);
            if knees.is_empty() {
                measured(lineup, section, charts, id, out);
                return;
            }
            out.push_str(&write::table(&knees));
            push_charts(charts, out);
            if let Some(table) = power::table(lineup, section) {
                folded("Power at every depth", &write::table(&table), out);
            }
            details(lineup, section, out);
        }
        Some(View::Load) => {
            let table = load::table(lineup, section);
            out.push_str(&write::table(&table));
            if table.is_empty() {
                // Nothing to show, but why.
                out.push_str(&write::notes(&remarks(lineup, &section.points)));
            }
            followed(charts, id, "Latency shown", out);
            details(lineup, section, out);
        }
        Some(View::Rounds) => self::rounds(lineup, section, charts, id, out),
        Some(View::Saturation) => {
            out.push_str(&write::table(&saturation::table(lineup, section)));
            followed(charts, id, "Shown against", out);
            causes(lineup, section, out);
            details(lineup, section, out);
        }
        Some(View::Thermal) if section.kind == CellKind::Idle => {
            out.push_str(&write::table(&power::idle(lineup, section)));
            push_charts(charts, out);
        }
        Some(View::Thermal) => {
            out.push_str(&write::table(&thermal::table(lineup, section)));
            push_charts(charts, out);
            causes(lineup, section, out);
            details(lineup, section, out);
        }
        Some(View::Capacity) => {
            for alarm in capacity::alarms(lineup, section) {
                out.push_str(&format!(
                    "<p class=\"banner alarm loud\" role=\"alert\">{}</p>\n",
                    escape(&alarm)
                ));
            }
            out.push_str(&write::table(&capacity::table(lineup, section)));
            push_charts(charts, out);
            details(lineup, section, out);
        }
        Some(View::Peak | View::Continuous) => streams(lineup, section, charts, out),
        None => {}
    }
}

fn streams(lineup: &Lineup<'_>, section: &Section<'_>, charts: &[Chart], out: &mut String) {
    for alarm in capacity::alarms(lineup, section) {
        out.push_str(&format!(
            "<p class=\"banner alarm loud\" role=\"alert\">{}</p>\n",
            escape(&alarm)
        ));
    }
    let table = stream::table(lineup, section);
    out.push_str(&write::table(&table));
    if table.is_empty() {
        out.push_str(&write::notes(&table.notes));
    }
    push_charts(charts, out);
    let lengths = stream::lengths(lineup, section);
    if !lengths.is_empty() {
        out.push_str(&write::table(&lengths));
    }
    for table in published::tables(lineup, section) {
        out.push_str(&write::table(&table));
    }
    causes(lineup, section, out);
    details(lineup, section, out);
}

fn rounds(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    charts: &[Chart],
    id: &str,
    out: &mut String,
) {
    let drives = rounds::of_section(lineup, section);
    for drive in drives.iter().filter(|d| d.achieved() == Some(false)) {
        let why: Vec<&str> = drive
            .steady
            .iter()
            .filter_map(|s| s.why.as_deref())
            .collect();
        out.push_str(&format!(
            "<p class=\"banner alarm loud\" role=\"alert\"><strong>{}: {} in {} rounds.</strong> {}</p>\n",
            escape(&lineup.drives[drive.drive].full_name()),
            rounds::NOT_ACHIEVED,
            drive.done,
            escape(&why.join("; "))
        ));
    }
    out.push_str(&write::table(&rounds::judgement(lineup, section)));
    let figures = rounds::figures(lineup, section);
    let labels: Vec<&str> = figures.iter().map(|f| f.label).collect();
    if !drives.is_empty() {
        out.push_str(&write::switch(id, "Figure shown in the tables", &labels, 0));
    }
    for (i, figure) in figures.iter().enumerate() {
        out.push_str(&format!(
            "<div class=\"matrices\" data-metric=\"{i}\"{}>\n",
            if i == 0 { "" } else { " hidden" }
        ));
        for drive in &drives {
            out.push_str("<div>");
            out.push_str(&write::table(&rounds::matrix(
                lineup, section, drive, figure,
            )));
            out.push_str("</div>\n");
        }
        out.push_str("</div>\n");
    }
    out.push_str("<div class=\"pair\">\n");
    push_charts(charts, out);
    out.push_str("</div>\n");
    out.push_str(&write::notes(&rounds::left_out(lineup, section)));
    // The last round stands for its window: all of them would be thousands of rows.
    let mut last = section.clone();
    last.points.retain(|p| {
        let round = p.plan().round.as_ref().map_or(0, |r| r.number);
        drives
            .iter()
            .any(|d| d.drive == p.drive && d.window.1 == round)
    });
    let note = "of one round, the last of those that count; their means are in the tables above";
    details_noted(lineup, &last, Some(note), out);
}

/// A switch, and the charts that follow it.
fn followed(charts: &[Chart], id: &str, legend: &str, out: &mut String) {
    let Some(first) = charts.first() else { return };
    let several = first.views.len() > 1;
    // Labels of views are escaped already.
    let labels: Vec<String> = first.views.iter().map(|v| unescaped(&v.label)).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    out.push_str(&write::switch(id, legend, &labels, first.first));
    for chart in charts {
        out.push_str(&write::chart(chart, several));
    }
}

fn unescaped(label: &str) -> String {
    label
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

fn causes(lineup: &Lineup<'_>, section: &Section<'_>, out: &mut String) {
    let table = phases::table(lineup, section);
    if !table.is_empty() {
        folded(
            "What set the rate, and what shows it",
            &write::table(&table),
            out,
        );
    }
}

fn folded(summary: &str, html: &str, out: &mut String) {
    out.push_str(&format!(
        "<details><summary>{}</summary>\n{html}</details>\n",
        escape(summary)
    ));
}
