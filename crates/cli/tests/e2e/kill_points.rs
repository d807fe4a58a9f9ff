//! Runs killed at more than fifty seeded points, given in bytes of the journal, so that the points
//! do not depend on the speed of the host.

use std::collections::BTreeMap;

use assay_units::Rng;
use rustix::process::Signal;
use serde_json::Value;

use crate::fixture::{Done, Fixture, MIB, pause, send, text_so_far};

/// Fifteen short cells: a preparation, and others that need it; some write.
const STEPS: &str = r#"
name = "mine"
title = "Many short cells"
summary = "Cells to be cut off in."
source = "these tests"
duration = "short"
[[step]]
id = "fill"
title = "Fill"
kind = "prepare"
needs = ["write"]
leaves = "filled"
job = { rw = "write", bs = "64k", size = "2m" }
[[step]]
id = "reads"
title = "Reads"
kind = "measure"
job = { rw = "randread", runtime = "40ms", interval = "10ms" }
matrix = { bs = ["4k", "8k", "16k", "32k", "64k"], numjobs = [1, 2] }
[[step]]
id = "mixed"
title = "Mixed"
kind = "measure"
needs = ["write"]
wants = "filled"
job = { rw = "randrw", size = "2m", runtime = "60ms", interval = "10ms" }
matrix = { bs = ["4k", "8k", "16k", "32k"] }
"#;

/// The journal up to its last whole line.
fn whole_lines(fixture: &Fixture, run: &str) -> String {
    let mut journal = text_so_far(&fixture.path(&format!("{run}/journal.log")));
    let end = journal.rfind('\n').map_or(0, |at| at + 1);
    journal.truncate(end);
    journal
}

/// Starts and results of each cell in a journal; restarting a finished cell fails the test, and so
/// does repeating the preparation: writes of an interrupted cell do not invalidate it.
fn course(journal: &str) -> (BTreeMap<String, u32>, BTreeMap<String, Value>) {
    let (mut begun, mut finished) = (BTreeMap::new(), BTreeMap::new());
    for line in journal.lines() {
        let entry: Value = serde_json::from_str(line.split_once(' ').unwrap().1).unwrap();
        let Some(cell) = entry["cell"].as_str().map(str::to_owned) else {
            continue;
        };
        if line.contains("\"cell_start\"") {
            assert!(!finished.contains_key(&cell), "{cell} was measured again");
            *begun.entry(cell).or_default() += 1;
        } else if line.contains("\"cell_finish\"") {
            let twice = finished.insert(cell, entry);
            assert!(twice.is_none(), "finished twice: {twice:?}");
        } else if line.contains("\"cell_skipped\"") {
            // Killed between the drive state cache and the journal entry of the finished
            // preparation.
            assert!(line.contains("not needed: preconditioned"), "{line}");
            finished.entry(cell).or_insert(entry);
        }
    }
    (begun, finished)
}

/// Kill and resume runs at `points` points or more, starting another when one is complete.
#[track_caller]
fn survives(drive: &str, permission: &str, points: u32, seed: u64) {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", 4 * MIB);
    fixture.write("mine.toml", STEPS);
    fixture.ok(&format!("run mine.toml {drive} {permission} --out whole"));
    let whole = whole_lines(&fixture, "whole");
    let (_, undisturbed) = course(&whole);
    assert_eq!(undisturbed.len(), 15);
    let mut rng = Rng::new(seed);
    let (mut killed, mut round) = (0, 0);
    while killed < points {
        round += 1;
        assert!(round <= points, "runs complete before the kill");
        let run = format!("run{round}");
        let mut kills_of_it = 0;
        let mut kept = String::new();
        let mut words = format!("run mine.toml {drive} {permission} --out {run}");
        loop {
            let target = kept.len() as u64 + 1 + rng.below(whole.len() as u64 / 6);
            let mut child = fixture.command(&words).spawn().unwrap();
            let journal = fixture.path(&format!("{run}/journal.log"));
            let mut over = false;
            while !over && std::fs::metadata(&journal).map_or(0, |m| m.len()) < target {
                over = child.try_wait().unwrap().is_some();
                pause(1);
            }
            if over {
                Done::new(&words, child).expect(0);
                break;
            }
            send(&child, Signal::KILL);
            child.wait().unwrap();
            if whole_lines(&fixture, &run).contains(r#""event":"finish""#) {
                // It had just completed; resuming writes missing checksums.
                let through = fixture.run(&format!("run --resume {run} {permission}"));
                through.refuses(2, &["already complete"]);
                break;
            }
            (killed, kills_of_it) = (killed + 1, kills_of_it + 1);
            let now = whole_lines(&fixture, &run);
            assert!(now.starts_with(&kept), "what was kept has changed");
            let (begun, finished) = course(&now);
            let lost: u32 = begun
                .iter()
                .map(|(cell, times)| times - u32::from(finished.contains_key(cell)))
                .sum();
            assert!(lost <= kills_of_it, "more than the current cell was lost: {begun:?}");
            if killed % 8 == 0 {
                fixture.ok(&format!("report {run} -o page.html"));
            }
            kept = now;
            words = format!("run --resume {run} {permission}");
        }
        let (_, finished) = course(&whole_lines(&fixture, &run));
        assert_eq!(
            finished.keys().collect::<Vec<_>>(),
            undisturbed.keys().collect::<Vec<_>>(),
            "cut off {kills_of_it} times"
        );
        fixture
            .tool("sh", &["-c", &format!("cd {run} && sha256sum -c --strict --quiet SHA256SUMS")]);
        fixture.ok(&format!("report {run} -o page.html"));
    }
}

#[test]
fn a_run_on_a_file_survives_thirty_kills() {
    survives("disk", "--destroy disk", 30, 11);
}

#[test]
fn a_simulated_run_survives_thirty_kills() {
    survives("sim:samsung-951", "", 30, 12);
}
