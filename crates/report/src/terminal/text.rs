//! Text layout: wrapped lines and tables of a given width.

use super::{Style, ansi, cell_text};
use crate::format::printable;
use crate::table::{Cell, Table};

/// Emphasis of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// A heading or main figure.
    Strong,
    /// Positive.
    Good,
    /// A limitation.
    Caution,
    /// A fault.
    Alarm,
    /// Secondary.
    Soft,
}

/// Space between two columns.
const GAP: usize = 2;

/// The text of a report.
pub struct TextPage {
    width: usize,
    style: Style,
    out: String,
}

impl TextPage {
    /// An empty page.
    pub fn new(width: usize, style: Style) -> TextPage {
        TextPage {
            width,
            style,
            out: String::new(),
        }
    }

    /// The text, with one line break at the end.
    pub fn finish(self) -> String {
        let mut out = self.out.trim_end().to_owned();
        out.push('\n');
        out
    }

    /// An empty line, unless there is one already.
    pub fn blank(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// A wrapped line.
    pub fn line(&mut self, text: &str, paint: Option<Paint>) {
        self.item("", text, paint);
    }

    /// A name and its value, values aligned.
    pub fn pair(&mut self, name: &str, value: &str, paint: Option<Paint>) {
        let name = printable(name);
        // A longer name shifts its value.
        let gap = if name.chars().count() < 14 { "" } else { " " };
        self.item(&format!("  {name:<14}{gap}"), value, paint);
    }

    /// Text after a lead, wrapped with a hanging indent of the lead's width.
    pub fn item(&mut self, lead: &str, text: &str, paint: Option<Paint>) {
        let text = printable(text);
        let indent = lead.chars().count();
        // A lead of nearly the whole width leaves ten columns.
        let available = self.width.saturating_sub(indent).max(10);
        for (i, line) in wrap(&text, available).iter().enumerate() {
            let lead = if i == 0 {
                lead.to_owned()
            } else {
                " ".repeat(indent)
            };
            let painted = self.painted(line, paint);
            self.out.push_str(&lead);
            self.out.push_str(&painted);
            trim_line_end(&mut self.out);
            self.out.push('\n');
        }
    }

    fn painted(&self, text: &str, paint: Option<Paint>) -> String {
        match (self.style, paint) {
            (Style::Colour, Some(paint)) if !text.trim().is_empty() => {
                let style = ansi(paint);
                format!("{style}{text}{style:#}")
            }
            _ => text.to_owned(),
        }
    }

    /// A table; one that is too wide is split between drives (or, where that is not enough, between columns) into several
    /// with the same row headings.
    pub fn table(&mut self, table: &Table) {
        if table.is_empty() {
            return;
        }
        self.line(&table.caption, Some(Paint::Strong));
        let mut texts: Vec<Vec<String>> = table
            .rows
            .iter()
            .map(|r| r.cells.iter().map(cell_text).collect())
            .collect();
        // Figures without the mark of the best are padded in columns with such a mark.
        for column in 0..table.columns.len() {
            let marked = |row: &Vec<String>| row.get(column).is_some_and(|t| t.ends_with('*'));
            if texts.iter().any(marked) {
                for text in texts.iter_mut().filter_map(|row| row.get_mut(column)) {
                    if !text.ends_with('*') {
                        text.push(' ');
                    }
                }
            }
        }
        let most = self.width * 2 / 5;
        let headings: Vec<String> = table
            .rows
            .iter()
            .map(|r| shortened(&name(&r.name.text, r.name.simulated), most))
            .collect();
        let corner = shortened(&printable(&table.corner), most);
        let heading_width = headings
            .iter()
            .chain([&corner])
            .map(|h| h.chars().count())
            .max()
            .unwrap_or(0);
        let layout = TableLayout {
            table,
            texts,
            headings,
            corner,
            heading_width,
        };
        for columns in layout.splits(self.width) {
            self.columns(&layout, &columns);
        }
        for note in &table.notes {
            // The HTML page shows the best figures in bold.
            let note = note.replace("bold:", "*:");
            self.item("  ", &note, Some(Paint::Soft));
        }
        self.blank();
    }

    fn columns(&mut self, layout: &TableLayout<'_>, columns: &[usize]) {
        let widths = layout.widths(columns);
        let table = layout.table;
        let corner = format!("{:<w$}", layout.corner, w = layout.heading_width);
        let groups = layout.groups(columns);
        let labels: Vec<String> = columns.iter().map(|c| layout.label(*c)).collect();
        let bare = labels.iter().all(String::is_empty);
        if groups.iter().any(|(title, _)| !title.is_empty()) {
            let mut line = if bare {
                corner.clone()
            } else {
                " ".repeat(layout.heading_width)
            };
            let mut at = 0;
            for (title, count) in &groups {
                let span: usize = widths[at..at + count].iter().sum::<usize>() + GAP * (count - 1);
                line.push_str(&" ".repeat(GAP));
                line.push_str(&format!("{title:>span$}"));
                at += count;
            }
            self.raw(&line, Some(Paint::Soft));
        }
        if !bare {
            let mut line = corner;
            for (label, width) in labels.iter().zip(&widths) {
                line.push_str(&format!("{:GAP$}{label:>width$}", ""));
            }
            self.raw(&line, Some(Paint::Soft));
        }
        for (row, heading) in layout.headings.iter().enumerate() {
            let mut line = format!("{heading:<w$}", w = layout.heading_width);
            for (column, width) in columns.iter().zip(&widths) {
                let text = layout.text(row, *column);
                line.push_str(&" ".repeat(GAP));
                let padded = format!("{text:>width$}");
                let paint = match table.rows[row].cells.get(*column) {
                    Some(Cell::Number(n)) if n.alarm => Some(Paint::Alarm),
                    Some(Cell::Number(n)) if n.mark.is_some() => Some(Paint::Caution),
                    Some(Cell::Number(n)) if n.best => Some(Paint::Strong),
                    Some(Cell::Missing(..)) => Some(Paint::Soft),
                    _ => None,
                };
                line.push_str(&self.painted(&padded, paint));
            }
            self.raw(&line, None);
        }
    }

    fn raw(&mut self, line: &str, paint: Option<Paint>) {
        let painted = self.painted(line.trim_end(), paint);
        self.out.push_str(&painted);
        self.out.push('\n');
    }
}

/// A table's texts and their layout.
struct TableLayout<'t> {
    table: &'t Table,
    texts: Vec<Vec<String>>,
    headings: Vec<String>,
    corner: String,
    heading_width: usize,
}

