//! `assay export RUN`.

use std::io::Write;
use std::path::{Path, PathBuf};

use assay_store::Run;
use assay_store::export::{ExportFormat, export_fio_json, export_json};
use serde_json::json;

use crate::args::ExportArguments;
use crate::exit::{CommandOutcome, bail_usage};
use crate::terminal::Output;

pub fn run(arguments: &ExportArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let format: ExportFormat = arguments.format.parse()?;
    let run = super::open_run(&arguments.run, output)?;
    if arguments.output.as_deref() == Some(Path::new("-")) {
        return to_stdout(&run, format);
    }
    let default = || PathBuf::from(format.default_name(&run.manifest.run_id));
    let path = arguments.output.clone().unwrap_or_else(default);
    if matches!(format, ExportFormat::Json | ExportFormat::FioJson) {
        super::check_replaceable(&path, "{")?;
    }
    let files = assay_store::export(&arguments.run, format, &path)?;
    output.show(
        || {
            files
                .iter()
                .map(|file| format!("{}\n", file.display()))
                .collect()
        },
        || json!({ "format": format.name(), "files": files }),
    )
}

fn to_stdout(run: &Run, format: ExportFormat) -> anyhow::Result<CommandOutcome> {
    let mut stdout = std::io::stdout().lock();
    match format {
        ExportFormat::Json => export_json(run, &mut stdout)?,
        ExportFormat::FioJson => export_fio_json(run, &mut stdout)?,
        ExportFormat::Csv
        | ExportFormat::Parquet
        | ExportFormat::BenchFio
        | ExportFormat::FioLogs => {
            let name = format.name();
            bail_usage!("{name} writes several files, not one for stdout; name a folder with -o");
        }
    }
    stdout.flush()?;
    Ok(CommandOutcome::Done)
}
