//! How long whole suites take on simulated drives.

use anyhow::Result;

use crate::Bench;
use crate::document::{Section, Table};

/// Whole suites at full length: suite, drive, and the seconds of wall time within which they are to end. Both client drives are of flash,
/// one of 750 GB behind SATA and the other the fastest reader here per gigabyte.
const WHOLE_RUNS: [(&str, &str, f64); 3] = [
    ("consistency", "sim:plextor-m8pe-y", 60.0),
    ("client", "sim:crucial-mx300", 300.0),
    ("client", "sim:samsung-951", 300.0),
];

/// Each once, as a whole process that has the machine to itself.
pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "suites",
        "Whole suites on simulated drives",
        "`assay run` from start to end, once each, every duration as the suite has it: an hour of random writes and more after a full fill (`consistency`, run twice, with \
         and without spare area), two overwrites and a hundred points of four minutes (`client`). The simulated hours are in the run folder.",
    );
    let folder = tempfile::tempdir()?;
    let mut rows = Vec::new();
    for (index, (suite, drive, goal_s)) in WHOLE_RUNS.into_iter().enumerate() {
        eprintln!("suites: {suite} {drive}");
        let out = folder.path().join(index.to_string()).display().to_string();
        let mut words = vec!["run", suite, drive];
        if bench.quick {
            words.extend(["--scale", "0.01"]);
        }
        section.commands.push(format!("assay {}", words.join(" ")));
        words.extend(["--out", &out]);
        let outcome = bench.runner.run(bench.runner.assay.as_path(), &words)?;
        section.goal(
            format!("`{suite}` on `{drive}` within {goal_s:.0} s"),
            format!("{:.0} s", outcome.wall_s),
            outcome.wall_s < goal_s,
        );
        rows.push(vec![
            suite.to_owned(),
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
