use std::hint::black_box;

use anyhow::{Context, Result};
use assay_units::Rng;

use crate::Bench;
use crate::document::{Section, Table};
use crate::rounds::cpu_s;

struct WholeRun {
    title: &'static str,
    suite: &'static str,
    /// Part of the suite's file, run instead of the whole, and what it is.
    part: Option<(String, &'static str)>,
    drive: &'static str,
    /// Seconds of wall time within which it is to end.
    goal_s: Option<f64>,
}

const STEPS: &str = "[[step]]";
const SECOND_HALF: &str = "[[step]]\nid = \"purge-spare\"";
const VERDICT: &str = "[verdict]";
const CONSISTENCY: &str = include_str!("../../../suites/consistency.toml");

/// Both client drives are of flash, one of 750 GB behind SATA and the other the fastest reader here
/// per gigabyte.
fn whole_runs() -> Result<[WholeRun; 5]> {
    let halves = CONSISTENCY.split_once(SECOND_HALF);
    let (first_half, second_half) = halves.context("suites/consistency.toml has no second half")?;
    // The first charts and the verdict are about the first half.
    let head = CONSISTENCY.split(STEPS).next().unwrap_or_default();
    let head: String =
        head.split_inclusive('\n').filter(|line| !line.starts_with("first_charts")).collect();
    let second_half = second_half.split(VERDICT).next().unwrap_or_default();
    let first_half = (first_half.to_owned(), "up to its step purge-spare");
    let second_half = (
        format!("{head}{SECOND_HALF}{second_half}"),
        "from its step purge-spare on, without verdict",
    );
    let (m8pe, mx300, samsung) = ("sim:plextor-m8pe-y", "sim:crucial-mx300", "sim:samsung-951");
    let run = |title, suite, part, drive, goal_s| WholeRun { title, suite, part, drive, goal_s };
    let (one_hour, spare, whole) = (
        "consistency, a fill and an hour",
        "consistency, a fill and an hour with 25 % spare",
        "consistency, both halves",
    );
    Ok([
        run(one_hour, "consistency", Some(first_half), m8pe, Some(60.0)),
        run(spare, "consistency", Some(second_half), m8pe, Some(60.0)),
        run(whole, "consistency", None, m8pe, None),
        run("client", "client", None, mx300, Some(300.0)),
        run("client", "client", None, samsung, Some(300.0)),
    ])
}

/// Entries of four bytes in a table as large as the L2P map of a drive of 512 GB.
const TABLE_ENTRIES: u64 = 125_000_000;
/// As many as the model's map updates.
const INDEPENDENT_LOADS: u64 = 192;
const LOADS: u64 = 4_000_000;

fn memory_load_ns() -> (f64, f64) {
    let mut table = vec![0_u32; TABLE_ENTRIES as usize];
    assay_io::memory::prefer_huge_pages(&table);
    table.fill(1);
    let mut rng = Rng::stream(1, "memory loads");
    let places: Vec<u32> = (0..LOADS).map(|_| rng.below(TABLE_ENTRIES) as u32).collect();
    let load = |place: u32| table[place as usize];
    let from_s = cpu_s();
    for batch in places.chunks(INDEPENDENT_LOADS as usize) {
        black_box(batch.iter().fold(0, |sum, &place| sum ^ load(place)));
    }
    let independent_s = cpu_s() - from_s;
    let from_s = cpu_s();
    // Every entry is 1, which the compiler does not know.
    let last = places.iter().fold(1, |last, &place| load(place ^ last ^ 1));
    black_box(last);
    let dependent_s = cpu_s() - from_s;
    let each_ns = |seconds: f64| seconds * 1e9 / LOADS as f64;
    (each_ns(independent_s), each_ns(dependent_s))
}

/// Each once, as a whole process that has the machine to itself.
pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "suites",
        "Whole suites on simulated drives",
        "`assay run` from start to end, once each, with the suite's own durations: a fill of the \
         whole drive and an hour of random writes (`consistency`; its second half repeats them \
         with over-provisioning, where the drive is four times as fast and the simulation has \
         four times the work), two overwrites and a hundred points of four minutes (`client`). \
         The run folder records the simulated hours.\n\nNearly every random write misses the \
         processor's caches two to four times (L2P map, validity of the old address, relocation), \
         so wall time follows the memory of the machine: the second table has what a load takes \
         from a random place of a table as large as the L2P map of 512 GB, before the runs and \
         after them.",
    );
    let mut memory = Table::new(&[
        "memory of this machine, ns per load",
        &format!("{INDEPENDENT_LOADS} independent at a time"),
        "each dependent on the last",
    ]);
    let mut measure_memory = |when: &str| {
        let (independent_ns, dependent_ns) = memory_load_ns();
        memory.row([&when, &format!("{independent_ns:.1}"), &format!("{dependent_ns:.0}")]);
    };
    measure_memory("before");
    let folder = tempfile::tempdir()?;
    let head = ["suite", "drive", "wall time, s", "processor time, s", "memory, MiB"];
    let mut table = Table::new(&head);
    let scale = if bench.quick { " --scale 0.01" } else { "" };
    for (index, run) in whole_runs()?.into_iter().enumerate() {
        let WholeRun { title, drive, .. } = run;
        eprintln!("suites: {title}, {drive}");
        let path = |name: &str| folder.path().join(format!("{index}{name}")).display().to_string();
        let (out, file) = (path(""), path(".toml"));
        let (suite, command) = match run.part {
            Some((text, what)) => {
                std::fs::write(&file, text)?;
                let command =
                    format!("assay run PART.toml {drive}    # suites/consistency.toml {what}");
                (file.as_str(), command)
            }
            None => (run.suite, format!("assay run {} {drive}{scale}", run.suite)),
        };
        section.commands.push(command);
        let outcome = bench.runner.run_assay(&format!("run {suite} {drive}{scale} --out {out}"))?;
        if let Some(goal_s) = run.goal_s {
            section.goal(
                format!("{title} on `{drive}` within {goal_s:.0} s"),
                format!("{:.0} s", outcome.wall_s),
                outcome.wall_s < goal_s,
            );
        }
        table.row([
            &title,
            &drive,
            &format!("{:.1}", outcome.wall_s),
            &format!("{:.1}", outcome.cpu_s()),
            &format!("{:.0}", outcome.max_rss_bytes as f64 / f64::from(1 << 20)),
        ]);
    }
    measure_memory("after");
    section.tables.extend([table, memory]);
    Ok(section)
}
