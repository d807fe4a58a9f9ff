//! `assay export RUN...`.

use std::io::Write;
use std::path::{Path, PathBuf};

use assay_export::lake::{Joined, Lake, RunFacts, Source};
use assay_export::{ExportFormat, export, export_document};
use assay_store::replace::check_replaceable;
use serde_json::json;

use crate::args::ExportArguments;
use crate::exit::{CommandOutcome, bail_usage};
use crate::terminal::Output;

/// Not a format of single runs.
const LAKE: &str = "lake";

pub fn run(arguments: &ExportArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    if arguments.format == LAKE {
        return join(arguments, output);
    }
    let format: ExportFormat = arguments.format.parse()?;
    let [path] = &arguments.runs[..] else {
        bail_usage!(
            "--format {} exports one run; joined tables of several are --format {LAKE}",
            format.name()
        );
    };
    if arguments.plan.is_some() {
        bail_usage!("--plan is of --format {LAKE}: other formats have no plan; leave it out");
    }
    let run = super::open_run(path, output)?;
    if arguments.output.as_deref() == Some(Path::new("-")) {
        let mut stdout = std::io::stdout().lock();
        export_document(&run, format, &mut stdout)?;
        stdout.flush()?;
        return Ok(CommandOutcome::Done);
    }
    let default = || PathBuf::from(format.default_name(&run.manifest.run_id));
    let out = arguments.output.clone().unwrap_or_else(default);
    if let Some(head) = format.head() {
        check_replaceable(&out, head)?;
    }
    let files = export(&run, format, &out)?;
    output.show(
        || files.iter().map(|file| format!("{}\n", file.display())).collect(),
        || json!({ "format": format.name(), "files": files }),
    )
}

fn join(arguments: &ExportArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let root = arguments.output.as_deref().unwrap_or(Path::new(LAKE));
    if root == Path::new("-") {
        bail_usage!("{LAKE} writes several files, not one for stdout; name a folder with -o");
    }
    let source = |folder: &PathBuf| Source {
        folder: folder.clone(),
        facts: RunFacts { plan: arguments.plan.clone(), ..RunFacts::default() },
    };
    let sources: Vec<Source> = arguments.runs.iter().map(source).collect();
    let joined = Lake::new(root).join(&sources, &assay_report::cohort::observations)?;
    for left in &joined.left_out {
        let folder = left.folder.display().to_string();
        let named = left.reason.contains(&folder);
        let of = if named { String::new() } else { format!("{folder}: ") };
        output.note(&format!("left out: {of}{}", left.reason));
    }
    if joined.left_out.len() == sources.len() {
        bail_usage!("none of the {} folders could be joined", sources.len());
    }
    output.show(
        || summary(root, &joined),
        || {
            let left_out = joined.left_out.iter();
            let left_out =
                left_out.map(|left| json!({ "folder": left.folder, "reason": left.reason }));
            json!({
                "format": LAKE,
                "added": joined.added,
                "replaced": joined.replaced,
                "unchanged": joined.unchanged,
                "left_out": left_out.collect::<Vec<_>>(),
                "files": joined.files,
            })
        },
    )
}

fn summary(root: &Path, joined: &Joined) -> String {
    let runs = |count: usize| match count {
        1 => "1 run".to_owned(),
        count => format!("{count} runs"),
    };
    format!(
        "{}: {} added, {} replaced, {} unchanged, {} left out; {} files written\n",
        root.display(),
        runs(joined.added.len()),
        joined.replaced.len(),
        joined.unchanged,
        joined.left_out.len(),
        joined.files.len()
    )
}
