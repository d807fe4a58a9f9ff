//! `assay completions SHELL`.

use assay_export::ExportFormat;
use assay_ssd::Profile;
use assay_suite::catalogue;
use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use serde_json::json;

use crate::args::Arguments;
use crate::exit::CommandOutcome;
use crate::terminal::Output;

/// Values that the parser takes among others, such as paths, or with suffixes.
const RW: [&str; 8] =
    ["read", "write", "randread", "randwrite", "rw", "randrw", "trim", "randtrim"];

/// What a static script cannot know: drives of the host, and the keys of `--set` of the suite that
/// is named.
const COMMON: &str = include_str!("completions.sh");
/// Bash takes a colon for the end of a word, so that the part of `sim:NAME` before it is removed
/// from the answers.
const BASH: &str = include_str!("completions.bash");
const ZSH: &str = include_str!("completions.zsh");
const FISH: &str = include_str!("completions.fish");

/// The last lines of the script that clap makes for zsh, which use it.
const ZSH_END: &str = "if [ \"$funcstack[1]\"";

pub fn run(shell: Shell, output: Output) -> anyhow::Result<CommandOutcome> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_values(), "assay", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => script.push_str(&with_names(&format!("{COMMON}{BASH}"), bash_case)?),
        Shell::Zsh => script = zsh_with_values(&script)?,
        Shell::Fish => script.push_str(&with_names(FISH, fish_case)?),
        _ => {}
    }
    output.show(|| script.clone(), || json!({ "shell": shell.to_string(), "script": script }))
}

/// The command, with the values that complete an option or a name for every shell.
fn with_values() -> Command {
    let value = |command: Command,
                 name: &'static str,
                 argument: &'static str,
                 values: Vec<&'static str>| {
        command.mut_subcommand(name, |sub| {
            sub.mut_arg(argument, |a| a.value_parser(PossibleValuesParser::new(values)))
        })
    };
    let suites = catalogue::names();
    let formats = ExportFormat::ALL.into_iter().map(ExportFormat::name);
    let formats = formats.chain(["lake"]).collect();
    let command = value(Arguments::command(), "run", "suite", suites.clone());
    let command = value(command, "suites", "suite", suites);
    // A changed argument becomes the last one: the drives follow the suite again.
    let command = command.mut_subcommand("run", |run| run.mut_arg("drives", |drives| drives));
    let command = value(command, "job", "rw", RW.to_vec());
    value(command, "export", "format", formats)
}

fn bash_case(suite: &str, keys: &[String]) -> String {
    format!("{suite}) echo \"{}\" ;;", keys.join(" "))
}

fn fish_case(suite: &str, keys: &[String]) -> String {
    format!("case {suite}\n                printf '%s\\n' {}", keys.join(" "))
}

/// The script with the names of suites, of their parameters and of simulated drives.
fn with_names(script: &str, case: fn(&str, &[String]) -> String) -> anyhow::Result<String> {
    let mut cases = Vec::new();
    for name in catalogue::names() {
        let suite = catalogue::load(name)?;
        let keys = suite.parameters.keys().map(|key| format!("{key}="));
        cases.push(case(name, &keys.collect::<Vec<_>>()));
    }
    let drives = Profile::names().into_iter().map(|name| format!("sim:{name}"));
    let script = script.replace("@SUITES@", &catalogue::names().join(" "));
    let script = script.replace("@SIMULATED@", &drives.collect::<Vec<_>>().join(" "));
    Ok(script.replace("@KEYS@", &cases.join("\n            ")))
}

/// clap's script with functions in place of the default where drives and parameters are named.
fn zsh_with_values(script: &str) -> anyhow::Result<String> {
    let line = |line: &str| {
        let action = match line {
            _ if line.contains(":drive -- ") || line.contains("::drives -- ") => {
                "_assay_drives_or_files"
            }
            _ if line.contains("'*--set=[") => "_assay_keys_of_suite",
            _ => "_default",
        };
        line.replace(":_default'", &format!(":{action}'"))
    };
    let script: Vec<String> = script.lines().map(line).collect();
    let functions = with_names(&format!("{COMMON}{ZSH}"), bash_case)?;
    let script = script.join("\n") + "\n";
    Ok(script.replace(ZSH_END, &format!("{functions}{ZSH_END}")))
}
