//! `assay completions SHELL`.

use clap::CommandFactory;
use serde_json::json;

use crate::args::Arguments;
use crate::exit::CommandOutcome;
use crate::terminal::Output;

pub fn run(shell: clap_complete::Shell, output: Output) -> anyhow::Result<CommandOutcome> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "assay", &mut script);
    let script = String::from_utf8_lossy(&script);
    output.show(
        || script.to_string(),
        || json!({ "shell": shell.to_string(), "script": script }),
    )
}
