//! HTML elements common to all pages: tables, charts, switches, lists of facts. maud escapes their
//! text.

use maud::{Markup, html};

use crate::chart::Chart;
use crate::format::short_title_among;
use crate::table::{Column, Heading, Number, Row, Table, TableCell};

/// A drive's name, with its badge when simulated.
pub fn drive_name(name: &Heading) -> Markup {
    html! { (name.text) @if name.simulated { " " span.sim { "simulated" } } }
}

/// A link to an element, shown on hover.
fn anchor(id: &str) -> Markup {
    html! { a.anchor href={ "#" (id) } aria-label="Link to this place" { "#" } }
}

/// The mark of simulated figures on a table or chart.
pub fn simulated_mark() -> Markup {
    html! { " " span.sim { "simulated" } }
}

/// A section with its heading, workload, one sentence, and the rest of the explanation behind a
/// switch.
pub fn step(
    id: &str,
    title: &Markup,
    workload: &str,
    sentence: &str,
    how: &Markup,
    content: &Markup,
) -> Markup {
    html! {
        section.step id=(id) aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { (title) (anchor(id)) }
            p.workload { (workload) }
            div.lead {
                @if !sentence.is_empty() { p.how { (sentence) "." } }
                @if !how.0.trim().is_empty() {
                    details.more { summary { "How to read this" } p.how { (how) } }
                }
            }
            (content)
        }
    }
}

/// A section with its heading alone.
pub fn titled(id: &str, title: &str, content: &Markup) -> Markup {
    html! {
        section id=(id) aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { (title) (anchor(id)) } (content)
        }
    }
}

/// A fault in the results.
pub fn alarm(text: &Markup) -> Markup {
    html! { p class="banner alarm loud" role="alert" { (text) } }
}

/// Rows beyond which a table scrolls within a box.
const LONG_ROWS: usize = 20;
/// What repeats for every drive is folded on a page of more drives than this.
const FEW_DRIVES: usize = 4;

/// Further content of a section, folded on a page of many drives.
pub fn further(drives: usize, summary: &str, content: &Markup) -> Markup {
    if drives > FEW_DRIVES && !content.0.is_empty() {
        html! { details { summary { (summary) } (content) } }
    } else {
        html! { (content) }
    }
}

/// Charts in pairs, of which those after the first `shown` are folded on a page of many drives.
pub fn pairs(drives: usize, charts: &[&Chart], shown: usize) -> Markup {
    let (first, more) = charts.split_at(match drives > FEW_DRIVES {
        true => shown.min(charts.len()),
        false => charts.len(),
    });
    let pair = |charts: &[&Chart]| {
        html! { @if !charts.is_empty() { div.pair { @for c in charts { (chart(c, false)) } } } }
    };
    html! { (pair(first)) (further(drives, "More charts", &pair(more))) }
}

/// Tables side by side, of which a page of many drives folds those after the first and long ones.
pub fn tables(drives: usize, tables: &[Table]) -> Markup {
    let is_shown = |(n, table): (usize, &Table)| {
        drives <= FEW_DRIVES || n == 0 && table.rows.len() <= LONG_ROWS
    };
    let (shown, more): (Vec<_>, Vec<_>) = tables.iter().enumerate().partition(|t| is_shown(*t));
    html! {
        @if !shown.is_empty() {
            div.matrices { @for (_, table) in shown { div { (table_or_notes(table)) } } }
        }
        @for (_, table) in more { (folded(&shortened(&table.caption), table)) }
    }
}

/// Characters of a cell's text beyond which it is wrapped.
const MAX_LINE_CHARS: usize = 40;
/// Row headings of at most this many characters (sizes, counts) are never wrapped.
const SHORT_HEADING: usize = 10;

/// True when these headings are all of simulated drives, which then need no mark each.
fn all_simulated<'h>(mut headings: impl Iterator<Item = &'h Heading> + Clone) -> bool {
    headings.clone().next().is_some() && headings.all(|h| h.simulated)
}

/// A table in a region that scrolls sideways where necessary, with its notes below. A table of
/// simulated drives only is marked in its caption, else each simulated name is.
pub fn table(table: &Table) -> Markup {
    if table.is_empty() {
        return html! {};
    }
    let columns = table.all_columns();
    let firsts: Vec<usize> = table.groups(&columns).map(|group| group[0]).collect();
    let groups = table.columns.iter().filter_map(|c| c.group.as_ref());
    let rows = all_simulated(table.rows.iter().map(|r| &r.name));
    let marked = rows || all_simulated(groups);
    html! {
        div class=(if table.rows.len() > LONG_ROWS { "scroll long" } else { "scroll" })
            role="region" tabindex="0" aria-label=(table.caption) {
            table {
                caption {
                    span.cap { (shortened(&table.caption)) @if marked { (simulated_mark()) } }
                }
                thead { (head(table, marked)) }
                tbody { @for r in &table.rows { (row(table, r, &firsts, marked)) } }
            }
        }
        (notes(&table.notes))
    }
}

