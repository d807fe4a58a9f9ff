//! Tables without a medium: the page and the terminal draw the same ones.

/// A table with one row heading and columns that may be grouped under drives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What it shows, with the unit where all columns share one.
    pub caption: String,
    /// Heading of the row headings.
    pub corner: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
    /// Lines below: what marks mean, what was skipped and why.
    pub notes: Vec<String>,
}

/// A heading, plain text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// The text.
    pub text: String,
    /// Of a simulated drive: the word is shown beside it.
    pub simulated: bool,
}

impl Name {
    /// Not of a drive.
    pub fn plain(text: impl Into<String>) -> Name {
        Name {
            text: text.into(),
            simulated: false,
        }
    }
}

/// One column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// Drive (or other heading) it is grouped under with its neighbours of the same group.
    pub group: Option<Name>,
    /// Its own heading; may be empty under a group.
    pub label: String,
    /// Unit, where columns differ.
    pub unit: &'static str,
}

impl Column {
    /// With its own heading, in no group.
    pub fn of(label: &str, unit: &'static str) -> Column {
        Column {
            label: label.to_owned(),
            unit,
            ..Column::default()
        }
    }

    /// Under a heading that it shares with its neighbours; under none where that is empty.
    pub fn under(group: &str, label: &str, unit: &'static str) -> Column {
        Column {
            group: (!group.is_empty()).then(|| Name::plain(group)),
            ..Column::of(label, unit)
        }
    }
}

/// One row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Its heading.
    pub name: Name,
    /// One cell per column.
    pub cells: Vec<Cell>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A figure.
    Number(Number),
    /// Words.
    Text(String),
    /// No figure, and why: short, and in full.
    Missing(&'static str, String),
    /// Nothing belongs here.
    Empty,
}

/// A figure with what makes it stand out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Number {
    /// As shown.
    pub text: String,
    /// Share of the largest of its table, 0 to 1, for a bar behind it.
    pub share: Option<f64>,
    /// Best of its row among several drives.
    pub best: bool,
    /// It stands for something wrong (errors).
    pub alarm: bool,
    /// Not a whole result: `unfinished`, `3 errors`.
    pub mark: Option<String>,
    /// Half-width of its 95 % confidence interval, in its unit, where it is a mean with one.
    pub spread: Option<String>,
    /// It is a mean over a series, and has a spread unless that was too short.
    pub averaged: bool,
    /// More about it, for a tooltip.
    pub more: String,
}

impl Cell {
    /// A plain figure.
    pub fn number(text: impl Into<String>) -> Cell {
        Cell::Number(Number {
            text: text.into(),
            ..Number::default()
        })
    }

    /// A count that should be zero.
    pub fn alarming(count: u64) -> Cell {
        Cell::Number(Number {
            text: assay_units::text::group_digits(count),
            alarm: count > 0,
            ..Number::default()
        })
    }
}

impl Table {
    /// Nothing in it?
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() || self.columns.is_empty()
    }

    /// Without the columns in which nothing belongs in any row.
    pub fn without_empty_columns(mut self) -> Table {
        let says = |column: usize| {
            let cell = |row: &Row| row.cells.get(column).is_some_and(|c| *c != Cell::Empty);
            self.rows.iter().any(cell)
        };
        let kept: Vec<bool> = (0..self.columns.len()).map(says).collect();
        let mut keep = kept.iter().copied();
        self.columns.retain(|_| keep.next().unwrap_or(true));
        for row in &mut self.rows {
            let mut keep = kept.iter().copied();
            row.cells.retain(|_| keep.next().unwrap_or(true));
        }
        self
    }

    /// Runs of neighbouring columns under the same group: (first column, how many).
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
