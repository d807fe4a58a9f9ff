//! One self-contained HTML page for one or several runs.
//!
//! # Architecture
//! [`render`] lays the cells of all runs out as sections (`grid`), writes tables and charts as HTML and JSON, and
//! puts them into `page/page.html` together with `page/page.css`, the scripts beside them and plotly's JavaScript
//! (`library`), which is embedded once. MathJax, which its crate would embed with it, is left out: no chart has a formula. A
//! Content-Security-Policy in the page forbids every request, so that the page cannot load anything even if a drive's name tried to
//! make it.

mod appendix;
mod cards;
mod library;
mod section;
mod views;
mod words;
pub(crate) mod write;

use assay_store::model::Outcome;
use assay_store::model::warning::code;
use assay_store::read::{CellState, Run};

use crate::ReportError;
use crate::charts::{self, Chart};
use crate::format::{escape, figure, stamp};
use crate::grid;
use crate::lineup::Lineup;

/// One self-contained HTML page for one or several runs. It needs no network and no other file.
///
/// # Errors
/// When no run is given, or the charts cannot be embedded.
pub fn render(runs: &[Run]) -> Result<String, ReportError> {
    if runs.is_empty() {
        return Err(ReportError::NoRuns);
    }
    let lineup = Lineup::new(runs);
    let sections = grid::sections(&lineup);
    let mut body = String::new();
    let mut contents = vec![("drives".to_owned(), "Drives".to_owned())];
    let mut all_charts: Vec<Chart> = Vec::new();
    let mut explained = false;
    body.push_str(&cards::cards(&lineup, &sections));
    let suites = suites(&lineup);
    // Steps of several suites stand together by suite, and the contents name the suites.
    let grouped = suites.len() > 1;
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by_key(|i| suites.iter().position(|s| s.0 == sections[*i].suite));
    let mut current = "";
    for i in order {
        let s = &sections[i];
        let id = format!("s{}", i + 1);
        if grouped && current != s.suite {
            current = s.suite;
            let title = suites
                .iter()
                .find(|x| x.0 == current)
                .map_or(current, |x| x.1);
            let suite_id = format!("suite-{}", i + 1);
            let own = sections
                .iter()
                .enumerate()
                .filter(|(_, x)| x.suite == current);
            let links: Vec<String> = own
                .map(|(n, x)| format!("<li><a href=\"#s{}\">{}</a></li>", n + 1, escape(x.title)))
                .collect();
            body.push_str(&format!(
                "<div class=\"suite\" id=\"{suite_id}\"><p class=\"kicker\">Suite</p>\n<p class=\"name\">{}</p>\n<ul>{}</ul></div>\n",
                escape(title),
                links.join("")
            ));
            contents.push((suite_id, short(title).to_owned()));
        }
        let charts = charts::of_section(&lineup, s, &sections, &id)?;
        body.push_str(&section::section(
            &lineup,
            s,
            &sections,
            &charts,
            &id,
            &mut explained,
        ));
        if !grouped {
            contents.push((id, s.title.to_owned()));
        }
        all_charts.extend(charts);
    }
    let health = crate::tables::health::table(&lineup);
    body.push_str(&appendix::appendix(&lineup, health.as_ref()));
    if health.is_some() {
        contents.push(("health".to_owned(), "Health".to_owned()));
    }
    contents.push(("warnings".to_owned(), "Warnings".to_owned()));
    contents.push(("environment".to_owned(), "Environment".to_owned()));
    contents.push(("provenance".to_owned(), "Provenance".to_owned()));

    let title = title(&lineup);
    Shell {
        title: &title,
        header: &header(&lineup, &title),
        contents: &contents,
        body: &body,
        charts: &all_charts,
    }
    .page()
}

/// What a page is made of, whatever it is about.
pub(crate) struct Shell<'a> {
    /// Plain text.
    pub title: &'a str,
    /// HTML.
    pub header: &'a str,
    /// Ids and their titles, plain text.
    pub contents: &'a [(String, String)],
    /// HTML.
    pub body: &'a str,
    /// The charts whose places are in the body.
    pub charts: &'a [Chart],
}