/// A caption with the short title of its section.
fn shortened(caption: &str) -> String {
    shortened_among(caption, &[])
}

/// The same, with the whole title where another of the charts would have the same short one.
fn shortened_among(caption: &str, charts: &[Chart]) -> String {
    let Some((title, what)) = caption.rsplit_once(": ") else {
        return caption.to_owned();
    };
    let titles = charts.iter().filter_map(|c| c.title.rsplit_once(": "));
    let title = short_title_among(title, titles.map(|(title, _)| title));
    format!("{title}: {what}")
}

/// The name of a drive in a table that is marked as a whole, or not.
fn name_in(name: &Heading, marked: bool) -> Markup {
    if marked {
        html! { (name.text) }
    } else {
        drive_name(name)
    }
}

/// A table, or only its notes where it is empty.
pub fn table_or_notes(table: &Table) -> Markup {
    if table.is_empty() { notes(&table.notes) } else { self::table(table) }
}

/// A collapsed table; nothing for an empty one.
pub fn folded(summary: &str, table: &Table) -> Markup {
    html! { @if !table.is_empty() { details { summary { (summary) } (self::table(table)) } } }
}

/// More notes than these are folded.
const FEW_NOTES: usize = 2;

/// Lines below a table or chart.
pub fn notes(notes: &[String]) -> Markup {
    let list = html! { ul.notes { @for note in notes { li { (note) } } } };
    html! {
        @match notes.len() {
            0 => {},
            1..=FEW_NOTES => (list),
            n => details.more { summary { (n) " notes" } (list) },
        }
    }
}

fn head(table: &Table, marked: bool) -> Markup {
    // Groups of one column without a label need no second row.
    let mut columns = table.columns.iter();
    let two_rows = columns.any(|c| c.group.is_some() && !c.label.is_empty());
    let span = two_rows.then_some("2");
    let columns = table.all_columns();
    let groups: Vec<&[usize]> = table.groups(&columns).collect();
    html! {
        tr {
            th scope="col" rowspan=[span] { (table.corner) }
            @for group in &groups {
                @let column = &table.columns[group[0]];
                @match &column.group {
                    Some(name) if two_rows =>
                        th scope="colgroup" colspan=(group.len()) class="group" {
                            (name_in(name, marked))
                        },
                    Some(name) => th scope="col" class="num" { (name_in(name, marked)) },
                    None => th scope="col" rowspan=[span]
                        class=[(!is_text(table, group[0])).then_some("num")] { (label(column)) },
                }
            }
        }
        @if two_rows {
            tr {
                @for group in groups.iter().filter(|g| table.columns[g[0]].group.is_some()) {
                    @for (i, column) in group.iter().enumerate() {
                        th scope="col" class=(if i == 0 { "num first" } else { "num" }) {
                            (label(&table.columns[*column]))
                        }
                    }
                }
            }
        }
    }
}

fn label(column: &Column) -> Markup {
    html! { (column.label) @if !column.unit.is_empty() { span.unit { (column.unit) } } }
}

/// True for a column with text.
fn is_text(table: &Table, column: usize) -> bool {
    let mut cells = table.rows.iter().filter_map(|r| r.cells.get(column));
    cells.any(|c| matches!(c, TableCell::Text(_)))
}

fn row(table: &Table, row: &Row, firsts: &[usize], marked: bool) -> Markup {
    let width = match row.name.text.chars().count() {
        0..=SHORT_HEADING => Some("short"),
        chars if chars > MAX_LINE_CHARS => Some("long"),
        _ => None,
    };
    let is_first =
        |i: usize| table.columns.get(i).is_some_and(|c| c.group.is_some()) && firsts.contains(&i);
    html! {
        tr {
            th scope="row" class=[width] { (name_in(&row.name, marked)) }
            @for (i, c) in row.cells.iter().enumerate() {
                (cell(c, if is_first(i) { " first" } else { "" }))
            }
        }
    }
}

/// Classes of a figure's cell; most have none.
fn class(first: &str, alarm: bool) -> Option<String> {
    let class = format!("{first}{}", if alarm { " alarm" } else { "" });
    (!class.is_empty()).then(|| class.trim_start().to_owned())
}

