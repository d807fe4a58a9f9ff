//! Tables, names and figures as HTML. Everything that comes from data is escaped here.

use crate::charts::Chart;
use crate::format::escape;
use crate::table::{Cell, Name, Row, Table};

/// A drive's name with its badge.
pub fn drive_name(name: &str, simulated: bool) -> String {
    if simulated {
        format!("{} <span class=\"sim\">simulated</span>", escape(name))
    } else {
        escape(name)
    }
}

/// A row heading of at most so many characters is never wrapped.
const SHORT: usize = 10;

fn heading(name: &Name) -> String {
    drive_name(&name.text, name.simulated)
}

/// A table in a box that scrolls sideways where it must, with its notes below.
pub fn table(table: &Table) -> String {
    if table.is_empty() {
        return String::new();
    }
    let caption = escape(&table.caption);
    let mut out = format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\"><table>\n<caption>{caption}</caption>\n<thead>\n"
    );
    out.push_str(&head(table));
    out.push_str("</thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str(&self::row(table, row));
    }
    out.push_str("</tbody>\n</table></div>\n");
    out.push_str(&notes(&table.notes));
    out
}

/// Lines below a table or chart.
pub fn notes(notes: &[String]) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let items: Vec<String> = notes
        .iter()
        .map(|n| format!("<li>{}</li>", escape(n)))
        .collect();
    format!("<ul class=\"notes\">{}</ul>\n", items.join(""))
}

fn head(table: &Table) -> String {
    let grouped = table.columns.iter().any(|c| c.group.is_some());
    // A group of one nameless column needs no second line.
    let labelled = table
        .columns
        .iter()
        .any(|c| c.group.is_some() && !c.label.is_empty());
    let two = grouped && labelled;
    let span = if two { " rowspan=\"2\"" } else { "" };
    let mut first = format!("<tr><th scope=\"col\"{span}>{}</th>", escape(&table.corner));
    let mut second = String::from("<tr>");
    for (at, count) in table.groups() {
        let column = &table.columns[at];
        match &column.group {
            Some(group) if two => {
                first.push_str(&format!(
                    "<th scope=\"colgroup\" colspan=\"{count}\" class=\"group\">{}</th>",
                    heading(group)
                ));
                for (i, c) in table.columns[at..at + count].iter().enumerate() {
                    let class = if i == 0 { "num first" } else { "num" };
                    second.push_str(&format!(
                        "<th scope=\"col\" class=\"{class}\">{}{}</th>",
                        escape(&c.label),
                        unit(c.unit)
                    ));
                }
            }
            Some(group) => first.push_str(&format!(
                "<th scope=\"col\" class=\"num\">{}</th>",
                heading(group)
            )),
            None => {
                let class = if is_text(table, at) { "" } else { "num" };
                first.push_str(&format!(
                    "<th scope=\"col\"{span} class=\"{class}\">{}{}</th>",
                    escape(&column.label),
                    unit(column.unit)
                ));
            }
        }
    }
    first.push_str("</tr>\n");
    if two {
        first.push_str(&second);
        first.push_str("</tr>\n");
    }
    first
}

/// Does a column hold words?
fn is_text(table: &Table, column: usize) -> bool {
    let cells = table.rows.iter().filter_map(|r| r.cells.get(column));
    cells.into_iter().any(|c| matches!(c, Cell::Text(_)))
}

fn unit(unit: &str) -> String {
    if unit.is_empty() {
        String::new()
    } else {
        format!("<span class=\"unit\">{}</span>", escape(unit))
    }
}

fn row(table: &Table, row: &Row) -> String {
    // A size or a count stays on one line however narrow the window is.
    let short = if row.name.text.chars().count() <= SHORT {
        " class=\"short\""
    } else {
        ""
    };
    let mut out = format!("<tr><th scope=\"row\"{short}>{}</th>", heading(&row.name));
    let firsts: Vec<usize> = table.groups().iter().map(|g| g.0).collect();
    for (i, cell) in row.cells.iter().enumerate() {
        let grouped = table.columns.get(i).is_some_and(|c| c.group.is_some());
        let first = if grouped && firsts.contains(&i) {
            " first"
        } else {
            ""
        };
        out.push_str(&self::cell(cell, first));
    }
    out.push_str("</tr>\n");
    out
}

