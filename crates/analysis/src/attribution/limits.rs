//! External limits. The workload is the limit where the rate is the one that it asks for. The host
//! is the limit where its processors have no idle time left, or a worker thread uses all of its own
//! processor. A power state is the limit where it is not state 0 and power is constant at the
//! state's maximum; where the maximum is unknown or not reached (a meter can measure what the drive
//! does not count), the same workload in state 0 must have drawn more power and been faster, in the
//! same run. A workload that was no faster in state 0 is not limited by its state.

use assay_stats::change;
use assay_stats::knee::chance_share;
use assay_stats::median;
use assay_store::model::warning::limit::{BUSY_THREAD_PCT, IDLE_HOST_PCT};
use assay_units::text::whole;

use super::writes::deviation;
use super::{Cause, CauseSpan, ObservedCell, ObservedInterval};

/// Power this close to the cap is at the cap: a governor keeps the mean a little below.
const AT_CAP_PCT: f64 = 93.0;
/// Power above the cap by more than a meter's error is not at the cap.
const OVER_CAP_PCT: f64 = 103.0;
/// Largest spread of constant power (standard deviation, percent of the median).
const HELD_SPREAD_PCT: f64 = 3.0;
/// Power at the cap is no limit where the workload in state 0 was not faster by this much.
const FASTER_PCT: f64 = 102.0;
/// In state 0 the workload must have drawn, and reached, this much more.
const UNLIMITED_PCT: f64 = 107.0;

/// Share of the rate asked for, beside what chance makes of random arrivals.
const AS_ASKED: f64 = 0.03;

/// Splits off the intervals in which workload or host set the rate: both can do so until the drive
/// becomes slower than they are.
pub(super) fn in_parts(
    observed: &ObservedCell,
    rates: &[f64],
    (from, to): (usize, usize),
    drive: &[CauseSpan],
) -> Vec<CauseSpan> {
    let mut out = Vec::new();
    for segment in change::segments(&rates[from..to]) {
        let (from, to) = (from + segment.from, from + segment.to);
        let host = || Some((Cause::HostLimited, host(observed, from, to)?));
        match asked(observed, from, to).or_else(host) {
            Some((cause, evidence)) => out.push(CauseSpan::new(from, to, cause, evidence)),
            None => out.extend(clipped(drive, from, to)),
        }
    }
    out
}

fn clipped(spans: &[CauseSpan], from: usize, to: usize) -> impl Iterator<Item = CauseSpan> {
    let inside = spans.iter().filter(move |s| s.from < to && s.to > from);
    inside.map(move |span| CauseSpan {
        from: span.from.max(from),
        to: span.to.min(to),
        ..span.clone()
    })
}

fn asked(observed: &ObservedCell, from: usize, to: usize) -> Option<(Cause, String)> {
    let asked = observed.context.asked_iops.filter(|&asked| asked > 0.0)?;
    let samples = || observed.intervals[from..to].iter().map(|i| &i.sample);
    let span_s: f64 = samples().map(|sample| sample.elapsed_s()).sum();
    let ios: f64 = samples().map(|s| s.iops() * s.elapsed_s()).sum();
    let rate = ios / span_s.max(f64::MIN_POSITIVE);
    let tolerance = AS_ASKED + chance_share(asked, span_s);
    ((rate / asked - 1.0).abs() <= tolerance).then(|| {
        let text = format!(
            "{} I/Os per second, as many as the workload asks for ({})",
            whole(rate),
            whole(asked)
        );
        (Cause::RateLimited { iops: asked }, text)
    })
}

pub(super) fn host(observed: &ObservedCell, from: usize, to: usize) -> Option<String> {
    let of = |value: fn(&ObservedInterval) -> Option<f64>| -> Option<f64> {
        let values = observed.intervals[from..to].iter().filter_map(value);
        let values: Vec<f64> = values.collect();
        (values.len() * 2 > to - from).then(|| median(&values))
    };
    if let Some(busy) = of(|m| m.busiest_thread_pct).filter(|&busy| busy >= BUSY_THREAD_PCT) {
        return Some(format!(
            "a worker thread used {busy:.0} % of a processor (limit {BUSY_THREAD_PCT:.0} %)"
        ));
    }
    let idle = of(|m| m.host_idle_pct).filter(|&idle| idle < IDLE_HOST_PCT)?;
    Some(format!("processors were {idle:.1} % idle (limit {IDLE_HOST_PCT:.0} %)"))
}

pub(super) fn power(observed: &ObservedCell, from: usize, to: usize) -> Option<(Cause, String)> {
    let intervals = &observed.intervals[from..to];
    let state = intervals.iter().rev().find_map(|m| m.power_state)?;
    let mut states = intervals.iter().filter_map(|m| m.power_state);
    let held = states.all(|s| s == state);
    let powers = intervals.iter().filter_map(|m| m.power_mw);
    let powers: Vec<f64> = powers.map(|mw| mw as f64).collect();
    if state == 0 || !held || powers.len() * 2 <= intervals.len() {
        return None;
    }
    let watts = |mw: f64| mw / 1000.0;
    let power_mw = median(&powers);
    let rates: Vec<f64> = intervals.iter().map(|i| i.sample.iops()).collect();
    let rate = median(&rates);
    let unlimited = observed.context.unlimited;
    let cap_mw = observed.context.power_cap_mw.filter(|&mw| mw > 0);
    if let Some(cap_mw) = cap_mw.map(|mw| mw as f64)
        && (AT_CAP_PCT..=OVER_CAP_PCT).contains(&(power_mw / cap_mw * 100.0))
        && unlimited.is_none_or(|(_, free_iops)| free_iops * 100.0 >= FASTER_PCT * rate)
    {
        let text = format!(
            "{:.2} W in power state {state}, whose maximum is {:.2} W",
            watts(power_mw),
            watts(cap_mw)
        );
        return Some((Cause::PowerLimited { state }, text));
    }
    let (free_mw, free_iops) = unlimited?;
    let spread_pct = deviation(&powers, power_mw) / power_mw.max(1.0) * 100.0;
    let limited = spread_pct <= HELD_SPREAD_PCT
        && free_mw as f64 * 100.0 >= UNLIMITED_PCT * power_mw
        && free_iops * 100.0 >= UNLIMITED_PCT * rate;
    limited.then(|| {
        let text = format!(
            "{:.2} W, even, in power state {state}; in state 0 the same workload drew {:.2} W and \
             made {} I/Os per second instead of {}",
            watts(power_mw),
            watts(free_mw as f64),
            whole(free_iops),
            whole(rate)
        );
        (Cause::PowerLimited { state }, text)
    })
}

#[cfg(test)]
#[path = "../../tests/unit/attribution/limits.rs"]
mod tests;
