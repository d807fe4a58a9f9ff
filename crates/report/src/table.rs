//! Tables independent of the output medium: the page and the terminal show the same ones.

use assay_analysis::estimate::Missing;

use crate::format;

/// A table with one row heading and columns that may be grouped under drives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Title, with the unit where all columns share one.
    pub caption: String,
    pub corner: String,
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    /// Lines below: legends of marks, reasons of missing figures.
    pub notes: Vec<String>,
}

/// A plain-text heading of a row or group; as text, that of a simulated drive is marked
/// "(simulated)".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    pub text: String,
    pub simulated: bool,
}

impl Heading {
    pub fn plain(text: impl Into<String>) -> Heading {
        Heading { text: text.into(), simulated: false }
    }
}

impl std::fmt::Display for Heading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let marker = if self.simulated { " (simulated)" } else { "" };
        write!(f, "{}{marker}", self.text)
    }
}

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
    pub fn new(label: impl Into<String>, unit: &'static str) -> Column {
        Column { group: None, label: label.into(), unit }
    }

    /// Columns without a group: labels and units.
    pub fn list<const N: usize>(columns: [(&str, &'static str); N]) -> Vec<Column> {
        Vec::from(columns.map(|(label, unit)| Column::new(label, unit)))
    }

    /// A column under a group heading; an empty heading means no group.
    pub fn under(group: &str, label: &str, unit: &'static str) -> Column {
        Column {
            group: (!group.is_empty()).then(|| Heading::plain(group)),
            ..Column::new(label, unit)
        }
    }

    /// Columns without units under a group heading.
    pub fn all_under<const N: usize>(group: &str, labels: [&str; N]) -> [Column; N] {
        labels.map(|label| Column::under(group, label, ""))
    }

    /// A column without a unit under the heading of a drive.
    pub fn of_drive(group: &Heading, label: impl Into<String>) -> Column {
        Column { group: Some(group.clone()), ..Column::new(label, "") }
    }
}

/// Columns with the cells below them; a row is about an `R`.
pub struct Columns<'c, R> {
    pub headings: Vec<Column>,
    cells: Vec<CellsOf<'c, R>>,
}

/// The cells of a row below some columns.
type CellsOf<'c, R> = Box<dyn Fn(&R) -> Vec<TableCell> + 'c>;

impl<'c, R> Columns<'c, R> {
    pub fn new() -> Columns<'c, R> {
        Columns { headings: Vec::new(), cells: Vec::new() }
    }

    /// Adds columns; of each row, `cells` gives one cell for each.
    pub fn add<I: IntoIterator<Item = TableCell>>(
        &mut self,
        headings: impl IntoIterator<Item = Column>,
        cells: impl Fn(&R) -> I + 'c,
    ) {
        self.headings.extend(headings);
        let cells = move |row: &R| cells(row).into_iter().collect();
        self.cells.push(Box::new(cells));
    }

    /// The cells of a row.
    pub fn cells(&self, row: &R) -> Vec<TableCell> {
        self.cells.iter().flat_map(|cells| cells(row)).collect()
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    pub name: Heading,
    /// One cell per column.
    pub cells: Vec<TableCell>,
}

impl Row {
    /// A row of these cells.
    pub fn new(name: Heading, cells: Vec<TableCell>) -> Row {
        Row { name, cells }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum TableCell {
    /// A figure.
    Number(Number),
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
    /// Why a mean over a series has no spread.
    pub no_spread: Option<Missing>,
    /// Details for a tooltip.
    pub details: String,
}

impl TableCell {
    /// A figure as text.
    pub fn number(text: impl Into<String>) -> TableCell {
        TableCell::Number(Number { text: text.into(), ..Number::default() })
    }

    /// A value in the common notation ([`format::figure`]); empty where there is none.
    pub fn figure(value: impl Into<Option<f64>>) -> TableCell {
        value.into().map_or(TableCell::Empty, |v| TableCell::number(format::figure(v)))
    }

    /// A percentage ([`format::percent`]); empty where there is none.
    pub fn percent(value: impl Into<Option<f64>>) -> TableCell {
        value.into().map_or(TableCell::Empty, |v| TableCell::number(format::percent(v)))
    }

    /// A temperature in whole degrees; empty where there is none.
    pub fn celsius(value: Option<f64>) -> TableCell {
        value.map_or(TableCell::Empty, |c| TableCell::number(format!("{c:.0}")))
    }

    /// This cell, or a substitute for an empty one.
    pub fn or(self, substitute: impl FnOnce() -> TableCell) -> TableCell {
        if self == TableCell::Empty { substitute() } else { self }
    }

    pub fn text(text: impl Into<String>) -> TableCell {
        TableCell::Text(text.into())
    }

    /// A count that should be zero; an alarm otherwise.
    pub fn fault_count(count: u64) -> TableCell {
        TableCell::number(assay_units::text::group_digits(count)).with(|n| n.alarm = count > 0)
    }

    /// The drive does not report the value.
    pub fn unreported() -> TableCell {
        TableCell::Missing("n/a", "not reported by the drive".to_owned())
    }

    /// A latency, or a dash where it has fewer samples than the percentile needs.
    pub fn latency(ns: f64, samples: u64, needed: u64) -> TableCell {
        if ns.is_nan() {
            let why = "not in the imported file, or its threads' percentiles cannot be merged";
            return TableCell::Missing("\u{2013}", why.to_owned());
        }
        if samples >= needed {
            return TableCell::number(format::micros(ns));
        }
        let why = format!("{samples} samples, at least {needed} are needed");
        TableCell::Missing("\u{2013}", why)
    }

    /// Changes the emphasis of a figure; other cells stay as they are.
    pub fn with(mut self, change: impl FnOnce(&mut Number)) -> TableCell {
        if let TableCell::Number(number) = &mut self {
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
            row.cells.resize(columns.len(), TableCell::Empty);
        }
        Table { caption, corner: "drive".to_owned(), columns, rows, notes }
    }

    /// Without the details of its figures, which another table has.
    pub fn without_details(mut self) -> Table {
        let cells = self.rows.iter_mut().flat_map(|row| &mut row.cells);
        for cell in cells {
            if let TableCell::Number(number) = cell {
                number.details.clear();
            }
        }
        self
    }

    /// True without rows or columns.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() || self.columns.is_empty()
    }

    /// Removes the columns that are empty in every row.
    pub fn without_empty_columns(mut self) -> Table {
        let used =
            |column: usize| self.rows.iter().any(|row| row.cells[column] != TableCell::Empty);
        let used: Vec<bool> = (0..self.columns.len()).map(used).collect();
        fn keep<T>(all: &mut Vec<T>, used: &[bool]) {
            let mut used = used.iter();
            all.retain(|_| used.next() == Some(&true));
        }
        keep(&mut self.columns, &used);
        self.rows.iter_mut().for_each(|row| keep(&mut row.cells, &used));
        self
    }

    /// Runs of neighbours of the same group among these columns.
    pub fn groups<'c>(&self, columns: &'c [usize]) -> impl Iterator<Item = &'c [usize]> {
        let group = |column: usize| self.columns[column].group.as_ref();
        columns.chunk_by(move |a, b| group(*a).is_some() && group(*a) == group(*b))
    }

    /// The indices of all columns.
    pub fn all_columns(&self) -> Vec<usize> {
        (0..self.columns.len()).collect()
    }
}

#[cfg(test)]
#[path = "../tests/unit/table.rs"]
mod tests;
