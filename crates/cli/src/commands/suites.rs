//! `assay suites`.

use std::fmt::Write;

use assay_suite::catalogue;
use assay_suite::schema::Suite;
use serde_json::json;

use crate::exit::CommandOutcome;
use crate::terminal::Output;

pub fn run(output: Output) -> anyhow::Result<CommandOutcome> {
    let suites = catalogue::names().into_iter().map(catalogue::load);
    let suites = suites.collect::<Result<Vec<Suite>, _>>()?;
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
                let (default, help) = (&parameter.default, &parameter.help);
                let _ = writeln!(text, "    {head:<10} {key}={default}  {help}");
            }
            text.push('\n');
        }
        text.push_str(
            "Other suites: assay run PATH.toml DRIVE (docs/suites.md explains the format)\n",
        );
        text
    };
    let json = || {
        let one = |suite: &Suite| {
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
        };
        json!({ "suites": suites.iter().map(one).collect::<Vec<_>>() })
    };
    output.show(text, json)
}

fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
