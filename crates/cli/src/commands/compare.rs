//! `assay compare RUN...`.

use assay_analysis::compare::{self, GateOutcome};
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
    let gate = arguments.fail_if.map(|condition| condition.check(&compared));
    let text = || {
        let (columns, style) = (output.columns(), output.style());
        let details = arguments.details;
        let text = assay_report::terminal::compare(&runs, &compared, columns, style, details);
        match &gate {
            Some(gate) => text + &gate_text(gate),
            None => text,
        }
    };
    let shown = output.show(text, || json::compare(&runs, &compared, terms, gate.as_ref()))?;
    Ok(match gate.is_some_and(|gate| gate.has_failed()) {
        true => CommandOutcome::DriveFailed,
        false => shown,
    })
}

fn gate_text(gate: &GateOutcome) -> String {
    const SHOWN: usize = 10;
    match (gate.workloads, gate.slower.as_slice()) {
        (0, _) => "failed: no workload was compared\n".to_owned(),
        (_, []) => "passed: none is slower\n".to_owned(),
        (_, slower) => {
            let mut text = format!("failed: slower in {} answers\n", slower.len());
            for line in slower.iter().take(SHOWN) {
                text.push_str(&format!("  {line}\n"));
            }
            text
        }
    }
}
