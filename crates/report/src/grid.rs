//! Results grouped by step and arranged along the workload axes that vary.

use assay_analysis::steady_state;
use assay_store::model::{CellKind, CellPlan, CellResult, CellView};
use assay_store::read::{CellDrive, CellRecord, CellState};
use assay_store::series::IntervalSample;

use crate::axis::{Axis, AxisValue, MAIN, SECONDARY};
use crate::drive_set::DriveSet;
use crate::metric::ResultMetric;
use crate::views::{self, MergeRule, SectionView};

/// A section of a report: all cells of one step, of all runs.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    /// The suite of the step.
    pub suite: &'a str,
    /// The step; of several that share a section, the first.
    pub step: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Kind of its cells; of several, the one with the most specific display.
    pub kind: CellKind,
    /// The view its suite declares, where the kind is not enough.
    pub view: Option<CellView>,
    /// One per cell and drive.
    pub points: Vec<Point<'a>>,
    /// Axis of the rows, when cells differ.
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

/// One drive's result in one cell.
#[derive(Clone, Debug)]
pub struct Point<'a> {
    /// Index of the run.
    pub run: usize,
    /// The cell.
    pub cell: &'a CellRecord,
    /// The drive, as a position in the drive set.
    pub drive: usize,
    /// Its measurements, if any.
    pub data: Option<&'a CellDrive>,
    /// Why the drive was not in steady state, where the cell requires it.
    pub not_steady_reason: Option<String>,
    /// Index into [`Section::rows`].
    pub row: usize,
    /// Index into [`Section::columns`].
    pub column: usize,
}

impl<'a> Point<'a> {
    /// The result, complete or not.
    pub fn result(&self) -> Option<&'a CellResult> {
        self.data.and_then(|p| p.result.as_ref())
    }

    /// Its measured intervals; none without measurements.
    pub fn measured_intervals(&self) -> Vec<IntervalSample> {
        self.data
            .map(CellDrive::measured_intervals)
            .unwrap_or_default()
    }

    /// The plan.
    pub fn plan(&self) -> &'a CellPlan {
        &self.cell.plan
    }

    /// True when its cell measures several drives concurrently.
    pub fn is_concurrent(&self) -> bool {
        self.cell.plan.drives.len() > 1
    }

    /// Why the result is missing or incomplete: (short, in full). `None` for a finished cell.
    pub fn remark(&self) -> Option<(&'static str, String)> {
        match &self.cell.state {
            CellState::Finished if self.result().is_some() => {
                self.not_steady_reason.clone().map(|why| ("not steady", why))
            }
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

    /// Its values on these axes: `4 KiB, 16 threads, depth 1`.
    pub fn coordinates(&self, axes: &[Axis]) -> String {
        let labels: Vec<String> = axes
            .iter()
            .map(|a| a.value(&self.cell.plan).label)
            .filter(|label| !label.is_empty())
            .collect();
        labels.join(", ")
    }
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

/// The sections of all runs, in the order in which their steps first occur, without [`preparations`].
pub fn sections<'a>(set: &DriveSet<'a>) -> Vec<Section<'a>> {
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
                    suite,
                    step: &cell.plan.step,
                    title: views::of(cell.plan.view, CellKind::Measure)
                        .title()
                        .unwrap_or_else(|| step_title(&cell.plan)),
                    kind: cell.plan.kind,
                    view: cell.plan.view,
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

/// The cells of all runs that prepared drives.
pub fn preparations<'a>(set: &DriveSet<'a>) -> Vec<Point<'a>> {
    let runs = set.runs.iter().enumerate();
    runs.flat_map(|(run, r)| {
        let cells = r.cells.iter().filter(|c| prepares(c.plan.kind));
        cells.flat_map(move |cell| points(set, run, cell))
    })
    .collect()
}

/// The title of a cell's step.
pub fn step_title(plan: &CellPlan) -> &str {
    if plan.title.is_empty() {
        &plan.step
    } else {
        &plan.title
    }
}

/// Kinds of cells without a result.
fn prepares(kind: CellKind) -> bool {
    matches!(kind, CellKind::Prepare | CellKind::Purge)
}

fn points<'a>(set: &DriveSet<'a>, run: usize, cell: &'a CellRecord) -> Vec<Point<'a>> {
    let planned = cell.plan.drives.iter();
    planned
        .filter_map(|&drive| {
            Some(Point {
                run,
                cell,
                drive: set.position(run, drive)?,
                data: cell.drives.iter().find(|p| p.drive == drive),
                not_steady_reason: steady_state::not_steady_reason(&set.runs[run], cell, drive),
                row: 0,
                column: 0,
            })
        })
        .collect()
}

