//! One self-contained HTML page for one or several runs.
//!
//! # Architecture
//! [`render`] arranges the cells of all runs in sections (`grid`), writes them with `maud` as their
//! descriptors (`views`) define, and embeds CSS, scripts and the charts' JSON. The first screen is
//! the head (`header`), the scoreboard of each suite (`board`) and the two charts that the suite
//! names. Ids of sections and charts follow from suite, step and content, so that links to them
//! stay valid. plotly's JavaScript (`library`) is embedded once, compressed. The page's
//! Content-Security-Policy forbids every request, so that it cannot load anything whatever a
//! drive's name contains.

use assay_analysis::compare;
use assay_stats::compare::ComparisonSettings;
use assay_store::read::{CellState, Run};
use assay_units::text::is_unprintable;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::ReportError;
use crate::chart::{Chart, numbered};
use crate::drive_set::DriveSet;
use crate::format::{short_title, short_title_among, slug, text_or};
use crate::grid::{self, Section};
use crate::predicted::{self, PredictedMatrix};
use crate::ranked;
use crate::scoreboard::{self, Scoreboard};
use crate::terminal::answers;
use crate::views;

mod appendix;
pub(crate) mod board;
mod cards;
pub(crate) mod elements;
pub(crate) mod header;
mod library;
mod repeats;
mod standard;

/// One self-contained HTML page for one or several runs. It needs no network and no other file.
///
/// # Errors
/// When no run is given, or the charts cannot be embedded.
pub fn render(runs: &[Run]) -> Result<String, ReportError> {
    render_with(runs, &[])
}

/// [`render`], and what is predicted of the drives.
///
/// # Errors
/// As [`render`].
pub fn render_with(runs: &[Run], predicted: &[PredictedMatrix]) -> Result<String, ReportError> {
    if runs.is_empty() {
        return Err(ReportError::NoRuns);
    }
    let set = DriveSet::new(runs);
    // Sections of which every cell was skipped are only listed.
    let (left_out, sections): (Vec<_>, Vec<_>) =
        grid::sections(&set).into_iter().partition(is_skipped);
    let ids = section_ids(&sections);
    let titles = section_titles(&sections);
    let mut page = PageParts::default();
    let suites = suites(&set);
    // Steps of several suites are grouped by suite.
    page.grouped = suites.len() > 1;
    for (name, title) in &suites {
        page.add_suite(&set, &sections, &ids, &titles, name, title);
    }
    let PageParts { mut contents, mut body, charts, .. } = page;
    if let Some(compared) = compared(runs) {
        contents.push(Entry::new("compared", "Before and after"));
        body.push(compared);
    }
    if !predicted.is_empty() {
        let title = "Random reads that were not measured, predicted";
        contents.push(Entry::new("predicted", title));
        body.push(predicted::section("predicted", title, predicted));
    }
    if let Some(ranked) = ranked::section("ranked", &set) {
        contents.push(Entry::new("ranked", ranked::TITLE));
        body.push(ranked);
    }
    body.push(cards::cards(&set, &sections));
    contents.push(Entry::new("drives", "Drives"));
    let health = appendix::HealthTables::new(&set);
    body.push(appendix::appendix(&set, &health, &left_out));
    contents.extend(health.entries());
    let last =
        [("warnings", "Warnings"), ("environment", "Environment"), ("provenance", "Provenance")];
    contents.extend(last.map(|(id, title)| Entry::new(id, title)));
    let title = title(&set);
    PageTemplate {
        title: &title,
        header: &header::header(&set, &title),
        contents: &contents,
        body,
        charts,
    }
    .page()
}

/// The answers of `assay compare` for two runs with common workloads; nothing of others.
fn compared(runs: &[Run]) -> Option<Markup> {
    let [_, _] = runs else { return None };
    let all = compare::compare_runs(runs, ComparisonSettings::default());
    let [pair] = all.pairs.as_slice() else {
        return None;
    };
    let (text, tables) = answers::of_page(&all, pair)?;
    let content = html! {
        p.how { (text) }
        @for table in &tables { (elements::table(table)) }
    };
    Some(elements::titled("compared", "Before and after", &content))
}

