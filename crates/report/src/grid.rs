//! Cells grouped by step and laid out along the axes that vary.

use assay_store::model::{CellKind, CellPlan, CellResult};
use assay_store::read::{CellDrive, CellRecord, CellState, Run};

use crate::axis::{Axis, MAIN, SECONDARY, Value};
use crate::lineup::Lineup;

/// All cells of one step, of all runs: one section of a report.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    /// The step's name.
    pub step: &'a str,
    /// Its title for people.
    pub title: &'a str,
    /// What it is for; of several, the one that needs the most particular display.
    pub kind: CellKind,
    /// One per cell and drive.
    pub points: Vec<Point<'a>>,
    /// Axis of the rows, when cells differ.
    pub row_axis: Option<Axis>,
    /// The rows, in order; one unnamed row where nothing varies.
    pub rows: Vec<Value>,
    /// Axes that make up the columns under each drive.
    pub column_axes: Vec<Axis>,
    /// The columns under each drive, in order, as values of `column_axes`.
    pub columns: Vec<Vec<Value>>,
    /// Drives that occur, as positions in the line-up.
    pub drives: Vec<usize>,
}

/// One drive's part in one cell.
#[derive(Clone, Debug)]
pub struct Point<'a> {
    /// Which run.
    pub run: usize,
    /// The cell.
    pub cell: &'a CellRecord,
    /// The drive, as a position in the line-up.
    pub drive: usize,
    /// What was measured, when anything was.
    pub part: Option<&'a CellDrive>,
    /// Index into [`Section::rows`].
    pub row: usize,
    /// Index into [`Section::columns`].
    pub column: usize,
}

impl<'a> Point<'a> {
    /// The result, complete or not.
    pub fn result(&self) -> Option<&'a CellResult> {
        self.part.and_then(|p| p.result.as_ref())
    }

    /// The plan.
    pub fn plan(&self) -> &'a CellPlan {
        &self.cell.plan
    }

    /// Are several drives measured at once in its cell?
    pub fn together(&self) -> bool {
        self.cell.plan.drives.len() > 1
    }

    /// Why there is no result, or why it is not a whole one: (short, in full). `None` for a finished cell.
    pub fn remark(&self) -> Option<(&'static str, String)> {
        match &self.cell.state {
            CellState::Finished if self.result().is_some() => None,
            CellState::Finished => Some(("no result", "the cell finished without a result for this drive".to_owned())),
            CellState::Planned => Some(("not reached", "the run ended before this cell".to_owned())),
            CellState::Skipped(why) => Some(("skipped", why.clone())),
            CellState::Failed(why) => Some(("failed", why.clone())),
            CellState::Unfinished => Some((
                "unfinished",
                "the run was interrupted in this cell; the figure covers what was measured until then".to_owned(),
            )),
        }
    }

    /// The coordinates in words, without those in `but`: `4 KiB, 16 threads, depth 1`.
    pub fn coordinates(&self, axes: &[Axis]) -> String {
        let labels: Vec<String> = axes
            .iter()
            .map(|a| a.value(&self.cell.plan.workload).label)
            .collect();
        labels.join(", ")
    }
}

/// How particular a kind's display is.
fn weight(kind: CellKind) -> u8 {
    match kind {
        CellKind::Prepare | CellKind::Purge => 0,
        CellKind::Measure => 1,
        CellKind::Inspect => 2,
        CellKind::Soak | CellKind::Idle => 3,
        CellKind::AllAboard => 4,
    }
}

/// The sections of all runs, in the order their steps first occur. Preparations are left out: see [`preparations`].
pub fn sections<'a>(lineup: &Lineup<'a>) -> Vec<Section<'a>> {
    let mut sections: Vec<Section<'a>> = Vec::new();
    for (run, r) in lineup.runs.iter().enumerate() {
        for cell in cells(r).filter(|c| !prepares(c.plan.kind)) {
            let points = points(lineup, run, cell);
            match sections.iter_mut().find(|s| s.step == cell.plan.step) {
                Some(section) => {
                    section.points.extend(points);
                    if weight(cell.plan.kind) > weight(section.kind) {
                        section.kind = cell.plan.kind;
                    }
                }
                None => sections.push(Section {
                    step: &cell.plan.step,
                    title: if cell.plan.title.is_empty() {
                        &cell.plan.step
                    } else {
                        &cell.plan.title
                    },
                    kind: cell.plan.kind,
                    points,
                    row_axis: None,
                    rows: Vec::new(),
                    column_axes: Vec::new(),
                    columns: Vec::new(),
                    drives: Vec::new(),
                }),
            }
        }
    }
    for section in &mut sections {
        section.lay_out();
    }
    sections
}

