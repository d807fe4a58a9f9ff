//! `assay report RUN...`.

use std::path::{Path, PathBuf};

use assay_report::{html, summary};
use assay_store::Run;
use assay_store::replace::check_replaceable;
use serde_json::json;

use crate::args::ReportArguments;
use crate::exit::CommandOutcome;
use crate::terminal::Output;

/// A page is recognised by it before it is replaced.
pub const PAGE_HEAD: &str = "<!doctype html";

pub fn run(arguments: &ReportArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let runs = super::open_runs(&arguments.runs, output)?;
    let page = page(&runs)?;
    let mut files = vec![(arguments.output.clone(), page, PAGE_HEAD)];
    if arguments.summary {
        let named = |extension: &str| beside(&arguments.output, extension);
        files.push((named("svg"), summary::card(&runs)?, summary::CARD_HEAD));
        files.push((named("md"), summary::markdown(&runs)?, summary::MARKDOWN_HEAD));
    }
    for (path, _, head) in &files {
        check_replaceable(path, head)?;
    }
    for (path, text, _) in &files {
        super::write_atomically(path, text)?;
    }
    let absolute = |(path, ..): &(PathBuf, String, &str)| {
        std::fs::canonicalize(path).unwrap_or_else(|_| path.clone())
    };
    let paths: Vec<PathBuf> = files.iter().map(absolute).collect();
    output.show(
        || paths.iter().map(|path| format!("{}\n", path.display())).collect(),
        || {
            json!({
                "report": paths[0],
                "bytes": files[0].1.len(),
                "runs": arguments.runs,
                "summary": paths[1..],
            })
        },
    )
}

/// With what is predicted of the drives.
fn page(runs: &[Run]) -> anyhow::Result<String> {
    Ok(html::render_with(runs, &super::predict::rest(runs)?)?)
}

/// The caller has checked that the page may be replaced.
pub fn write_page_of(run: &Run, path: Option<&Path>) -> anyhow::Result<()> {
    match path {
        Some(path) => super::write_atomically(path, &page(std::slice::from_ref(run))?),
        None => Ok(()),
    }
}

/// The run folder and its page: the one written, or the command that writes one.
pub fn lines(run: &Run, page: Option<&Path>, suite: &str) -> String {
    let folder = run.path.display();
    let report = match page {
        Some(page) => page.display().to_string(),
        None => format!("assay report {folder} -o {suite}.html"),
    };
    format!("\nRun folder: {folder}\nReport:     {report}\n")
}

/// `both-summary.svg` beside `both.html`.
fn beside(page: &Path, extension: &str) -> PathBuf {
    let stem = page.file_stem().unwrap_or_default().to_string_lossy();
    page.with_file_name(format!("{stem}-summary.{extension}"))
}
