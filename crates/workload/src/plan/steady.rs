use assay_stats::steady::{FioFigure, SteadyEvaluation, SteadyRule};
use assay_units::Nanos;

use super::PlanError;
use super::values::{duration, invalid, out_of_range};
use crate::options::JobOptions;

/// A job ends when the rate of its intervals is steady (fio's `steadystate`, `steadystate.c`).
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyState {
    pub figure: FioFigure,
    /// As given, for messages.
    pub text: String,
    rule: SteadyRule,
    /// Measured time that does not count.
    ramp: Nanos,
}

impl SteadyState {
    /// `rates`: begin of each interval, counted from that of the first which is measured, and its
    /// I/Os or bytes per second.
    pub fn evaluate(&self, rates: impl ExactSizeIterator<Item = (Nanos, f64)>) -> SteadyEvaluation {
        let earlier = rates.len().saturating_sub(self.rule.window());
        let last = rates.skip(earlier).filter(|(begin, _)| *begin >= self.ramp);
        self.rule.evaluate(&last.map(|(_, rate)| rate).collect::<Vec<_>>())
    }
}

pub(super) fn steady_state(
    options: &JobOptions,
    interval: Nanos,
) -> Result<Option<SteadyState>, PlanError> {
    let window = duration("steadystate_duration", &options.steadystate_duration)?;
    let ramp = duration("steadystate_ramp_time", &options.steadystate_ramp_time)?;
    let Some(text) = &options.steadystate else {
        return match window.or(ramp) {
            Some(_) => Err(invalid(
                "--steadystate_duration and --steadystate_ramp_time need --steadystate",
            )),
            None => Ok(None),
        };
    };
    let Some(window) = window else {
        return Err(invalid("--steadystate needs --steadystate_duration, such as 60s"));
    };
    let intervals = window.0 / interval.0;
    if intervals < 2 {
        let range = format!("at least two intervals of {interval}; --interval sets their length");
        return Err(out_of_range("steadystate_duration", window, &range));
    }
    let window = usize::try_from(intervals).unwrap_or(usize::MAX);
    let (figure, rule) = SteadyRule::from_fio(text, window)
        .map_err(|why| invalid(format!("--steadystate: {why}")))?;
    Ok(Some(SteadyState { figure, text: text.clone(), rule, ramp: ramp.unwrap_or_default() }))
}