impl Shell<'_> {
    /// The page.
    ///
    /// # Errors
    /// When the charts cannot be embedded.
    pub fn page(&self) -> Result<String, ReportError> {
        let contents: Vec<String> = self
            .contents
            .iter()
            .map(|(id, text)| format!("<li><a href=\"#{id}\">{}</a></li>", escape(text)))
            .collect();
        let data = serde_json::to_string(self.charts)?;
        Ok(fill(
            include_str!("page/page.html"),
            &[
                ("title", &escape(self.title)),
                ("style", include_str!("page/page.css")),
                ("theme", include_str!("page/theme.js")),
                ("header", self.header),
                ("contents", &contents.join("\n")),
                ("body", self.body),
                // In JSON a `<` can only be inside a string, where \u003c means the same: no drive can end the element.
                ("charts", &data.replace('<', "\\u003c")),
                ("library", library::library()?.as_str()),
                ("legend", include_str!("page/legend.js")),
                ("dots", include_str!("page/dots.js")),
                ("titles", include_str!("page/titles.js")),
                ("script", include_str!("page/page.js")),
            ],
        ))
    }
}

/// Put values into `{{name}}` places of a template. Values are not searched for places.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let size = values.iter().map(|v| v.1.len()).sum::<usize>();
    let mut out = String::with_capacity(template.len() + size);
    let mut rest = template;
    while let Some(start) = rest.find("{{") {
        let Some(length) = rest[start..].find("}}") else {
            break;
        };
        out.push_str(&rest[..start]);
        let place = &rest[start + 2..start + length];
        let value = values.iter().find(|v| v.0 == place);
        out.push_str(value.map_or("", |v| v.1));
        rest = &rest[start + length + 2..];
    }
    out.push_str(rest);
    out
}

/// The suites of the runs: names and titles, in the order they first occur.
fn suites<'a>(lineup: &Lineup<'a>) -> Vec<(&'a str, &'a str)> {
    let mut suites: Vec<(&str, &str)> = Vec::new();
    for run in lineup.runs {
        let suite = &run.manifest.suite;
        let title = if suite.title.is_empty() {
            suite.name.as_str()
        } else {
            suite.title.as_str()
        };
        if !suites.iter().any(|s| s.0 == suite.name) {
            suites.push((&suite.name, title));
        }
    }
    suites
}

/// A title up to its first colon or comma.
fn short(title: &str) -> &str {
    title.split([':', ',']).next().unwrap_or(title)
}

/// Most suites that a title names; of more it gives the number.
const MOST_NAMED: usize = 3;

fn title(lineup: &Lineup<'_>) -> String {
    let mut titles: Vec<&str> = suites(lineup).into_iter().map(|s| s.1).collect();
    titles.dedup();
    if titles.len() > MOST_NAMED {
        return match lineup.drives.as_slice() {
            [one] => format!("{}: {} suites", one.name, titles.len()),
            drives => format!("{} drives, {} suites", drives.len(), titles.len()),
        };
    }
    titles.join(" and ")
}

fn header(lineup: &Lineup<'_>, title: &str) -> String {
    let mut out = String::new();
    let drives: Vec<String> = lineup
        .drives
        .iter()
        .map(|d| write::drive_name(&d.name, d.info.simulated))
        .collect();
    out.push_str(&format!(
        "<h1>{}</h1>\n<p class=\"lede\">{}</p>\n",
        escape(title),
        drives.join("<span class=\"vs\" aria-hidden=\"true\"> \u{b7} </span>")
    ));
    let mut summaries: Vec<&str> = Vec::new();
    out.push_str("<dl class=\"facts\">\n");
    for (i, run) in lineup.runs.iter().enumerate() {
        let m = &run.manifest;
        let label = if lineup.runs.len() > 1 {
            format!("Run {}", i + 1)
        } else {
            "Measured".to_owned()
        };
        out.push_str(&format!(
            "<div><dt>{label}</dt><dd>{} on {}, {} {} (commit {})</dd></div>\n",
            escape(&stamp(&m.created)),
            escape(&m.host.cpu_model),
            escape(&m.tool.name),
            escape(&m.tool.version),
            escape(&m.tool.commit.chars().take(12).collect::<String>()),
        ));
        if !summaries.contains(&m.suite.summary.as_str()) && !m.suite.summary.is_empty() {
            summaries.push(&m.suite.summary);
        }
    }
    out.push_str("</dl>\n");
    for summary in summaries {
        out.push_str(&format!("<p class=\"summary\">{}</p>\n", escape(summary)));
    }
    for (class, text) in banners(lineup) {
        out.push_str(&format!(
            "<p class=\"banner {class}\" role=\"note\">{text}</p>\n"
        ));
    }
    out
}

