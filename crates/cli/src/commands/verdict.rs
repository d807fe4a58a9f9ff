use std::path::Path;

use anyhow::Context;
use assay_store::model::{Verdict, VerdictResult};
use assay_suite::catalogue;
use assay_suite::schema::VerdictRules;
use assay_suite::verdict::{Basis, VerdictSubject, evaluate_by};
use serde_json::json;

use crate::args::VerdictArguments;
use crate::exit::{CommandOutcome, bail_usage};
use crate::terminal::{Output, simulated_mark};

pub fn run(arguments: &VerdictArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let (name, rules) = rules(arguments.policy.as_deref(), arguments.datasheet.as_deref())?;
    let runs = super::open_runs(&arguments.runs, output)?;
    let subjects = VerdictSubject::all(&runs);
    let (basis, by) = match arguments.against.as_str() {
        "drives" => (
            Basis::Drives(&subjects),
            "; rates and latencies against the best of these drives".to_owned(),
        ),
        "datasheet" => {
            (Basis::Datasheet, "; rates and latencies against the data sheet".to_owned())
        }
        _ => {
            let limits = rules.limits.as_ref();
            let of = |limits| {
                format!(
                    "; its limits are opinions about {limits}\nother references: --against \
                     drives, --against datasheet"
                )
            };
            (Basis::Limits, limits.map_or(String::new(), of))
        }
    };
    let evaluated: Vec<(String, bool, Verdict)> = subjects
        .iter()
        .map(|subject| {
            let drive = subject.drive().cloned().unwrap_or_default();
            let verdict = evaluate_by(&rules, subject, basis);
            (drive.label, drive.simulated, verdict)
        })
        .collect();
    let text = || {
        let marked = |(label, simulated, verdict): &(String, bool, Verdict)| {
            let mark = simulated_mark(*simulated);
            (format!("{label}{mark}"), verdict.clone())
        };
        let list: Vec<(String, Verdict)> = evaluated.iter().map(marked).collect();
        let mut text = assay_report::terminal::verdicts(&list, output.columns(), output.style());
        text.push_str(&format!("by the policy {name}{by}\n"));
        text
    };
    let json = || {
        let drives: Vec<_> = evaluated
            .iter()
            .map(|(drive, simulated, verdict)| {
                json!({ "drive": drive, "simulated": simulated, "verdict": verdict })
            })
            .collect();
        let damaged: Vec<_> = runs.iter().flat_map(|run| &run.damaged_lines).collect();
        json!({
            "policy": name,
            "against": arguments.against,
            "limits": rules.limits,
            "drives": drives,
            "damaged_lines": damaged,
        })
    };
    output.show(text, json)?;
    let rejected =
        |(_, _, verdict): &(String, bool, Verdict)| verdict.result == VerdictResult::NotRecommended;
    let failed = arguments.gate && evaluated.iter().any(rejected);
    Ok(CommandOutcome::Done.unless(failed))
}

/// A policy with its name, and with the figures of a data sheet in front of its own.
pub fn rules(
    path: Option<&Path>,
    datasheet: Option<&Path>,
) -> anyhow::Result<(String, VerdictRules)> {
    let (name, mut rules) = policy(path)?;
    if let Some(path) = datasheet {
        let sheet = path.display().to_string();
        let own = VerdictRules::parse_facts(&sheet, &read("data sheet", path)?)?;
        // The first match counts.
        rules.facts.splice(0..0, own);
    }
    Ok((name, rules))
}

fn policy(path: Option<&Path>) -> anyhow::Result<(String, VerdictRules)> {
    let Some(path) = path else {
        let (name, text) = catalogue::POLICY;
        return Ok((name.to_owned(), VerdictRules::parse(name, text)?));
    };
    let name = path.display().to_string();
    let rules = VerdictRules::parse(&name, &read("policy", path)?)?;
    Ok((name, rules))
}

fn read(what: &str, path: &Path) -> anyhow::Result<String> {
    let name = path.display();
    match assay_output::read_text(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let without = match what {
                "policy" => "; leave out --policy for the built-in one",
                _ => "",
            };
            bail_usage!("cannot read the {what} {name}: there is no such file{without}")
        }
        read => read.with_context(|| format!("cannot read the {what} {name}")),
    }
}
