//! Thermal throttling under sustained load.

use assay_analysis::attribution::{self, Throttling};
use assay_analysis::estimate::{of_series, step_s};
use assay_store::model::CellPlan;
use assay_store::series::IntervalSample;

use crate::format::{self, duration, figure};
use crate::grid::{Point, Section};
use crate::table::{Column, Table, TableCell};
use crate::tables::cells::{axis_columns, mark, point_rows, reason, section_remarks};
use crate::tables::interval::{spread_notes, with_spread};
use crate::tables::temperature;
use crate::views::descriptor::{KeyFigure, SectionView, causes};

/// A soak until temperature and rate are stable.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "A sustained load until temperature and rate are stable. Shaded: thermal throttling. Its \
         onset, the temperature at the onset, the remaining rate and the share of throttled time \
         show what the drive achieves without better cooling. A drive with a level rate and \
         temperature needs none."
    },
    tables: |section| {
        let temperatures = temperature::table(section);
        std::iter::once(table(section)).chain(temperatures).collect()
    },
    or_charts_of_kind: true,
    folded_tables: causes,
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let key = |point: &Point<'_>| {
        let t = throttling(point)?;
        let before = t.before.map(|before| format!("of {} MiB/s; ", figure(before.mib_per_s)));
        let before = before.unwrap_or_default();
        let at = t.onset_c.map(|c| format!(" at {c:.0} \u{b0}C")).unwrap_or_default();
        let after = duration((t.onset_s * 1e9) as u64);
        Some(KeyFigure {
            label: format!("{}, throttled", section.title),
            value: figure(t.after_mib_per_s),
            unit: "MiB/s",
            details: format!("{before}throttles{at} after {after}"),
        })
    };
    section.measured(drive).filter_map(key).collect()
}

/// A throttled rate below this share of the rate before is an alarm.
const ALARM: f64 = 0.85;

/// The throttling of a point; `None` where none occurred.
pub fn throttling(point: &Point<'_>) -> Option<Throttling> {
    attribution::throttling_of_cell(&point.set.runs[point.run], point.cell, point.index)
}

/// One row per drive and cell.
pub fn table(section: &Section<'_>) -> Table {
    let mut columns = axis_columns(section);
    let onset = ["after", "at, \u{b0}C"];
    let rates = ["before", "throttling", "while slow", "recovered", "last tenth", "after idle"];
    columns.extend(Column::all_under("onset of throttling", onset));
    columns.extend(Column::all_under("rate, MiB/s", rates));
    columns.extend(Column::list([
        ("slow", "% of the time"),
        ("highest", "\u{b0}C"),
        ("duration", ""),
    ]));
    let rows = point_rows(section, figures);
    let mut notes = section_remarks(section);
    notes.push(
        "before: the phase before the onset; throttling: the throttled phase, fast and slow \
         states together; recovered: the phase after it"
            .to_owned(),
    );
    notes.push(
        "slow: the share of the throttled phase in the slow state, as reported by the drive or by \
         the alternation of its rate"
            .to_owned(),
    );
    let notes = spread_notes(notes, &rows);
    section.table("temperature and rate", columns, rows, notes)
}

/// The rate of the next step with the same workload on the drive, MiB/s: the rate after idle time.
fn rate_after_idle(point: &Point<'_>) -> Option<f64> {
    let key = |plan: &CellPlan| {
        let w = &plan.workload;
        (plan.view, w.rw.clone(), w.bs_bytes, w.numjobs, w.iodepth)
    };
    let own = point.plan();
    let cells = point.set.runs[point.run].cells.iter();
    let later = cells.skip_while(|c| c.plan.id != own.id).skip(1);
    let same = later.filter(|c| c.plan.step != own.step && key(&c.plan) == key(own));
    let mut drives = same.filter_map(|c| c.drives.iter().find(|d| d.drive == point.index));
    Some(drives.next()?.result.as_ref()?.mib_per_s())
}

fn figures(point: &Point<'_>) -> Vec<TableCell> {
    let Some(data) = point.data else {
        return vec![reason(point)];
    };
    let seconds = data.measured_intervals();
    let rates_of = |chosen: &dyn Fn(usize, &IntervalSample) -> bool| -> Vec<f64> {
        let chosen = seconds.iter().enumerate().filter(|(i, s)| chosen(*i, s));
        chosen.map(|(_, s)| s.mib_per_s()).collect()
    };
    let step_s = step_s(&seconds);
    let averaged = |value: Option<f64>, rates: &[f64]| {
        with_spread(TableCell::figure(value), of_series(rates, step_s), 1.0)
    };
    let mean_cell = |rates: &[f64]| {
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        averaged(Some(mean).filter(|_| !rates.is_empty()), rates)
    };
    let throttling = throttling(point);
    let mut cells = match &throttling {
        Some(t) => {
            let in_phase = |s: &IntervalSample| {
                t.before.is_some_and(|b| (b.from_s..b.to_s).contains(&s.start_s()))
            };
            let before = t.before.map(|before| before.mib_per_s);
            let slower = before.is_some_and(|before| t.after_mib_per_s < ALARM * before);
            let throttled = rates_of(&|_, s| t.covers(s.start_s()));
            vec![
                TableCell::number(format::duration((t.onset_s * 1e9) as u64)),
                TableCell::celsius(t.onset_c).or(TableCell::unreported),
                averaged(before, &rates_of(&|_, s| in_phase(s))),
                averaged(Some(t.after_mib_per_s), &throttled).with(|n| n.alarm = slower),
                TableCell::figure(t.slow_mib_per_s),
                TableCell::figure(t.recovery.map(|r| r.mib_per_s)),
            ]
        }
        None => {
            let all = mean_cell(&rates_of(&|_, _| true));
            let mut cells = vec![TableCell::text("never"), TableCell::Empty, all];
            cells.resize(6, TableCell::Empty);
            cells
        }
    };
    // The last tenth, at least one second.
    let tail = (seconds.len() / 10).max(1);
    let degrees = data.telemetry.iter().filter_map(|t| t.temperature_c);
    let end_s = seconds.last().map_or(0.0, IntervalSample::end_s);
    cells.extend([
        mean_cell(&rates_of(&|i, _| i + tail >= seconds.len())),
        TableCell::figure(rate_after_idle(point)),
        throttling.map_or_else(|| TableCell::number("0"), |t| TableCell::percent(t.duty_pct)),
        TableCell::celsius(degrees.reduce(f64::max)).or(TableCell::unreported),
        TableCell::number(format::duration((end_s * 1e9) as u64)).with(|n| n.mark = mark(point)),
    ]);
    cells
}