/// What the suites contribute to a page.
#[derive(Default)]
struct PageParts {
    grouped: bool,
    /// Percentile curves were explained in an earlier section.
    explained: bool,
    contents: Vec<Entry>,
    body: Vec<Markup>,
    charts: Vec<Chart>,
}

impl PageParts {
    fn list(&mut self, id: &str, title: &str) {
        self.contents.push(Entry { sub: self.grouped, ..Entry::new(id, title) });
    }

    /// The scoreboard, the first charts, the report of a standard and the sections of a suite.
    fn add_suite(
        &mut self,
        set: &DriveSet<'_>,
        sections: &[Section<'_>],
        ids: &[String],
        titles: &[&str],
        name: &str,
        title: &str,
    ) {
        let suite_id = slug(name);
        if self.grouped {
            let id = format!("{suite_id}-suite");
            let heading = html! { div.suite id=(id) { p.kicker { "Suite" } p.name { (title) } } };
            self.body.push(heading);
            self.contents.push(Entry::new(&id, short_title(title)));
        }
        let scores = Scoreboard::new(set, sections, name);
        let id = format!("{suite_id}-scoreboard");
        if !scores.columns.is_empty() {
            let title = match scores.rows.len() {
                0 | 1 => "Key figures",
                _ => "Scoreboard",
            };
            let board = board::board(set, &scores, &id, title, ids);
            self.body.push(board);
            self.list(&id, title);
        }
        let own: Vec<usize> = (0..sections.len()).filter(|i| sections[*i].suite == name).collect();
        let linked: Vec<(&str, &str)> = own.iter().map(|&i| (ids[i].as_str(), titles[i])).collect();
        let id = format!("{suite_id}-standard");
        let mut parts = Vec::from_iter(standard::reports(set, name, &id, &linked));
        if !parts.is_empty() {
            self.list(&id, "Report of the standard");
        }
        let mut charts: Vec<Chart> = Vec::new();
        let mut repeated: Vec<Chart> = Vec::new();
        for i in own {
            let (section, id) = (&sections[i], &ids[i]);
            let mut drawn = views::charts(section, id);
            if let Some(by_run) = repeats::chart(section) {
                drawn = numbered([vec![by_run], drawn].concat(), id);
                repeated.push(drawn[0].clone());
            }
            let explained = &mut self.explained;
            parts.push(self::section(section, &drawn, id, titles[i], explained));
            self.list(id, titles[i]);
            charts.append(&mut drawn);
        }
        let declared = scoreboard::declared(set, name).first_charts;
        let first = match repeated.as_slice() {
            [] => first_charts(&charts, &declared, &suite_id),
            repeated => first_charts(repeated, &[], &suite_id),
        };
        self.body.push(elements::first_charts(&first));
        self.body.append(&mut parts);
        self.charts.extend(first);
        self.charts.append(&mut charts);
    }
}

/// True when a suite skipped every cell of the section, or its runs have none.
fn is_skipped(section: &Section<'_>) -> bool {
    let mut states = section.points.iter().map(|p| &p.cell.state);
    states.all(|state| matches!(state, CellState::Skipped(_)))
}

/// An id for each section, from suite and step; a number follows where several would be equal.
fn section_ids(sections: &[Section<'_>]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for section in sections {
        let id = format!("{}-{}", slug(section.suite), slug(section.step));
        let taken = ids.iter().filter(|other| **other == id).count();
        ids.push(if taken == 0 { id } else { format!("{id}-{}", taken + 1) });
    }
    ids
}

/// The short titles of sections, in full where two of a suite would be equal.
fn section_titles<'a>(sections: &[Section<'a>]) -> Vec<&'a str> {
    let of = |section: &Section<'a>| {
        let same = sections.iter().filter(|s| s.suite == section.suite);
        short_title_among(section.title, same.map(|s| s.title))
    };
    sections.iter().map(of).collect()
}

