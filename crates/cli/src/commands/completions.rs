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
const RW: [&str; 8] = [
    "read",
    "write",
    "randread",
    "randwrite",
    "rw",
    "randrw",
    "trim",
    "randtrim",
];

/// What a static script cannot know: drives of the host, and the keys of `--set` of the suite that
/// is named. Bash takes a colon for the end of a word, so that the part of `sim:NAME` before it is
/// removed from the answers.
const BASH: &str = include_str!("completions.bash");

pub fn run(shell: Shell, output: Output) -> anyhow::Result<CommandOutcome> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_values(), "assay", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if shell == Shell::Bash {
        script.push_str(&bash_values()?);
    }
    output.show(
        || script.clone(),
        || json!({ "shell": shell.to_string(), "script": script }),
    )
}

/// The command, with the values that complete an option or a name for every shell.
fn with_values() -> Command {
    let value = |command: Command,
                 name: &'static str,
                 argument: &'static str,
                 values: Vec<&'static str>| {
        command.mut_subcommand(name, |sub| {
            sub.mut_arg(argument, |a| {
                a.value_parser(PossibleValuesParser::new(values))
            })
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

fn bash_values() -> anyhow::Result<String> {
    let mut keys = String::new();
    for name in catalogue::names() {
        let suite = catalogue::load(name)?;
        let of_suite: Vec<String> = suite
            .parameters
            .keys()
            .map(|key| format!("{key}="))
            .collect();
        keys.push_str(&format!(
            "        {name}) echo \"{}\" ;;\n",
            of_suite.join(" ")
        ));
    }
    let drives: Vec<String> = Profile::names()
        .iter()
        .map(|name| format!("sim:{name}"))
        .collect();
    let script = BASH.replace("@SUITES@", &catalogue::names().join(" "));
    let script = script.replace("@SIMULATED@", &drives.join(" "));
    Ok(script.replace("        @KEYS@\n", &keys))
}
