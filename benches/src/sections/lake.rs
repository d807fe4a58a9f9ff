//! A thousand runs in joined tables, against exporting them one by one.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use assay_store::journal::{JOURNAL_FILE, JournalReader, LineContent};
use assay_store::model::{Entry, Manifest, RunEnd};
use assay_store::{Destination, RunWriter};

use crate::Bench;
use crate::document::{Section, Table};
use crate::rounds::Spread;

/// A count of all runs within so many seconds.
const GOAL_S: f64 = 0.1;
/// Runs that are measured; the others are these under further names.
const MEASURED: usize = 20;

/// Times a query, without the start of the process and without the first reading of the files.
const COUNT: &str = "
import duckdb, sys, time
connection = duckdb.connect()
query = 'SELECT model, outcome, count(*) FROM read_parquet(?) GROUP BY ALL'
connection.execute(query, [sys.argv[1]]).fetchall()
begin = time.perf_counter()
rows = connection.execute(query, [sys.argv[1]]).fetchall()
print(time.perf_counter() - begin, sum(row[-1] for row in rows))
";

pub fn measure(bench: &Bench) -> Result<Section> {
    let count = if bench.quick { 100 } else { 1000 };
    let mut section = Section::new(
        "lake",
        "Tables of many runs",
        format!(
            "{count} runs of a shortened `quick` on simulated drives ({MEASURED} measured, the \
             others copies of them under names of their own), exported one by one and \
             joined.\nThe count is `SELECT model, outcome, count(*) ... GROUP BY ALL` over \
             `runs`, in DuckDB, without its start."
        ),
    );
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    let runs = make_runs(bench, root, count)?;
    let paths = |runs: &[PathBuf]| -> String {
        let paths: Vec<String> = runs.iter().map(|run| run.display().to_string()).collect();
        paths.join(" ")
    };
    let (single, lake) = (root.join("single"), root.join("lake"));
    let mut single_s = 0.0;
    for (number, run) in runs.iter().enumerate() {
        let to = single.join(number.to_string());
        let command = format!("export {} --format parquet -o {}", run.display(), to.display());
        single_s += bench.runner.run_assay(&command)?.wall_s;
    }
    let join = |runs: &[PathBuf]| {
        let command = format!("export {} --format lake -o {}", paths(runs), lake.display());
        bench.runner.run_assay(&command)
    };
    let few = runs.len() / 100;
    let (later, first) = runs.split_at(few);
    let joined = join(first)?;
    let added = join(later)?;
    let again = join(&runs)?;
    let mut table = Table::new(&["", "files", "MB", "export, s", "count, s"]);
    let count_s = |files: &str| count_of(bench, root, files, count);
    let single_count = count_s("single/*/runs.parquet")?;
    let lake_count = count_s("lake/plan=*/month=*/runs-*.parquet")?;
    let shown = |count: &Option<Spread>| count.as_ref().map_or("-".to_owned(), |s| s.show(3));
    for (name, folder, export_s, count) in [
        ("one by one", &single, single_s, &single_count),
        ("joined", &lake, joined.wall_s, &lake_count),
    ] {
        let (files, bytes) = size_of(folder)?;
        let megabytes = format!("{:.1}", bytes as f64 / 1e6);
        table.row([&name, &files, &megabytes, &format!("{export_s:.1}"), &shown(count)]);
    }
    section.tables.push(table);
    section.notes.push(format!(
        "Adding {few} runs to {} takes {:.2} s, finding that nothing is new among {count} {:.2} \
         s; joining needs {:.0} MiB of memory.",
        count - few,
        added.wall_s,
        again.wall_s,
        joined.max_rss_bytes as f64 / f64::from(1 << 20)
    ));
    match lake_count {
        Some(spread) => section.goal(
            format!("{count} runs counted within {GOAL_S} s"),
            format!("{:.3} s", spread.median),
            spread.median < GOAL_S,
        ),
        None => section
            .notes
            .push("The count was not measured: no Python with the module duckdb.".to_owned()),
    }
    section.commands.push("assay export RUN... --format lake -o lake".to_owned());
    Ok(section)
}

/// Run folders, each under a name of its own.
fn make_runs(bench: &Bench, root: &Path, count: usize) -> Result<Vec<PathBuf>> {
    let mut measured = Vec::new();
    for lot in 1..=MEASURED {
        let out = root.join(format!("measured-{lot}"));
        let command =
            format!("run quick sim:samsung-951,lot={lot} --scale 0.05 --out {}", out.display());
        bench.runner.run_assay(&command)?;
        measured.push(out);
    }
    let copies =
        (0..count).map(|number| copy(&measured[number % MEASURED], &root.join("runs"), number));
    copies.collect()
}

fn copy(run: &Path, to: &Path, number: usize) -> Result<PathBuf> {
    let mut manifest = Manifest::load(run)?;
    manifest.run_id = format!("{}-{number:04}", manifest.run_id);
    let mut writer = RunWriter::create(&Destination::Under(to.to_owned()), &manifest)?;
    let mut journal = JournalReader::open(&run.join(JOURNAL_FILE))?;
    let mut entries = Vec::new();
    let mut ended = String::new();
    while let Some(line) = journal.next_line()? {
        match line.content {
            LineContent::Entry(entry) => match *entry {
                Entry::Manifest { .. } => {}
                Entry::Finish { at, .. } => ended = at,
                entry => entries.push(entry),
            },
            other => anyhow::bail!("{} line {}: {other:?}", run.display(), line.number),
        }
    }
    writer.append_all(&entries)?;
    Ok(writer.finish(RunEnd::Complete, &ended)?)
}

/// Seconds of a count of all runs in these files; none without DuckDB.
fn count_of(bench: &Bench, root: &Path, files: &str, count: usize) -> Result<Option<Spread>> {
    let candidates = ["target/duckdb/bin/python", "python3"].map(Path::new);
    let has_duckdb = |python: &&Path| bench.runner.run(python, &["-c", "import duckdb"]).is_ok();
    let Some(python) = candidates.into_iter().find(has_duckdb) else {
        return Ok(None);
    };
    let files = root.join(files).display().to_string();
    let times = bench.repeat("lake", bench.rounds(), |_| {
        let printed = bench.runner.run(python, &["-c", COUNT, &files])?.stdout;
        let (seconds, found) = printed.trim().split_once(' ').context("what DuckDB printed")?;
        anyhow::ensure!(found == count.to_string(), "{found} runs in {files}");
        Ok(seconds.parse::<f64>()?)
    })?;
    Ok(Some(Spread::new(times)))
}

/// Number and size of the files below a folder.
fn size_of(folder: &Path) -> Result<(usize, u64)> {
    let (mut files, mut bytes) = (0, 0);
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        if metadata.is_dir() {
            let below = size_of(&entry.path())?;
            files += below.0;
            bytes += below.1;
        } else if metadata.len() > 0 {
            files += 1;
            bytes += metadata.len();
        }
    }
    Ok((files, bytes))
}
