//! One self-contained HTML page for one or several runs.
//!
//! # Architecture
//! [`render`] arranges the cells of all runs in sections (`grid`), writes them with `maud` as their descriptors (`views`)
//! define, and embeds CSS, scripts and the charts' JSON. plotly's JavaScript (`library`) is embedded once, without the
//! MathJax of its crate: no chart contains a formula. The page's Content-Security-Policy forbids every request, so that
//! it cannot load anything whatever a drive's name contains.

mod appendix;
mod cards;
pub(crate) mod elements;
mod library;

use assay_store::model::RunEnd;
use assay_store::model::warning::code;
use assay_store::read::{CellRecord, CellState, Run};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::ReportError;
use crate::charts::{self, Chart};
use crate::drive_set::DriveSet;
use crate::format::{distinct, figure, plural, stamp, text_or};
use crate::grid::{self, Section};

/// One self-contained HTML page for one or several runs. It needs no network and no other file.
///
/// # Errors
/// When no run is given, or the charts cannot be embedded.
pub fn render(runs: &[Run]) -> Result<String, ReportError> {
    if runs.is_empty() {
        return Err(ReportError::NoRuns);
    }
    let set = DriveSet::new(runs);
    let sections = grid::sections(&set);
    let entry = |id: &str, title: &str| (id.to_owned(), title.to_owned());
    let mut contents = vec![entry("drives", "Drives")];
    let mut all_charts: Vec<Chart> = Vec::new();
    let mut body = vec![cards::cards(&set, &sections)];
    let suites = suites(&set);
    // Steps of several suites are grouped by suite, and the contents list the suites.
    let grouped = suites.len() > 1;
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by_key(|i| suites.iter().position(|s| s.0 == sections[*i].suite));
    let mut current = "";
    let mut explained = false;
    for i in order {
        let section = &sections[i];
        let id = format!("s{}", i + 1);
        if grouped && current != section.suite {
            current = section.suite;
            let known = suites.iter().find(|s| s.0 == current);
            let title = known.map_or(current, |s| s.1);
            let suite_id = format!("suite-{}", i + 1);
            body.push(html! {
                div.suite id=(suite_id) {
                    p.kicker { "Suite" } p.name { (title) }
                    ul {
                        @for (n, s) in sections.iter().enumerate().filter(|(_, s)| s.suite == current) {
                            li { a href={ "#s" (n + 1) } { (s.title) } }
                        }
                    }
                }
            });
            // A title up to its first colon or comma.
            let short = title.split([':', ',']).next().unwrap_or(title);
            contents.push(entry(&suite_id, short));
        }
        let charts = charts::of_section(section, &id);
        body.push(self::section(section, &charts, &id, &mut explained));
        if !grouped {
            contents.push(entry(&id, section.title));
        }
        all_charts.extend(charts);
    }
    let health = crate::tables::health::table(&set);
    body.push(appendix::appendix(&set, health.as_ref()));
    if health.is_some() {
        contents.push(entry("health", "Health"));
    }
    let last = [
        ("warnings", "Warnings"),
        ("environment", "Environment"),
        ("provenance", "Provenance"),
    ];
    contents.extend(last.map(|(id, title)| entry(id, title)));
    let title = title(&set);
    PageTemplate {
        title: &title,
        header: &header(&set, &title),
        contents: &contents,
        body: &html! { @for part in &body { (part) } },
        charts: &all_charts,
    }
    .page()
}

/// The parts of a page of any subject.
pub(crate) struct PageTemplate<'a> {
    /// Plain text.
    pub title: &'a str,
    /// Above the first section.
    pub header: &'a Markup,
    /// Ids and their titles, plain text.
    pub contents: &'a [(String, String)],
    /// The sections.
    pub body: &'a Markup,
    /// The charts of the body.
    pub charts: &'a [Chart],
}

