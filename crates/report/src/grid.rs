//! Cells grouped by step and laid out along the axes that vary.

use assay_analysis::steady_state;
use assay_store::model::{CellKind, CellPlan, CellResult, View};
use assay_store::read::{CellDrive, CellRecord, CellState, Run};

use crate::axis::{Axis, MAIN, SECONDARY, Value};
use crate::lineup::Lineup;
use crate::metric::Metric;

/// All cells of one step, of all runs: one section of a report.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    /// The suite that the step is of.
    pub suite: &'a str,
    /// The step's name; of several that are read together, the first one's.
    pub step: &'a str,
    /// Its title for people.
    pub title: &'a str,
    /// What it is for; of several, the one that needs the most particular display.
    pub kind: CellKind,
    /// How it is to be read, where the kind does not say.
    pub view: Option<View>,
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
    /// Why its figures are not those of a drive at rest, where they should be.
    pub unrest: Option<String>,
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
            CellState::Finished if self.result().is_some() => {
                self.unrest.clone().map(|why| ("not steady", why))
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

    /// The coordinates in words, without those in `but`: `4 KiB, 16 threads, depth 1`.
    pub fn coordinates(&self, axes: &[Axis]) -> String {
        let labels: Vec<String> = axes
            .iter()
            .map(|a| a.value(&self.cell.plan).label)
            .filter(|label| !label.is_empty())
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
        let suite = r.manifest.suite.name.as_str();
        for cell in cells(r).filter(|c| !prepares(c.plan.kind)) {
            let points = points(lineup, run, cell);
            match sections.iter_mut().find(|s| s.takes(suite, &cell.plan)) {
                Some(section) => {
                    section.points.extend(points);
                    if weight(cell.plan.kind) > weight(section.kind) {
                        section.kind = cell.plan.kind;
                    }
                }
                None => sections.push(Section {
                    suite,
                    step: &cell.plan.step,
                    title: if cell.plan.view == Some(View::Capacity) {
                        "Every block, written and read back"
                    } else if cell.plan.view.is_some_and(View::is_stream) {
                        "Streams: peak against continuous"
                    } else if cell.plan.title.is_empty() {
                        &cell.plan.step
                    } else {
                        &cell.plan.title
                    },
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
                unrest: steady_state::not_steady_reason(&lineup.runs[run], cell, drive),
                row: 0,
                column: 0,
            })
        })
        .collect()
}

impl<'a> Section<'a> {
    /// Does a cell belong here: of the same step of the same suite, or the same under another circumstance?
    fn takes(&self, suite: &str, plan: &CellPlan) -> bool {
        // Short streams are read against the one without end, whichever suites they are of.
        let stream = |view: Option<View>| view.is_some_and(View::is_stream);
        if stream(self.view) || stream(plan.view) {
            return stream(self.view) && stream(plan.view);
        }
        if self.suite != suite {
            return false;
        }
        // Writing the whole drive and reading it back are one test.
        let whole = |view| view == Some(View::Capacity);
        if self.step == plan.step || whole(self.view) && whole(plan.view) {
            return true;
        }
        let Some(first) = self.points.first().map(Point::plan) else {
            return false;
        };
        let workload = |p: &CellPlan| (p.workload.rw.clone(), p.workload.bs_bytes);
        let one_chart = matches!(plan.view, Some(View::Consistency | View::Saturation));
        first.variant.is_some()
            && plan.variant.is_some()
            && (first.view, first.kind) == (plan.view, plan.kind)
            && (first.title == plan.title || one_chart && workload(first) == workload(plan))
    }

    /// The axes that differ between its cells, rows first.
    pub fn varying(&self) -> Vec<Axis> {
        let mut axes: Vec<Axis> = self.row_axis.into_iter().collect();
        axes.extend(&self.column_axes);
        axes
    }

    /// The figures that its tables and charts can show.
    pub fn metrics(&self) -> Vec<Metric> {
        Metric::offered(self.points.iter().filter_map(Point::result))
    }

    /// The point of a place in the table. Of several (equal workloads), the last that was measured.
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
        if self.kind == CellKind::Idle {
            return "no work".to_owned();
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
                // A drive that is its own engine has no page cache either.
                Axis::Engine | Axis::Direct => self.points.iter().all(no_host),
                Axis::Rate => labels == ["unlimited"],
                // What is read alone or written alone says so.
                Axis::ReadShare => self
                    .points
                    .iter()
                    .all(|p| p.plan().workload.rwmixread.is_none()),
                Axis::Threads | Axis::Depth => self.varying().contains(&Axis::TotalDepth),
                Axis::Rw => self.varying().contains(&Axis::ReadShare),
                // Areas of different data are at different places: the data are what matters.
                Axis::Offset => {
                    // Streams lie one after the other.
                    labels == ["at 0 B"]
                        || self.varying().contains(&Axis::Data)
                        || self.view.is_some_and(View::is_stream)
                }
                Axis::Span if self.view.is_some_and(View::is_stream) => labels.len() > 1,
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
                None => Value {
                    number: None,
                    label: String::new(),
                },
            };
            let column: Vec<Value> = self.column_axes.iter().map(|a| a.value(plan)).collect();
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
            let plan = &point.cell.plan;
            let row = row_axis.map(|a| a.value(plan));
            let column: Vec<Value> = column_axes.iter().map(|a| a.value(plan)).collect();
            point.row = row
                .and_then(|r| self.rows.iter().position(|x| *x == r))
                .unwrap_or(0);
            point.column = self.columns.iter().position(|x| *x == column).unwrap_or(0);
        }
    }

    /// Puts one axis in the place of two that say the same together.
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

    /// Does every total queue depth come from one number of threads and one depth of each?
    fn one_depth_per_total(&self) -> bool {
        let mut ways: Vec<(u64, u32)> = Vec::new();
        for point in &self.points {
            let w = &point.plan().workload;
            let way = (u64::from(w.numjobs) * u64::from(w.iodepth), w.numjobs);
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        let mut totals: Vec<u64> = ways.iter().map(|w| w.0).collect();
        totals.sort_unstable();
        totals.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// Does it vary within the cells of one drive? What differs only between drives is no axis of a table.
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

    /// Do two cells of a drive coincide on these axes? A drive alone and the same among others do not count, nor do rounds.
    fn has_twins(&self, axes: &[Axis]) -> bool {
        let mut seen = std::collections::HashSet::new();
        self.points.iter().any(|p| {
            let round = p.plan().round.as_ref().map(|r| r.number);
            let labels: Vec<String> = axes.iter().map(|x| x.value(p.plan()).label).collect();
            !seen.insert((p.drive, p.together(), round, labels))
        })
    }

    /// Rows are the numeric axis with most values (first of equals); words only when no number varies, and what the data
    /// are like never: that is compared side by side.
    fn choose_rows(&self, axes: &[Axis]) -> Option<Axis> {
        let count = |axis: Axis| {
            let mut seen: Vec<Value> = Vec::new();
            for point in &self.points {
                let value = axis.value(point.plan());
                if !seen.contains(&value) {
                    seen.push(value);
                }
            }
            seen.len()
        };
        let depth = |a: &Axis| matches!(a, Axis::TotalDepth | Axis::Threads | Axis::Depth);
        match self.view {
            Some(View::Knee) if axes.iter().any(depth) => return axes.iter().copied().find(depth),
            Some(View::Load) if axes.contains(&Axis::Share) => return Some(Axis::Share),
            Some(View::Rounds) if axes.contains(&Axis::BlockSize) => return Some(Axis::BlockSize),
            _ => {}
        }
        let words = [
            Axis::Variant,
            Axis::PowerState,
            Axis::Rw,
            Axis::Pattern,
            Axis::Data,
            Axis::Direct,
            Axis::Engine,
        ];
        let numeric = |a: &&Axis| !words.contains(a);
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