/// What a reader must know before any figure: (class, HTML).
fn banners(lineup: &Lineup<'_>) -> Vec<(&'static str, String)> {
    let mut banners = Vec::new();
    let marked = "They come from a model of a drive, in virtual time, and are marked with that word wherever they stand.";
    if lineup.all_simulated() {
        banners.push((
            "simulated",
            format!("<strong>Every drive figure on this page is simulated.</strong> {marked}"),
        ));
    } else if lineup.any_simulated() {
        banners.push((
            "simulated",
            format!("<strong>Some figures on this page are simulated.</strong> {marked}"),
        ));
    }
    for (i, run) in lineup.runs.iter().enumerate() {
        let which = if lineup.runs.len() > 1 {
            format!("Run {}: ", i + 1)
        } else {
            String::new()
        };
        let scale = run.manifest.scale;
        if (scale - 1.0).abs() > f64::EPSILON {
            let durations = if which.is_empty() {
                "Durations"
            } else {
                "durations"
            };
            let consequence = if scale < 1.0 {
                "Heat, caches and steady states may not have had the time to show."
            } else {
                "It was run for longer than published."
            };
            banners.push((
                "caution",
                format!(
                    "<strong>{which}{durations} multiplied by {}</strong> (<code>--scale {}</code>): this is not the procedure as published. {consequence}",
                    figure(scale),
                    escape(&scale.to_string()),
                ),
            ));
        }
        let finished = |c: &&assay_store::read::CellRecord| {
            matches!(c.state, CellState::Finished | CellState::Skipped(_))
        };
        let done = format!(
            "{} of {} cells are done or were skipped with a reason; what was measured is shown, and <code>assay run --resume</code> continues.",
            run.cells.iter().filter(finished).count(),
            run.cells.len()
        );
        match run.outcome {
            Some(Outcome::Complete) => {}
            Some(Outcome::Interrupted) => {
                let lost = run.warnings.iter().any(|w| w.code == code::DRIVE_LOST);
                let by = if lost {
                    "Interrupted, because a drive was gone."
                } else {
                    "Interrupted by its user."
                };
                banners.push(("caution", format!("<strong>{which}{by}</strong> {done}")));
            }
            None => banners.push((
                "caution",
                format!(
                    "<strong>{which}Unfinished:</strong> the run was killed or is still running. {done}"
                ),
            )),
        }
        let failed = run
            .cells
            .iter()
            .filter(|c| matches!(c.state, CellState::Failed(_)))
            .count();
        if failed > 0 {
            let noun = if failed == 1 { "cell" } else { "cells" };
            banners.push((
                "alarm",
                format!(
                    "<strong>{which}{failed} {noun} failed.</strong> The sections below say why."
                ),
            ));
        }
        if !run.damaged_lines.is_empty() {
            banners.push((
                "alarm",
                format!(
                    "<strong>{which}{} damaged {} of the journal left out</strong>; <a href=\"#provenance\">provenance</a> lists them.",
                    run.damaged_lines.len(),
                    if run.damaged_lines.len() == 1 { "line" } else { "lines" },
                ),
            ));
        }
    }
    let warnings: usize = lineup.runs.iter().map(|r| r.warnings.len()).sum();
    if warnings > 0 {
        banners.push((
            "caution",
            format!(
                "<strong>{warnings} {}</strong> about these results, with what to do about {}: <a href=\"#warnings\">read {}</a>.",
                if warnings == 1 { "warning" } else { "warnings" },
                if warnings == 1 { "it" } else { "them" },
                if warnings == 1 { "it" } else { "them" },
            ),
        ));
    }
    banners
}

#[cfg(test)]
#[path = "../tests/unit/html.rs"]
mod tests;
