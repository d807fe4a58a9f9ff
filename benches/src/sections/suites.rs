//! How long whole suites take on simulated drives.

use anyhow::{Context, Result};

use crate::Bench;
use crate::document::{Section, Table};

enum Suite {
    Named(&'static str),
    /// Of a suite file.
    Text(String),
}

/// A suite, at full length.
struct WholeRun {
    title: &'static str,
    suite: Suite,
    drive: &'static str,
    /// Seconds of wall time within which it is to end.
    goal_s: Option<f64>,
}

/// Where the second half of the suite `consistency` begins: purge, fill and hour with spare area.
const SECOND_HALF: &str = "[[step]]\nid = \"purge-spare\"";
const CONSISTENCY: &str = include_str!("../../../suites/consistency.toml");

/// Both client drives are of flash, one of 750 GB behind SATA and the other the fastest reader here per gigabyte.
fn whole_runs() -> Result<[WholeRun; 4]> {
    let halves = CONSISTENCY.split_once(SECOND_HALF);
    let (first_half, _) = halves.context("suites/consistency.toml has no second half")?;
    let (m8pe, mx300, samsung) = ("sim:plextor-m8pe-y", "sim:crucial-mx300", "sim:samsung-951");
    let run = |title, suite, drive, goal_s| WholeRun {
        title,
        suite,
        drive,
        goal_s,
    };
    Ok([
        run(
            "consistency, a fill and an hour",
            Suite::Text(first_half.to_owned()),
            m8pe,
            Some(60.0),
        ),
        run(
            "consistency, both halves",
            Suite::Named("consistency"),
            m8pe,
            None,
        ),
        run("client", Suite::Named("client"), mx300, Some(300.0)),
        run("client", Suite::Named("client"), samsung, Some(300.0)),
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
    let mut rows = Vec::new();
    for (index, run) in whole_runs()?.into_iter().enumerate() {
        let WholeRun { title, drive, .. } = run;
        eprintln!("suites: {title}, {drive}");
        let path = |name: &str| folder.path().join(format!("{index}{name}"));
        let (out, text) = (path(""), path(".toml"));
        let (out, text) = (out.display().to_string(), text.display().to_string());
        let suite = match &run.suite {
            Suite::Named(name) => *name,
            Suite::Text(suite) => {
                std::fs::write(&text, suite)?;
                &text
            }
        };
        let mut words = vec!["run", suite, drive];
        if bench.quick {
            words.extend(["--scale", "0.01"]);
        }
        match run.suite {
            Suite::Named(_) => section.commands.push(format!("assay {}", words.join(" "))),
            Suite::Text(_) => section.commands.push(format!(
                "assay run FIRST-HALF.toml {drive}    # suites/consistency.toml up to its step purge-spare"
            )),
        }
        words.extend(["--out", &out]);
        let outcome = bench.runner.run(bench.runner.assay.as_path(), &words)?;
        if let Some(goal_s) = run.goal_s {
            section.goal(
                format!("{title} on `{drive}` within {goal_s:.0} s"),
                format!("{:.0} s", outcome.wall_s),
                outcome.wall_s < goal_s,
            );
        }
        rows.push(vec![
            title.to_owned(),
            drive.to_owned(),
            format!("{:.1}", outcome.wall_s),
            format!("{:.1}", outcome.user_s + outcome.system_s),
            format!("{:.0}", outcome.max_rss_bytes as f64 / f64::from(1 << 20)),
        ]);
    }
    section.tables.push(Table {
        head: vec![
            "suite",
            "drive",
            "wall time, s",
            "processor time, s",
            "memory, MiB",
        ],
        rows,
    });
    Ok(section)
}