impl<'a> Section<'a> {
    /// True when a cell belongs to this section: the same step of the same suite, or the same test of another variant.
    fn takes(&self, suite: &str, plan: &CellPlan) -> bool {
        let rule = |view| views::of(view, CellKind::Measure).merge_rule();
        let (own, other) = (rule(self.view), rule(plan.view));
        if own == MergeRule::AllSuites || other == MergeRule::AllSuites {
            return own == other;
        }
        if self.suite != suite {
            return false;
        }
        if self.step == plan.step || own == MergeRule::AllSteps && other == own {
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

    /// Its descriptor.
    pub fn descriptor(&self) -> &'static dyn SectionView {
        views::of(self.view, self.kind)
    }

    /// True for streams of chunks.
    pub fn is_stream(&self) -> bool {
        self.view.is_some_and(CellView::is_stream)
    }

    /// Caption of one of its tables.
    pub fn caption(&self, what: &str) -> String {
        format!("{}: {what}", self.title)
    }

    /// The axes that differ between its cells, rows first.
    pub fn varying(&self) -> Vec<Axis> {
        let mut axes: Vec<Axis> = self.row_axis.into_iter().collect();
        axes.extend(&self.column_axes);
        axes
    }

    /// The metrics that its tables and charts can show.
    pub fn metrics(&self) -> Vec<ResultMetric> {
        ResultMetric::offered(self.points.iter().filter_map(Point::result))
    }

    /// The point of a table cell. Of several (equal workloads), the last that was measured.
    pub fn at(&self, row: usize, column: usize, drive: usize) -> Option<&Point<'a>> {
        let here = |p: &&Point| p.row == row && p.column == column && p.drive == drive;
        let mut measured = self.points.iter().rev().filter(|p| p.result().is_some());
        measured
            .find(|p| here(p))
            .or_else(|| self.points.iter().rev().find(|p| here(p)))
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
        let labels: Vec<&str> = self.columns[column]
            .iter()
            .map(|v| v.label.as_str())
            .collect();
        labels.join(", ")
    }

    /// Row and column of a table cell: `4 KiB, 16 threads`; empty when nothing varies.
    pub fn location(&self, row: usize, column: usize) -> String {
        let mut labels = vec![self.rows[row].label.clone(), self.column_label(column)];
        labels.retain(|label| !label.is_empty());
        labels.join(", ")
    }

    /// The same, or the section's title when nothing varies.
    pub fn location_or_title(&self, row: usize, column: usize) -> String {
        match self.location(row, column) {
            none if none.is_empty() => self.title.to_owned(),
            location => location,
        }
    }

    /// Label of a row, or the section's title when no axis has rows.
    pub fn row_label(&self, row: usize) -> String {
        if self.row_axis.is_some() {
            self.rows[row].label.clone()
        } else {
            self.title.to_owned()
        }
    }

    /// Title of the axis of the rows.
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
            let mut labels: Vec<String> = Vec::new();
            for point in &self.points {
                let label = axis.value(point.plan()).label;
                if !label.is_empty() && !labels.contains(&label) {
                    labels.push(label);
                }
            }
            let no_host = |p: &Point| matches!(p.plan().workload.engine.as_str(), "sim" | "null");
            let trivial = match axis {
                // Targets without an engine of the host have no page cache either.
                Axis::Engine | Axis::Direct => self.points.iter().all(no_host),
                Axis::Rate => labels == ["unlimited"],
                // The workload's name implies it.
                Axis::ReadShare => self
                    .points
                    .iter()
                    .all(|p| p.plan().workload.rwmixread.is_none()),
                Axis::Threads | Axis::Depth => self.varying().contains(&Axis::TotalDepth),
                Axis::Rw => self.varying().contains(&Axis::ReadShare),
                // Areas of different data have different offsets, and so have consecutive streams.
                Axis::Offset => {
                    labels == ["at 0 B"] || self.varying().contains(&Axis::Data) || self.is_stream()
                }
                Axis::Span if self.is_stream() => labels.len() > 1,
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

    /// Chooses the axes of rows and columns, and places every point.
    fn lay_out(&mut self) {
        for point in &self.points {
            if !self.drives.contains(&point.drive) {
                self.drives.push(point.drive);
            }
        }
        self.drives.sort_unstable();
        let mut axes: Vec<Axis> = MAIN.into_iter().filter(|a| self.varies(*a)).collect();
        for axis in SECONDARY {
            if self.has_duplicates(&axes) && self.varies(axis) {
                axes.push(axis);
            }
        }
        self.simplify(&mut axes);
        self.row_axis = self.choose_rows(&axes);
        self.column_axes = axes
            .into_iter()
            .filter(|a| Some(*a) != self.row_axis)
            .collect();
        for i in 0..self.points.len() {
            let plan = &self.points[i].cell.plan;
            let row = match self.row_axis {
                Some(axis) => axis.value(plan),
                None => AxisValue::default(),
            };
            let column: Vec<AxisValue> = self.column_axes.iter().map(|a| a.value(plan)).collect();
            if !self.rows.contains(&row) {
                self.rows.push(row);
            }
            if !self.columns.contains(&column) {
                self.columns.push(column);
            }
        }
        // Stable sorts: values without a number keep the order of their first occurrence.
        let number = |v: &AxisValue| v.number.unwrap_or(0.0);
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
            let plan = &point.cell.plan;
            let row = row_axis.map(|a| a.value(plan));
            let column: Vec<AxisValue> = column_axes.iter().map(|a| a.value(plan)).collect();
            point.row = row
                .and_then(|r| self.rows.iter().position(|x| *x == r))
                .unwrap_or(0);
            point.column = self.columns.iter().position(|x| *x == column).unwrap_or(0);
        }
    }

