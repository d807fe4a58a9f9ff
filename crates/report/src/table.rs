//! Tables independent of the output medium: the page and the terminal show the same ones.

use crate::format;

/// A table with one row heading and columns that may be grouped under drives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Title, with the unit where all columns share one.
    pub caption: String,
    /// Heading of the row headings.
    pub corner: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
    /// Lines below: legends of marks, reasons of missing figures.
    pub notes: Vec<String>,
}

/// A plain-text heading of a row or group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// The text.
    pub text: String,
    /// Of a simulated drive, and marked as such.
    pub simulated: bool,
}

impl Heading {
    /// Not of a simulated drive.
    pub fn plain(text: impl Into<String>) -> Heading {
        Heading {
            text: text.into(),
            simulated: false,
        }
    }
}

/// One column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// Common heading of this column and its neighbours of the same group.
    pub group: Option<Heading>,
    /// Its own heading; may be empty under a group.
    pub label: String,
    /// Unit, where columns differ.
    pub unit: &'static str,
}

impl Column {
    /// A column without a group.
    pub fn of(label: impl Into<String>, unit: &'static str) -> Column {
        Column {
            label: label.into(),
            unit,
            ..Column::default()
        }
    }

    /// A column under a group heading; an empty heading means no group.
    pub fn under(group: &str, label: &str, unit: &'static str) -> Column {
        Column {
            group: (!group.is_empty()).then(|| Heading::plain(group)),
            ..Column::of(label, unit)
        }
    }

    /// A column without a unit under the heading of a drive.
    pub fn of_drive(group: &Heading, label: impl Into<String>) -> Column {
        Column {
            group: Some(group.clone()),
            ..Column::of(label, "")
        }
    }
}

/// One row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Its heading.
    pub name: Heading,
    /// One cell per column.
    pub cells: Vec<Cell>,
}

impl Row {
    /// A row.
    pub fn new(name: Heading, cells: Vec<Cell>) -> Row {
        Row { name, cells }
    }
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cell {
    /// A figure.
    Number(Number),
    /// Text.
    Text(String),
    /// A figure that is missing, and why: short, and in full.
    Missing(&'static str, String),
    /// Not applicable.
    #[default]
    Empty,
}

/// A figure and its emphasis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Number {
    /// As shown.
    pub text: String,
    /// Share of the largest figure of the table, 0 to 1, for a bar behind it.
    pub share: Option<f64>,
    /// Best of its row among several drives.
    pub best: bool,
    /// Indicates a fault (errors).
    pub alarm: bool,
    /// Marks a partial result: `unfinished`, `3 errors`.
    pub mark: Option<String>,
    /// Half-width of its 95 % confidence interval, in its unit.
    pub spread: Option<String>,
    /// A mean over a series; it has a spread unless the series was too short.
    pub averaged: bool,
    /// Details for a tooltip.
    pub details: String,
}

impl Cell {
    /// A figure as text.
    pub fn number(text: impl Into<String>) -> Cell {
        Cell::Number(Number {
            text: text.into(),
            ..Number::default()
        })
    }

    /// A value in the common notation ([`format::figure`]).
    pub fn figure(value: f64) -> Cell {
        Cell::number(format::figure(value))
    }

    /// A percentage ([`format::percent`]).
    pub fn percent(value: f64) -> Cell {
        Cell::number(format::percent(value))
    }

    /// Text.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }

    /// A count that should be zero; an alarm otherwise.
    pub fn fault_count(count: u64) -> Cell {
        Cell::number(assay_units::text::group_digits(count)).with(|n| n.alarm = count > 0)
    }

    /// The drive does not report the value.
    pub fn unreported() -> Cell {
        Cell::Missing("n/a", "not reported by the drive".to_owned())
    }

    /// A latency, or a dash where it has fewer samples than the percentile needs.
    pub fn latency(ns: f64, samples: u64, needed: u64) -> Cell {
        if samples >= needed {
            Cell::number(format::micros(ns))
        } else {
            Cell::Missing(
                "\u{2013}",
                format!("{samples} samples, at least {needed} are needed"),
            )
        }
    }

    /// Changes the emphasis of a figure; other cells stay as they are.
    pub fn with(mut self, change: impl FnOnce(&mut Number)) -> Cell {
        if let Cell::Number(number) = &mut self {
            change(number);
        }
        self
    }
}

impl Table {
    /// A table with one row per drive, cell or phase; short rows are padded with empty cells.
    pub fn of_drives(
        caption: String,
        columns: Vec<Column>,
        mut rows: Vec<Row>,
        notes: Vec<String>,
    ) -> Table {
        for row in &mut rows {
            row.cells.resize(columns.len(), Cell::Empty);
        }
        Table {
            caption,
            corner: "drive".to_owned(),
            columns,
            rows,
            notes,
        }
    }

    /// True without rows or columns.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() || self.columns.is_empty()
    }

    /// Removes the columns that are empty in every row.
    pub fn without_empty_columns(mut self) -> Table {
        let used = |column: usize| self.rows.iter().any(|row| row.cells[column] != Cell::Empty);
        let used: Vec<bool> = (0..self.columns.len()).map(used).collect();
        let keep = |index: &mut usize| {
            *index += 1;
            used[*index - 1]
        };
        let mut index = 0;
        self.columns.retain(|_| keep(&mut index));
        for row in &mut self.rows {
            let mut index = 0;
            row.cells.retain(|_| keep(&mut index));
        }
        self
    }

    /// Runs of neighbouring columns of the same group: (first column, how many).
    pub fn groups(&self) -> Vec<(usize, usize)> {
        let mut groups: Vec<(usize, usize)> = Vec::new();
        for (i, column) in self.columns.iter().enumerate() {
            match groups.last_mut() {
                Some((first, n))
                    if column.group.is_some() && self.columns[*first].group == column.group =>
                {
                    *n += 1;
                }
                _ => groups.push((i, 1)),
            }
        }
        groups
    }
}

#[cfg(test)]
#[path = "../tests/unit/table.rs"]
mod tests;
