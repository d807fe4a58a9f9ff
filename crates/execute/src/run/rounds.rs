//! Rounds: steady-state evaluation of the tracking variables after each round (SNIA PTS).

use std::collections::BTreeMap;

use assay_store::model::{CellResult, NOT_NEEDED, SteadyRecord};

use super::cell::Finished;
use assay_suite::expand::{Cell, RoundCriterion, RunPlan};
use assay_suite::schema::TrackingVariable;

type RoundsKey = (String, usize);

#[derive(Clone, Debug, Default)]
pub(super) struct RoundTracker {
    steady_in: BTreeMap<RoundsKey, u32>,
}

fn group(cell: &Cell) -> Option<(RoundsKey, u32)> {
    let round = cell.plan.round.as_ref()?;
    let drive = *cell.plan.drives.first()?;
    let step = cell.rounds_of.as_ref().unwrap_or(&cell.plan.step);
    Some(((step.clone(), drive), round.number))
}

fn figure(tracked: TrackingVariable, result: &CellResult) -> f64 {
    match tracked {
        TrackingVariable::Iops => result.iops(),
        TrackingVariable::MibPerS => result.mib_per_s(),
        TrackingVariable::MeanLatency => result.latency().mean / 1e3,
    }
}

impl RoundTracker {
    pub(super) fn merge(&mut self, other: RoundTracker) {
        self.steady_in.extend(other.steady_in);
    }

    /// Why this cell is not needed: its step is in steady state.
    pub(super) fn skip_reason(&self, cell: &Cell) -> Option<String> {
        let (group, number) = group(cell)?;
        let steady = *self.steady_in.get(&group)?;
        (number > steady)
            .then(|| format!("{NOT_NEEDED}: the rounds reached steady state in round {steady}"))
    }

    pub(super) fn round_ended(
        &mut self,
        plan: &RunPlan,
        index: usize,
        results: &Finished,
    ) -> Vec<SteadyRecord> {
        let cell = &plan.cells[index];
        let (Some((group_of, number)), Some(rounds)) = (group(cell), &cell.rounds) else {
            return Vec::new();
        };
        let next = plan.cells.get(index + 1).and_then(group);
        if next == Some((group_of.clone(), number)) || self.steady_in.contains_key(&group_of) {
            return Vec::new();
        }
        let drive = group_of.1;
        let mut series: BTreeMap<String, Vec<(u32, Option<f64>)>> = BTreeMap::new();
        for other in &plan.cells[..=index] {
            if let (Some((other_group, number)), Some(round)) = (group(other), &other.plan.round)
                && other_group == group_of
                && round.tracked
            {
                let mut results = results.get(&other.plan.id).into_iter().flatten();
                let result = results.find(|r| r.drive == drive);
                let value = result.map(|r| figure(rounds.figure, r));
                let of_group = series.entry(other.group.clone()).or_default();
                of_group.push((number, value));
            }
        }
        let evaluate = |(group, values)| SteadyRecord {
            drive,
            step: cell.plan.step.clone(),
            group,
            ..evaluate(rounds, values)
        };
        let evaluated: Vec<SteadyRecord> = series.into_iter().map(evaluate).collect();
        if !evaluated.is_empty() && evaluated.iter().all(|steady| steady.achieved) {
            self.steady_in.insert(group_of, number);
        }
        evaluated
    }
}

/// Evaluates (round, value) pairs, in order.
fn evaluate(rounds: &RoundCriterion, by_round: Vec<(u32, Option<f64>)>) -> SteadyRecord {
    // Only rounds after the last failed one count.
    let gap = by_round.iter().rposition(|(_, value)| value.is_none());
    let after = gap.map_or(0, |at| at + 1);
    let values: Vec<f64> = by_round[after..].iter().filter_map(|v| v.1).collect();
    let (rule, dwell) = (&rounds.rule, rounds.dwell as usize);
    let evaluation = rule.evaluate_with_dwell(&values, dwell);
    let shift = after as u32;
    SteadyRecord {
        rule: rounds.text(),
        figure: rounds.figure.text().to_owned(),
        achieved: evaluation.achieved,
        values: by_round.iter().map(|v| v.1.unwrap_or(0.0)).collect(),
        window: (evaluation.window.0 + shift, evaluation.window.1 + shift),
        mean: evaluation.mean,
        range_pct: evaluation.range_pct,
        excursion_pct: evaluation.excursion_pct,
        slope_per_round: evaluation.slope_per_step,
        band: rounds.rule.half_band(evaluation.mean),
        why: evaluation.why.map(|why| match gap {
            Some(at) => {
                let failed = by_round[at].0;
                format!("{why} (counted from after round {failed}, which failed)")
            }
            None => why,
        }),
        ..SteadyRecord::default()
    }
}

#[cfg(test)]
#[path = "../../tests/unit/run/rounds.rs"]
mod tests;
