//! Thermal throttling in figures. All are derived from the phases, so they agree with the causes
//! shown beside the rates.

use assay_store::series::IntervalSample;
use serde::Serialize;

use super::{Cause, ObservedCell, ObservedInterval, RatePhase, RateSum};

/// Rates in MiB/s.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Throttling {
    /// Time since the cell's start.
    pub onset_s: f64,
    /// Composite temperature at the onset.
    pub onset_c: Option<f64>,
    /// The phase that ended at the onset; `None` where the cell began with it. Earlier phases (a
    /// cache that filled) are no reference for the loss by throttling.
    pub before: Option<SpanRate>,
    /// Throttled spans in time order, seconds since the cell's start.
    pub spans: Vec<(f64, f64)>,
    /// Mean over the spans, fast and slow states together.
    pub after_mib_per_s: f64,
    /// `None` where the slow state did not occur.
    pub slow_mib_per_s: Option<f64>,
    /// Share of the spans in the slow state.
    pub duty_pct: f64,
    /// Time from one fall to the next, where throttling is intermittent.
    pub period_s: Option<f64>,
    /// The phase after the last span, where the cell went on without throttling.
    pub recovery: Option<SpanRate>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SpanRate {
    /// Time since the cell's start.
    pub from_s: f64,
    pub to_s: f64,
    pub mib_per_s: f64,
}

impl SpanRate {
    fn new(phase: &RatePhase) -> SpanRate {
        SpanRate { from_s: phase.from_s, to_s: phase.to_s, mib_per_s: phase.mean_mib_per_s }
    }
}

impl Throttling {
    /// Whether an interval that begins at `start_s` is in a throttled span.
    pub fn covers(&self, start_s: f64) -> bool {
        let mut spans = self.spans.iter();
        spans.any(|&(from_s, to_s)| (from_s..to_s).contains(&start_s))
    }
}

/// Computed from the [`phases`](super::phases); `None` where the drive did not throttle.
pub fn throttling(observed: &ObservedCell, phases: &[RatePhase]) -> Option<Throttling> {
    let is_throttled = |phase: &RatePhase| matches!(phase.cause, Cause::ThermalThrottling { .. });
    let first = phases.iter().position(is_throttled)?;
    let last = phases.iter().rposition(is_throttled)?;
    let mut onset = None;
    let (mut all, mut slow) = (RateSum::default(), RateSum::default());
    let (mut spans, mut slow_share_s, mut period_s) = (Vec::new(), 0.0, None);
    for phase in &phases[first..=last] {
        let Cause::ThermalThrottling { onset_c, onset_s, duty_pct, period_s: period } = phase.cause
        else {
            continue;
        };
        onset.get_or_insert((onset_s, onset_c));
        let span = phase.from_s..phase.to_s;
        let inside = |m: &&ObservedInterval| span.contains(&m.sample.start_s());
        let intervals: Vec<_> = observed.intervals.iter().filter(inside).collect();
        let of_phase = RateSum::new(intervals.iter().copied(), IntervalSample::mib_per_s);
        slow_share_s += of_phase.span_s * duty_pct / 100.0;
        slow.add(slowest(intervals, duty_pct));
        all.add(of_phase);
        spans.push((phase.from_s, phase.to_s));
        period_s = period_s.or(period);
    }
    let (onset_s, onset_c) = onset?;
    Some(Throttling {
        onset_s,
        onset_c,
        before: first.checked_sub(1).map(|at| SpanRate::new(&phases[at])),
        spans,
        after_mib_per_s: all.mean()?,
        slow_mib_per_s: slow.mean(),
        duty_pct: slow_share_s / all.span_s * 100.0,
        period_s,
        recovery: phases.get(last + 1).map(SpanRate::new),
    })
}

/// The slowest intervals, as many as the detector's share gives.
fn slowest(mut intervals: Vec<&ObservedInterval>, duty_pct: f64) -> RateSum {
    intervals.sort_by(|a, b| a.sample.mib_per_s().total_cmp(&b.sample.mib_per_s()));
    let count = (intervals.len() as f64 * duty_pct / 100.0).round() as usize;
    let least = usize::from(duty_pct > 0.0);
    let slow = intervals.into_iter().take(count.max(least));
    RateSum::new(slow, IntervalSample::mib_per_s)
}

#[cfg(test)]
#[path = "../../tests/unit/attribution/throttling.rs"]
mod tests;
