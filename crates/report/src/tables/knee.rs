//! Drives at the knee of a depth sweep: the lowest queue depth with 95 % of the best rate
//! (AnandTech PBlaze5).

use assay_analysis::estimate::{Estimates, MeanEstimate};
use assay_analysis::knee::total_depth;
use assay_stats::knee::{DepthKnee, SHARE, lowest_depth_reaching};
use assay_store::model::CellResult;

use super::{host, power};
use crate::format;
use crate::grid::{Point, Section};
use crate::table::{Column, Table, TableCell};
use crate::tables::{latency_cells, set_spread, spread_notes};

/// Rates of blocks up to this size are operations per second; of larger ones, bytes.
const SMALL_BYTES: u64 = 16 << 10;

/// Marks a knee at the deepest point of its sweep.
const STILL_RISING: &str = "still rising";

/// True when rates are operations per second.
pub fn small_blocks(section: &Section<'_>) -> bool {
    let all = section.points.iter().map(|p| p.plan().workload.bs_bytes);
    all.max().is_some_and(|largest| largest <= SMALL_BYTES)
}

/// Unit of a section's rates.
pub fn rate_unit(section: &Section<'_>) -> &'static str {
    if small_blocks(section) {
        "IOPS"
    } else {
        "MB/s"
    }
}

/// A result's rate in [`rate_unit`].
pub fn rate_of(section: &Section<'_>, result: &CellResult) -> f64 {
    if small_blocks(section) {
        result.iops()
    } else {
        result.mib_per_s() * power::MB_PER_MIB
    }
}

/// Confidence interval of the rate, and one unit of the rate in its units.
pub fn rate_estimate(section: &Section<'_>, estimates: &Estimates) -> (MeanEstimate, f64) {
    if small_blocks(section) {
        (estimates.iops, 1.0)
    } else {
        (estimates.mib_per_s, 1.0 / power::MB_PER_MIB)
    }
}

/// Index of the knee of a sweep. Only complete results count, and one point is no sweep.
pub fn index(points: &[&Point<'_>]) -> Option<usize> {
    knee_of(points).map(|knee| knee.index)
}

fn knee_of(points: &[&Point<'_>]) -> Option<DepthKnee> {
    let rates = points.iter().map(|p| {
        let complete = p.result().filter(|_| p.remark().is_none());
        let iops = complete.map_or(0.0, |r| r.iops());
        (total_depth(&p.plan().workload), iops)
    });
    let knee = lowest_depth_reaching(&rates.collect::<Vec<_>>(), SHARE)?;
    (points.len() > 1).then_some(knee)
}

/// One row per drive and column, at the knee.
pub fn table(section: &Section<'_>) -> Table {
    let several = section.columns.len() > 1;
    let unit = rate_unit(section);
    let mut columns = Column::list([("what", ""), ("knee", ""), ("rate", unit)]);
    columns.drain(..usize::from(!several));
    let latencies = ["mean", "p99", "p99.99"];
    columns.extend(Column::all_under("latency at the knee, \u{b5}s", latencies));
    let mut points = section.points.iter();
    let powered = points.any(|p| power::mean_watts(p).is_some());
    if powered {
        columns.extend([Column::of("power", "W"), power::efficiency_column(section)]);
    }
    columns.extend(host::columns());
    columns.push(Column::of("best of the sweep", unit));
    let rate = |p: &Point<'_>| p.result().map_or(0.0, |r| rate_of(section, r));
    let mut rows = Vec::new();
    let mut rising = false;
    for points in section.series() {
        let Some(knee) = knee_of(&points) else {
            continue;
        };
        let point = points[knee.index];
        let Some(result) = point.result() else {
            continue;
        };
        let best = points.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)));
        let best = best.copied().unwrap_or(point);
        rising |= knee.still_rising;
        let mut cells = Vec::new();
        if several {
            cells.push(TableCell::Text(section.column_label(point.column)));
        }
        let depth = TableCell::number(&section.rows[point.row].label);
        let mark = knee.still_rising.then(|| STILL_RISING.to_owned());
        cells.push(depth.with(|n| n.mark = mark));
        cells.push(TableCell::figure(rate(point)).with(|n| {
            let (estimate, unit) = rate_estimate(section, &point.estimates());
            set_spread(n, estimate, unit);
            n.details = point.plan().id.clone();
        }));
        cells.extend(latency_cells(result.latency(), &latencies));
        if powered {
            let watts = power::mean_watts(point);
            cells.push(TableCell::figure(watts).or(power::unreported));
            cells.push(power::efficiency(section, rate(point), watts));
        }
        cells.extend(host::cells(point));
        // The knee beside it has the unit.
        let row = &section.rows[best.row];
        let at = row
            .number
            .map_or_else(|| row.label.clone(), |n| format!("{n:.0}"));
        let limited = best.is_host_limited().then(|| host::CPU_LIMITED.to_owned());
        let best = format::figure(rate(best));
        cells.push(TableCell::number(format!("{best} at {at}")).with(|n| n.mark = limited));
        rows.push(point.table_row(cells));
    }
    let mut notes = spread_notes(section.remarks(), &rows);
    notes.push(
        "knee: the lowest depth with 95 % of the best rate of the sweep; more depth mainly adds \
         latency"
            .to_owned(),
    );
    if rising {
        notes.push(format!(
            "{STILL_RISING}: the sweep ended before the drive was saturated; its knee is at this \
             depth or beyond"
        ));
    }
    notes.extend(host::notes(section.points.iter()));
    section
        .table("at the knee", columns, rows, notes)
        .without_empty_columns()
}

#[cfg(test)]
#[path = "../../tests/unit/tables/knee.rs"]
mod tests;
