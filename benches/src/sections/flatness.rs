//! Scaling of cost and memory: cost per I/O with depth, run length and number of drives; memory with run length.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::Bench;
use crate::document::{Section, Table};
use crate::rounds::{Series, Spread, start_up_s, take_turns};
use crate::tools::Variant;

/// A cost counts as flat within this share: the spread between rounds on a quiet machine is about half of it.
const FLAT: f64 = 0.10;
const SUITE: &str = include_str!("drives.toml");

/// Null target throughout.
pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "flatness",
        "Scaling of cost and memory",
        "Processor time per I/O on the null target (whole process less start-up), and the greatest resident memory of the process.",
    );
    depth(bench, &mut section)?;
    length(bench, &mut section)?;
    drives(bench, &mut section)?;
    Ok(section)
}

fn assay(label: String, options: &str, span_ms: u64) -> Variant {
    Variant::assay(&label, "null:", options, span_ms)
}

/// The worst of the later series' median costs against the first's.
fn growth(costs: &[Spread]) -> f64 {
    let first = costs
        .first()
        .map_or(0.0, |c| c.median)
        .max(f64::MIN_POSITIVE);
    costs.iter().map(|c| c.median / first).fold(0.0, f64::max)
}

fn costs(all: &[Series], idle_s: f64) -> Vec<Spread> {
    all.iter()
        .map(|series| series.spread(|s| 1e9 / s.ios_per_cpu_s(idle_s)))
        .collect()
}

/// States that `what` holds: `of` grows no more than by [`FLAT`] against its first.
fn flat(section: &mut Section, what: &str, first: &str, of: &[Spread]) {
    let grown = growth(of);
    section.goal(
        what,
        format!("at most {grown:.2} times that of {first}"),
        grown <= 1.0 + FLAT,
    );
}

fn depth(bench: &Bench, section: &mut Section) -> Result<()> {
    let at = |depth: u32, ms| assay(format!("depth {depth}"), &format!("--iodepth {depth}"), ms);
    let span_ms = bench.span_ms(500);
    let all = take_turns(
        bench,
        "depth",
        [1, 4, 16, 64, 256, 1024].map(|d| at(d, span_ms)).into(),
    )?;
    let costs = costs(&all, start_up_s(bench, &|ms| at(1, ms))?);
    let mut table = Table::new(&["", "ns of CPU per I/O"]);
    for (series, cost) in all.iter().zip(&costs) {
        table
            .rows
            .push(vec![series.variant.label.clone(), cost.show(1)]);
    }
    section.tables.push(table);
    // A batch of one pays for the clock alone; from there on it can only get cheaper, until tables outgrow the caches.
    flat(
        section,
        "cost per I/O does not grow with queue depth, 1 to 1024",
        "depth 1",
        &costs,
    );
    let batched = growth(&costs[1..]);
    section.notes.push(format!(
        "Among depths 4 to 1024, at most {batched:.2} times that of depth 4."
    ));
    section.commands.push(all[5].variant.command());
    Ok(())
}

fn length(bench: &Bench, section: &mut Section) -> Result<()> {
    let spans_ms = [400, 1_600, 6_400].map(|ms| bench.span_ms(ms));
    let of = |ms: u64| assay(format!("{:.1} s", ms as f64 / 1e3), "--iodepth 32", ms);
    let all = take_turns(bench, "run length", spans_ms.map(of).into())?;
    let costs = costs(&all, start_up_s(bench, &|ms| of(ms))?);
    let mut table = Table::new(&["", "ns of CPU per I/O", "greatest resident memory, MiB"]);
    let memory: Vec<Spread> = all
        .iter()
        .map(|series| series.spread(|s| s.max_rss_bytes / f64::from(1 << 20)))
        .collect();
    for ((series, cost), memory) in all.iter().zip(&costs).zip(&memory) {
        table.rows.push(vec![
            series.variant.label.clone(),
            cost.show(1),
            memory.show(1),
        ]);
    }
    section.tables.push(table);
    let first = &all[0].variant.label;
    flat(
        section,
        "cost per I/O does not grow with run length",
        first,
        &costs,
    );
    flat(
        section,
        "memory is flat however long the run",
        first,
        &memory,
    );
    section.commands.push(all[2].variant.command());
    Ok(())
}

/// I/Os of the cells of one drive and of those of all drives together, and processor seconds, in a run of the suite.
fn suite_run(
    bench: &Bench,
    drives: usize,
    folder: &tempfile::TempDir,
    number: usize,
) -> Result<(f64, f64, f64)> {
    let suite = folder.path().join("drives.toml");
    std::fs::write(&suite, SUITE)?;
    let run = folder.path().join(format!("run-{number}"));
    let mut arguments = vec!["run".to_owned(), suite.display().to_string()];
    arguments.extend(std::iter::repeat_n("null:".to_owned(), drives));
    let runtime = format!("runtime={}ms", bench.span_ms(500));
    arguments.extend(["--set".to_owned(), runtime, "--json".to_owned()]);
    arguments.extend(["--out".to_owned(), run.display().to_string()]);
    let outcome = bench.runner.run(&bench.runner.assay, &arguments)?;
    let document: Value = serde_json::from_str(&outcome.stdout).context("the suite's JSON")?;
    let (mut alone, mut together) = (0.0, 0.0);
    let runs = document["runs"].as_array().into_iter().flatten();
    for cell in runs.flat_map(|run| run["cells"].as_array().into_iter().flatten()) {
        let ios = cell["read"]["ios"].as_f64().unwrap_or(0.0);
        let all = cell["id"]
            .as_str()
            .is_some_and(|id| id.starts_with("together"));
        *(if all { &mut together } else { &mut alone }) += ios;
    }
    Ok((alone, together, outcome.user_s + outcome.system_s))
}

fn drives(bench: &Bench, section: &mut Section) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let idle_s = start_up_s(bench, &|ms| assay(String::new(), "", ms))?;
    let counts = [1, 2, 4];
    let mut found: [Vec<f64>; 3] = Default::default();
    for round in 0..bench.rounds() {
        eprintln!("drives: round {} of {}", round + 1, bench.rounds());
        let mut alone_s = 0.0;
        for (place, drives) in counts.into_iter().enumerate() {
            let (alone, together, cpu_s) = suite_run(bench, drives, &folder, round * 3 + place)?;
            if drives == 1 {
                // With one drive there is nothing to run together: this is the cost alone.
                alone_s = (cpu_s - idle_s) / alone;
                found[place].push(alone_s * 1e9);
            } else {
                // What the drives cost one at a time is known from the run before; the rest is the cost together.
                found[place].push((cpu_s - idle_s - alone * alone_s) / together * 1e9);
            }
        }
    }
    let costs: Vec<Spread> = found.into_iter().map(Spread::of).collect();
    let mut table = Table::new(&["", "ns of CPU per I/O"]);
    for (count, cost) in counts.into_iter().zip(&costs) {
        table
            .rows
            .push(vec![format!("{count} drives at once"), cost.show(1)]);
    }
    section.tables.push(table);
    flat(
        section,
        "cost per I/O does not grow with the number of drives",
        "one",
        &costs,
    );
    section.commands.push(
        "assay run benches/src/sections/drives.toml null: null: --set runtime=500ms --json"
            .to_owned(),
    );
    Ok(())
}
