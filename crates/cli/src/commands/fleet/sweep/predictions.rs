//! Section `[predictions]`: the cross-validation, the twins and the ensembles of the shipped
//! profiles.

use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::Context;
use assay_calibrate::prediction::units::{Part, Unit};
use assay_fleet::chunks::Chunks;
use assay_fleet::sweep::{Predictions, PredictionsPart};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::Units;
use crate::commands::write_atomically;
use crate::exit::bail_usage;

struct Computation {
    part: Part,
    units: Vec<Unit>,
}

pub(super) fn load(file: Predictions) -> anyhow::Result<(Chunks, Box<dyn Units>)> {
    let section = &file.predictions;
    let part = match section.part {
        PredictionsPart::Folds => Part::Folds,
        PredictionsPart::Twins => Part::Twins,
        PredictionsPart::Ensembles => Part::Ensembles,
    };
    let units = part.units(&section.only)?;
    let names: Vec<String> = units.iter().map(Unit::name).collect();
    let id = file.id(&names, &this_program()?)?;
    let chunks = Chunks::open(
        &file.store.at,
        id,
        "units",
        units.len() as u64,
        section.chunk,
    )?;
    Ok((chunks, Box::new(Computation { part, units })))
}

/// Hash of this program. Predictions follow from the model, its profiles and the published figures,
/// which all are in it and change without a change of its version.
fn this_program() -> anyhow::Result<String> {
    let path = std::env::current_exe().context("cannot find this program's file")?;
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

impl Units for Computation {
    fn compute(&self, units: Range<u64>, jobs: usize) -> anyhow::Result<String> {
        let units = &self.units[units.start as usize..units.end as usize];
        Ok(self.part.compute(units, jobs)?)
    }

    fn check_output(&self, output: &Path) -> anyhow::Result<()> {
        if output.exists() && !output.is_dir() {
            bail_usage!(
                "-o {}: the tables need a folder; name one",
                output.display()
            );
        }
        Ok(())
    }

    fn write(&self, text: &str, output: &Path) -> anyhow::Result<(String, Value)> {
        let (files, mut shown) = self.part.join(&self.units, text)?;
        fs::create_dir_all(output)
            .with_context(|| format!("cannot make the folder {}", output.display()))?;
        for (name, text) in &files {
            let path = output.join(name);
            write_atomically(&path, text)?;
            let _ = writeln!(shown, "\n{}", path.display());
        }
        let names: Vec<&str> = files.iter().map(|file| file.0.as_str()).collect();
        Ok((shown, json!({ "files": names })))
    }
}
