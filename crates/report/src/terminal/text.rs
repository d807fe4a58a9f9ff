//! Text layout: wrapped lines and tables of a given width.

use anstyle::AnsiColor;
use assay_units::text::word_lines;

use super::Style;
use crate::format::printable;
use crate::table::{Table, TableCell};

/// Emphasis of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    Strong,
    Good,
    Caution,
    Alarm,
    Soft,
}

impl Paint {
    fn style(self) -> anstyle::Style {
        let coloured = |c: AnsiColor| anstyle::Style::new().fg_color(Some(c.into()));
        match self {
            Paint::Strong => anstyle::Style::new().bold(),
            Paint::Good => coloured(AnsiColor::Green),
            Paint::Caution => coloured(AnsiColor::Yellow),
            Paint::Alarm => coloured(AnsiColor::Red).bold(),
            Paint::Soft => anstyle::Style::new().dimmed(),
        }
    }
}

/// Space between two columns.
const GAP: usize = 2;
/// Most columns that are repeated.
const MAX_KEYS: usize = 2;
/// Most characters of a text that names a row, where a table is split.
const MAX_KEY_CHARS: usize = 24;

/// The text of a report.
pub struct TextPage {
    width: usize,
    style: Style,
    out: String,
}

impl TextPage {
    pub fn new(width: usize, style: Style) -> TextPage {
        TextPage { width, style, out: String::new() }
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
            let lead = if i == 0 { lead } else { &" ".repeat(indent) };
            let painted = format!("{lead}{}", self.painted(line, paint));
            self.out.push_str(painted.trim_end_matches(' '));
            self.out.push('\n');
        }
    }

    fn painted(&self, text: &str, paint: Option<Paint>) -> String {
        match (self.style, paint) {
            (Style::Colour, Some(paint)) if !text.trim().is_empty() => {
                let style = paint.style();
                format!("{style}{text}{style:#}")
            }
            _ => text.to_owned(),
        }
    }

    /// A table; one that is too wide is split between drives (or, where that is not enough, between
    /// columns) into several with the same row headings, and with the texts that name a row where
    /// headings do not.
    pub fn table(&mut self, table: &Table) {
        if table.is_empty() {
            return;
        }
        self.line(&table.caption, Some(Paint::Strong));
        let rows = table.rows.iter();
        let mut texts: Vec<Vec<String>> = rows
            .map(|r| r.cells.iter().map(|c| shortened(&cell_text(c), self.width)).collect())
            .collect();
        // Figures without the mark of the best are padded in columns with such a mark.
        for column in 0..table.columns.len() {
            let marked = |row: &Vec<String>| row.get(column).is_some_and(|t| t.ends_with('*'));
            if texts.iter().any(marked) {
                let column = texts.iter_mut().filter_map(|row| row.get_mut(column));
                column.filter(|text| !text.ends_with('*')).for_each(|text| text.push(' '));
            }
        }
        let most = self.width * 2 / 5;
        let heading = |text: &str| shortened(&printable(text), most);
        let names = table.rows.iter().map(|r| r.name.to_string());
        let headings: Vec<String> = names.map(|name| heading(&name)).collect();
        let corner = heading(&table.corner);
        let lengths = headings.iter().chain([&corner]).map(|h| h.chars().count());
        let heading_width = lengths.max().unwrap_or(0);
        let mut layout = TableLayout {
            table,
            texts,
            headings,
            corner,
            heading_width,
            keys: 0,
            most: self.width,
        };
        if !layout.fits(&table.all_columns(), self.width) {
            layout.repeat_keys(self.width);
        }
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
        let labels: Vec<String> = columns.iter().map(|c| layout.label(*c)).collect();
        let bare = labels.iter().all(String::is_empty);
        if columns.iter().any(|c| !layout.group_title(*c).is_empty()) {
            let lead = if bare { corner.as_str() } else { "" };
            let mut line = format!("{lead:<w$}", w = layout.heading_width);
            let mut widths = widths.as_slice();
            for group in table.groups(columns) {
                let (own, rest) = widths.split_at(group.len());
                let title = layout.group_title(group[0]);
                line.push_str(&format!("{:GAP$}{title:>w$}", "", w = span(own)));
                widths = rest;
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
                let padded = format!("{:>width$}", layout.text(row, *column));
                let paint = match table.rows[row].cells.get(*column) {
                    Some(TableCell::Number(n)) if n.alarm => Some(Paint::Alarm),
                    Some(TableCell::Number(n)) if n.mark.is_some() => Some(Paint::Caution),
                    Some(TableCell::Number(n)) if n.best => Some(Paint::Strong),
                    Some(TableCell::Missing(..)) => Some(Paint::Soft),
                    _ => None,
                };
                line.push_str(&format!("{:GAP$}{}", "", self.painted(&padded, paint)));
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
    /// Leading columns that are repeated wherever the table is split.
    keys: usize,
    /// Columns of the longest label, group title or cell: one line.
    most: usize,
}

impl TableLayout<'_> {
    fn text(&self, row: usize, column: usize) -> &str {
        self.texts[row].get(column).map_or("", String::as_str)
    }

    fn label(&self, column: usize) -> String {
        let c = &self.table.columns[column];
        let label = shortened(&printable(&c.label), self.most).replace('\u{f7}', "/");
        match (label.is_empty(), c.unit.is_empty()) {
            (_, true) => label,
            (true, false) => c.unit.to_owned(),
            // The unit of a rate implies its name.
            (false, false) if label == "rate" || label == "bandwidth" => c.unit.to_owned(),
            (false, false) => format!("{label}, {}", c.unit),
        }
    }

    /// Heading of a column's group; empty without one.
    fn group_title(&self, column: usize) -> String {
        let group = self.table.columns[column].group.as_ref();
        group.map_or_else(String::new, |g| shortened(&printable(&g.to_string()), self.most))
    }

    /// Widths of columns, wide enough for their groups' headings.
    fn widths(&self, columns: &[usize]) -> Vec<usize> {
        let width = |column: &usize| {
            let texts = (0..self.texts.len()).map(|r| self.text(r, *column).chars().count());
            texts.fold(self.label(*column).chars().count(), usize::max)
        };
        let mut widths: Vec<usize> = columns.iter().map(width).collect();
        let mut at = 0;
        for group in self.table.groups(columns) {
            let span = span(&widths[at..at + group.len()]);
            // A title that fits needs no more space.
            widths[at] += self.group_title(group[0]).chars().count().saturating_sub(span);
            at += group.len();
        }
        widths
    }

    /// Repeats the leading columns without which rows cannot be told apart, shortened: at most
    /// [`MAX_KEYS`], and as many as leave space for each other column.
    fn repeat_keys(&mut self, width: usize) {
        let is_whole = |column: &usize| {
            let mut rows = self.table.rows.iter();
            rows.all(|row| row.cells.len() > *column) && self.group_title(*column).is_empty()
        };
        let columns = 0..self.table.columns.len().min(MAX_KEYS);
        let leading = columns.take_while(is_whole).count();
        let is_unique = |keys: &usize| {
            let rows = self.headings.iter().zip(&self.texts);
            let mut names: Vec<_> = rows.map(|(h, texts)| (h, &texts[..*keys])).collect();
            names.sort();
            names.windows(2).all(|pair| pair[0] != pair[1])
        };
        self.keys = (0..=leading).find(is_unique).unwrap_or(leading);
        for text in self.texts.iter_mut().flat_map(|row| &mut row[..self.keys]) {
            *text = shortened(text, MAX_KEY_CHARS);
        }
        let all = self.table.all_columns();
        let leaves_space = |keys: usize| {
            let (repeated, others) = all.split_at(keys);
            let mut others = others.iter();
            others.all(|other| self.fits(&[repeated, &[*other]].concat(), width))
        };
        self.keys = (0..=self.keys).rev().find(|keys| leaves_space(*keys)).unwrap_or(0);
    }

    fn fits(&self, columns: &[usize], width: usize) -> bool {
        let all: usize = self.widths(columns).iter().map(|w| w + GAP).sum();
        self.heading_width + all <= width
    }

    /// Columns of each table after splitting: the keys, and as many whole groups as fit, at least
    /// one column.
    fn splits(&self, width: usize) -> Vec<Vec<usize>> {
        let all = self.table.all_columns();
        let (keys, others) = all.split_at(self.keys);
        let with_keys = |unit: &[usize]| [keys, unit].concat();
        let mut units: Vec<Vec<usize>> = Vec::new();
        for unit in self.table.groups(others) {
            if self.fits(&with_keys(unit), width) {
                units.push(unit.to_vec());
            } else {
                units.extend(unit.iter().map(|c| vec![*c]));
            }
        }
        let mut splits: Vec<Vec<usize>> = Vec::new();
        for unit in units {
            let extended = splits.last().map(|p| [p.as_slice(), &unit].concat());
            match (splits.last_mut(), extended) {
                (Some(last), Some(extended)) if self.fits(&extended, width) => *last = extended,
                _ => splits.push(with_keys(&unit)),
            }
        }
        if splits.is_empty() && !keys.is_empty() {
            splits.push(keys.to_vec());
        }
        splits
    }
}

/// Width of neighbouring columns with the gaps between them.
fn span(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * (widths.len() - 1)
}

/// A cell as text, without colour.
fn cell_text(cell: &TableCell) -> String {
    match cell {
        TableCell::Number(n) => {
            let mut out = n.text.replace('\u{d7}', "x");
            if let Some(spread) = &n.spread {
                out.push_str(&format!(" \u{b1}{spread}"));
            }
            // The mark precedes the figure, so that figures stay aligned.
            if let Some(mark) = &n.mark {
                out = format!("({mark}) {out}");
            }
            if n.best {
                out.push('*');
            }
            printable(&out)
        }
        TableCell::Text(text) => printable(text),
        TableCell::Missing(short, _) => (*short).to_owned(),
        TableCell::Empty => String::new(),
    }
}

/// At most `most` characters; `..` replaces the middle, so that "(simulated)" stays.
fn shortened(text: &str, most: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= most {
        return text.to_owned();
    }
    let tail = most * 3 / 5;
    let Some(lead) = most.checked_sub(tail + 2) else {
        return chars[..most].iter().collect();
    };
    let start: String = chars[..lead].iter().collect();
    let end: String = chars[chars.len() - tail..].iter().collect();
    format!("{start}..{end}")
}

/// Words in lines of at most `width`; a longer word is split.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut pieces = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        for (at, c) in word.chars().enumerate() {
            if at.is_multiple_of(width) {
                pieces.push(' ');
            }
            pieces.push(c);
        }
    }
    word_lines(&pieces, width)
}

#[cfg(test)]
#[path = "../../tests/unit/terminal/text.rs"]
mod tests;
