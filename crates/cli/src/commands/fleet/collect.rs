//! `assay fleet collect`.

use std::path::Path;

use assay_export::lake::{Joined, Lake, RunFacts, Source};
use assay_fleet::Plan;
use assay_fleet::collect::{Collected, claim_of, collect};
use serde_json::json;

use super::{OpenPlan, open_plan};
use crate::args::fleet::CollectArguments;
use crate::exit::CommandOutcome;
use crate::terminal::Output;

pub fn run(arguments: &CollectArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let opened = open_plan(&arguments.file)?;
    let OpenPlan { plan, id, store } = &opened;
    let collected = collect(store.as_ref(), id, &arguments.output)?;
    for failed in &collected.failed {
        output.note(failed);
    }
    if let [_, further @ ..] = &collected.without_space[..]
        && !further.is_empty()
    {
        let (count, names) = (further.len(), further.join("; "));
        output.note(&format!("nor was there space for {count} further: {names}"));
    }
    for missing in &collected.missing {
        output.note(&missing.to_string());
    }
    let joined = match &arguments.lake {
        None => None,
        Some(lake) => {
            let folders = collected.folders.iter();
            let sources: Vec<Source> = folders.map(|f| source(f, plan, id.as_str())).collect();
            let lake = Lake::new(lake);
            Some(lake.join(&sources, &assay_report::cohort::observations)?)
        }
    };
    for left_out in joined.iter().flat_map(|joined| &joined.left_out) {
        output.note(&format!("{}: {}", left_out.folder.display(), left_out.reason));
    }
    output.show(
        || text(&collected, joined.as_ref()),
        || {
            let lake = joined.as_ref().map(|joined| {
                json!({
                    "added": joined.added,
                    "replaced": joined.replaced,
                    "unchanged": joined.unchanged,
                })
            });
            json!({
                "folders": collected.folders, "fetched": collected.fetched,
                "complete": collected.complete,
                "failed": collected.failed, "without_space": collected.without_space,
                "missing": collected.missing, "lake": lake,
            })
        },
    )?;
    super::check_missing(&opened, &arguments.file, &collected.missing)?;
    match collected.failures() {
        0 => Ok(CommandOutcome::Done),
        failed => anyhow::bail!("{failed} run folders could not be collected"),
    }
}

fn source(folder: &Path, plan: &Plan, id: &str) -> Source {
    let claim = claim_of(folder);
    let group = claim.as_ref().and_then(|c| plan.group_of(c.serial.as_str()));
    Source {
        folder: folder.to_owned(),
        facts: RunFacts {
            plan: Some(id.to_owned()),
            group,
            host: claim.as_ref().map(|c| c.holder.host.to_string()),
            slot: claim.as_ref().and_then(|c| c.holder.slot.clone()),
            attempt: claim.as_ref().map(|c| c.attempt),
            ..RunFacts::default()
        },
    }
}

fn text(collected: &Collected, joined: Option<&Joined>) -> String {
    let mut text = format!(
        "{} run folders, {} of complete runs; {} fetched now\n",
        collected.folders.len(),
        collected.complete,
        collected.fetched
    );
    if let Some(joined) = joined {
        text.push_str(&format!(
            "lake: {} runs added, {} replaced, {} unchanged\n",
            joined.added.len(),
            joined.replaced.len(),
            joined.unchanged
        ));
    }
    text
}