/// The cells that only prepared, of all runs.
pub fn preparations<'a>(lineup: &Lineup<'a>) -> Vec<Point<'a>> {
    let runs = lineup.runs.iter().enumerate();
    runs.flat_map(|(run, r)| {
        cells(r)
            .filter(|c| prepares(c.plan.kind))
            .flat_map(move |cell| points(lineup, run, cell))
    })
    .collect()
}

/// Is nothing of such a cell a result?
fn prepares(kind: CellKind) -> bool {
    matches!(kind, CellKind::Prepare | CellKind::Purge)
}

fn cells(run: &Run) -> impl Iterator<Item = &CellRecord> {
    run.cells.iter()
}

fn points<'a>(lineup: &Lineup<'a>, run: usize, cell: &'a CellRecord) -> Vec<Point<'a>> {
    let planned = cell.plan.drives.iter();
    planned
        .filter_map(|&drive| {
            Some(Point {
                run,
                cell,
                drive: lineup.position(run, drive)?,
                part: cell.drives.iter().find(|p| p.drive == drive),
                row: 0,
                column: 0,
            })
        })
        .collect()
}

impl<'a> Section<'a> {
    /// The axes that differ between its cells, rows first.
    pub fn varying(&self) -> Vec<Axis> {
        let mut axes: Vec<Axis> = self.row_axis.into_iter().collect();
        axes.extend(&self.column_axes);
        axes
    }

