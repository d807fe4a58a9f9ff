//! `assay contribute RUN`.

use std::fmt::Write;

use assay_analysis::rank::contribution::{Contribution, contribution};
use assay_units::text::{group_digits, printable};
use serde_json::json;

use crate::args::judge::ContributeArguments;
use crate::exit::{CommandOutcome, bail_usage};
use crate::terminal::Output;

pub fn run(arguments: &ContributeArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let run = super::open_run(&arguments.run, output)?;
    let found = contribution(&run)?;
    if found.figures == 0 {
        let reasons = found.left_out.join("; ");
        bail_usage!("{}: nothing to contribute: {reasons}", arguments.run.display());
    }
    if let Some(path) = &arguments.out {
        super::write_atomically(path, &found.csv)?;
    }
    let file = arguments.out.as_ref().map(|path| path.display().to_string());
    output.show(
        || text(&found, file.as_deref()),
        || {
            json!({
                "file": file,
                "figures": found.figures,
                "texts": found.texts.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
                "left_out": found.left_out,
            })
        },
    )
}

fn text(found: &Contribution, file: Option<&str>) -> String {
    let mut text = String::from("Every text that the file has, by its column:\n");
    for (column, values) in &found.texts {
        for value in values.iter().filter(|value| !value.is_empty()) {
            let _ = writeln!(text, "  {column:<10} {}", printable(value));
        }
    }
    for left_out in &found.left_out {
        let _ = writeln!(text, "left out: {}", printable(left_out));
    }
    let figures = group_digits(found.figures as u64);
    let _ = match file {
        Some(file) => writeln!(
            text,
            "{figures} figures are written to {file}. Nothing was sent; CONTRIBUTING.md says how a \
             file gets into the tables."
        ),
        None => writeln!(text, "{figures} figures; --out FILE writes them."),
    };
    text
}