    /// Replaces two axes that carry the same information by one.
    fn simplify(&self, axes: &mut Vec<Axis>) {
        if axes.contains(&Axis::ReadShare) {
            if self
                .points
                .iter()
                .all(|p| p.plan().workload.rwmixread.is_none())
            {
                axes.retain(|a| *a != Axis::ReadShare);
            } else if let Some(rw) = axes.iter().position(|a| *a == Axis::Rw) {
                axes.remove(rw);
                if self.varies(Axis::Pattern) {
                    axes.insert(rw, Axis::Pattern);
                }
            }
        }
        if let (Some(threads), true) = (
            axes.iter().position(|a| *a == Axis::Threads),
            axes.contains(&Axis::Depth),
        ) && self.one_depth_per_total()
        {
            axes[threads] = Axis::TotalDepth;
            axes.retain(|a| *a != Axis::Depth);
        }
    }

    /// True when every total queue depth has one combination of threads and depth per thread.
    fn one_depth_per_total(&self) -> bool {
        let mut threads_of = std::collections::BTreeMap::new();
        self.points.iter().all(|point| {
            let w = &point.plan().workload;
            let total = u64::from(w.numjobs) * u64::from(w.iodepth);
            *threads_of.entry(total).or_insert(w.numjobs) == w.numjobs
        })
    }

    /// True when it varies within the cells of one drive; what differs only between drives is no axis of a table.
    fn varies(&self, axis: Axis) -> bool {
        self.drives.iter().any(|drive| {
            let mut values = self
                .points
                .iter()
                .filter(|p| p.drive == *drive)
                .map(|p| axis.value(p.plan()));
            let first = values.next();
            values.any(|v| Some(v) != first)
        })
    }

    /// True when two cells of a drive coincide on these axes; concurrent cells and rounds are kept apart.
    fn has_duplicates(&self, axes: &[Axis]) -> bool {
        let mut seen = std::collections::HashSet::new();
        self.points.iter().any(|p| {
            let round = p.plan().round.as_ref().map(|r| r.number);
            let labels: Vec<String> = axes.iter().map(|x| x.value(p.plan()).label).collect();
            !seen.insert((p.drive, p.is_concurrent(), round, labels))
        })
    }

    /// The axis of the rows: as the view defines it, else the numeric axis with most values (the first of equals), else the
    /// first other axis but not the data, which are compared side by side.
    fn choose_rows(&self, axes: &[Axis]) -> Option<Axis> {
        let count = |axis: Axis| {
            let mut seen: Vec<AxisValue> = Vec::new();
            for point in &self.points {
                let value = axis.value(point.plan());
                if !seen.contains(&value) {
                    seen.push(value);
                }
            }
            seen.len()
        };
        let fixed = self.descriptor().row_axes().iter();
        let mut fixed = fixed.filter(|axis| axes.contains(axis));
        let numeric = axes.iter().rev().filter(|axis| axis.is_numeric());
        fixed
            .next()
            .or_else(|| numeric.max_by_key(|axis| count(**axis)))
            .or_else(|| axes.iter().find(|axis| **axis != Axis::Data))
            .copied()
    }
}
