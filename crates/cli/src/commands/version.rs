//! `assay version`.

use serde_json::json;

use crate::exit::CommandOutcome;
use crate::terminal::Output;

pub fn run(output: Output) -> anyhow::Result<CommandOutcome> {
    let tool = super::tool();
    output.show(
        || format!("{} {} (commit {})\n", tool.name, tool.version, tool.commit),
        || json!({ "tool": tool }),
    )
}
