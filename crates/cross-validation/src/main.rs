//! `assay-cross-validation`: computes the tables of predictions, and prints their section of
//! docs/fidelity.md.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use assay_calibrate::{predictive, public_reads, twin_cells};
use assay_cross_validation::folds::Study;
use assay_cross_validation::{page, profiled, public, public_page, score, twins};
use assay_store::replace::replace_content;
use clap::Parser;

#[derive(Parser)]
#[command(about = "What the shipped profiles predict of figures that no fit had seen")]
enum Command {
    /// Leave out figures and whole drives, and predict them from the others
    Folds(Output),
    /// Make twins of drives whose truth is known
    Twins {
        /// Names of truths [default: all]
        only: Vec<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Predict random reads of public drives from their ratings alone, and simulate those of
    /// drives that have a profile
    Public(Output),
    /// Print the sections of docs/fidelity.md from the tables in reference/
    Markdown,
}

#[derive(clap::Args)]
struct Output {
    /// Threads [default: number of CPUs]
    #[arg(long)]
    jobs: Option<std::num::NonZero<usize>>,
    /// Folder of the tables
    #[arg(short, long, default_value = "reference")]
    output: PathBuf,
}

impl Output {
    fn threads(&self) -> anyhow::Result<usize> {
        let threads = self.jobs.map_or_else(std::thread::available_parallelism, Ok);
        Ok(threads.context("--jobs is a whole number from 1")?.get())
    }

    fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let path: &Path = &self.output.join(name);
        replace_content(path, text.as_bytes())?;
        println!("{}", path.display());
        Ok(())
    }
}

fn main() -> anyhow::Result<()> {
    match Command::parse() {
        Command::Folds(output) => folds(&output),
        Command::Twins { only, output } => twins_of(&only, &output),
        Command::Public(output) => {
            let all = public::predictions()?;
            println!("{}\n{}", public_page::markdown(&all), profiled::markdown()?);
            output.write("public_reads.csv", &public_reads::table(&all))
        }
        Command::Markdown => {
            let twins = twins::markdown(&twin_cells::embedded()?);
            let public = public_page::markdown(&public_reads::embedded()?);
            let folds = page::markdown(&score::embedded()?);
            let profiled = profiled::markdown()?;
            print!("{folds}\n{public}\n{profiled}\n{twins}");
            Ok(())
        }
    }
}

fn folds(output: &Output) -> anyhow::Result<()> {
    let study = Study::new(output.threads()?)?;
    let mut all = Vec::new();
    for name in study.drives() {
        eprintln!("{name}");
        all.extend(study.predict(name));
    }
    // From the table's digits, so that the tables agree.
    let all = score::parse(&score::table(&score::with_intervals(&all)))?;
    println!("{}", page::markdown(&all));
    output.write("cross_validation.csv", &score::table(&all))?;
    let intervals = predictive::table(&score::intervals(&all));
    output.write("predictive_intervals.csv", &intervals)
}

/// Twins that are not named are those of this repository's table.
fn twins_of(only: &[String], output: &Output) -> anyhow::Result<()> {
    let is_truth = |name: &&String| twins::TRUTHS.contains(&name.as_str());
    if let Some(unknown) = only.iter().find(|name| !is_truth(name)) {
        bail!("{unknown:?} is no truth; there are {}", twins::TRUTHS.join(", "));
    }
    let known = twin_cells::embedded()?;
    let mut all = Vec::new();
    for truth in twins::TRUTHS {
        if only.is_empty() || only.iter().any(|name| name == truth) {
            eprintln!("{truth}");
            all.extend(twins::study(truth, output.threads()?, &mut |_| {})?.1);
        } else {
            all.extend(known.iter().filter(|c| c.truth == truth).cloned());
        }
    }
    println!("{}", twins::markdown(&all));
    output.write("twins.csv", &twin_cells::table(&all))
}
