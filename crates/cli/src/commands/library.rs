//! `assay library FOLDER... -o SITE`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use assay_output::owner::create_folders;
use assay_report::library::{HEAD, Library};
use assay_store::Run;
use assay_store::find::{MOST_LEVELS, folders};
use assay_store::replace::{check_replaceable, replace_content};
use assay_units::text::{group_digits, printable};
use serde_json::json;

use crate::args::LibraryArguments;
use crate::exit::{CommandOutcome, bail_usage};
use crate::terminal::Output;

/// Folder of the pages of drives, below the site's.
const DRIVES: &str = "drives";

pub fn run(arguments: &LibraryArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let site = arguments.out.as_path();
    check_site(site)?;
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in &arguments.folders {
        super::check_folder(folder)?;
        let mut visit = |at: &Path, is_run: bool| found.extend(is_run.then(|| at.to_owned()));
        folders(folder, MOST_LEVELS, &mut visit)
            .with_context(|| format!("{} cannot be searched for run folders", folder.display()))?;
    }
    found.sort();
    found.dedup();
    let mut library = Library::default();
    let mut left_out: Vec<(String, String)> = Vec::new();
    for folder in &found {
        match Run::open(folder) {
            Ok(run) => library.add(&run),
            Err(error) => left_out.push((folder.display().to_string(), error.to_string())),
        }
    }
    if library.is_empty() {
        let more = left_out.first().map_or(String::new(), |(_, why)| format!(": {why}"));
        bail_usage!("no run folder with a drive was found{more}");
    }
    let (drives, runs) = (library.len(), found.len() - left_out.len());
    let pages = write_site(library, site)?;
    let index = site.join("index.html");
    output.show(
        || text(drives, runs, &index, &left_out),
        || {
            let left_out: Vec<_> = left_out
                .iter()
                .map(|(run, reason)| json!({ "run": run, "reason": reason }))
                .collect();
            json!({
                "site": index,
                "drives": drives,
                "runs": runs,
                "pages": pages,
                "left_out": left_out,
            })
        },
    )?;
    Ok(CommandOutcome::from_flags(!left_out.is_empty(), false))
}

fn text(drives: usize, runs: usize, index: &Path, left_out: &[(String, String)]) -> String {
    let mut text = String::new();
    for (run, reason) in left_out {
        let _ = writeln!(text, "left out: {}: {}", printable(run), printable(reason));
    }
    let [drives, runs] = [drives, runs].map(|count| group_digits(count as u64));
    let _ = writeln!(text, "{drives} drives in {runs} runs: open {}", index.display());
    text
}

/// The folder is new, empty, or an earlier site.
fn check_site(site: &Path) -> anyhow::Result<()> {
    let index = site.join("index.html");
    if index.exists() {
        return Ok(check_replaceable(&index, HEAD)?);
    }
    let is_empty = |folder: std::fs::ReadDir| folder.count() == 0;
    match std::fs::read_dir(site).map(is_empty) {
        Ok(false) => bail_usage!(
            "{} has files, but no index.html of assay library; name a new folder",
            site.display()
        ),
        _ => Ok(()),
    }
}

/// Writes every page, then removes those of an earlier site that this one does not have.
fn write_site(library: Library, site: &Path) -> anyhow::Result<usize> {
    let folder = site.join(DRIVES);
    create_folders(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut written: Vec<PathBuf> = Vec::new();
    for page in library.finish() {
        let path = site.join(&page.path);
        check_replaceable(&path, HEAD)?;
        replace_content(&path, page.html.as_bytes())?;
        written.push(path);
    }
    let entries = std::fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    for entry in entries {
        let path = entry?.path();
        let is_page = path.extension().is_some_and(|extension| extension == "html");
        let is_ours = is_page && check_replaceable(&path, HEAD).is_ok();
        if is_ours && !written.contains(&path) {
            std::fs::remove_file(&path)
                .with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(written.len())
}
