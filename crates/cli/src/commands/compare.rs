//! `assay compare RUN...`.

use crate::args::CompareArguments;
use crate::exit::Verdict;
use crate::json;
use crate::terminal::Output;

/// Show runs side by side.
pub fn run(arguments: &CompareArguments, output: Output) -> anyhow::Result<Verdict> {
    let runs = super::open_runs(&arguments.runs)?;
    output.show(
        || assay_report::terminal::compare(&runs, output.columns(), output.style()),
        || serde_json::json!({ "compared": runs.iter().map(json::suite).collect::<Vec<_>>() }),
    )?;
    Ok(Verdict::Done)
}
