//! `assay import PATH... --out RUN`.

use std::fmt::Write;
use std::path::Path;

use assay_device::host::wall_clock;
use assay_device::nvme::saved;
use assay_execute::manifest::run_id;
use assay_import::run_folder::{About, IMPORT, Written, write};
use assay_import::{Collection, Job, Note, collect};
use assay_store::Destination;
use assay_store::model::DriveRecord;
use assay_units::text::{group_digits, printable};
use clap::ValueEnum;
use serde_json::{Value, json};

use crate::args::import::ImportArguments;
use crate::exit::{CommandOutcome, UsageError, bail_usage};
use crate::terminal::Output;

/// Files and reasons that the text names; others are counted.
const SHOWN: usize = 10;

pub fn run(arguments: &ImportArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let about = about(arguments)?;
    let collection = collect(&arguments.paths, &arguments.assumed())?;
    let destination = Destination::At(arguments.out.clone());
    let written = write(&collection, &about, &destination)?;
    output.show(|| text(&collection, &written), || document(&collection, &written))?;
    let outcome = CommandOutcome::from_flags(!collection.rejected.is_empty(), false);
    // The process ends: taking the jobs of 10,000 files apart would last for 20 ms.
    std::mem::forget(collection);
    Ok(outcome)
}

fn about(arguments: &ImportArguments) -> anyhow::Result<About> {
    let mut known = match &arguments.drive_from {
        None => DriveRecord::default(),
        Some(path) => drive_from(path)?,
    };
    let over = [
        (&mut known.model, &arguments.model),
        (&mut known.serial, &arguments.serial),
        (&mut known.firmware, &arguments.firmware),
    ];
    for (place, given) in over {
        if let Some(given) = given {
            place.clone_from(given);
        }
    }
    known.capacity_bytes = arguments.capacity.unwrap_or(known.capacity_bytes);
    let state = arguments.state.to_possible_value();
    let imported_at = wall_clock();
    Ok(About {
        drive: known,
        device: arguments.device.clone(),
        state: state.map_or_else(String::new, |state| state.get_name().to_owned()),
        tool: super::tool(),
        command_line: super::command_line(),
        run_id: run_id(&imported_at, IMPORT),
        imported_at,
    })
}

/// Model, serial, firmware and capacity.
fn drive_from(path: &Path) -> anyhow::Result<DriveRecord> {
    let found = saved::read(&[path]).map_err(|error| UsageError(error.to_string()))?;
    if found.model.is_empty() {
        bail_usage!("{}: it names no model", path.display());
    }
    Ok(DriveRecord {
        model: found.model,
        serial: found.serial,
        firmware: found.firmware,
        capacity_bytes: found.capacity_bytes,
        ..DriveRecord::default()
    })
}

/// `1 file`, `10,000 files`.
fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", group_digits(count as u64))
}

fn text(collection: &Collection, written: &Written) -> String {
    let mut text = String::new();
    let files = collection.imported.len();
    let _ = writeln!(
        text,
        "{} of {} from {}, imported into {}",
        counted(written.cells, "workload"),
        written.drives.join(", "),
        counted(files, "file"),
        written.path.display()
    );
    for (reason, count) in written.unfit.iter().take(SHOWN) {
        let _ = writeln!(text, "not compared with others: {count} ({reason})");
    }
    for rejected in collection.rejected.iter().take(SHOWN) {
        let (name, reason) = (printable(&rejected.name), printable(&rejected.reason));
        let _ = writeln!(text, "not read: {name}: {reason}");
    }
    let more = [
        (
            collection.rejected.len().saturating_sub(SHOWN),
            "further files were not read (--json names them)",
        ),
        (collection.duplicates, "files repeat the bytes of another one"),
        (repeating(collection), "files repeat a document, which counts once"),
        (collection.other_files, "files are no results"),
    ];
    for (count, what) in more.into_iter().filter(|(count, _)| *count > 0) {
        let _ = writeln!(text, "{} {what}", group_digits(count as u64));
    }
    text
}

/// Files that hold a document more than once.
fn repeating(collection: &Collection) -> usize {
    let repeats = |job: &Job| job.notes.contains(&Note::RepeatedDocument);
    let files = collection.imported.iter();
    files.filter(|file| file.jobs.iter().any(repeats)).count()
}

fn document(collection: &Collection, written: &Written) -> Value {
    let rejected = collection.rejected.iter();
    let rejected: Vec<Value> =
        rejected.map(|file| json!({ "file": file.name, "reason": file.reason })).collect();
    json!({
        "run": written.path,
        "drives": written.drives,
        "cells": written.cells,
        "files": collection.imported.len(),
        "not_compared": written.unfit,
        "not_read": rejected,
        "duplicates": collection.duplicates,
        "repeating": repeating(collection),
        "other_files": collection.other_files,
    })
}
