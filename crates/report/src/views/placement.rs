//! Streams mixed by one placement handle, and separated by one each.

use assay_analysis::placement::{self, Separation};

use crate::axis::jobs_text;
use crate::format::{figure, percent, ratio};
use crate::grid::{Point, Section};
use crate::table::{Column, Row, Table, TableCell};
use crate::tables::cells::{cell_of, latency_cells, reason, section_remarks};
use crate::views::amplification::{amplification_cell, amplification_of_point};
use crate::views::descriptor::{KeyFigure, SectionView};
use crate::views::jobs::{self, workload_text};

/// The same jobs at once with one handle, and with their own.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "Data of different lifetimes in one reclaim unit do not become stale together: garbage \
         collection then moves what is still valid before it can erase the unit, and the drive \
         writes more than the host. With a handle for each stream a unit holds data of one \
         lifetime. What is left of the write amplification is that of each stream alone: a log \
         has none, random writes have theirs. Fewer moves leave more of the drive to the host, \
         so rates rise and tails shorten."
    },
    tables: |section| vec![table(section)],
    key_figures: |section, drive| key_figure(section, drive).into_iter().collect(),
    ..jobs::JOBS
};

fn separation(point: &Point<'_>) -> Option<Separation> {
    placement::of_cell(&point.set.runs[point.run], point.cell, point.index)
}

fn key_figure(section: &Section<'_>, drive: usize) -> Option<KeyFigure> {
    let mut points = section.measured(drive);
    let (point, found) = points.find_map(|point| Some((point, separation(point)?)))?;
    let separated = amplification_of_point(point)?.ok()?.factor;
    let rate = found.job.kept_iops_pct.map_or(String::new(), percent);
    Some(KeyFigure {
        label: "Write amplification saved by placement".to_owned(),
        value: ratio(found.saving?),
        unit: "",
        details: format!("{} separated; {rate} % of the mixed rate", figure(separated)),
    })
}

/// One row per drive, step and job.
fn table(section: &Section<'_>) -> Table {
    let mut columns = Column::list([
        ("streams", ""),
        ("job", ""),
        ("workload", ""),
        ("write amplification", ""),
        ("rate", "IOPS"),
    ]);
    columns.extend(Column::all_under("latency, \u{b5}s", ["p50", "p99", "p99.9"]));
    columns.extend(Column::all_under("\u{f7} mixed", ["saving", "rate", "p99"]));
    let mut rows: Vec<Row> = Vec::new();
    for point in &section.points {
        let plan = point.plan();
        let mut cells = vec![
            TableCell::Text(jobs_text(plan)),
            (plan.job.as_ref()).map_or(TableCell::Empty, |job| TableCell::text(job.name.as_str())),
            TableCell::Text(workload_text(plan)),
        ];
        let Some(result) = point.result() else {
            cells.push(reason(point));
            rows.push(point.table_row(cells));
            continue;
        };
        cells.push(amplification_cell(point));
        cells.push(cell_of(point, |r| Some(r.iops())));
        cells.extend(latency_cells(result.latency(), &["p50", "p99", "p99.9"]));
        let found = separation(point);
        let times = |value: Option<f64>| match value {
            Some(value) => TableCell::number(ratio(value)),
            None => TableCell::Empty,
        };
        cells.push(times(found.and_then(|f| f.saving)));
        cells.push(times(found.and_then(|f| Some(f.job.kept_iops_pct? / 100.0))));
        cells.push(times(found.and_then(|f| f.job.p99)));
        rows.push(point.table_row(cells));
    }
    let mut notes = section_remarks(section);
    notes.push(
        "write amplification by the drive's counters, of all jobs together; saving: that of the \
         mixed streams over it; rate and p99: relative to the same job mixed"
            .to_owned(),
    );
    let table = section.table("by stream", columns, rows, notes);
    table.without_empty_columns()
}
