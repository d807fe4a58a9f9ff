//! Rounds of a step: limit and steady-state criterion, with parameters resolved.

use assay_device::session::DriveSession;
use assay_stats::steady::{FioFigure, SteadyRule};

use super::RunPlan;
use super::matrix::{Combination, same_value};
use crate::SuiteError;
use crate::schema::{RoundsSpec, SNIA, SuiteStep, TrackingVariable};

/// Largest number of rounds.
pub(super) const MAX_ROUNDS: u32 = 1000;

/// Steady-state criterion of rounds: [`RoundsSpec`] with parameters resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundCriterion {
    /// Rule for one measurement window.
    pub rule: SteadyRule,
    /// Further rounds for which the rule must hold.
    pub dwell: u32,
    /// Tracking variable.
    pub figure: TrackingVariable,
}

impl RoundCriterion {
    /// The criterion as text, with its limits.
    pub fn text(&self) -> String {
        let mut text = self.rule.text();
        if self.dwell > 0 {
            text.push_str(&format!(", and for {} further rounds", self.dwell));
        }
        text
    }
}

impl RunPlan {
    /// The steady-state criterion of a step.
    pub(super) fn round_criterion(
        &self,
        step: &SuiteStep,
        rounds: &RoundsSpec,
        drive: &DriveSession,
    ) -> Result<RoundCriterion, SuiteError> {
        let failed = |message: String| self.step_failed(step, &message);
        let text = self.resolve(&rounds.dwell, drive);
        let dwell = text
            .trim()
            .parse()
            .ok()
            .filter(|dwell| *dwell <= MAX_ROUNDS)
            .ok_or_else(|| {
                failed(format!(
                    "dwell = {text:?}: a whole number from 0 to {MAX_ROUNDS}"
                ))
            })?;
        let window = rounds.window as usize;
        let text = toml::Value::String(rounds.rule.clone());
        let text = self.resolve(&text, drive);
        let (rule, figure) = if text.trim() == SNIA {
            let rule = SteadyRule::Snia {
                window,
                range_pct: rounds.range_pct,
                excursion_pct: rounds.excursion_pct,
            };
            (rule, rounds.figure)
        } else {
            let (named, rule) = SteadyRule::from_fio(text.trim(), window)
                .map_err(|e| failed(format!("{e}; or `{SNIA}` for SNIA's rule")))?;
            // fio's rule names its figure.
            let figure = match named {
                FioFigure::Iops => TrackingVariable::Iops,
                FioFigure::Bandwidth => TrackingVariable::MibPerS,
            };
            (rule, figure)
        };
        Ok(RoundCriterion {
            rule,
            dwell,
            figure,
        })
    }

    /// Largest number of rounds.
    pub(super) fn max_rounds(
        &self,
        step: &SuiteStep,
        rounds: &RoundsSpec,
        drive: &DriveSession,
    ) -> Result<u32, SuiteError> {
        let dwell = self.round_criterion(step, rounds, drive)?.dwell;
        let text = self.resolve(&rounds.most, drive);
        let window = rounds.window;
        let least = u64::from(window) + u64::from(dwell);
        text.parse()
            .ok()
            .filter(|most| *most <= MAX_ROUNDS && u64::from(*most) >= least)
            .ok_or_else(|| {
                let of = match dwell {
                    0 => "the window".to_owned(),
                    dwell => format!("a window of {window} and a dwell of {dwell}"),
                };
                let message = format!(
                    "rounds = {text:?}: a whole number from {least} ({of}) to {MAX_ROUNDS}"
                );
                self.step_failed(step, &message)
            })
    }

    /// Error unless a combination is tracked: without one, rounds run to the limit and steady state is never evaluated.
    pub(super) fn check_tracked(
        &self,
        step: &SuiteStep,
        rounds: &RoundsSpec,
        combinations: &[Combination],
        drive: &DriveSession,
    ) -> Result<(), SuiteError> {
        let tracked = combinations
            .iter()
            .any(|combination| self.is_tracked(rounds, combination, drive));
        if tracked || combinations.is_empty() {
            return Ok(());
        }
        let wanted: Vec<String> = rounds
            .track
            .iter()
            .map(|(key, value)| format!("{key}={}", self.resolve(value, drive)))
            .collect();
        let message = format!(
            "tracks {}, which is not among its combinations: add it to the matrix (--set)",
            wanted.join(", ")
        );
        Err(self.step_failed(step, &message))
    }

    /// Whether this combination is tracked.
    pub(super) fn is_tracked(
        &self,
        rounds: &RoundsSpec,
        combination: &Combination,
        drive: &DriveSession,
    ) -> bool {
        rounds.track.iter().all(|(key, value)| {
            let wanted = self.resolve(value, drive);
            combination
                .axes
                .iter()
                .any(|(axis, text)| axis == key && same_value(text, &wanted))
        })
    }
}
