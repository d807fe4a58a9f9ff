//! `assay compare RUN...`.

use crate::args::CompareArguments;
use crate::exit::CommandOutcome;
use crate::json;
use crate::terminal::Output;

/// Show runs side by side with their significant differences.
pub fn run(arguments: &CompareArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let runs = super::open_runs(&arguments.runs, output)?;
    output.show(
        || {
            assay_report::terminal::compare(
                &runs,
                output.columns(),
                output.style(),
                arguments.details,
            )
        },
        || json::compare(&runs),
    )
}
