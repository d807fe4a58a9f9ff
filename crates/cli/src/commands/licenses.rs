use serde_json::json;

use crate::exit::CommandOutcome;
use crate::terminal::Output;

/// Made from Cargo.lock by `make licences`: components, one per line until the first rule, then the
/// texts.
const LICENCES: &str = include_str!("../../licences.txt");

fn components() -> impl Iterator<Item = (&'static str, &'static str)> {
    let list = LICENCES.lines().skip(2);
    list.map_while(|line| line.split_once("  ").map(|(name, rest)| (name, rest.trim_start())))
}

pub fn run(output: Output) -> anyhow::Result<CommandOutcome> {
    output.show(
        || LICENCES.to_owned(),
        || {
            let component =
                |(component, licence)| json!({ "component": component, "licence": licence });
            let components: Vec<_> = components().map(component).collect();
            json!({ "licence": "Apache-2.0", "components": components, "text": LICENCES })
        },
    )
}

#[cfg(test)]
#[path = "../../tests/unit/commands/licenses.rs"]
mod tests;
