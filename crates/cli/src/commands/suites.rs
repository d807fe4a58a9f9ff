//! `assay suites [SUITE]`.

use std::fmt::Write;

use assay_suite::catalogue;
use assay_suite::schema::{Suite, WriteAccess};
use serde_json::{Value, json};

use crate::exit::CommandOutcome;
use crate::terminal::{Output, READABLE_COLUMNS, wrapped};

/// Indentation of the explanations in the list, and of a suite's.
const LISTED: &str = "                              ";
const KEYS: &str = "             ";

pub fn run(name: Option<&str>, output: Output) -> anyhow::Result<CommandOutcome> {
    let suites = match name {
        Some(name) => vec![catalogue::load(name)?],
        None => {
            let suites = catalogue::names().into_iter().map(catalogue::load);
            suites.collect::<Result<Vec<Suite>, _>>()?
        }
    };
    let columns = output.columns().min(READABLE_COLUMNS);
    let text = || match name {
        Some(_) => explained(&suites[0], columns),
        None => list(&suites, columns),
    };
    let json = || json!({ "suites": suites.iter().map(document).collect::<Vec<Value>>() });
    output.show(text, json)
}

fn list(suites: &[Suite], columns: usize) -> String {
    let mut text = String::new();
    for suite in suites {
        let writes = match suite.writes() {
            WriteAccess::Never => "reads",
            WriteAccess::IfAllowed => "may write",
            WriteAccess::Always => "destroys",
        };
        let title = wrapped(&suite.title, columns, LISTED);
        let _ = write!(text, "{:<19} {writes:<9} {}", suite.name, title.trim_start());
    }
    let notes = [
        "reads: writes nothing; may write: writes only with --destroy; destroys: needs it.",
        "`assay suites SUITE` explains one, with its duration and parameters (--set).",
        "Other suites: assay run PATH.toml DRIVE (docs/suites.md explains the format)",
    ];
    text.push('\n');
    for note in notes {
        text.push_str(&wrapped(note, columns, ""));
    }
    text
}

fn explained(suite: &Suite, columns: usize) -> String {
    let mut text = format!("{}: {}\n\n", suite.name, suite.title);
    text.push_str(&wrapped(&suite.summary, columns, ""));
    text.push('\n');
    let mut entry = |key: &str, value: &str| {
        let value = wrapped(value, columns, KEYS);
        let _ = write!(text, "{key:<12} {}", value.trim_start());
    };
    entry("source:", &suite.source);
    entry("duration:", &suite.duration);
    entry("writes:", suite.writes().text());
    for (i, step) in suite.steps.iter().enumerate() {
        entry(if i == 0 { "steps:" } else { "" }, &step.title);
    }
    if !suite.parameters.is_empty() {
        text.push_str("\nParameters, for --set KEY=VALUE, with their defaults:\n");
    }
    for (key, parameter) in &suite.parameters {
        let _ = writeln!(text, "  {key}={}", parameter.default);
        text.push_str(&wrapped(&parameter.help, columns, "      "));
    }
    text
}

fn document(suite: &Suite) -> Value {
    json!({
        "name": suite.name,
        "title": suite.title,
        "summary": suite.summary.trim(),
        "source": suite.source,
        "duration": suite.duration,
        "writes": suite.writes().text(),
        "parameters": suite.parameters.iter().map(|(key, p)| json!({
            "key": key, "default": p.default, "help": p.help,
        })).collect::<Vec<_>>(),
        "steps": suite.steps.iter()
            .map(|s| json!({ "id": s.id, "title": s.title }))
            .collect::<Vec<_>>(),
    })
}
