//! Published against simulated figures, and the fit of a profile to them.
//!
//! ```text
//! cargo run --release -p assay-ssd --example sweep -- PROFILE [--reference DIR] [--set path=value]... [--fit path[=low..high],...]
//!     [--evaluations N] [--seed N] [--figures yes]
//! cargo run --release -p assay-ssd --example sweep -- --markdown FILE [--reference DIR]
//! ```
//! PROFILE is a built-in name or the path of a TOML file. The first form runs each published bandwidth of the profile
//! ([`assay_ssd::published`]) synchronously (one command in flight per thread, the profile's `bench.host_overhead_ns` between
//! completion and next submission) and prints the error. DIR (default `reference`) has the other figures.
//! `--set nand.read_ns=[40000,50000]` tries a number; `--fit` moves numbers, see [`fit`];
//! `--figures yes` adds writes, zeroed data and heat, see [`figures`]. The second form writes the fidelity page:
//! every profile with published figures, see [`fidelity`], and DIR/fidelity.csv, which `assay list` shows.
#![allow(missing_docs)]

use std::error::Error;
use std::path::PathBuf;

use assay_ssd::Profile;
use assay_ssd::published::read_bandwidths;

mod cells;
mod fidelity;
mod figures;
mod fit;
mod host;

/// Threads that measure cells side by side.
const WORKERS: usize = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let mut name = None;
    let mut reference = PathBuf::from("reference");
    let mut markdown: Option<PathBuf> = None;
    let (mut settings, mut free) = (Vec::new(), Vec::new());
    let (mut evaluations, mut seed, mut with_figures) = (400, 1, false);
    while let Some(word) = args.next() {
        if !word.starts_with("--") {
            name = Some(word);
            continue;
        }
        let value = args.next().ok_or_else(|| format!("{word} needs a value"))?;
        match word.as_str() {
            "--reference" => reference = value.into(),
            "--markdown" => markdown = Some(value.into()),
            "--set" => settings.push(value),
            "--fit" => {
                for field in value.split(',') {
                    free.push(fit::Free::parse(field)?);
                }
            }
            "--evaluations" => evaluations = value.parse()?,
            "--figures" => with_figures = value == "yes",
            "--seed" => seed = value.parse()?,
            _ => return Err(format!("unknown flag {word}").into()),
        }
    }
    if let Some(path) = markdown {
        let table = reference.join("fidelity.csv");
        let (page, errors) = fidelity::page(&reference)?;
        std::fs::write(&path, page)?;
        std::fs::write(&table, errors)?;
        println!("{}\n{}", path.display(), table.display());
        return Ok(());
    }
    let name = name.ok_or("name a profile, or --markdown FILE")?;
    let text = if name.ends_with(".toml") {
        std::fs::read_to_string(&name)?
    } else {
        Profile::builtin_text(&name)?.to_owned()
    };
    let mut table: toml::Table = toml::from_str(&text)?;
    for setting in settings {
        let (path, text) = setting.split_once('=').ok_or("--set path=value")?;
        let parsed: toml::Table = toml::from_str(&format!("v = {text}"))?;
        *fit::slot(&mut table, path)? = parsed["v"].clone();
    }
    let profile = Profile::from_table(table.clone())?;
    let cells = read_bandwidths(&profile.name);
    if !free.is_empty() {
        fit::descend(&mut table, &free, &cells, evaluations, seed)?;
        for parameter in &free {
            println!(
                "{} = {}",
                parameter.path,
                fit::slot(&mut table, &parameter.path)?
            );
        }
    }
    let profile = Profile::from_table(table)?;
    println!("{}: published and simulated MiB/s", profile.name);
    let rates = cells::measure_all(&profile, &cells, 8)?;
    for (cell, rate) in cells.iter().zip(&rates) {
        println!(
            "{:10} {:3} x {:>6} B  {:6.0}  {:6.0}  {:+6.1} %",
            cells::pattern(cell),
            cell.threads,
            cell.block_bytes,
            cell.mib_per_s,
            rate,
            cell.error_pct(*rate)
        );
    }
    let (median, worst) = cells::median_and_worst(&cells, &rates, |_| true);
    println!("median error {median:.1} %, worst {worst:.1} %");
    if with_figures {
        let figures = figures::published(&reference, &profile.name)?;
        let values = figures::simulated(&profile, &figures)?;
        for (figure, value) in figures.iter().zip(values) {
            let value = value.map_or_else(|| "none".to_owned(), |value| format!("{value:.1}"));
            println!(
                "{}: {} {} published, {value} simulated",
                figure.meaning(),
                figure.value,
                figure.unit
            );
        }
    }
    Ok(())
}
