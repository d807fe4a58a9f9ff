//! `assay-cross-validation`: computes the tables of predictions, and prints their section of
//! docs/fidelity.md.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};
use assay_cross_validation::units::{Part, Unit};
use assay_cross_validation::{score, twins};
use assay_fleet::chunks::{self, Chunks};
use assay_store::replace::replace_content;
use assay_units::text::hexadecimal;
use clap::Parser;
use sha2::{Digest, Sha256};

#[derive(Parser)]
#[command(about = "What the shipped profiles predict of figures that no fit had seen")]
enum Command {
    /// Compute the cross-validation, in chunks that several hosts can share
    Folds(Selection),
    /// Compute twins of drives whose truth is known, in the same way
    Twins(Selection),
    /// Compute the ensembles of the shipped profiles, in the same way
    Ensembles(Selection),
    /// Print the sections of docs/fidelity.md from the tables in reference/
    Markdown,
}

#[derive(clap::Args)]
struct Selection {
    /// Groups of folds (reads, writes, heat, percentiles), truths of twins, or profiles [default:
    /// all]
    only: Vec<String>,
    /// Where results of chunks are kept: a directory that all hosts see, or s3://BUCKET/PREFIX
    #[arg(long)]
    store: String,
    /// Units of a chunk
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    units: u64,
    /// Compute this chunk only [default: all that are missing]
    #[arg(long)]
    chunk: Option<u64>,
    /// Print the numbers of the missing chunks, as Slurm's --array takes them, and compute nothing
    #[arg(long)]
    missing: bool,
    /// Threads [default: number of CPUs]
    #[arg(long)]
    jobs: Option<usize>,
    /// Write the tables into this folder when all chunks are computed
    #[arg(short, long)]
    output: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    match Command::parse() {
        Command::Folds(selection) => compute(Part::Folds, &selection),
        Command::Twins(selection) => compute(Part::Twins, &selection),
        Command::Ensembles(selection) => compute(Part::Ensembles, &selection),
        Command::Markdown => {
            print!(
                "{}\n{}",
                score::markdown(&score::embedded()?),
                twins::markdown(&assay_calibrate::twin_cells::embedded()?)
            );
            Ok(())
        }
    }
}

fn compute(part: Part, selection: &Selection) -> anyhow::Result<()> {
    let units = part.units(&selection.only)?;
    let names: Vec<String> = units.iter().map(Unit::name).collect();
    let depends_on = serde_json::json!({ "units": names, "program": this_program()? });
    let id = chunks::id(part.name(), &depends_on)?;
    let count = units.len() as u64;
    let chunks = Chunks::open(&selection.store, id, "units", count, selection.units)?;
    let missing = chunks.missing()?;
    if selection.missing {
        let numbers: Vec<String> = missing.iter().map(u64::to_string).collect();
        println!("{}", numbers.join(","));
        return Ok(());
    }
    if let Some(output) = selection
        .output
        .as_ref()
        .filter(|o| o.exists() && !o.is_dir())
    {
        bail!(
            "-o {}: the tables need a folder; name one",
            output.display()
        );
    }
    let threads = selection
        .jobs
        .map_or_else(std::thread::available_parallelism, |jobs| {
            std::num::NonZero::new(jobs).ok_or(std::io::ErrorKind::InvalidInput.into())
        });
    let threads = threads.context("--jobs is a whole number from 1")?.get();
    let wanted = selection
        .chunk
        .map_or_else(|| missing.clone(), |chunk| vec![chunk]);
    for chunk in wanted {
        let range = chunks.range(chunk)?;
        if missing.contains(&chunk) {
            let units = &units[range.start as usize..range.end as usize];
            chunks.put(chunk, &part.compute(units, threads)?)?;
        }
    }
    let Some(output) = &selection.output else {
        return Ok(());
    };
    let (files, summary) = part.join(&units, &chunks.join()?)?;
    fs::create_dir_all(output)
        .with_context(|| format!("cannot make the folder {}", output.display()))?;
    println!("{summary}");
    for (name, text) in &files {
        let path = output.join(name);
        replace_content(&path, text.as_bytes())?;
        println!("{}", path.display());
    }
    Ok(())
}

/// Hash of this program. Predictions follow from the model, its profiles and the published figures,
/// which all are in it and change without a change of its version.
fn this_program() -> anyhow::Result<String> {
    let path = std::env::current_exe().context("cannot find this program's file")?;
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(hexadecimal(&Sha256::digest(&bytes)))
}