fn cell(cell: &Cell, first: &str) -> String {
    match cell {
        Cell::Empty => format!("<td class=\"{}\"></td>", first.trim()),
        Cell::Text(text) => format!("<td class=\"t{first}\">{}</td>", escape(text)),
        Cell::Missing(short, full) => format!(
            "<td class=\"missing{first}\" title=\"{}\">{}</td>",
            escape(full),
            escape(short)
        ),
        Cell::Number(number) => {
            let mut class = format!("n{first}");
            if number.alarm {
                class.push_str(" alarm");
            }
            let bar = match number.share {
                Some(share) => format!(" style=\"--f:{:.3}\"", share.clamp(0.0, 1.0)),
                None => String::new(),
            };
            let title = if number.more.is_empty() {
                String::new()
            } else {
                format!(" title=\"{}\"", escape(&number.more))
            };
            let text = if number.best {
                format!("<strong>{}</strong>", escape(&number.text))
            } else {
                escape(&number.text)
            };
            let mark = match &number.mark {
                Some(mark) => format!("<small>{}</small>", escape(mark)),
                None => String::new(),
            };
            let spread = match &number.spread {
                Some(spread) => format!("<small class=\"pm\">\u{b1} {}</small>", escape(spread)),
                None => String::new(),
            };
            format!("<td class=\"{class}\"{bar}{title}>{text}{spread}{mark}</td>")
        }
    }
}

/// Buttons of which one is chosen: they switch the tables of a section (`data-metric`) and the charts that follow.
pub fn switch(section: &str, legend: &str, labels: &[&str], first: usize) -> String {
    if labels.len() < 2 {
        return String::new();
    }
    let mut out = format!(
        "<fieldset class=\"switch\" data-section=\"{section}\" data-first=\"{first}\"><legend>{}</legend>",
        escape(legend)
    );
    for (i, label) in labels.iter().enumerate() {
        out.push_str(&format!(
            "<label><input type=\"radio\" name=\"{section}-metric\" value=\"{i}\"{}><span>{}</span></label>",
            if i == first { " checked" } else { "" },
            escape(label)
        ));
    }
    out.push_str("</fieldset>\n");
    out
}

/// The place of a chart, with its switches. `follows`: its views are switched with the section's tables.
pub fn chart(chart: &Chart, follows: bool) -> String {
    let id = &chart.id;
    let title = escape(&chart.title);
    let mut tools = String::new();
    if chart.views.len() > 1 && !follows {
        let options: Vec<String> = chart
            .views
            .iter()
            .enumerate()
            .map(|(i, v)| {
                let selected = if i == chart.first { " selected" } else { "" };
                // Labels are already safe for plotly, which reads the same entities as HTML does.
                format!("<option value=\"{i}\"{selected}>{}</option>", v.label)
            })
            .collect();
        tools.push_str(&format!(
            "<label>{} <select data-view=\"{id}\">{}</select></label>",
            escape(chart.switch),
            options.join("")
        ));
    }
    if chart.log_switch {
        tools.push_str(&format!(
            "<button type=\"button\" data-log=\"{id}\" aria-pressed=\"false\">log scale</button>"
        ));
    }
    if chart.log_x_switch {
        tools.push_str(&format!(
            "<button type=\"button\" data-log-x=\"{id}\" aria-pressed=\"false\">log x</button>"
        ));
    }
    let follows = if follows { " data-follows" } else { "" };
    format!(
        "<figure class=\"chart\"{follows}>\n<figcaption><span class=\"what\">{title}</span><span class=\"tools\">{tools}</span></figcaption>\n\
         <div class=\"drawing\" id=\"{id}\" style=\"height:{}px\" role=\"img\" aria-label=\"Chart: {title}. The tables of this section hold the figures.\"></div>\n{}</figure>\n",
        chart.height,
        notes(&chart.notes)
    )
}

/// Names and values as a definition list.
pub fn facts<'a>(pairs: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut out = String::from("<dl class=\"facts\">\n");
    for (name, value) in pairs {
        if !value.is_empty() {
            out.push_str(&format!(
                "<div><dt>{}</dt><dd>{}</dd></div>\n",
                escape(name),
                escape(&value)
            ));
        }
    }
    out.push_str("</dl>\n");
    out
}