impl PageTemplate<'_> {
    /// The page.
    ///
    /// # Errors
    /// When the charts cannot be embedded.
    pub fn page(&self) -> Result<String, ReportError> {
        // In JSON a `<` is always inside a string, where \u003c is equivalent: no name can end the script element.
        let charts = serde_json::to_string(self.charts)?.replace('<', "\\u003c");
        let library = library::library()?;
        let head = [include_str!("page/page.css"), include_str!("page/theme.js")].map(PreEscaped);
        let scripts = [
            include_str!("page/legend.js"),
            include_str!("page/dots.js"),
            include_str!("page/titles.js"),
            include_str!("page/page.js"),
        ]
        .map(PreEscaped);
        let policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    // No effect, but found at once: without it plotly searches the whole page for a base before every drawing.
                    base target="_self";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (sanitised(html! { (self.title) })) }
                    style { (head[0]) }
                    script { (head[1]) }
                }
                body {
                    a.skip href="#main" { "Skip to the results" }
                    nav.bar aria-label="Contents" {
                        ul { @for (id, title) in self.contents { li { a href={ "#" (id) } { (sanitised(html! { (title) })) } } } }
                        button type="button" id="theme" hidden { "theme: automatic" }
                    }
                    header {
                        (sanitised(self.header.clone()))
                        noscript {
                            p class="banner caution" { "Scripts are disabled: charts cannot be drawn. The tables contain every figure; open \u{201c}All figures\u{201d} in each section." }
                        }
                    }
                    main id="main" { (sanitised(self.body.clone())) }
                    footer { p { "Generated by assay. The page is self-contained and needs no network." } }
                    script type="application/json" id="charts" { (PreEscaped(&charts)) }
                    script { (PreEscaped(&library)) }
                    script { @for script in &scripts { (script) "\n" } }
                }
            }
        };
        Ok(page.into_string())
    }
}

/// Markup without control characters, which HTML does not allow.
fn sanitised(markup: Markup) -> Markup {
    let forbidden = |c: char| c.is_control() && c != '\n' && c != '\t';
    PreEscaped(markup.into_string().replace(forbidden, "\u{fffd}"))
}

/// A section; `explained`: percentile curves were explained in an earlier section.
fn section(section: &Section<'_>, charts: &[Chart], id: &str, explained: &mut bool) -> Markup {
    let view = section.descriptor();
    let mut titles = charts.iter().map(|c| &c.title);
    let curves = titles.any(|title| title.ends_with("latency percentiles"));
    let explain = curves && !*explained;
    *explained |= curves;
    let how = html! {
        ((view.how_to_read)(section))
        @if explain { " Percentile curves: at 99 %, the curve shows the latency that 99 of 100 operations do not exceed; every further nine has the same width. Lower and flatter is better; queueing begins where a curve turns up." }
    };
    let title = html! { (section.title) };
    let content = (view.html)(section, charts, id);
    elements::step(id, &title, &section.common(), &how, &content)
}

/// The suites of the runs: names and titles, in the order of their first occurrence.
fn suites<'a>(set: &DriveSet<'a>) -> Vec<(&'a str, &'a str)> {
    let mut suites: Vec<(&str, &str)> = Vec::new();
    for suite in set.runs.iter().map(|run| &run.manifest.suite) {
        if !suites.iter().any(|s| s.0 == suite.name) {
            suites.push((&suite.name, text_or(&suite.title, &suite.name)));
        }
    }
    suites
}

/// Largest number of suites that a title lists.
const MAX_LISTED: usize = 3;

fn title(set: &DriveSet<'_>) -> String {
    let mut titles: Vec<&str> = suites(set).into_iter().map(|s| s.1).collect();
    titles.dedup();
    match (titles.len(), set.drives.as_slice()) {
        (0..=MAX_LISTED, _) => titles.join(" and "),
        (n, [one]) => format!("{}: {n} suites", one.heading.text),
        (n, drives) => format!("{} drives, {n} suites", drives.len()),
    }
}

