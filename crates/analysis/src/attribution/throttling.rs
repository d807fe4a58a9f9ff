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
mod tests {
    use super::super::{Facts, phases};
    use super::*;

    fn moment(second: usize, rate: f64, celsius: f64, throttled: bool) -> Moment {
        Moment {
            start_s: second as f64,
            elapsed_s: 1.0,
            iops: rate * 8.0,
            mib_per_s: rate,
            written_bytes: (rate as u64) << 20,
            temperature_c: Some(celsius),
            throttled: Some(throttled),
            ..Moment::default()
        }
    }

    /// A cache for a minute, the flash behind it for two, 12 slow seconds of every 40 for eight minutes, and three cool minutes.
    pub(crate) fn cached_then_hot_then_cool() -> Watched {
        let at = |second: usize| match second {
            0..60 => moment(second, 2000.0, 45.0, false),
            60..180 => moment(second, 1000.0, 60.0, false),
            180..660 => {
                let slow = (second - 180) % 40 < 12;
                let rate = if slow { 250.0 } else { 1000.0 };
                moment(second, rate, 76.0 + f64::from(u8::from(slow)), slow)
            }
            _ => moment(second, 1000.0, 50.0, false),
        };
        Watched {
            moments: (0..840).map(at).collect(),
            facts: Facts {
                write_share: 1.0,
                capacity_bytes: 1 << 40,
                span_bytes: 1 << 40,
                ..Facts::default()
            },
        }
    }

    #[test]
    fn what_heat_took_is_measured_against_the_phase_before_it() {
        let watched = cached_then_hot_then_cool();
        let phases = phases(&watched);
        let hot = throttling(&watched, &phases).unwrap();
        assert_eq!((hot.onset_s, hot.onset_c), (180.0, Some(77.0)));
        let before = hot.before.unwrap();
        assert_eq!(
            (before.to_s, before.mib_per_s),
            (180.0, 1000.0),
            "{phases:#?}"
        );
        assert!((hot.duty_pct - 30.0).abs() < 2.0, "{hot:?}");
        assert_eq!(hot.period_s, Some(40.0));
        let slow = hot.slow_mib_per_s.unwrap();
        assert!((250.0..270.0).contains(&slow), "{hot:?}");
        assert!((hot.after_mib_per_s - 775.0).abs() < 20.0, "{hot:?}");
        let recovery = hot.recovery.unwrap();
        assert_eq!((recovery.to_s, recovery.mib_per_s), (840.0, 1000.0));
        // And it is what the phases themselves say.
        let thermal: Vec<&Phase> = phases.iter().filter(|p| heat(p).is_some()).collect();
        assert_eq!(thermal.len(), 1, "{phases:#?}");
        assert_eq!(hot.after_mib_per_s, thermal[0].mean_mib_per_s);
        assert_eq!(heat(thermal[0]), Some((hot.duty_pct, hot.period_s)));
        assert!(hot.covers(180.0) && !hot.covers(179.0) && !hot.covers(recovery.from_s));
    }

    #[test]
    fn a_cell_that_begins_hot_has_nothing_before_it_and_a_cool_one_no_throttling() {
        let mut watched = cached_then_hot_then_cool();
        watched
            .moments
            .retain(|m| (180.0..600.0).contains(&m.start_s));
        let hot = throttling(&watched, &phases(&watched)).unwrap();
        assert_eq!((hot.before, hot.recovery), (None, None));
        watched
            .moments
            .iter_mut()
            .for_each(|m| m.throttled = Some(false));
        assert_eq!(throttling(&watched, &phases(&watched)), None);
        assert_eq!(throttling(&Watched::default(), &[]), None);
    }
}
