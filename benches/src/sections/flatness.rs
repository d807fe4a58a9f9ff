use anyhow::{Context, Result};
use serde_json::Value;

use crate::Bench;
use crate::document::{Section, Table};
use crate::rounds::{Figure, Series, Spread, start_up_s, table, take_turns};
use crate::tools::{Sample, Variant};

/// The spread between rounds on a quiet machine is about half of it.
const FLAT: f64 = 0.10;
const SUITE: &str = include_str!("drives.toml");

pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "flatness",
        "Scaling of cost and memory",
        "Processor time per I/O on the null target (whole process less start-up), and the \
         greatest resident memory of the process.",
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
    let first = costs.first().map_or(0.0, |cost| cost.median).max(f64::MIN_POSITIVE);
    costs.iter().map(|cost| cost.median / first).fold(0.0, f64::max)
}

fn costs(all: &[Series]) -> Vec<Spread> {
    all.iter().map(|series| series.spread(cost_ns)).collect()
}

fn cost_ns(sample: &Sample) -> f64 {
    1e9 / sample.ios_per_cpu_s()
}

fn memory_mib(sample: &Sample) -> f64 {
    sample.max_rss_bytes / f64::from(1 << 20)
}

/// Runs the variants in turn, less the start-up cost of the short one.
fn turns(bench: &Bench, title: &str, short: &Variant, all: Vec<Variant>) -> Result<Vec<Series>> {
    let start_up_s = start_up_s(bench, short)?;
    let less = all.into_iter().map(|variant| variant.less(start_up_s));
    take_turns(bench, title, less.collect())
}

/// States that `what` holds: `of` grows no more than by [`FLAT`] against its first.
fn flat(section: &mut Section, what: &str, first: &str, of: &[Spread]) {
    let grown = growth(of);
    section.goal(what, format!("at most {grown:.2} times that of {first}"), grown <= 1.0 + FLAT);
}

fn depth(bench: &Bench, section: &mut Section) -> Result<()> {
    let at = |depth: u32, ms| assay(format!("depth {depth}"), &format!("--iodepth {depth}"), ms);
    let span_ms = bench.span_ms(500);
    let variants = [1, 4, 16, 64, 256, 1024].map(|depth| at(depth, span_ms)).into();
    let all = turns(bench, "depth", &at(1, 1), variants)?;
    let costs = costs(&all);
    section.tables.push(table(&all, &[("ns of CPU per I/O", cost_ns, 1)]));
    // A batch of one pays for the clock alone; from there on it can only get cheaper, until tables
    // outgrow the caches.
    let what = "cost per I/O does not grow with queue depth, 1 to 1024";
    flat(section, what, "depth 1", &costs);
    let batched = growth(&costs[1..]);
    section
        .notes
        .push(format!("Among depths 4 to 1024, at most {batched:.2} times that of depth 4."));
    section.commands.push(all[5].variant.command());
    Ok(())
}

fn length(bench: &Bench, section: &mut Section) -> Result<()> {
    let spans_ms = [400, 1_600, 6_400].map(|ms| bench.span_ms(ms));
    let of = |ms: u64| assay(format!("{:.1} s", ms as f64 / 1e3), "--iodepth 32", ms);
    let all = turns(bench, "run length", &of(1), spans_ms.map(of).into())?;
    let columns: [(_, Figure, _); 2] =
        [("ns of CPU per I/O", cost_ns, 1), ("greatest resident memory, MiB", memory_mib, 1)];
    section.tables.push(table(&all, &columns));
    let memory: Vec<Spread> = all.iter().map(|series| series.spread(memory_mib)).collect();
    let first = &all[0].variant.label;
    let what = "cost per I/O does not grow with run length";
    flat(section, what, first, &costs(&all));
    flat(section, "memory is flat however long the run", first, &memory);
    section.commands.push(all[2].variant.command());
    Ok(())
}

fn suite_run(
    bench: &Bench,
    drives: usize,
    folder: &tempfile::TempDir,
    number: usize,
) -> Result<(f64, f64, f64)> {
    let suite = folder.path().join("drives.toml");
    std::fs::write(&suite, SUITE)?;
    let run = folder.path().join(format!("run-{number}"));
    let outcome = bench.runner.run_assay(&format!(
        "run {} {} --set runtime={}ms --json --out {}",
        suite.display(),
        "null: ".repeat(drives),
        bench.span_ms(500),
        run.display()
    ))?;
    let document: Value = serde_json::from_str(&outcome.stdout).context("the suite's JSON")?;
    let (mut alone, mut together) = (0.0, 0.0);
    let runs = document["runs"].as_array().into_iter().flatten();
    for cell in runs.flat_map(|run| run["cells"].as_array().into_iter().flatten()) {
        let ios = cell["read"]["ios"].as_f64().unwrap_or(0.0);
        let id = cell["id"].as_str().unwrap_or_default();
        *(if id.starts_with("together") { &mut together } else { &mut alone }) += ios;
    }
    Ok((alone, together, outcome.cpu_s()))
}

fn drives(bench: &Bench, section: &mut Section) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let idle_s = start_up_s(bench, &assay(String::new(), "", 1))?;
    let counts = [1, 2, 4];
    let mut found: [Vec<f64>; 3] = Default::default();
    bench.repeat("drives", bench.rounds(), |round| {
        let mut alone_s = 0.0;
        for (place, drives) in counts.into_iter().enumerate() {
            let (alone, together, cpu_s) = suite_run(bench, drives, &folder, round * 3 + place)?;
            if drives == 1 {
                // With one drive there is nothing to run together: this is the cost alone.
                alone_s = (cpu_s - idle_s) / alone;
                found[place].push(alone_s * 1e9);
            } else {
                // What the drives cost one at a time is known from the run before; the rest is the
                // cost together.
                found[place].push((cpu_s - idle_s - alone * alone_s) / together * 1e9);
            }
        }
        Ok(())
    })?;
    let costs: Vec<Spread> = found.into_iter().map(Spread::new).collect();
    let mut table = Table::new(&["", "ns of CPU per I/O"]);
    for (count, cost) in counts.into_iter().zip(&costs) {
        table.row([&format!("{count} drives at once"), &cost.show(1)]);
    }
    section.tables.push(table);
    let what = "cost per I/O does not grow with the number of drives";
    flat(section, what, "one", &costs);
    section.commands.push(
        "assay run benches/src/sections/drives.toml null: null: --set runtime=500ms --json"
            .to_owned(),
    );
    Ok(())
}
