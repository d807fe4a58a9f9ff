//! What heat cost a drive in a cell, in figures: the one place where they are computed, for summaries, tables and cards.
//!
//! All of them come from the phases, so that they cannot contradict the causes that are shown beside the rates.

use serde::Serialize;

use super::{Cause, Moment, Phase, Watched};

/// Throttling of a drive in a cell. Rates in MiB/s.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Throttling {
    /// When it began, seconds since the cell's start.
    pub onset_s: f64,
    /// Composite temperature then, degrees Celsius, where there is a sensor.
    pub onset_c: Option<f64>,
    /// The phase that ended when it began; none where the cell began with it. What came before that (a cache that filled) is no measure of
    /// what heat took away.
    pub before: Option<Stretch>,
    /// The spans in which the drive held itself back, in time order: seconds since the cell's start.
    pub spans: Vec<(f64, f64)>,
    /// Mean rate in these spans, fast and slow states together.
    pub after_mib_per_s: f64,
    /// Mean rate of the slow state; none where it was never seen.
    pub slow_mib_per_s: Option<f64>,
    /// Share of these spans in the slow state, percent.
    pub duty_pct: f64,
    /// From one fall to the next, seconds, where it comes and goes.
    pub period_s: Option<f64>,
    /// The phase after the last of these spans, where the cell went on without throttling.
    pub recovery: Option<Stretch>,
}

/// A span of time and its mean rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stretch {
    /// Its start, seconds since the cell's start.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
    /// Mean rate in it, MiB/s.
    pub mib_per_s: f64,
}

impl Stretch {
    fn of(phase: &Phase) -> Stretch {
        Stretch {
            from_s: phase.from_s,
            to_s: phase.to_s,
            mib_per_s: phase.mean_mib_per_s,
        }
    }
}

impl Throttling {
    /// Does a moment that begins then belong to the spans in which the drive held itself back?
    pub fn covers(&self, start_s: f64) -> bool {
        let mut spans = self.spans.iter();
        spans.any(|&(from_s, to_s)| (from_s..to_s).contains(&start_s))
    }
}

/// The share of a phase that was slow, percent, and the period of falls; `None` for phases without throttling.
fn heat(phase: &Phase) -> Option<(f64, Option<f64>)> {
    match phase.cause {
        Cause::ThermalThrottling {
            duty_pct, period_s, ..
        } => Some((duty_pct, period_s)),
        _ => None,
    }
}

/// What throttling there was, from the [`phases`](super::phases) of what was watched; `None` where there was none.
pub fn throttling(watched: &Watched, phases: &[Phase]) -> Option<Throttling> {
    let first = phases.iter().position(|phase| heat(phase).is_some())?;
    let last = phases.iter().rposition(|phase| heat(phase).is_some())?;
    let Cause::ThermalThrottling {
        onset_c, onset_s, ..
    } = phases[first].cause
    else {
        return None;
    };
    let (mut all, mut slow) = (Sum::default(), Sum::default());
    let (mut spans, mut slow_share_s, mut period_s) = (Vec::new(), 0.0, None);
    for phase in &phases[first..=last] {
        let Some((duty_pct, period)) = heat(phase) else {
            continue;
        };
        let inside = watched.moments.iter();
        let moments: Vec<&Moment> = inside
            .filter(|m| (phase.from_s..phase.to_s).contains(&m.start_s))
            .collect();
        let of_phase = Sum::of(&moments);
        slow_share_s += of_phase.span_s * duty_pct / 100.0;
        slow.add(&slowest(moments, duty_pct));
        all.add(&of_phase);
        spans.push((phase.from_s, phase.to_s));
        period_s = period_s.or(period);
    }
    let after_mib_per_s = all.mean()?;
    let recovery = phases.get(last + 1).map(Stretch::of);
    Some(Throttling {
        onset_s,
        onset_c,
        before: first.checked_sub(1).map(|at| Stretch::of(&phases[at])),
        spans,
        after_mib_per_s,
        slow_mib_per_s: slow.mean(),
        duty_pct: slow_share_s / all.span_s * 100.0,
        period_s,
        recovery,
    })
}

/// The moments of the slow state: which those are, the detector's share of them decides, not another limit on rates.
fn slowest(mut moments: Vec<&Moment>, duty_pct: f64) -> Sum {
    moments.sort_by(|a, b| a.mib_per_s.total_cmp(&b.mib_per_s));
    let count = (moments.len() as f64 * duty_pct / 100.0).round() as usize;
    let least = usize::from(duty_pct > 0.0);
    Sum::of(&moments[..count.max(least).min(moments.len())])
}

/// Rates over time, summed.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    span_s: f64,
    mib: f64,
}

impl Sum {
    fn of(moments: &[&Moment]) -> Sum {
        Sum {
            span_s: moments.iter().map(|m| m.elapsed_s).sum(),
            mib: moments.iter().map(|m| m.mib_per_s * m.elapsed_s).sum(),
        }
    }

    fn add(&mut self, other: &Sum) {
        self.span_s += other.span_s;
        self.mib += other.mib;
    }

    fn mean(&self) -> Option<f64> {
        (self.span_s > 0.0).then(|| self.mib / self.span_s)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/attribution/throttling.rs"]
mod tests;
