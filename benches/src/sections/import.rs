//! `assay import` of ten thousand result files of fio, against Python's reading of the same files.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::Bench;
use crate::document::{Section, Table};
use crate::rounds::Spread;

/// Seconds, MiB and times as fast as Python.
const GOAL_S: f64 = 20.0;
const GOAL_MIB: f64 = 200.0;
const GOAL_RATIO: f64 = 5.0;
/// Threads of a job, each with an entry: a file has 80 kB.
const THREADS: usize = 12;

/// Key of the time at which fio ended.
const TIME: &str = "\"timestamp\" : ";

/// Reads every file, and prints the seconds without the start of the process.
const PARSE: &str = "
import glob, json, sys, time
files = sorted(glob.glob(sys.argv[1] + '/*'))
begin = time.perf_counter()
for name in files:
    json.load(open(name))
print(time.perf_counter() - begin)
";

pub fn measure(bench: &Bench) -> Result<Section> {
    let count = if bench.quick { 1000 } else { 10_000 };
    let mut section = Section::new(
        "import",
        "Results of fio",
        format!(
            "{count} files of JSON that fio wrote, {THREADS} threads without `group_reporting`, \
             into one run folder with the hash of each file.\nThe peer is Python's `json.load` \
             of the same files, without its start, in turn."
        ),
    );
    let folder = tempfile::tempdir()?;
    let files = folder.path().join("results");
    let bytes = make(&files, count)?;
    let megabytes = bytes as f64 / 1e6;
    let (mut own, mut python, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..bench.rounds() {
        let out = folder.path().join(format!("run-{round}"));
        let command = format!("import {} --out {}", files.display(), out.display());
        let outcome = bench.runner.run_assay(&command)?;
        own.push(outcome.wall_s);
        memory.push(outcome.max_rss_bytes as f64 / f64::from(1 << 20));
        fs::remove_dir_all(&out)?;
        let names = files.display().to_string();
        let python3 = Path::new("python3");
        let printed = bench.runner.run(python3, &["-c", PARSE, &names])?.stdout;
        python.push(printed.trim().parse::<f64>().context("what Python printed")?);
    }
    let ratio = Spread::new(own.iter().zip(&python).map(|(own, python)| python / own));
    let [own, python, memory] = [own, python, memory].map(Spread::new);
    let mut table = Table::new(&["", "s", "MB/s", "MiB"]);
    let rate = |s: &Spread| format!("{:.0}", megabytes / s.median);
    table.row([&"assay import", &own.show(2), &rate(&own), &memory.show(0)]);
    table.row([&"Python", &python.show(2), &rate(&python), &"-"]);
    section.tables.push(table);
    section.goal(
        format!("{count} files, {megabytes:.0} MB, within {GOAL_S} s"),
        format!("{} s", own.show(2)),
        own.median <= GOAL_S,
    );
    section.goal(
        format!("in at most {GOAL_MIB} MiB of memory"),
        format!("{} MiB", memory.show(0)),
        memory.median <= GOAL_MIB,
    );
    section.goal(
        format!("at least {GOAL_RATIO} times as fast as Python's json"),
        format!("{} times", ratio.show(1)),
        ratio.median >= GOAL_RATIO,
    );
    section.commands.push("assay import results --out run".to_owned());
    Ok(section)
}

/// Writes the files: outputs of fio at seven depths, each with a time of its own; returns their
/// length.
fn make(folder: &Path, count: usize) -> Result<u64> {
    fs::create_dir_all(folder)?;
    let outputs: Vec<String> = (0..7).map(|power| output(1 << power)).collect::<Result<_>>()?;
    let mut bytes = 0;
    for number in 0..count {
        let output = &outputs[number % outputs.len()];
        let (head, tail) = output.split_once(TIME).context("fio prints no time")?;
        let tail = tail.trim_start_matches(|c: char| c.is_ascii_digit());
        let text = format!("{head}{TIME}{}{tail}", 1_700_000_000 + number);
        bytes += text.len() as u64;
        fs::write(folder.join(format!("{number:05}.json")), text)?;
    }
    // Otherwise the kernel writes them back during the first rounds, on the same processors.
    let synced = Command::new("sync").arg("--file-system").arg(folder).status()?;
    ensure!(synced.success(), "sync: {synced}");
    Ok(bytes)
}

/// What fio prints of threads that read at random on its null engine.
fn output(depth: u32) -> Result<String> {
    let options = format!(
        "--name=threads --ioengine=null --size=1g --rw=randread --bs=4k --iodepth={depth} \
         --numjobs={THREADS} --number_ios=20000 --output-format=json"
    );
    let output = Command::new("fio").args(options.split(' ')).output()?;
    ensure!(output.status.success(), "fio: {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}
