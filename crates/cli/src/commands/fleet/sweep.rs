//! Computes the chunks of a sweep or a fit, and joins them.

mod fit;

use std::ops::Range;
use std::path::Path;

use assay_fleet::chunks::Chunks;
use assay_fleet::sweep::{Points, SweepError, SweepFile};
use assay_store::replace::check_replaceable;
use serde_json::{Value, json};

use crate::args::fleet::SweepArguments;
use crate::exit::CommandOutcome;
use crate::terminal::Output;

trait Units {
    /// Texts of the units, one after another; the same whatever `jobs`, the number computed at a
    /// time.
    fn compute(&self, units: Range<u64>, jobs: usize) -> anyhow::Result<String>;

    /// Fails unless `output` is free, or an earlier result.
    fn check_output(&self, output: &Path) -> anyhow::Result<()>;

    /// Takes the texts of all units; returns what is shown, as text and as JSON.
    fn write(&self, text: &str, output: &Path) -> anyhow::Result<(String, Value)>;
}

impl Units for Points {
    fn compute(&self, points: Range<u64>, jobs: usize) -> anyhow::Result<String> {
        Ok(Points::compute(self, points, jobs)?)
    }

    fn check_output(&self, output: &Path) -> anyhow::Result<()> {
        Ok(check_replaceable(output, "point,seed,")?)
    }

    fn write(&self, text: &str, output: &Path) -> anyhow::Result<(String, Value)> {
        crate::commands::write_atomically(output, &self.table(text))?;
        Ok((String::new(), Value::Null))
    }
}

pub fn run(arguments: &SweepArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let (chunks, units) = load(&arguments.file)?;
    let missing = chunks.missing()?;
    if arguments.missing {
        return output.show(|| array(&missing) + "\n", || json!({ "missing": missing }));
    }
    let wanted = match arguments.chunk {
        Some(chunk) => {
            chunks.range(chunk)?;
            vec![chunk]
        }
        None => missing.clone(),
    };
    if let Some(path) = &arguments.output {
        units.check_output(path)?;
    }
    let jobs = super::super::fit::threads(arguments.jobs.map(|jobs| jobs.get()));
    let mut computed = Vec::new();
    for chunk in wanted.into_iter().filter(|c| missing.contains(c)) {
        let text = units.compute(chunks.range(chunk)?, jobs)?;
        chunks.put(chunk, &text)?;
        computed.push(chunk);
    }
    let (shown, result) = match &arguments.output {
        Some(path) => units.write(&chunks.join()?, path)?,
        None => (String::new(), Value::Null),
    };
    let left = chunks.missing()?.len();
    let (id, unit, count) = (chunks.id(), chunks.unit(), chunks.count());
    let all = chunks.units();
    output.show(
        || {
            let now = computed.len();
            format!(
                "{id}: {all} {unit} in {count} chunks; computed now: {now} chunks; left: \
                 {left}\n{shown}"
            )
        },
        || {
            let mut document =
                json!({ "id": id, "chunks": count, "computed": computed, "left": left });
            document[unit] = json!(all);
            if !result.is_null() {
                document["result"] = result.clone();
            }
            document
        },
    )
}

fn load(file: &Path) -> anyhow::Result<(Chunks, Box<dyn Units>)> {
    let name = file.display().to_string();
    let text = assay_output::read_text(file)
        .map_err(|source| SweepError::File { path: name.clone(), source })?;
    let folder = file.parent().unwrap_or(Path::new(""));
    match SweepFile::parse(&name, &text)? {
        SweepFile::Sweep(sweep) => {
            let (chunks, points) = Points::open(sweep, &name, folder)?;
            Ok((chunks, Box::new(points)))
        }
        SweepFile::Fit(fit) => fit::load(fit, folder),
    }
}

/// Numbers as Slurm's `--array` takes them: `0-3,7`.
fn array(numbers: &[u64]) -> String {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let runs = runs.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    runs.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
#[path = "../../../tests/unit/commands/sweep.rs"]
mod tests;
