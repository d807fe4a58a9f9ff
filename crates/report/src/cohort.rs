//! Reports of a cohort: many drives that ran the same suites.

use assay_analysis::cohort::Observation;
use assay_analysis::cohort::observe::{self, Origin};
use assay_stats::compare::Better;
use assay_store::read::Run;

use crate::drive_set::DriveSet;
use crate::grid;
use crate::html::suites;
use crate::scoreboard::Scoreboard;

/// All figures of a run: the headline metrics of its suite, then those of its cells ([`observe::of_run`]). A headline metric of a cell that
/// was interrupted, or not steady where it should be, is left out.
pub fn observations(run: &Run, origin: &Origin) -> Vec<Observation> {
    let mut found = headlines(run, origin);
    found.extend(observe::of_run(run, origin));
    found
}

/// The headline metrics of a run's suite, as on the scoreboard of its report.
pub fn headlines(run: &Run, origin: &Origin) -> Vec<Observation> {
    let set = DriveSet::new(std::slice::from_ref(run));
    let sections = grid::sections(&set);
    let mut found = Vec::new();
    for (suite, _) in suites(&set) {
        let board = Scoreboard::of(&set, &sections, suite);
        for row in &board.rows {
            let drive = set.drives[row.drive]
                .origins
                .first()
                .map(|(_, drive)| *drive);
            let Some(template) = drive.and_then(|drive| observe::template(run, drive, origin))
            else {
                continue;
            };
            for ((metric, _), score) in board.columns.iter().zip(&row.scores) {
                let Some(score) = score.as_ref().filter(|s| s.mark.is_none()) else {
                    continue;
                };
                found.push(Observation {
                    figure: observe::headline_figure(suite, &metric.key),
                    unit: metric.figure.unit().to_owned(),
                    better: Some(match metric.figure.is_lower_better() {
                        true => Better::Less,
                        false => Better::More,
                    }),
                    value: score.value,
                    ..template.clone()
                });
            }
        }
    }
    found
}