/// Charts on the first screen.
const FIRST_CHARTS: usize = 2;

/// The charts that a suite names, drawn a second time on the first screen; without any, its first
/// ones.
fn first_charts(charts: &[Chart], declared: &[String], suite: &str) -> Vec<Chart> {
    let find = |name: &String| {
        let (step, chart) = name.split_once('/')?;
        let start = format!("{suite}-{}--{chart}", slug(step));
        charts.iter().find(|c| c.id.starts_with(&start))
    };
    let mut chosen: Vec<&Chart> = declared.iter().filter_map(find).collect();
    for chart in charts {
        if chosen.len() >= FIRST_CHARTS {
            break;
        }
        if !chosen.iter().any(|c| c.id == chart.id) {
            chosen.push(chart);
        }
    }
    let copy = |(n, chart): (usize, &&Chart)| chart.again(format!("{suite}-first-{}", n + 1));
    chosen.iter().take(FIRST_CHARTS).enumerate().map(copy).collect()
}

/// An entry of the page's contents.
pub(crate) struct Entry {
    /// Id of the section.
    pub id: String,
    /// Plain text.
    pub title: String,
    /// Below the entry of a suite.
    pub sub: bool,
}

impl Entry {
    /// An entry of the first level.
    pub fn new(id: &str, title: &str) -> Entry {
        Entry { id: id.to_owned(), title: title.to_owned(), sub: false }
    }
}

/// The parts of a page of any subject.
pub(crate) struct PageTemplate<'a> {
    /// Plain text.
    pub title: &'a str,
    /// Above the first section.
    pub header: &'a Markup,
    /// The sections.
    pub contents: &'a [Entry],
    /// The sections, which are freed as they are written.
    pub body: Vec<Markup>,
    /// The charts of the body.
    pub charts: Vec<Chart>,
}

impl PageTemplate<'_> {
    /// The page.
    ///
    /// # Errors
    /// When the charts cannot be embedded.
    pub fn page(self) -> Result<String, ReportError> {
        let drawn = !self.charts.is_empty();
        let charts = embedded(self.charts)?;
        // A page without charts does without plotly, which is most of it.
        let library = if drawn { include_str!("page/library.js") } else { "" };
        let scripts = [
            library,
            include_str!("page/labels.js"),
            include_str!("page/legend.js"),
            include_str!("page/dots.js"),
            include_str!("page/titles.js"),
            include_str!("page/page.js"),
            include_str!("page/copy.js"),
            include_str!("page/board.js"),
        ]
        .map(PreEscaped);
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head { (head(self.title)) }
                body {
                    a.skip href="#main" { "Skip to the results" }
                    div.side { (side(self.contents)) }
                    div.page {
                        header {
                            (sanitised(self.header.clone()))
                            @if drawn { noscript {
                                p class="banner caution" {
                                    "Scripts are disabled: charts cannot be drawn. The tables \
                                     contain every figure; open \u{201c}All figures\u{201d} in \
                                     each section."
                                }
                            } }
                        }
                        main id="main" { @for part in self.body { (sanitised(part)) } }
                        footer {
                            p {
                                "Generated by assay. The page is self-contained \
                                 and needs no network." @if drawn {
                                    " Charts: " (library::LICENCE) "."
                                }
                            }
                        }
                    }
                    script type="application/json" id="charts" { (PreEscaped(&charts)) }
                    @if drawn {
                        script type="application/gzip" id="library" {
                            (PreEscaped(library::library()))
                        }
                    }
                    script { @for script in &scripts { (script) "\n" } }
                }
            }
        };
        Ok(page.into_string())
    }
}

