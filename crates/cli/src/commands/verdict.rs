//! `assay verdict RUN...`: verdict of each drive over all runs, by a policy.

use std::path::Path;

use assay_store::model::Verdict;
use assay_suite::catalogue;
use assay_suite::schema::VerdictRules;
use assay_suite::verdict::{VerdictSubject, evaluate};
use serde_json::json;

use crate::args::VerdictArguments;
use crate::exit::{CommandOutcome, UsageError};
use crate::terminal::Output;

/// Evaluate every drive of the runs.
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
        let list: Vec<(String, Verdict)> = evaluated
            .iter()
            .map(|(label, simulated, verdict)| {
                let mark = if *simulated { " (simulated)" } else { "" };
                (format!("{label}{mark}"), verdict.clone())
            })
            .collect();
        let mut text = assay_report::terminal::verdicts(&list, output.columns(), output.style());
        text.push_str(&format!("by the policy {name}\n"));
        text
    };
    let json = || {
        let drives: Vec<_> = evaluated
            .iter()
            .map(|(label, simulated, verdict)| {
                json!({ "drive": label, "simulated": simulated, "verdict": verdict })
            })
            .collect();
        let damaged: Vec<_> = runs.iter().flat_map(|run| &run.damaged_lines).collect();
        json!({ "policy": name, "drives": drives, "damaged_lines": damaged })
    };
    output.show(text, json)?;
    Ok(CommandOutcome::Done)
}

fn policy(path: Option<&Path>) -> anyhow::Result<(String, VerdictRules)> {
    let (name, text) = match path {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|error| {
                let what = format!("cannot read the policy {}", path.display());
                if error.kind() == std::io::ErrorKind::NotFound {
                    let next = "leave out --policy for the built-in one";
                    UsageError(format!("{what}: there is no such file; {next}")).into()
                } else {
                    anyhow::Error::new(error).context(what)
                }
            })?;
            (path.display().to_string(), text)
        }
        None => (
            catalogue::POLICY.0.to_owned(),
            catalogue::POLICY.1.to_owned(),
        ),
    };
    let rules = VerdictRules::parse(&name, &text)?;
    Ok((name, rules))
}
