//! Thermal throttling: onset, remaining rate and share of throttled time.

use assay_analysis::attribution::{self, Throttling};
use assay_stats::confidence::{self, LEVEL};
use assay_store::model::CellPlan;
use assay_store::series::IntervalSample;

use crate::drive_set::DriveSet;
use crate::format;
use crate::grid::{Point, Section};
use crate::table::{Cell, Column, Row, Table};
use crate::tables::{
    axis_cells, axis_columns, mark, name, reason, remarks, spread_notes, with_spread,
};

/// A throttled rate below this share of the rate before is an alarm.
const ALARM: f64 = 0.85;

/// The throttling of a point; `None` where none occurred.
pub fn throttling(set: &DriveSet<'_>, point: &Point<'_>) -> Option<Throttling> {
    let index = set.index_in(point.run, point.drive)?;
    attribution::throttling_of_cell(&set.runs[point.run], point.cell, index)
}

/// One row per drive and cell.
pub fn table(set: &DriveSet<'_>, section: &Section<'_>) -> Table {
    let axes = section.varying();
    let mut columns = axis_columns(&axes);
    let (onset, rate) = ("onset of throttling", "rate, MiB/s");
    columns.extend([
        Column::under(onset, "after", ""),
        Column::under(onset, "at, \u{b0}C", ""),
        Column::under(rate, "before", ""),
        Column::under(rate, "throttling", ""),
        Column::under(rate, "while slow", ""),
        Column::under(rate, "recovered", ""),
        Column::under(rate, "last tenth", ""),
        Column::under(rate, "after idle", ""),
        Column::of("slow", "% of the time"),
        Column::of("highest", "\u{b0}C"),
        Column::of("duration", ""),
    ]);
    let row = |point: &Point<'_>| {
        let mut cells = axis_cells(&axes, point);
        cells.extend(figures(set, point));
        Row::new(name(set, point.drive), cells)
    };
    let rows: Vec<Row> = section.points.iter().map(row).collect();
    let mut notes = remarks(set, &section.points);
    notes.push("before: the phase before the onset; throttling: the throttled phase, fast and slow states together; recovered: the phase after it".to_owned());
    notes.push("slow: the share of the throttled phase in the slow state, as reported by the drive or by the alternation of its rate".to_owned());
    let notes = spread_notes(notes, &rows);
    Table::of_drives(
        section.caption("temperature and rate"),
        columns,
        rows,
        notes,
    )
}

/// The rate of the next step with the same workload on the drive, MiB/s: the rate after idle time.
fn rate_after_idle(set: &DriveSet<'_>, point: &Point<'_>) -> Option<f64> {
    let index = set.index_in(point.run, point.drive)?;
    let key = |plan: &CellPlan| {
        let w = &plan.workload;
        (plan.view, w.rw.clone(), w.bs_bytes, w.numjobs, w.iodepth)
    };
    let cells = set.runs[point.run].cells.iter();
    let later = cells.skip_while(|c| c.plan.id != point.plan().id).skip(1);
    let same =
        later.filter(|c| c.plan.step != point.plan().step && key(&c.plan) == key(point.plan()));
    let mut drives = same.filter_map(|c| c.drives.iter().find(|d| d.drive == index));
    Some(drives.next()?.result.as_ref()?.mib_per_s())
}

fn celsius(value: Option<f64>) -> Cell {
    value.map_or_else(Cell::unreported, |c| Cell::number(format!("{c:.0}")))
}

fn figures(set: &DriveSet<'_>, point: &Point<'_>) -> Vec<Cell> {
    let Some(data) = point.data else {
        return vec![reason(point)];
    };
    let seconds = data.measured_intervals();
    let rates_of = |chosen: &dyn Fn(usize, &IntervalSample) -> bool| -> Vec<f64> {
        let chosen = seconds.iter().enumerate().filter(|(i, s)| chosen(*i, s));
        chosen.map(|(_, s)| s.mib_per_s()).collect()
    };
    let averaged =
        |cell: Cell, rates: &[f64]| with_spread(cell, confidence::mean(rates, LEVEL), 1.0);
    let mean_cell = |rates: &[f64]| {
        if rates.is_empty() {
            return Cell::Empty;
        }
        averaged(
            Cell::figure(rates.iter().sum::<f64>() / rates.len() as f64),
            rates,
        )
    };
    let throttling = throttling(set, point);
    let mut cells = match &throttling {
        Some(t) => {
            let before = t.before.map(|before| {
                let rates = rates_of(&|_, s| (before.from_s..before.to_s).contains(&s.start_s()));
                averaged(Cell::figure(before.mib_per_s), &rates)
            });
            let slower = t
                .before
                .is_some_and(|before| t.after_mib_per_s < ALARM * before.mib_per_s);
            let throttled = Cell::figure(t.after_mib_per_s).with(|n| n.alarm = slower);
            vec![
                Cell::number(format::duration((t.onset_s * 1e9) as u64)),
                celsius(t.onset_c),
                before.unwrap_or_default(),
                averaged(throttled, &rates_of(&|_, s| t.covers(s.start_s()))),
                t.slow_mib_per_s.map(Cell::figure).unwrap_or_default(),
                t.recovery
                    .map(|r| Cell::figure(r.mib_per_s))
                    .unwrap_or_default(),
            ]
        }
        None => {
            let all = mean_cell(&rates_of(&|_, _| true));
            vec![
                Cell::text("never"),
                Cell::Empty,
                all,
                Cell::Empty,
                Cell::Empty,
                Cell::Empty,
            ]
        }
    };
    // The last tenth, at least one second.
    let tail = (seconds.len() / 10).max(1);
    let highest = data
        .telemetry
        .iter()
        .filter_map(|t| t.temperature_c)
        .reduce(f64::max);
    let end_s = seconds.last().map_or(0.0, IntervalSample::end_s);
    cells.extend([
        mean_cell(&rates_of(&|i, _| i + tail >= seconds.len())),
        rate_after_idle(set, point)
            .map(Cell::figure)
            .unwrap_or_default(),
        throttling.map_or_else(|| Cell::number("0"), |t| Cell::percent(t.duty_pct)),
        celsius(highest),
        Cell::number(format::duration((end_s * 1e9) as u64)).with(|n| n.mark = mark(point)),
    ]);
    cells
}
