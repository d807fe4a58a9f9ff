use assay_analysis::figure::{FigureInput, Measured, Scope};
use assay_analysis::steady_state;
use assay_store::model::CellKind;
use assay_store::read::{CellRecord, CellState, Run};

use super::VerdictSubject;
use crate::schema::{DatasheetFacts, VerdictRule};

#[derive(Clone, Copy)]
pub(super) struct RuleInput<'a> {
    pub(super) rule: &'a VerdictRule,
    pub(super) subject: &'a VerdictSubject<'a>,
    pub(super) facts: Option<&'a DatasheetFacts>,
}

impl<'a> RuleInput<'a> {
    fn cells_of(
        runs: impl Iterator<Item = &'a (&'a Run, usize)>,
    ) -> impl Iterator<Item = Measured<'a>> {
        runs.flat_map(|(run, drive)| {
            let cells = run.cells.iter();
            cells.filter_map(|cell| Measured::new(run, cell, *drive))
        })
    }

    /// Finished cells of the rule's step and suite that measured the drive.
    fn of_step(self) -> impl Iterator<Item = Measured<'a>> {
        let suite = self.rule.suite.as_deref();
        let runs = self.subject.runs.iter();
        let runs = runs.filter(move |(run, _)| suite.is_none_or(|s| run.manifest.suite.name == s));
        let step = self.rule.step.as_deref().unwrap_or_default();
        let is_rated = move |cell: &CellRecord| {
            let plan = &cell.plan;
            let alone = plan.drives.len() == 1 || plan.kind != CellKind::Concurrent;
            let foreground = plan.job.as_ref().is_none_or(|job| job.foreground);
            plan.step == step && alone && foreground && cell.state == CellState::Finished
        };
        Self::cells_of(runs).filter(move |m| is_rated(m.cell) && m.part.result.is_some())
    }

    /// Why the figure is missing, if the drive was not in steady state.
    pub(super) fn not_steady_reason(self) -> Option<String> {
        self.of_step().find_map(not_steady_reason)
    }

    /// Where the figure depends on steady state, without cells that claim it and were not.
    fn cells(self) -> Vec<Measured<'a>> {
        let figure = self.rule.figure;
        let of_drive = match figure.scope {
            Scope::Step => false,
            Scope::Drive => true,
            Scope::StepOrDrive => self.rule.step.is_none(),
        };
        if of_drive {
            return Self::cells_of(self.subject.runs.iter()).collect();
        }
        let steady = |m: &Measured<'a>| !figure.needs_steady || not_steady_reason(*m).is_none();
        self.of_step().filter(steady).collect()
    }

    pub(super) fn figure(self) -> Option<(f64, String)> {
        if self.rule.figure.compute.is_none() {
            return self.rated_endurance();
        }
        let input = FigureInput { cells: self.cells(), with_intervals: false };
        let found = self.rule.figure.compute(&input)?;
        // Figures in JSON are finite.
        let value = found.value.min(f64::MAX);
        Some((value, found.text_or_value(self.rule.figure.unit)))
    }

    fn rated_endurance(self) -> Option<(f64, String)> {
        let facts = self.facts?;
        let tb = facts.endurance_tb?;
        let class = facts.price_class.as_deref().unwrap_or("no price class");
        let text = format!("{tb:.0} TB written rated ({class}; {})", facts.source);
        Some((tb, text))
    }
}

fn not_steady_reason(of: Measured<'_>) -> Option<String> {
    steady_state::not_steady_reason(of.run, of.cell, of.part.drive)
}