    /// The point of a place in the table. Of several (equal workloads), the last that was measured.
    pub fn at(&self, row: usize, column: usize, drive: usize) -> Option<&Point<'a>> {
        let here = |p: &&Point| p.row == row && p.column == column && p.drive == drive;
        let mut measured = self.points.iter().rev().filter(|p| p.result().is_some());
        measured
            .find(|p| here(p))
            .or_else(|| self.points.iter().rev().find(|p| here(p)))
    }

    /// Heading of a column under a drive; empty when there is only one.
    pub fn column_label(&self, column: usize) -> String {
        let labels: Vec<&str> = self.columns[column]
            .iter()
            .map(|v| v.label.as_str())
            .collect();
        labels.join(", ")
    }

    /// A place in the table in words: `4 KiB, 16 threads`; empty when nothing varies.
    pub fn place(&self, row: usize, column: usize) -> String {
        let labels = [self.rows[row].label.clone(), self.column_label(column)];
        let named: Vec<&str> = labels
            .iter()
            .map(String::as_str)
            .filter(|label| !label.is_empty())
            .collect();
        named.join(", ")
    }

    /// What all its cells have in common, in words, and what differs only between drives.
    pub fn common(&self) -> String {
        let mut parts = Vec::new();
        for axis in MAIN.into_iter().chain(SECONDARY) {
            if self.varying().contains(&axis) {
                continue;
            }
            let mut labels: Vec<String> = Vec::new();
            for point in &self.points {
                let label = axis.value(&point.plan().workload).label;
                if !label.is_empty() && !labels.contains(&label) {
                    labels.push(label);
                }
            }
            let no_host = |p: &Point| matches!(p.plan().workload.engine.as_str(), "sim" | "null");
            let trivial = match axis {
                // A drive that is its own engine has no page cache either.
                Axis::Engine | Axis::Direct => self.points.iter().all(no_host),
                Axis::Rate => labels == ["unlimited"],
                // Areas of different data are at different places: the data are what matters.
                Axis::Offset => labels == ["at 0 B"] || self.varying().contains(&Axis::Data),
                _ => false,
            };
            if trivial || labels.is_empty() {
                continue;
            }
            let text = labels.join(" or ");
            parts.push(match axis {
                Axis::Data => format!("data: {text}"),
                Axis::Engine => format!("engine: {text}"),
                Axis::Direct if text == "direct" => "page cache bypassed (direct)".to_owned(),
                Axis::Direct if text == "buffered" => "through the page cache".to_owned(),
                _ => text,
            });
        }
        parts.join(" \u{b7} ")
    }

    fn lay_out(&mut self) {
        for point in &self.points {
            if !self.drives.contains(&point.drive) {
                self.drives.push(point.drive);
            }
        }
        self.drives.sort_unstable();
        let mut axes: Vec<Axis> = MAIN.into_iter().filter(|a| self.varies(*a)).collect();
        for axis in SECONDARY {
            if self.has_twins(&axes) && self.varies(axis) {
                axes.push(axis);
            }
        }
        self.row_axis = self.choose_rows(&axes);
        self.column_axes = axes
            .into_iter()
            .filter(|a| Some(*a) != self.row_axis)
            .collect();
        for i in 0..self.points.len() {
            let workload = &self.points[i].cell.plan.workload;
            let row = match self.row_axis {
                Some(axis) => axis.value(workload),
                None => Value {
                    number: None,
                    label: String::new(),
                },
            };
            let column: Vec<Value> = self.column_axes.iter().map(|a| a.value(workload)).collect();
            if !self.rows.contains(&row) {
                self.rows.push(row);
            }
            if !self.columns.contains(&column) {
                self.columns.push(column);
            }
        }
        // Stable sorts: words (no number) stay as they first occurred.
        let number = |v: &Value| v.number.unwrap_or(0.0);
        self.rows.sort_by(|a, b| number(a).total_cmp(&number(b)));
        self.columns.sort_by(|a, b| {
            let pairs = a.iter().zip(b);
            pairs
                .map(|(a, b)| number(a).total_cmp(&number(b)))
                .find(|o| o.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        let (row_axis, column_axes) = (self.row_axis, self.column_axes.clone());
        for point in &mut self.points {
            let workload = &point.cell.plan.workload;
            let row = row_axis.map(|a| a.value(workload));
            let column: Vec<Value> = column_axes.iter().map(|a| a.value(workload)).collect();
            point.row = row
                .and_then(|r| self.rows.iter().position(|x| *x == r))
                .unwrap_or(0);
            point.column = self.columns.iter().position(|x| *x == column).unwrap_or(0);
        }
    }

    /// Does it vary within the cells of one drive? What differs only between drives is no axis of a table.
    fn varies(&self, axis: Axis) -> bool {
        self.drives.iter().any(|drive| {
            let mut values = self
                .points
                .iter()
                .filter(|p| p.drive == *drive)
                .map(|p| axis.value(&p.plan().workload));
            let first = values.next();
            values.any(|v| Some(v) != first)
        })
    }

    /// Do two cells of a drive coincide on these axes? A drive alone and the same among others do not count.
    fn has_twins(&self, axes: &[Axis]) -> bool {
        self.points.iter().enumerate().any(|(i, a)| {
            self.points[i + 1..].iter().any(|b| {
                a.drive == b.drive
                    && a.together() == b.together()
                    && axes
                        .iter()
                        .all(|x| x.value(&a.plan().workload) == x.value(&b.plan().workload))
            })
        })
    }

    /// Rows are the numeric axis with most values (first of equals); words only when no number varies, and what the data
    /// are like never: that is compared side by side.
    fn choose_rows(&self, axes: &[Axis]) -> Option<Axis> {
        let count = |axis: Axis| {
            let mut seen: Vec<Value> = Vec::new();
            for point in &self.points {
                let value = axis.value(&point.plan().workload);
                if !seen.contains(&value) {
                    seen.push(value);
                }
            }
            seen.len()
        };
        let numeric = |a: &&Axis| !matches!(a, Axis::Rw | Axis::Data | Axis::Direct | Axis::Engine);
        let mut best: Option<(usize, Axis)> = None;
        for axis in axes.iter().filter(numeric) {
            let n = count(*axis);
            if best.is_none_or(|(most, _)| n > most) {
                best = Some((n, *axis));
            }
        }
        best.map(|(_, axis)| axis)
            .or_else(|| axes.iter().copied().find(|a| *a != Axis::Data))
    }
}
