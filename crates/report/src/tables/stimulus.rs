//! Consecutive workloads without a pause (SNIA SSS PTS, cross stimulus recovery).

use assay_analysis::stimulus::{self, Stimulus, WITHIN_PCT};
use assay_units::Op;

use crate::format::duration;
use crate::grid::{Point, Section};
use crate::table::{Column, Table, TableCell};
use crate::tables::reason;

/// The level of a point, and the time until it.
pub fn of(point: &Point<'_>) -> Option<Stimulus> {
    point.result()?;
    stimulus::of(point.data?)
}

/// The level relative to that of the same workload earlier in the sequence, percent.
pub fn recovered_pct(point: &Point<'_>) -> Option<f64> {
    let run = &point.set.runs[point.run];
    let before = stimulus::same_before(run, point.cell)?;
    let before = stimulus::of(before.drive(point.index)?)?.level_mib_per_s;
    (before > 0.0).then_some(100.0 * of(point)?.level_mib_per_s / before)
}

/// One row per drive and workload.
pub fn table(section: &Section<'_>) -> Table {
    let mut columns = Column::list([("workload", ""), ("length", "")]);
    columns.extend(Column::all_under(
        "rate, MiB/s",
        ["first block", "lowest block", "level"],
    ));
    columns.extend(Column::list([
        ("level reached after", ""),
        ("level \u{f7} level before", "%"),
        ("mean latency", "ms"),
        ("maximum latency", "ms"),
    ]));
    let rows = section.points.iter().map(|point| {
        let plan = point.plan();
        let mut cells = vec![
            TableCell::Text(plan.title.clone()),
            TableCell::Text(duration(plan.workload.runtime_ns)),
        ];
        let Some(result) = point.result() else {
            cells.push(reason(point));
            return point.table_row(cells);
        };
        let found = of(point);
        let short = || {
            let why = "fewer than ten intervals";
            TableCell::Missing("too short", why.to_owned())
        };
        let rate = |of: fn(&Stimulus) -> f64| TableCell::figure(found.as_ref().map(of)).or(short);
        cells.extend([
            rate(|s| s.first_mib_per_s),
            rate(|s| s.lowest_mib_per_s),
            rate(|s| s.level_mib_per_s),
        ]);
        cells.push(match &found {
            None => short(),
            Some(found) => match found.settled_s {
                Some(settled_s) => TableCell::Text(match settled_s {
                    0.0 => "at once".to_owned(),
                    s => duration((s * 1e9) as u64),
                }),
                None => TableCell::Missing(
                    "not settled",
                    "the rate still changes in the last fifth".to_owned(),
                ),
            },
        });
        let latency = result.write.latency_ns;
        cells.extend([
            TableCell::percent(recovered_pct(point)),
            TableCell::figure((latency.samples > 0).then_some(latency.mean / 1e6)),
            TableCell::figure((latency.samples > 0).then_some(latency.max as f64 / 1e6)),
        ]);
        point.table_row(cells)
    });
    let rows = rows.collect();
    let mut notes = section.remarks();
    notes.push(format!(
        "level: mean of the last fifth; reached: from then on every block (a sixtieth of the \
         length) is within {WITHIN_PCT:.0} % of it; level before: of the same workload earlier in \
         the sequence"
    ));
    section.table("changes of the workload", columns, rows, notes)
}

/// The writes of a point, as drawn over time: middle of the interval in seconds, rate in MiB/s,
/// mean and maximum latency in milliseconds.
pub fn samples(point: &Point<'_>) -> Vec<(f64, [f64; 3])> {
    let series = point.data.into_iter().flat_map(|data| &data.series);
    let writes = series.filter(|s| s.op == Op::Write && !s.ramp && s.end > s.start);
    writes
        .map(|s| {
            let middle = (s.start.as_secs_f64() + s.end.as_secs_f64()) / 2.0;
            let latency = [s.latency.mean / 1e6, s.latency.max as f64 / 1e6];
            (middle, [s.mib_per_s(), latency[0], latency[1]])
        })
        .collect()
}
