//! `assay fleet collect`.

use assay_fleet::collect::{Collected, collect};
use assay_fleet::{Plan, shared_store};
use serde_json::json;

use crate::args::fleet::CollectArguments;
use crate::exit::CommandOutcome;
use crate::terminal::Output;

pub fn run(arguments: &CollectArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let plan = Plan::load(&arguments.file)?;
    let store = shared_store::open(&plan.store.at)?;
    let collected = collect(store.as_ref(), &plan.id()?, &arguments.output)?;
    for failed in &collected.failed {
        output.note(failed);
    }
    output.show(|| text(&collected), || json!(collected))?;
    match collected.failed.len() {
        0 => Ok(CommandOutcome::Done),
        failed => anyhow::bail!("{failed} run folders could not be collected"),
    }
}

fn text(collected: &Collected) -> String {
    format!(
        "{} run folders, {} of complete runs; {} fetched now\n",
        collected.folders.len(),
        collected.complete,
        collected.fetched
    )
}
