//! `assay suites`.

use std::fmt::Write;

use assay_suite::catalogue;
use serde_json::json;

use crate::exit::CommandOutcome;
use crate::terminal::Output;

/// Show the built-in suites.
pub fn run(output: Output) -> anyhow::Result<CommandOutcome> {
    let suites = catalogue::names()
        .into_iter()
        .map(catalogue::load)
        .collect::<Result<Vec<_>, _>>()?;
    let text = || {
        let mut text = String::new();
        for suite in &suites {
            let _ = writeln!(text, "{}: {}", suite.name, suite.title);
            for line in wrapped(&suite.summary, output.columns().min(100) - 4) {
                let _ = writeln!(text, "    {line}");
            }
            let _ = writeln!(text, "    source:    {}", suite.source);
            let _ = writeln!(text, "    duration:  {}", suite.duration);
            let _ = writeln!(text, "    writes:    {}", suite.writes().text());
            for (i, (key, parameter)) in suite.parameters.iter().enumerate() {
                let head = if i == 0 { "--set" } else { "" };
                let _ = writeln!(
                    text,
                    "    {head:<10} {key}={}  {}",
                    parameter.default, parameter.help
                );
            }
            text.push('\n');
        }
        text.push_str(
            "Other suites: assay run PATH.toml DRIVE (docs/suites.md explains the format)\n",
        );
        text
    };
    let json = || {
        let list: Vec<_> = suites
            .iter()
            .map(|suite| {
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
                    "steps": suite.steps.iter().map(|s| json!({ "id": s.id, "title": s.title })).collect::<Vec<_>>(),
                })
            })
            .collect();
        json!({ "suites": list })
    };
    output.show(text, json)?;
    Ok(CommandOutcome::Done)
}

fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let current = lines.last().map_or(0, |l| l.chars().count());
        if current > 0 && current + 1 + word.chars().count() > columns {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
