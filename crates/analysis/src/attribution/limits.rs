//! Limits that are not the drive's own: the measuring machine, and the power state it was put into.
//!
//! The host is the limit where its processors have no time left, or the one that a worker thread runs on has none: more cannot be asked
//! of the drive. A power state is the limit where it is not state 0, power stands at the state's maximum and nothing else moves; where the
//! maximum is not known or not reached (a meter may see what a drive does not count), the same workload in state 0 must have drawn more and
//! been faster, in the same run. One that was no faster in state 0 is not limited by its state.

use assay_stats::change::median;

use super::{Cause, Watched};

/// Idle share of all processors below which threads wait for one, percent (as `suite::warn`).
const HOST_IDLE_PCT: f64 = 5.0;
/// Share of one processor above which a thread is what limits, percent (as `suite::warn`).
const BUSY_THREAD_PCT: f64 = 95.0;
/// Power this close to the cap stands at it: a governor keeps the mean a little below (percent of the cap).
const AT_CAP_PCT: f64 = 93.0;
/// And not above it by more than a meter's error (percent of the cap).
const OVER_CAP_PCT: f64 = 103.0;
/// Power that is held spreads less than this (standard deviation, percent of its median).
const HELD_SPREAD_PCT: f64 = 3.0;
/// Power that stands at the cap is no limit where the same workload in state 0 was not faster by this much (percent).
const FASTER_PCT: f64 = 102.0;
/// In state 0 the same workload must have drawn, and reached, this much more (percent).
const UNLIMITED_PCT: f64 = 107.0;

/// Is the host the limit in these moments? The evidence if so.
pub(super) fn host(watched: &Watched, from: usize, to: usize) -> Option<String> {
    let of = |value: fn(&super::Moment) -> Option<f64>| -> Option<f64> {
        let values: Vec<f64> = watched.moments[from..to].iter().filter_map(value).collect();
        (values.len() * 2 > to - from).then(|| median(&values))
    };
    if let Some(busy) = of(|m| m.busiest_thread_pct).filter(|&busy| busy >= BUSY_THREAD_PCT) {
        return Some(format!(
            "a worker thread used {busy:.0} % of a processor (limit {BUSY_THREAD_PCT:.0} %)"
        ));
    }
    let idle = of(|m| m.host_idle_pct).filter(|&idle| idle < HOST_IDLE_PCT)?;
    Some(format!(
        "processors were {idle:.1} % idle (limit {HOST_IDLE_PCT:.0} %)"
    ))
}

/// Is the power state the limit in these moments? Cause and evidence if so.
pub(super) fn power(watched: &Watched, from: usize, to: usize) -> Option<(Cause, String)> {
    let moments = &watched.moments[from..to];
    let state = moments.iter().rev().find_map(|m| m.power_state)?;
    let held = moments
        .iter()
        .all(|m| m.power_state.is_none_or(|s| s == state));
    if state == 0 || !held {
        return None;
    }
    let powers: Vec<f64> = moments
        .iter()
        .filter_map(|m| m.power_mw)
        .map(|mw| mw as f64)
        .collect();
    if powers.len() * 2 <= moments.len() {
        return None;
    }
    let watts = |mw: f64| mw / 1000.0;
    let power_mw = median(&powers);
    let rates: Vec<f64> = moments.iter().map(|m| m.iops).collect();
    let rate = median(&rates);
    let unlimited = watched.facts.unlimited;
    let cap_mw = watched.facts.power_cap_mw.filter(|&mw| mw > 0);
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
    let off: Vec<f64> = powers.iter().map(|mw| (mw - power_mw).abs()).collect();
    let spread_pct = median(&off) * 1.4826 / power_mw.max(1.0) * 100.0;
    let limited = spread_pct <= HELD_SPREAD_PCT
        && free_mw as f64 * 100.0 >= UNLIMITED_PCT * power_mw
        && free_iops * 100.0 >= UNLIMITED_PCT * rate;
    limited.then(|| {
        let text = format!(
            "{:.2} W, even, in power state {state}; in state 0 the same workload drew {:.2} W and made {free_iops:.0} I/Os per second instead of {rate:.0}",
            watts(power_mw),
            watts(free_mw as f64),
        );
        (Cause::PowerLimited { state }, text)
    })
}

#[cfg(test)]
#[path = "../../tests/unit/attribution/limits.rs"]
mod tests;
