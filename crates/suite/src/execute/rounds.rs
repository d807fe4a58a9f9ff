//! Rounds: after each, the tracked figures are judged; once they have come to rest, the rounds left are not needed.

use std::collections::BTreeMap;

use assay_store::model::{CellResult, Steady};

use crate::expand::{Cell, RoundCriterion, RunPlan};
use crate::schema::TrackingVariable;

/// What a round is part of: its step, on its drive.
type Group = (String, usize);

/// The rounds of a run so far.
#[derive(Debug, Default)]
pub(super) struct RoundTracker {
    /// The round in which a group came to rest.
    at_rest: BTreeMap<Group, u32>,
}

fn group(cell: &Cell) -> Option<(Group, u32)> {
    let round = cell.plan.round.as_ref()?;
    let drive = *cell.plan.drives.first()?;
    Some(((cell.plan.step.clone(), drive), round.number))
}

fn figure(tracked: TrackingVariable, result: &CellResult) -> f64 {
    match tracked {
        TrackingVariable::Iops => result.iops(),
        TrackingVariable::MibPerS => result.mib_per_s(),
        TrackingVariable::MeanLatency => result.latency().mean / 1e3,
    }
}

impl RoundTracker {
    /// Why this cell is not needed any more.
    pub(super) fn not_needed(&self, cell: &Cell) -> Option<String> {
        let (group, number) = group(cell)?;
        let rest = *self.at_rest.get(&group)?;
        (number > rest).then(|| format!("not needed: the rounds came to rest in round {rest}"))
    }

    /// Is this cell the last of its round? Then how its tracked figures stand.
    pub(super) fn over(
        &mut self,
        plan: &RunPlan,
        index: usize,
        results: &BTreeMap<String, Vec<CellResult>>,
    ) -> Vec<Steady> {
        let cell = &plan.cells[index];
        let (Some((group_of, number)), Some(rounds)) = (group(cell), &cell.rounds) else {
            return Vec::new();
        };
        let next = plan.cells.get(index + 1).and_then(group);
        if next == Some((group_of.clone(), number)) || self.at_rest.contains_key(&group_of) {
            return Vec::new();
        }
        let drive = group_of.1;
        let mut courses: BTreeMap<String, Vec<(u32, Option<f64>)>> = BTreeMap::new();
        for other in &plan.cells[..=index] {
            if let (Some((other_group, number)), Some(round)) = (group(other), &other.plan.round)
                && other_group == group_of
                && round.tracked
            {
                let result = results.get(&other.plan.id);
                let result = result.and_then(|all| all.iter().find(|r| r.drive == drive));
                let value = result.map(|r| figure(rounds.figure, r));
                courses
                    .entry(other.group.clone())
                    .or_default()
                    .push((number, value));
            }
        }
        let judged: Vec<Steady> = courses
            .into_iter()
            .map(|(name, course)| evaluate(rounds, drive, &cell.plan.step, name, &course))
            .collect();
        if !judged.is_empty() && judged.iter().all(|steady| steady.achieved) {
            self.at_rest.insert(group_of, number);
        }
        judged
    }
}

fn evaluate(
    rounds: &RoundCriterion,
    drive: usize,
    step: &str,
    group: String,
    course: &[(u32, Option<f64>)],
) -> Steady {
    // Rounds after the last one that could not be measured: a gap is no rest.
    let gap = course.iter().rposition(|(_, value)| value.is_none());
    let after = gap.map_or(0, |at| at + 1);
    let values: Vec<f64> = course[after..]
        .iter()
        .filter_map(|(_, value)| *value)
        .collect();
    let judgement = rounds.rule.judge_with_dwell(&values, rounds.dwell as usize);
    let shift = after as u32;
    Steady {
        drive,
        step: step.to_owned(),
        group,
        rule: rounds.words(),
        figure: rounds.figure.words().to_owned(),
        achieved: judgement.achieved,
        values: course
            .iter()
            .map(|(_, value)| value.unwrap_or(0.0))
            .collect(),
        window: (judgement.window.0 + shift, judgement.window.1 + shift),
        mean: judgement.mean,
        range_pct: judgement.range_pct,
        excursion_pct: judgement.excursion_pct,
        slope_per_round: judgement.slope_per_step,
        band: rounds.rule.half_band(judgement.mean),
        why: judgement.why.map(|why| match gap {
            Some(at) => format!(
                "{why} (counted from after round {}, which failed)",
                course[at].0
            ),
            None => why,
        }),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/execute/rounds.rs"]
mod tests;
