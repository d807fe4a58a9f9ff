//! The host's processors beside a rate: how busy they were, and where they, not the drive, set the
//! rate.

use crate::grid::Point;
use crate::table::{Column, TableCell};

/// Marks a rate that the host set.
pub const CPU_LIMITED: &str = "CPU-limited";

/// Busy share of all processors, and of the processor of the busiest thread.
pub fn columns() -> [Column; 2] {
    Column::all_under("host CPU, % busy", ["all", "busiest thread"])
}

/// The figures of [`columns`]; of a simulated drive, those of its model's host.
pub fn cells(point: &Point<'_>) -> [TableCell; 2] {
    let result = point.result();
    let all = result.and_then(|r| Some(r.host?.busy_pct()));
    let busiest = result.and_then(|r| r.busiest_thread_pct);
    let mark = point.is_host_limited().then(|| CPU_LIMITED.to_owned());
    [TableCell::percent(all), TableCell::percent(busiest).with(|n| n.mark = mark)]
}

/// What the mark means, where any of the points has it.
pub fn notes<'p, 'a: 'p>(points: impl Iterator<Item = &'p Point<'a>>) -> Option<String> {
    let limited = points.filter(|p| p.is_host_limited()).count();
    (limited > 0).then(|| {
        format!(
            "{CPU_LIMITED}: the host's processors, not the drive, set the rate; it is a lower \
             bound for the drive"
        )
    })
}
