//! `assay verdict RUN...`: verdict of each drive over all runs, by a policy.

use std::path::Path;

use anyhow::Context;
use assay_store::model::Verdict;
use assay_suite::catalogue;
use assay_suite::schema::VerdictRules;
use assay_suite::verdict::{VerdictSubject, evaluate};
use serde_json::json;

use crate::args::VerdictArguments;
use crate::exit::{CommandOutcome, bail_usage};
use crate::terminal::{Output, simulated_mark};

pub fn run(arguments: &VerdictArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let (name, rules) = policy(arguments.policy.as_deref())?;
    let runs = super::open_runs(&arguments.runs, output)?;
    let evaluated: Vec<(String, bool, Verdict)> = VerdictSubject::all(&runs)
        .iter()
        .map(|subject| {
            let drive = subject.drive().cloned().unwrap_or_default();
            (drive.label, drive.simulated, evaluate(&rules, subject))
        })
        .collect();
    let text = || {
        let marked = |(label, simulated, verdict): &(String, bool, Verdict)| {
            let mark = simulated_mark(*simulated);
            (format!("{label}{mark}"), verdict.clone())
        };
        let list: Vec<(String, Verdict)> = evaluated.iter().map(marked).collect();
        let mut text = assay_report::terminal::verdicts(&list, output.columns(), output.style());
        text.push_str(&format!("by the policy {name}\n"));
        text
    };
    let json = || {
        let drive = |(label, simulated, verdict): &(String, bool, Verdict)| json!({ "drive": label, "simulated": simulated, "verdict": verdict });
        let drives: Vec<_> = evaluated.iter().map(drive).collect();
        let damaged: Vec<_> = runs.iter().flat_map(|run| &run.damaged_lines).collect();
        json!({ "policy": name, "drives": drives, "damaged_lines": damaged })
    };
    output.show(text, json)
}

fn policy(path: Option<&Path>) -> anyhow::Result<(String, VerdictRules)> {
    let Some(path) = path else {
        let (name, text) = catalogue::POLICY;
        return Ok((name.to_owned(), VerdictRules::parse(name, text)?));
    };
    let name = path.display().to_string();
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail_usage!(
            "cannot read the policy {name}: there is no such file; leave out --policy for the built-in one"
        ),
        read => read.with_context(|| format!("cannot read the policy {name}"))?,
    };
    let rules = VerdictRules::parse(&name, &text)?;
    Ok((name, rules))
}
