//! `assay compare RUN...`.

use assay_analysis::compare;
use assay_stats::compare::ComparisonSettings;

use crate::args::CompareArguments;
use crate::exit::CommandOutcome;
use crate::json;
use crate::terminal::Output;

pub fn run(arguments: &CompareArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let folders = [&arguments.runs, &arguments.before, &arguments.after];
    let folders: Vec<_> = folders.into_iter().flatten().cloned().collect();
    let runs = super::open_runs(&folders, output)?;
    let terms = ComparisonSettings::default();
    let compared = match arguments.before.len() {
        0 => compare::compare_runs(&runs, terms),
        before => compare::before_after(&runs, before, terms)?,
    };
    output.show(
        || {
            assay_report::terminal::compare(
                &runs,
                &compared,
                output.columns(),
                output.style(),
                arguments.details,
            )
        },
        || json::compare(&runs, &compared, terms),
    )
}
