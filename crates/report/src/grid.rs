//! Results grouped by step and arranged along the workload axes that vary.

use assay_analysis::knee::total_depth;
use assay_store::model::{CellKind, CellPlan, CellResult, CellView};
use assay_store::read::CellRecord;

use crate::axis::{Axis, AxisValue, MAIN, SECONDARY};
use crate::drive_set::DriveSet;
use crate::format::{distinct, joined, text_or};
use crate::metric::ResultMetric;
use crate::table::{Column, Row, Table};
use layout::{MergeRule, merge_rule};
pub use point::Point;

pub mod layout;
mod point;

/// A section of a report: all cells of one step, of all runs.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    pub set: &'a DriveSet<'a>,
    pub suite: &'a str,
    /// The step; of several that share a section, the first.
    pub step: &'a str,
    pub title: &'a str,
    /// Kind of its cells; of several, the one with the most specific display.
    pub kind: CellKind,
    /// The view its suite declares, where the kind is not enough.
    pub view: Option<CellView>,
    pub points: Vec<Point<'a>>,
    pub row_axis: Option<Axis>,
    /// The rows, in order; one unnamed row where nothing varies.
    pub rows: Vec<AxisValue>,
    /// Axes that make up the columns under each drive.
    pub column_axes: Vec<Axis>,
    /// The columns under each drive, in order, as values of `column_axes`.
    pub columns: Vec<Vec<AxisValue>>,
    /// Drives that occur, as positions in the drive set.
    pub drives: Vec<usize>,
}

/// How specific the display of a kind is.
fn specificity(kind: CellKind) -> u8 {
    match kind {
        CellKind::Prepare | CellKind::Purge => 0,
        CellKind::Measure => 1,
        CellKind::Inspect => 2,
        CellKind::Soak | CellKind::Idle => 3,
        CellKind::Concurrent => 4,
    }
}