impl TableLayout<'_> {
    fn text(&self, row: usize, column: usize) -> &str {
        self.texts[row].get(column).map_or("", String::as_str)
    }

    fn label(&self, column: usize) -> String {
        let c = &self.table.columns[column];
        let label = printable(&c.label).replace('\u{f7}', "/");
        match (label.is_empty(), c.unit.is_empty()) {
            (_, true) => label,
            (true, false) => c.unit.to_owned(),
            // The unit of a rate implies its name.
            (false, false) if label == "rate" || label == "bandwidth" => c.unit.to_owned(),
            (false, false) => format!("{label}, {}", c.unit),
        }
    }

    /// Neighbours under the same drive: (heading, how many).
    fn groups(&self, columns: &[usize]) -> Vec<(String, usize)> {
        let mut groups: Vec<(String, usize)> = Vec::new();
        let mut last = None;
        for &column in columns {
            let group = &self.table.columns[column].group;
            let title = group
                .as_ref()
                .map_or(String::new(), |g| name(&g.text, g.simulated));
            match groups.last_mut() {
                Some((_, n)) if last == Some(group) && group.is_some() => *n += 1,
                _ => groups.push((title, 1)),
            }
            last = Some(group);
        }
        groups
    }

    /// Widths of columns, wide enough for their groups' headings.
    fn widths(&self, columns: &[usize]) -> Vec<usize> {
        let mut widths: Vec<usize> = columns
            .iter()
            .map(|c| {
                let texts = (0..self.texts.len()).map(|r| self.text(r, *c).chars().count());
                texts
                    .chain([self.label(*c).chars().count()])
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let mut at = 0;
        for (title, count) in self.groups(columns) {
            let span = widths[at..at + count].iter().sum::<usize>() + GAP * (count - 1);
            // A title that fits needs no more space.
            widths[at] += title.chars().count().saturating_sub(span);
            at += count;
        }
        widths
    }

    fn fits(&self, columns: &[usize], width: usize) -> bool {
        let all: usize = self.widths(columns).iter().map(|w| w + GAP).sum();
        self.heading_width + all <= width
    }

    /// Columns of each table after splitting: as many whole groups as fit, at least one column.
    fn splits(&self, width: usize) -> Vec<Vec<usize>> {
        let mut units: Vec<Vec<usize>> = Vec::new();
        for (first, count) in self.table.groups() {
            let unit: Vec<usize> = (first..first + count).collect();
            if self.fits(&unit, width) {
                units.push(unit);
            } else {
                units.extend(unit.into_iter().map(|c| vec![c]));
            }
        }
        let mut splits: Vec<Vec<usize>> = Vec::new();
        for unit in units {
            let extended = splits.last().map(|p| [p.as_slice(), &unit].concat());
            match (splits.last_mut(), extended) {
                (Some(last), Some(extended)) if self.fits(&extended, width) => *last = extended,
                _ => splits.push(unit),
            }
        }
        splits
    }
}

/// A drive's name, marked when simulated.
fn name(text: &str, simulated: bool) -> String {
    let text = printable(text);
    if simulated {
        format!("{text} (simulated)")
    } else {
        text
    }
}

/// At most `most` characters; `..` replaces the middle, so that "(simulated)" stays.
fn shortened(text: &str, most: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= most {
        return text.to_owned();
    }
    let tail = most * 3 / 5;
    let lead = most - (tail + 2);
    let start: String = chars[..lead].iter().collect();
    let end: String = chars[chars.len() - tail..].iter().collect();
    format!("{start}..{end}")
}

/// Words in lines of at most `width`; a longer word is split.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut length = 0;
    for word in text.split_whitespace() {
        let mut word: Vec<char> = word.chars().collect();
        loop {
            let gap = usize::from(length > 0);
            if length + gap + word.len() <= width {
                if let Some(line) = lines.last_mut() {
                    line.push_str(&" ".repeat(gap));
                    line.extend(&word);
                }
                length += gap + word.len();
                break;
            }
            if length > 0 {
                lines.push(String::new());
                length = 0;
                continue;
            }
            let rest = word.split_off(width);
            if let Some(line) = lines.last_mut() {
                line.extend(&word);
            }
            lines.push(String::new());
            word = rest;
        }
    }
    lines
}

fn trim_line_end(out: &mut String) {
    out.truncate(out.trim_end_matches(' ').len());
}

#[cfg(test)]
#[path = "../../tests/unit/terminal/text.rs"]
mod tests;
