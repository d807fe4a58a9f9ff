//! `assay version`: as `assay --version`.

use clap::CommandFactory;
use serde_json::json;

use crate::args::Arguments;
use crate::exit::CommandOutcome;
use crate::terminal::Output;

pub fn run(output: Output) -> anyhow::Result<CommandOutcome> {
    output.show(|| Arguments::command().render_long_version(), || json!({ "tool": super::tool() }))
}
