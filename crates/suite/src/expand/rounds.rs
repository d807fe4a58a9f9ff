//! Rounds: how many at most, and the rule by which they come to rest, with parameters put in.

use assay_device::session::DriveSession;
use assay_stats::steady::{FioFigure, SteadyRule};

use super::RunPlan;
use super::matrix::{Combination, same_value};
use super::parameters::plain;
use crate::SuiteError;
use crate::schema::{RoundsSpec, SNIA, SuiteStep, TrackingVariable};

/// More rounds than any procedure asks for.
pub(super) const MAX_ROUNDS: u32 = 1000;

/// The rule by which rounds come to rest: [`RoundsSpec`] with everything in force.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundCriterion {
    /// What is asked of one window.
    pub rule: SteadyRule,
    /// Further rounds for which it must go on holding.
    pub dwell: u32,
    /// Of which figure.
    pub figure: TrackingVariable,
}

impl RoundCriterion {
    /// With its limits, for people.
    pub fn words(&self) -> String {
        let mut words = self.rule.words();
        if self.dwell > 0 {
            words.push_str(&format!(", and for {} further rounds", self.dwell));
        }
        words
    }
}

impl RunPlan {
    /// The rule by which a step's rounds come to rest.
    pub(super) fn round_criterion(
        &self,
        step: &SuiteStep,
        rounds: &RoundsSpec,
        drive: &DriveSession,
    ) -> Result<RoundCriterion, SuiteError> {
        let failed = |message: String| self.step_failed(step, &message);
        let text = plain(&self.substituted(&rounds.dwell, drive));
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
        let text = plain(&self.substituted(&text, drive));
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
            // fio's spelling says of which figure it is.
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

    /// How many rounds at most.
    pub(super) fn max_rounds(
        &self,
        step: &SuiteStep,
        rounds: &RoundsSpec,
        drive: &DriveSession,
    ) -> Result<u32, SuiteError> {
        let dwell = self.round_criterion(step, rounds, drive)?.dwell;
        let text = plain(&self.substituted(&rounds.most, drive));
        let window = rounds.window;
        let least = window.saturating_add(dwell);
        text.parse()
            .ok()
            .filter(|most| (least..=MAX_ROUNDS).contains(most))
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

    /// Does the figure of this cell decide whether the rounds have come to rest?
    /// Is any combination tracked? Without one, rounds go on to the last and nothing says whether the drive came to rest.
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
            .map(|(key, value)| format!("{key}={}", plain(&self.substituted(value, drive))))
            .collect();
        Err(SuiteError::Text {
            name: self.suite.name.clone(),
            message: format!(
                "step {:?} judges steady state by {}, which is not among its combinations: add it to what they are made of (--set)",
                step.id,
                wanted.join(", ")
            ),
        })
    }

    /// Is this the combination that steady state is judged by?
    pub(super) fn is_tracked(
        &self,
        rounds: &RoundsSpec,
        combination: &Combination,
        drive: &DriveSession,
    ) -> bool {
        rounds.track.iter().all(|(key, value)| {
            let wanted = plain(&self.substituted(value, drive));
            combination
                .axes
                .iter()
                .any(|(axis, text)| axis == key && same_value(text, &wanted))
        })
    }
}
