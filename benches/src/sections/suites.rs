//! How long whole suites take on simulated drives.

use anyhow::{Context, Result};

use crate::Bench;
use crate::document::{Section, Table};

/// A suite, at full length.
struct WholeRun {
    title: &'static str,
    /// Name of a suite.
    suite: &'static str,
    /// Part of the suite's file, run instead of the whole, and what it is.
    part: Option<(String, &'static str)>,
    drive: &'static str,
    /// Seconds of wall time within which it is to end.
    goal_s: Option<f64>,
}

/// Where the steps of the suite `consistency` begin, the second half of them (purge, fill and hour with spare area), and its verdict.
const STEPS: &str = "[[step]]";
const SECOND_HALF: &str = "[[step]]\nid = \"purge-spare\"";
const VERDICT: &str = "[verdict]";
const CONSISTENCY: &str = include_str!("../../../suites/consistency.toml");

/// Both client drives are of flash, one of 750 GB behind SATA and the other the fastest reader here per gigabyte.
fn whole_runs() -> Result<[WholeRun; 5]> {
    let halves = CONSISTENCY.split_once(SECOND_HALF);
    let (first_half, second_half) = halves.context("suites/consistency.toml has no second half")?;
    // The first charts and the verdict are about the first half.
    let head = CONSISTENCY.split(STEPS).next().unwrap_or_default();
    let head: String = head
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("first_charts"))
        .collect();
    let second_half = second_half.split(VERDICT).next().unwrap_or_default();
    let first_half = (first_half.to_owned(), "up to its step purge-spare");
    let second_half = (
        format!("{head}{SECOND_HALF}{second_half}"),
        "from its step purge-spare on, without verdict",
    );
    let (m8pe, mx300, samsung) = ("sim:plextor-m8pe-y", "sim:crucial-mx300", "sim:samsung-951");
    let run = |title, suite, part, drive, goal_s| WholeRun {
        title,
        suite,
        part,
        drive,
        goal_s,
    };
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

/// Each once, as a whole process that has the machine to itself.
pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "suites",
        "Whole suites on simulated drives",
        "`assay run` from start to end, once each, with the suite's own durations: a fill of the whole drive and an hour of random writes (`consistency`; its \
         second half repeats them with over-provisioning, where the drive is four times as fast and the simulation has four \
         times the work), two overwrites and a hundred points of four minutes (`client`). The run folder records the simulated hours.",
    );
    let folder = tempfile::tempdir()?;
    let head = [
        "suite",
        "drive",
        "wall time, s",
        "processor time, s",
        "memory, MiB",
    ];
    let mut table = Table::new(&head);
    let scale = if bench.quick { " --scale 0.01" } else { "" };
    for (index, run) in whole_runs()?.into_iter().enumerate() {
        let WholeRun { title, drive, .. } = run;
        eprintln!("suites: {title}, {drive}");
        let path = |name: &str| {
            folder
                .path()
                .join(format!("{index}{name}"))
                .display()
                .to_string()
        };
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
        let outcome = bench
            .runner
            .run_assay(&format!("run {suite} {drive}{scale} --out {out}"))?;
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
    section.tables.push(table);
    Ok(section)
}