fn head(title: &str) -> Markup {
    let policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                  img-src data: blob:";
    html! {
        meta charset="utf-8";
        // No effect, but found at once: without it plotly searches the whole page for a base before
        // every drawing.
        base target="_self";
        meta http-equiv="Content-Security-Policy" content=(policy);
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
        title { (sanitised(html! { (title) })) }
        style { (PreEscaped(include_str!("page/page.css"))) }
        script { (PreEscaped(include_str!("page/theme.js"))) }
    }
}

/// The table of contents, and the switch of the theme.
fn side(contents: &[Entry]) -> Markup {
    html! {
        button type="button" id="menu" aria-controls="contents" aria-expanded="false" hidden {
            "\u{2630} Contents"
        }
        nav.bar id="contents" aria-label="Contents" {
            ul {
                @for entry in contents {
                    li class=[entry.sub.then_some("sub")] {
                        a href={ "#" (entry.id) } { (sanitised(html! { (entry.title) })) }
                    }
                }
            }
        }
        button type="button" id="theme" hidden { "theme: automatic" }
    }
}

/// The charts as JSON. A `<` is always inside a string there, where \u003c is equivalent: no name
/// can end the script element. Each chart is freed when it is written: as values they take several
/// times the memory of their text.
fn embedded(charts: Vec<Chart>) -> Result<String, ReportError> {
    let mut text = String::from("[");
    for chart in charts {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&serde_json::to_string(&chart)?.replace('<', "\\u003c"));
    }
    text.push(']');
    Ok(text)
}

/// Markup without control characters, which HTML does not allow, and without those that change the
/// order of a line.
pub(crate) fn sanitised(markup: Markup) -> Markup {
    let forbidden = |c: char| is_unprintable(c) && c != '\n' && c != '\t';
    PreEscaped(markup.into_string().replace(forbidden, "\u{fffd}"))
}

/// Shorter first sentences of an explanation are shown with the next one, bytes.
const MIN_SENTENCE: usize = 30;

/// A section; `explained`: percentile curves were explained in an earlier section.
fn section(
    section: &Section<'_>,
    charts: &[Chart],
    id: &str,
    title: &str,
    explained: &mut bool,
) -> Markup {
    let view = views::of_section(section);
    let curves = charts.iter().any(|c| c.title.ends_with("latency percentiles"));
    let explain = curves && !*explained;
    *explained |= curves;
    // One sentence is enough to read on; the others are for who wants to know.
    let how = (view.how_to_read)(section);
    let ends = how.match_indices(". ").map(|(at, _)| at);
    let end = ends.into_iter().find(|at| *at >= MIN_SENTENCE);
    let (first, rest) = match end {
        Some(at) => (&how[..at], &how[at + 2..]),
        None => (how.trim_end_matches('.'), ""),
    };
    let how = html! {
        (rest)
        @if explain {
            " Percentile curves: at 99 %, the curve shows the latency that 99 of 100 operations do \
             not exceed; every further nine has the same width. Lower and flatter is better; \
             queueing begins where a curve turns up."
        }
    };
    let details = section.title.strip_prefix(title).unwrap_or("");
    let details = details.trim_start_matches([':', ',', ' ']);
    let workload = crate::format::joined([details, &section.common()], " \u{b7} ");
    let content = match charts {
        [by_run, others @ ..] if section.set.are_repeats(&section.drives) => {
            let each = (view.html)(view, section, others, id);
            repeats::section(section, by_run, &each)
        }
        charts => (view.html)(view, section, charts, id),
    };
    elements::step(id, &html! { (title) }, &workload, first, &how, &content)
}

/// The suites of the runs: names and titles, in the order of their first occurrence.
pub(crate) fn suites<'a>(set: &DriveSet<'a>) -> Vec<(&'a str, &'a str)> {
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

#[cfg(test)]
#[path = "../tests/unit/html.rs"]
mod tests;