fn header(set: &DriveSet<'_>, title: &str) -> Markup {
    let summaries = set.runs.iter().map(|r| r.manifest.suite.summary.as_str());
    let summaries = distinct(summaries.filter(|summary| !summary.is_empty()));
    html! {
        h1 { (title) }
        p.lede {
            @for (i, drive) in set.drives.iter().enumerate() {
                @if i > 0 { span.vs aria-hidden="true" { " \u{b7} " } }
                (elements::drive_name(&drive.heading))
            }
        }
        dl.facts {
            @for (i, run) in set.runs.iter().enumerate() {
                @let m = &run.manifest;
                div {
                    dt { @if set.runs.len() > 1 { "Run " (i + 1) } @else { "Measured" } }
                    dd {
                        (stamp(&m.created)) " on " (m.host.cpu_model) ", " (m.tool.name) " " (m.tool.version)
                        " (commit " (m.tool.commit.chars().take(12).collect::<String>()) ")"
                    }
                }
            }
        }
        @for summary in summaries { p.summary { (summary) } }
        @for (class, text) in banners(set) { p class={ "banner " (class) } role="note" { (text) } }
    }
}

/// Limitations that apply to the figures, with their CSS class.
fn banners(set: &DriveSet<'_>) -> Vec<(&'static str, Markup)> {
    let mut banners = Vec::new();
    if set.any_simulated() {
        let which = if set.all_simulated() {
            "Every drive figure on this page is simulated."
        } else {
            "Some figures on this page are simulated."
        };
        banners.push(("simulated", html! {
            strong { (which) }
            " They are results of a drive model in virtual time, and are marked as simulated throughout."
        }));
    }
    for (i, run) in set.runs.iter().enumerate() {
        let several = set.runs.len() > 1;
        let which = several.then(|| format!("Run {}: ", i + 1));
        banners.extend(run_banners(run, &which.unwrap_or_default()));
    }
    let warnings: usize = set.runs.iter().map(|r| r.warnings.len()).sum();
    if warnings > 0 {
        banners.push((
            "caution",
            html! {
                strong { (plural(warnings, "warning")) } " about these results, with advice: "
                a href="#warnings" { "see Warnings" } "."
            },
        ));
    }
    banners
}

fn run_banners(run: &Run, which: &str) -> Vec<(&'static str, Markup)> {
    let mut banners = Vec::new();
    let scale = run.manifest.scale;
    if (scale - 1.0).abs() > f64::EPSILON {
        let durations = match which {
            "" => "Durations",
            _ => "durations",
        };
        banners.push(("caution", html! {
            strong { (which) (durations) " multiplied by " (figure(scale)) }
            " (" code { "--scale " (scale) } "): this is not the procedure as published. "
            @if scale < 1.0 { "Thermal effects, full caches and steady state may not have been reached." }
            @else { "It ran for longer than published." }
        }));
    }
    let finished = |c: &&CellRecord| matches!(c.state, CellState::Finished | CellState::Skipped(_));
    let reason = match run.outcome {
        Some(RunEnd::Complete) => None,
        Some(RunEnd::Interrupted) if run.warnings.iter().any(|w| w.code == code::DRIVE_LOST) => {
            Some(html! { strong { (which) "Interrupted: a drive was lost." } })
        }
        Some(RunEnd::Interrupted) => Some(html! { strong { (which) "Interrupted by its user." } }),
        None => Some(
            html! { strong { (which) "Unfinished:" } " the run was killed or is still in progress." },
        ),
    };
    if let Some(reason) = reason {
        banners.push(("caution", html! {
            (reason) " " (run.cells.iter().filter(finished).count()) " of " (run.cells.len())
            " cells are complete or were skipped with a reason; available results are shown, and "
            code { "assay run --resume" } " continues."
        }));
    }
    let cells = run.cells.iter();
    let failed = cells
        .filter(|c| matches!(c.state, CellState::Failed(_)))
        .count();
    if failed > 0 {
        banners.push((
            "alarm",
            html! {
                strong { (which) (plural(failed, "cell")) " failed." }
                " The sections below state the reasons."
            },
        ));
    }
    let damaged = run.damaged_lines.len();
    if damaged > 0 {
        banners.push((
            "alarm",
            html! {
                strong { (which) (plural(damaged, "damaged line")) " of the journal left out" }
                "; listed in " a href="#provenance" { "Provenance" } "."
            },
        ));
    }
    banners
}

#[cfg(test)]
#[path = "../tests/unit/html.rs"]
mod tests;
