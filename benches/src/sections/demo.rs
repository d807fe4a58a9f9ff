use std::path::Path;

use anyhow::Result;

use crate::Bench;
use crate::document::Section;

/// Within so many seconds of wall time.
const GOAL_S: f64 = 180.0;

/// Once: it takes about a minute, and its time is mostly fixed by the suite.
pub fn measure(bench: &Bench) -> Result<Section> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("demo");
    let mut section =
        Section::new("demo", "`make demo`", "Wall time of the demo from a built tree, once.");
    eprintln!("demo");
    let arguments = [
        format!("ASSAY={}", bench.runner.assay.display()),
        "scripts/demo".to_owned(),
        out.display().to_string(),
    ];
    match bench.runner.run(Path::new("env"), &arguments) {
        Ok(outcome) => section.goal(
            format!("under {GOAL_S:.0} s"),
            format!("{:.0} s", outcome.wall_s),
            outcome.wall_s < GOAL_S,
        ),
        Err(error) => section.notes.push(format!("Not measured: {error:#}.")),
    }
    section.commands.push("make demo".to_owned());
    Ok(section)
}