fn cell(cell: &TableCell, first: &str) -> Markup {
    match cell {
        TableCell::Empty => html! { td class=[(!first.is_empty()).then_some("first")] {} },
        TableCell::Text(text) => {
            let long = if text.chars().count() > MAX_LINE_CHARS { " long" } else { "" };
            html! { td class={ "t" (first) (long) } { (text) } }
        }
        TableCell::Missing(short, full) => {
            html! { td class={ "missing" (first) } title=(full) { (short) } }
        }
        TableCell::Number(n) => html! {
            td class=[class(first, n.alarm)]
                style=[n.share.map(|share| format!("--f:{:.3}", share.clamp(0.0, 1.0)))]
                title=[tooltip(n)]
            {
                @if n.best { strong { (n.text) } } @else { (n.text) }
                @if let Some(spread) = &n.spread { small.pm { "\u{b1} " (spread) } }
                @if let Some(mark) = &n.mark { small { (mark) } }
            }
        },
    }
}

/// Details of a figure, and why it has no confidence interval.
fn tooltip(n: &Number) -> Option<String> {
    let missing = n.no_spread.map(|m| format!("no confidence interval: {m}"));
    let details = Some(n.details.clone()).filter(|d| !d.is_empty());
    let parts: Vec<String> = details.into_iter().chain(missing).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Radio buttons that switch the tables of a section (`data-metric`) and the charts that follow
/// them.
pub fn switch(section: &str, legend: &str, labels: &[&str], first: usize) -> Markup {
    html! {
        @if labels.len() > 1 {
            fieldset.switch data-section=(section) data-first=(first) {
                legend { (legend) }
                @for (i, label) in labels.iter().enumerate() {
                    label {
                        input type="radio" name={ (section) "-metric" }
                            value=(i) checked[i == first];
                        span { (label) }
                    }
                }
            }
        }
    }
}

/// Charts with their own switches.
pub fn charts(charts: &[Chart]) -> Markup {
    html! { @for c in charts { (chart(c, false)) } }
}

/// A switch of the views of the first chart, and the charts that follow it.
pub fn switched_charts(charts: &[Chart], section: &str, legend: &str) -> Markup {
    let Some(first) = charts.first() else {
        return html! {};
    };
    let labels: Vec<&str> = first.views.iter().map(|v| v.label.as_str()).collect();
    html! {
        (switch(section, legend, &labels, first.first))
        @for c in charts { (chart(c, labels.len() > 1)) }
    }
}

/// The charts of the first screen, side by side.
pub fn first_charts(charts: &[Chart]) -> Markup {
    html! {
        @if !charts.is_empty() {
            div class="pair front" {
                @for c in charts {
                    @let details = html! {
                        a href={ "#" (c.of.as_deref().unwrap_or_default()) } { "details" }
                    };
                    (framed(c, &shortened_among(&c.title, charts), &details))
                }
            }
        }
    }
}

/// The frame of a chart, with its switches. `follows`: its views are switched with the section's
/// tables.
pub fn chart(chart: &Chart, follows: bool) -> Markup {
    let id = &chart.id;
    let tools = html! {
        @if chart.views.len() > 1 && !follows {
            label {
                (chart.switch) " "
                select data-view=(id) {
                    @for (i, view) in chart.views.iter().enumerate() {
                        option value=(i) selected[i == chart.first] { (view.label) }
                    }
                }
            }
        }
        @if chart.log_switch {
            button type="button" data-log=(id) aria-pressed="false" { "log scale" }
        }
        @if chart.log_x_switch {
            button type="button" data-log-x=(id) aria-pressed="false" { "log x" }
        }
    };
    let title = match chart.title.rsplit_once(": ") {
        Some((_, what)) => capitalised(what),
        None => chart.title.clone(),
    };
    let inner = framed(chart, &title, &tools);
    html! { @if follows { div data-follows { (inner) } } @else { (inner) } }
}

/// With a capital first letter.
fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

fn framed(chart: &Chart, title: &str, tools: &Markup) -> Markup {
    let id = &chart.id;
    html! {
        figure.chart {
            figcaption {
                span.what { (title) @if chart.simulated { (simulated_mark()) } (anchor(id)) }
                span.tools { (tools) }
            }
            div.drawing
                id=(id) data-title=(shortened(&chart.title))
                style={ "height:" (chart.height) "px" } role="img"
                aria-label={
                    "Chart: " (chart.title) ". The tables of this section contain the figures."
                } {}
            (notes(&chart.notes))
        }
    }
}

/// Names and values as a definition list; empty values are left out.
pub fn facts(pairs: impl IntoIterator<Item = (impl maud::Render, String)>) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in pairs.into_iter().filter(|(_, value)| !value.is_empty()) {
                div { dt { (name) } dd { (value) } }
            }
        }
    }
}

/// Rows of a table that are shown at once; further ones are folded.
const SHOWN_ROWS: usize = 40;

/// A table, of which only the first rows are shown at once.
pub fn long_table(mut long: Table) -> Markup {
    let rest = long.rows.split_off(long.rows.len().min(SHOWN_ROWS));
    let more = Table { rows: rest, notes: Vec::new(), ..long.clone() };
    html! { (table(&long)) (folded(&format!("{} more", more.rows.len()), &more)) }
}
