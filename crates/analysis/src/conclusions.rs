//! Everything that is concluded from a run ([`Conclusions`]). Each kind comes from the module that
//! reports and verdicts use for it, so that tables and reports cannot differ.

use assay_store::model::{CellKind, CellView};
use assay_store::read::{CellDrive, CellRecord, Run};

use crate::attribution::{self, Cause, RatePhase};
use crate::{estimate, modes, steady_state};

mod cells;
mod drives;
mod rows;

pub use rows::{CellIntervals, Conclusion, Conclusions, ModeRow, PhaseRow};

#[derive(Clone, Copy)]
struct Place<'a> {
    run: &'a Run,
    cell: &'a CellRecord,
    part: &'a CellDrive,
}

impl Place<'_> {
    /// A conclusion without a value.
    fn conclusion(&self, kind: &'static str, name: &'static str) -> Conclusion {
        Conclusion {
            drive: self.part.drive,
            cell: Some(self.cell.plan.id.clone()),
            step: Some(self.cell.plan.step.clone()),
            kind,
            name,
            ..Conclusion::default()
        }
    }
}

/// All of one kind about one drive in one cell, step or run.
struct Rows<'a> {
    about: Conclusion,
    into: &'a mut Vec<Conclusion>,
}

impl Rows<'_> {
    fn add(&mut self, name: &'static str, unit: &'static str, value: impl Into<Option<f64>>) {
        self.add_with(name, unit, value, None, None);
    }

    fn add_with(
        &mut self,
        name: &'static str,
        unit: &'static str,
        value: impl Into<Option<f64>>,
        interval: Option<(f64, f64)>,
        text: Option<String>,
    ) {
        if let Some(value) = value.into() {
            self.into.push(Conclusion {
                name,
                unit,
                value: Some(value),
                interval,
                text,
                ..self.about.clone()
            });
        }
    }

    fn say(&mut self, name: &'static str, text: impl Into<String>) {
        self.into.push(Conclusion { name, text: Some(text.into()), ..self.about.clone() });
    }
}

/// Those of cells in the plan's order, then those of steps and drives.
pub fn conclude_run(run: &Run) -> Conclusions {
    let mut found = Conclusions::default();
    for cell in &run.cells {
        for part in &cell.drives {
            of_place(Place { run, cell, part }, &mut found);
        }
    }
    for drive in 0..run.manifest.drives.len() {
        drives::add_conclusions(run, drive, &mut found.conclusions);
    }
    found
}

fn of_place(place: Place<'_>, found: &mut Conclusions) {
    let Place { run, cell, part } = place;
    let rows = &mut found.conclusions;
    if cell.plan.view == Some(CellView::Consistency) {
        cells::score(place, rows);
    }
    cells::latency(place, rows);
    cells::idle_recovery(place, rows);
    cells::stimulus(place, rows);
    cells::interference(place, rows);
    cells::deadlines(place, rows);
    cells::drain(place, rows);
    cells::fill(place, rows);
    cells::wake(place, rows);
    cells::placement(place, rows);
    cells::time_to_steady(place, rows);
    cells::power(place, rows);
    cells::endurance(place, rows);
    if steady_state::claims_steady_state(&cell.plan) && part.result.is_some() {
        let why = steady_state::not_steady_reason(run, cell, part.drive);
        let mut rows = Rows { about: place.conclusion("steady_state", ""), into: rows };
        rows.add_with("achieved", "", f64::from(u8::from(why.is_none())), None, why);
    }
    if let Some(observed) = attribution::observe(run, cell, part.drive) {
        let phases = attribution::phases(&observed);
        if let Some(throttling) = attribution::throttling(&observed, &phases) {
            cells::throttling(place, &throttling, rows);
        }
        found.phases.extend(phases.iter().map(|phase| phase_row(place, phase)));
    }
    if part.result.is_none() {
        return;
    }
    // Rates of fills and idle times are no measurements.
    let is_measured = !matches!(cell.plan.kind, CellKind::Prepare | CellKind::Idle);
    if let Some(modes) = modes::modes_of_cell(&cell.plan, part).filter(|_| is_measured) {
        let row = |(at, mode): (usize, &assay_stats::modes::Mode)| ModeRow {
            drive: part.drive,
            cell: cell.plan.id.clone(),
            step: cell.plan.step.clone(),
            span_s: (modes.from_s, modes.to_s),
            number: at + 1,
            mode: assay_stats::modes::Mode {
                dwell: modes.dwell_s(mode),
                longest: modes.longest_s(mode),
                ..*mode
            },
        };
        found.modes.extend(modes.modes.iter().enumerate().map(row));
    }
    let estimates = estimate::estimate_cell(part);
    let intervals = CellIntervals {
        iops: estimates.iops.ok(),
        mib_per_s: estimates.mib_per_s.ok(),
        latency_mean_ns: estimates.latency_mean_ns.ok(),
    };
    let key = (cell.plan.id.clone(), part.drive);
    found.intervals.insert(key, intervals);
}

fn phase_row(place: Place<'_>, phase: &RatePhase) -> PhaseRow {
    let mut row = PhaseRow {
        drive: place.part.drive,
        cell: place.cell.plan.id.clone(),
        step: place.cell.plan.step.clone(),
        span_s: (phase.from_s, phase.to_s),
        cause: phase.cause.name().to_owned(),
        mean_mib_per_s: phase.mean_mib_per_s,
        mean_iops: phase.mean_iops,
        evidence: phase.evidence.clone(),
        ..PhaseRow::default()
    };
    match phase.cause {
        Cause::SlcCacheExhausted { cache_bytes } => row.cache_bytes = Some(cache_bytes),
        Cause::GcSteady { write_amplification } => row.write_amplification = write_amplification,
        Cause::ThermalThrottling { onset_c, onset_s, duty_pct, period_s } => {
            row.onset_c = onset_c;
            row.onset_s = Some(onset_s);
            row.duty_pct = Some(duty_pct);
            row.period_s = period_s;
        }
        Cause::PowerLimited { state } => row.power_state = Some(state.into()),
        Cause::RateLimited { iops } => row.asked_iops = Some(iops),
        Cause::Fresh | Cause::GcOnset | Cause::HostLimited | Cause::Steady | Cause::Unexplained => {
        }
    }
    row
}

#[cfg(test)]
#[path = "../tests/unit/conclusions.rs"]
mod tests;
