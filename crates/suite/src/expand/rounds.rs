//! Rounds of a step: limit and steady-state criterion, with parameters resolved.

use assay_stats::steady::{FioFigure, SteadyRule};

use super::matrix::{Combination, StepOnDrive, same_value};
use crate::SuiteError;
use crate::schema::{RoundsSpec, SNIA, TrackingVariable};

pub(super) const MAX_ROUNDS: u32 = 1000;

/// Steady-state criterion of rounds: [`RoundsSpec`] with parameters resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundCriterion {
    pub rule: SteadyRule,
    pub dwell: u32,
    pub figure: TrackingVariable,
}

impl RoundCriterion {
    pub fn text(&self) -> String {
        let mut text = self.rule.text();
        if self.dwell > 0 {
            text.push_str(&format!(", and for {} further rounds", self.dwell));
        }
        text
    }
}

impl StepOnDrive<'_> {
    pub(super) fn round_criterion(
        &self,
        rounds: &RoundsSpec,
    ) -> Result<RoundCriterion, SuiteError> {
        let text = self.resolve(&rounds.dwell);
        let dwell = text.trim().parse().ok();
        let dwell = dwell.filter(|dwell| *dwell <= MAX_ROUNDS).ok_or_else(|| {
            self.failed(&format!("dwell = {text:?}: a whole number from 0 to {MAX_ROUNDS}"))
        })?;
        let window = rounds.window as usize;
        let text = self.substitute(&rounds.rule);
        if text.trim() == SNIA {
            let rule = SteadyRule::Snia {
                window,
                range_pct: rounds.range_pct,
                excursion_pct: rounds.excursion_pct,
            };
            return Ok(RoundCriterion { rule, dwell, figure: rounds.figure });
        }
        let (figure, rule) = SteadyRule::from_fio(text.trim(), window)
            .map_err(|e| self.failed(&format!("{e}; or `{SNIA}` for SNIA's rule")))?;
        Ok(RoundCriterion {
            rule,
            dwell,
            // fio's rule names its figure.
            figure: match figure {
                FioFigure::Iops => TrackingVariable::Iops,
                FioFigure::Bandwidth => TrackingVariable::MibPerS,
            },
        })
    }

    pub(super) fn max_rounds(&self, rounds: &RoundsSpec) -> Result<u32, SuiteError> {
        let dwell = self.round_criterion(rounds)?.dwell;
        let text = self.resolve(&rounds.most);
        let window = rounds.window;
        let least = u64::from(window) + u64::from(dwell);
        let most = text.parse().ok();
        most.filter(|most| *most <= MAX_ROUNDS && u64::from(*most) >= least).ok_or_else(|| {
            let of = match dwell {
                0 => "the window".to_owned(),
                dwell => format!("a window of {window} and a dwell of {dwell}"),
            };
            self.failed(&format!(
                "rounds = {text:?}: a whole number from {least} ({of}) to {MAX_ROUNDS}"
            ))
        })
    }

    /// Without a tracked combination, steady state is never evaluated.
    pub(super) fn check_tracked(
        &self,
        rounds: &RoundsSpec,
        combinations: &[Combination],
    ) -> Result<(), SuiteError> {
        let tracked = |combination| self.is_tracked(rounds, combination);
        if combinations.is_empty() || combinations.iter().any(tracked) {
            return Ok(());
        }
        let wanted = rounds.track.iter();
        let wanted: Vec<String> =
            wanted.map(|(key, value)| format!("{key}={}", self.resolve(value))).collect();
        Err(self.failed(&format!(
            "tracks {}, which is not among its combinations: add it to the matrix (--set)",
            wanted.join(", ")
        )))
    }

    pub(super) fn is_tracked(&self, rounds: &RoundsSpec, combination: &Combination) -> bool {
        rounds.track.iter().all(|(key, value)| {
            let wanted = self.resolve(value);
            let mut axes = combination.axes.iter();
            axes.any(|(axis, text)| axis == key && same_value(text, &wanted))
        })
    }
}
