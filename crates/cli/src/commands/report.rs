//! `assay report RUN...`.

use serde_json::json;

use crate::args::ReportArguments;
use crate::exit::CommandOutcome;
use crate::terminal::Output;

pub fn run(arguments: &ReportArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let runs = super::open_runs(&arguments.runs, output)?;
    let page = assay_report::html::render(&runs)?;
    super::check_replaceable(&arguments.output, "<!doctype html")?;
    super::write_atomically(&arguments.output, &page)?;
    let path = std::fs::canonicalize(&arguments.output).unwrap_or(arguments.output.clone());
    output.show(
        || format!("{}\n", path.display()),
        || json!({ "report": path, "bytes": page.len(), "runs": arguments.runs }),
    )
}