/// The sections of all runs, in the order in which their steps first occur, without
/// [`preparations`].
pub fn sections<'a>(set: &'a DriveSet<'a>) -> Vec<Section<'a>> {
    let mut sections: Vec<Section<'a>> = Vec::new();
    for (run, r) in set.runs.iter().enumerate() {
        let suite = r.manifest.suite.name.as_str();
        for cell in r.cells.iter().filter(|c| !prepares(c.plan.kind)) {
            let points = points(set, run, cell);
            match sections.iter_mut().find(|s| s.takes(suite, &cell.plan)) {
                Some(section) => {
                    section.points.extend(points);
                    if specificity(cell.plan.kind) > specificity(section.kind) {
                        section.kind = cell.plan.kind;
                    }
                }
                None => sections.push(Section {
                    set,
                    suite,
                    step: &cell.plan.step,
                    title: (cell.plan.view)
                        .and_then(layout::title)
                        .unwrap_or_else(|| step_title(&cell.plan)),
                    kind: cell.plan.kind,
                    view: cell.plan.view,
                    points: points.collect(),
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
    for i in 0..sections.len() {
        for n in 0..sections[i].points.len() {
            let point = &sections[i].points[n];
            if point.is_concurrent() {
                let anywhere = sections.iter().flat_map(|s| &s.points);
                let mut others = sections[i].points.iter().chain(anywhere);
                let alone = others.find(|p| p.is_alone(point)).cloned();
                sections[i].points[n].alone = alone.map(Box::new);
            }
        }
    }
    sections
}

/// The cells of all runs that prepared drives.
pub fn preparations<'a>(set: &'a DriveSet<'a>) -> Vec<Point<'a>> {
    let runs = set.runs.iter().enumerate();
    runs.flat_map(|(run, r)| {
        let cells = r.cells.iter().filter(|c| prepares(c.plan.kind));
        cells.flat_map(move |cell| points(set, run, cell))
    })
    .collect()
}

/// The title of a cell's step.
pub fn step_title(plan: &CellPlan) -> &str {
    text_or(&plan.title, &plan.step)
}

/// Kinds of cells without a result.
fn prepares(kind: CellKind) -> bool {
    matches!(kind, CellKind::Prepare | CellKind::Purge)
}

fn points<'a>(
    set: &'a DriveSet<'a>,
    run: usize,
    cell: &'a CellRecord,
) -> impl Iterator<Item = Point<'a>> {
    let drives = cell.plan.drives.iter();
    drives.filter_map(move |drive| Point::new(set, run, cell, *drive))
}

impl<'a> Section<'a> {
    /// True when a cell belongs to this section: the same step of the same suite, or the same test
    /// of another variant.
    fn takes(&self, suite: &str, plan: &CellPlan) -> bool {
        let (own, other) = (merge_rule(self.view), merge_rule(plan.view));
        if own == MergeRule::AllSuites || other == MergeRule::AllSuites {
            return own == other;
        }
        if self.suite != suite {
            return false;
        }
        let all_steps = own == MergeRule::AllSteps && self.view == plan.view;
        if self.step == plan.step || all_steps {
            return true;
        }
        let Some(first) = self.points.first().map(Point::plan) else {
            return false;
        };
        let workload = |p: &CellPlan| (p.workload.rw.clone(), p.workload.bs_bytes);
        first.variant.is_some()
            && plan.variant.is_some()
            && (first.view, first.kind) == (plan.view, plan.kind)
            && (first.title == plan.title
                || other == MergeRule::EqualWorkloads && workload(first) == workload(plan))
    }
    pub fn is_stream(&self) -> bool {
        self.view.is_some_and(CellView::is_stream)
    }

    /// True for the views of jobs that run at once.
    fn has_jobs(&self) -> bool {
        matches!(self.view, Some(CellView::Jobs | CellView::Interference | CellView::Placement))
    }

    /// Caption of one of its tables.
    pub fn caption(&self, what: &str) -> String {
        format!("{}: {what}", self.title)
    }

    /// A table with one row per drive, cell or phase.
    pub fn table(
        &self,
        what: &str,
        columns: Vec<Column>,
        rows: Vec<Row>,
        notes: Vec<String>,
    ) -> Table {
        Table::of_drives(self.caption(what), columns, rows, notes)
    }
    pub fn results(&self) -> impl Iterator<Item = &'a CellResult> + Clone {
        self.points.iter().filter_map(Point::result)
    }
    pub fn of_drive(&self, drive: usize) -> impl DoubleEndedIterator<Item = &Point<'a>> {
        self.points.iter().filter(move |p| p.drive == drive)
    }

    /// The points of a drive with a result.
    pub fn measured(&self, drive: usize) -> impl Iterator<Item = &Point<'a>> {
        self.of_drive(drive).filter(|p| p.result().is_some())
    }

    /// The axes that differ between its cells, rows first.
    pub fn varying(&self) -> Vec<Axis> {
        let mut axes: Vec<Axis> = self.row_axis.into_iter().collect();
        axes.extend(&self.column_axes);
        axes
    }

    /// The metrics that its tables and charts can show.
    pub fn metrics(&self) -> Vec<ResultMetric> {
        ResultMetric::offered(self.results())
    }

    /// Row and column of every table cell, row by row.
    pub fn locations(&self) -> impl Iterator<Item = (usize, usize)> {
        let columns = self.columns.len();
        (0..self.rows.len()).flat_map(move |row| (0..columns).map(move |column| (row, column)))
    }

    /// The point of a table cell. Of several (equal workloads), the last that was measured.
    pub fn at(&self, row: usize, column: usize, drive: usize) -> Option<&Point<'a>> {
        let here = |p: &&Point| p.row == row && p.column == column && p.drive == drive;
        let mut measured = self.points.iter().rev().filter(|p| p.result().is_some());
        measured.find(|p| here(p)).or_else(|| self.points.iter().rev().find(|p| here(p)))
    }

    /// The measured points, one list per drive and column, each in the order of the rows.
    pub fn series(&self) -> Vec<Vec<&Point<'a>>> {
        let mut all = Vec::new();
        for &drive in &self.drives {
            for column in 0..self.columns.len() {
                let points: Vec<&Point<'a>> = (0..self.rows.len())
                    .filter_map(|row| self.at(row, column, drive))
                    .filter(|p| p.result().is_some())
                    .collect();
                if !points.is_empty() {
                    all.push(points);
                }
            }
        }
        all
    }

    /// Heading of a column under a drive; empty when there is only one.
    pub fn column_label(&self, column: usize) -> String {
        let values = self.columns[column].iter();
        let labels: Vec<&str> = values.map(|v| v.label.as_str()).collect();
        labels.join(", ")
    }

    /// Row and column of a table cell: `4 KiB, 16 threads`; empty when nothing varies.
    pub fn location(&self, row: usize, column: usize) -> String {
        joined([&self.rows[row].label, &self.column_label(column)], ", ")
    }

    /// The same, or the section's title when nothing varies.
    pub fn location_or_title(&self, row: usize, column: usize) -> String {
        text_or(&self.location(row, column), self.title).to_owned()
    }

    /// Label of a row, or the section's title when no axis has rows.
    pub fn row_label(&self, row: usize) -> &str {
        match self.row_axis {
            Some(_) => &self.rows[row].label,
            None => self.title,
        }
    }
    pub fn row_title(&self) -> &'static str {
        self.row_axis.map_or("", Axis::title)
    }

    /// The points without a complete result.
    pub fn incomplete(&self) -> Vec<Point<'a>> {
        let incomplete = self.points.iter().filter(|p| p.remark().is_some());
        incomplete.cloned().collect()
    }

    /// The workload properties common to all cells, and those that differ only between drives.
    pub fn common(&self) -> String {
        if self.kind == CellKind::Idle {
            return "no workload".to_owned();
        }
        let mut parts = Vec::new();
        for axis in MAIN.into_iter().chain(SECONDARY) {
            if self.varying().contains(&axis) {
                continue;
            }
            let labels = self.points.iter().map(|p| axis.value(p.plan()).label);
            let labels = distinct(labels.filter(|label| !label.is_empty()));
            let no_host = |p: &Point| matches!(p.plan().workload.engine.as_str(), "sim" | "null");
            let trivial = match axis {
                // Targets without an engine of the host have no page cache either.
                Axis::Engine | Axis::Direct => self.points.iter().all(no_host),
                Axis::Rate => labels == ["unlimited"],
                // The workload's name implies it.
                Axis::ReadShare => self.is_unmixed(),
                Axis::Threads | Axis::Depth => self.varying().contains(&Axis::TotalDepth),
                Axis::Rw => self.varying().contains(&Axis::ReadShare),
                // Areas of different data have different offsets, and so have consecutive streams.
                Axis::Offset => {
                    labels == ["at 0 B"]
                        || self.varying().contains(&Axis::Data)
                        || self.is_stream()
                        || self.has_jobs() && labels.len() > 1
                }
                Axis::Span if self.is_stream() => labels.len() > 1,
                // Of jobs at once the table has the workloads; a trace has sizes of its own.
                Axis::Span if self.has_jobs() => labels.len() > 1,
                Axis::BlockSize => self.view == Some(CellView::TraceReplay),
                _ => false,
            };
            if trivial || labels.is_empty() {
                continue;
            }
            let text = labels.join(" or ");
            parts.push(match axis {
                Axis::Depth if labels.len() > 1 => match self.in_flight() {
                    Some(all) => format!("{all} in flight, all threads together"),
                    None => text,
                },
                Axis::Data => format!("data: {text}"),
                Axis::Engine => format!("engine: {text}"),
                Axis::Direct if text == "direct" => "page cache bypassed (direct)".to_owned(),
                Axis::Direct if text == "buffered" => "through the page cache".to_owned(),
                _ => text,
            });
        }
        parts.join(" \u{b7} ")
    }

    /// Chooses the axes of rows and columns, and places every point.
    fn lay_out(&mut self) {
        self.drives = distinct(self.points.iter().map(|p| p.drive));
        self.drives.sort_unstable();
        let mut axes: Vec<Axis> = MAIN.into_iter().filter(|a| self.varies(*a)).collect();
        for axis in SECONDARY {
            if self.has_duplicates(&axes) && self.varies(axis) {
                axes.push(axis);
            }
        }
        self.simplify(&mut axes);
        self.row_axis = self.choose_rows(&axes);
        self.column_axes = axes.into_iter().filter(|a| Some(*a) != self.row_axis).collect();
        let values = self.points.iter().map(|point| {
            let row = self.row_axis.map(|a| a.value(point.plan()));
            let columns = self.column_axes.iter();
            let column = columns.map(|a| a.value(point.plan())).collect();
            (row.unwrap_or_default(), column)
        });
        let (rows, columns): (Vec<AxisValue>, Vec<Vec<AxisValue>>) = values.unzip();
        self.rows = distinct(rows.iter().cloned());
        self.columns = distinct(columns.iter().cloned());
        // Stable sorts: values without a number keep the order of their first occurrence.
        let number = |v: &AxisValue| v.number.unwrap_or(0.0);
        self.rows.sort_by(|a, b| number(a).total_cmp(&number(b)));
        self.columns.sort_by(|a, b| {
            let mut pairs = a.iter().zip(b).map(|(a, b)| number(a).total_cmp(&number(b)));
            pairs.find(|o| o.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        });
        for (i, point) in self.points.iter_mut().enumerate() {
            point.row = self.rows.iter().position(|v| *v == rows[i]).unwrap_or(0);
            point.column = self.columns.iter().position(|v| *v == columns[i]).unwrap_or(0);
        }
    }

    /// True when no workload declares a share of reads.
    fn is_unmixed(&self) -> bool {
        let mut workloads = self.points.iter().map(|p| &p.plan().workload);
        workloads.all(|w| w.rwmixread.is_none())
    }

    /// Replaces two axes that carry the same information by one.
    fn simplify(&self, axes: &mut Vec<Axis>) {
        if axes.contains(&Axis::ReadShare) {
            if self.is_unmixed() {
                axes.retain(|a| *a != Axis::ReadShare);
            } else if let Some(rw) = axes.iter().position(|a| *a == Axis::Rw) {
                axes.remove(rw);
                if self.varies(Axis::Pattern) {
                    axes.insert(rw, Axis::Pattern);
                }
            }
        }
        if let (Some(threads), true) =
            (axes.iter().position(|a| *a == Axis::Threads), axes.contains(&Axis::Depth))
        {
            if self.in_flight().is_some() {
                axes.retain(|a| *a != Axis::Depth);
            } else if self.one_depth_per_total() {
                axes[threads] = Axis::TotalDepth;
                axes.retain(|a| *a != Axis::Depth);
            }
        }
    }

    /// The number of I/Os in flight, all threads together, where all cells have the same and divide
    /// it among different numbers of threads.
    fn in_flight(&self) -> Option<u32> {
        let mut totals = self.points.iter().map(|p| total_depth(&p.plan().workload));
        let first = totals.next()?;
        (self.varies(Axis::Threads) && totals.all(|total| total == first)).then_some(first)
    }

    /// True when every total queue depth has one combination of threads and depth per thread.
    fn one_depth_per_total(&self) -> bool {
        let mut threads_of = std::collections::BTreeMap::new();
        self.points.iter().all(|point| {
            let w = &point.plan().workload;
            *threads_of.entry(total_depth(w)).or_insert(w.numjobs) == w.numjobs
        })
    }

    /// True when it varies within the cells of one drive; what differs only between drives is no
    /// axis of a table.
    fn varies(&self, axis: Axis) -> bool {
        self.drives.iter().any(|drive| {
            let mut values = self.of_drive(*drive).map(|p| axis.value(p.plan()));
            let first = values.next();
            values.any(|v| Some(v) != first)
        })
    }

    /// True when two cells of a drive coincide on these axes; concurrent cells and rounds are kept
    /// apart.
    fn has_duplicates(&self, axes: &[Axis]) -> bool {
        let mut seen = std::collections::HashSet::new();
        self.points.iter().any(|p| {
            let round = p.plan().round.as_ref().map(|r| r.number);
            let labels: Vec<String> = axes.iter().map(|x| x.value(p.plan()).label).collect();
            !seen.insert((p.drive, p.is_concurrent(), round, labels))
        })
    }

    /// The axis of the rows: as the view defines it, else the numeric axis with most values (the
    /// first of equals), else the first other axis but not the data, which are compared side by
    /// side.
    fn choose_rows(&self, axes: &[Axis]) -> Option<Axis> {
        let count = |axis: Axis| {
            let values = self.points.iter().map(|p| axis.value(p.plan()));
            distinct(values).len()
        };
        let fixed = layout::row_axes(self.view, self.kind).iter();
        let mut fixed = fixed.filter(|axis| axes.contains(axis));
        let numeric = axes.iter().rev().filter(|axis| axis.is_numeric());
        fixed
            .next()
            .or_else(|| numeric.max_by_key(|axis| count(**axis)))
            .or_else(|| axes.iter().find(|axis| **axis != Axis::Data))
            .copied()
    }
}
