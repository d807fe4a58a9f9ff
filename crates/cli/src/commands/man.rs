//! `assay man`: manual pages, from the definitions of `--help`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use serde_json::json;

use crate::args::{Arguments, ManArguments};
use crate::exit::{CommandOutcome, bail_usage};
use crate::terminal::Output;

pub fn run(arguments: &ManArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let pages = pages()?;
    if let Some(folder) = &arguments.output {
        let files = write(&pages, folder)?;
        return output.show(
            || files.iter().map(|file| format!("{}\n", file.display())).collect(),
            || json!({ "files": files }),
        );
    }
    let words = std::iter::once("assay").chain(arguments.command.iter().map(String::as_str));
    let name = words.collect::<Vec<_>>().join("-");
    let Some((_, page)) = pages.iter().find(|(page, _)| *page == name) else {
        bail_usage!("there is no command {}", arguments.command.join(" "));
    };
    output.show(|| page.clone(), || json!({ "name": name, "page": page }))
}

/// Name and text (roff) of the page of `assay` and of each command, with those of its sub-commands
/// after it.
fn pages() -> anyhow::Result<Vec<(String, String)>> {
    let mut root = without_help(Arguments::command());
    // Gives commands their full names.
    root.build();
    let mut pages = Vec::new();
    add(&root, &mut pages)?;
    Ok(pages)
}

/// Without the commands `help`, which have no pages.
fn without_help(command: Command) -> Command {
    let command = command.mut_subcommands(without_help);
    match command.has_subcommands() {
        true => command.disable_help_subcommand(true),
        false => command,
    }
}

fn add(command: &Command, pages: &mut Vec<(String, String)>) -> anyhow::Result<()> {
    pages.push(page(command)?);
    let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
    for command in visible {
        add(command, pages)?;
    }
    Ok(())
}

fn page(command: &Command) -> anyhow::Result<(String, String)> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let man = Man::new(command.clone())
        .manual("assay manual")
        .source(concat!("assay ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    let mut text = String::from_utf8(text)?;
    if let Some(after) = command.get_after_help() {
        text.push_str(&notes(&after.to_string()));
    }
    Ok((name, text))
}

/// The text after the options: indented lines as they are, others filled.
fn notes(after: &str) -> String {
    let mut roff = String::new();
    let (heading, rest) = match after.strip_prefix("Examples:\n") {
        Some(rest) => ("EXAMPLES", rest),
        None => ("NOTES", after),
    };
    let _ = writeln!(roff, ".SH {heading}");
    let mut literal = false;
    for line in rest.lines() {
        let indented = line.starts_with("  ");
        if indented != literal && !line.is_empty() {
            roff.push_str(if indented { ".nf\n" } else { ".fi\n" });
            literal = indented;
        }
        let text = line.trim().replace('\\', "\\e").replace('-', "\\-");
        match text.chars().next() {
            None => roff.push_str(".PP\n"),
            Some('.' | '\'') => {
                let _ = writeln!(roff, "\\&{text}");
            }
            Some(_) => {
                let _ = writeln!(roff, "{text}");
            }
        }
    }
    if literal {
        roff.push_str(".fi\n");
    }
    roff
}

fn write(pages: &[(String, String)], folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    let page = |(name, text): &(String, String)| {
        let file = folder.join(format!("{name}.1"));
        assay_output::replace(&file, text.as_bytes())
            .with_context(|| format!("cannot write {}", file.display()))?;
        Ok(file)
    };
    pages.iter().map(page).collect()
}

#[cfg(test)]
#[path = "../../tests/unit/commands/man.rs"]
mod tests;
