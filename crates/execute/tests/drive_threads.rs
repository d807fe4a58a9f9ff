//! Steps of several simulated drives run in a thread per drive: same results, same journal,
//! whatever the threads do.

use crate::common;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_execute::events::{RunEvent, RunListener};
use assay_stats::HostAudit;
use assay_store::journal::{JournalReader, LineContent};
use assay_store::model::{CellResult, Entry, RunEnd};
use assay_store::read::{CellRecord, CellState, Run};
use assay_suite::expand::RunPlan;

use common::{Quiet, refuse_failure, run, run_in, text};

const DRIVES: [&str; 3] = ["sim:samsung-951", "sim:intel-600p", "sim:wd-black"];

/// Preparation, rounds that end early or not, a soak with a stop rule, cells compared with others,
/// and all drives together.
fn suite() -> String {
    text(
        r#"
[[step]]
id = "fill"
title = "Fill"
kind = "prepare"
needs = ["write"]
sets_state = "filled"
job = { rw = "write", bs = "128k", iodepth = 8, size = "64m" }
[[step]]
id = "reads"
title = "Reads"
kind = "measure"
job = { rw = "randread", runtime = "40ms", interval = "10ms" }
matrix = { bs = ["4k", "64k"], numjobs = [1, 4] }
[[step]]
id = "writes"
title = "Writes"
kind = "soak"
needs = ["write"]
needs_state = "filled"
job = { rw = "randwrite", bs = "4k", iodepth = 32, size = "64m", runtime = "100ms", interval = "10ms" }
[[step]]
id = "together"
title = "Together"
kind = "concurrent"
job = { rw = "randread", bs = "4k", numjobs = 2, runtime = "20ms", interval = "10ms" }
[[step]]
id = "after"
title = "After"
kind = "measure"
job = { rw = "randread", bs = "4k", runtime = "20ms", interval = "10ms" }
"#,
    )
}

/// The journal without what differs from run to run: times of the host, and the manifest's hash.
fn journal(folder: &Path) -> Vec<Entry> {
    let mut reader = JournalReader::open(&folder.join("journal.log")).unwrap();
    let mut entries = Vec::new();
    while let Some(line) = reader.next_line().unwrap() {
        let LineContent::Entry(mut entry) = line.content else {
            panic!("line {} is damaged or unknown", line.number);
        };
        match &mut *entry {
            Entry::Start { at, .. }
            | Entry::CellStart { at, .. }
            | Entry::CellSkipped { at, .. }
            | Entry::CellFinish { at, .. }
            | Entry::Finish { at, .. } => at.clear(),
            Entry::Manifest { sha256 } => sha256.clear(),
            _ => {}
        }
        entries.push(*entry);
    }
    entries
}

fn starts(journal: &[Entry]) -> Vec<&str> {
    let starts = journal.iter().filter_map(|entry| match entry {
        Entry::CellStart { cell, .. } => Some(cell.as_str()),
        _ => None,
    });
    starts.collect()
}

#[test]
fn the_journal_is_the_same_in_each_run_and_takes_the_drives_in_turns() {
    let (_, _, first) = run(&suite(), &DRIVES);
    let (_, _, second) = run(&suite(), &DRIVES);
    let [first, second] = [first, second].map(|folder| journal(&folder.path().join("run")));
    assert_eq!(first, second);
    let starts = starts(&first);
    assert_eq!(
        starts[..6],
        [
            "samsung-951/fill",
            "intel-600p/fill",
            "wd-black/fill",
            "samsung-951/reads/bs=4k,numjobs=1",
            "intel-600p/reads/bs=4k,numjobs=1",
            "wd-black/reads/bs=4k,numjobs=1"
        ],
        "{starts:#?}"
    );
    // The events of a cell stay together.
    let mut begun = BTreeSet::new();
    let mut current = "";
    for entry in &first {
        let cell = match entry {
            Entry::CellStart { cell, .. } => {
                assert!(begun.insert(cell.as_str()), "{cell} started twice");
                current = cell;
                cell
            }
            Entry::Interval(record) => &record.cell,
            Entry::Telemetry(record) => &record.cell,
            Entry::CellFinish { cell, .. } => cell,
            _ => continue,
        };
        assert_eq!(cell, current);
    }
}

#[test]
fn a_drive_does_the_same_as_in_a_run_of_its_own() {
    let (_, together, _folder) = run(&suite(), &DRIVES);
    for (drive, &spec) in DRIVES.iter().enumerate() {
        let (_, alone, _folder) = run(&suite(), &[spec]);
        let mut compared = 0;
        for cell in alone.cells.iter().filter(|c| c.plan.step != "together") {
            let of = |run: &Run, drive| {
                let cell = run.cells.iter().find(|c| c.plan.id == cell.plan.id);
                let part = cell.unwrap().drives.iter().find(|d| d.drive == drive);
                let result = part.unwrap().result.clone().unwrap();
                CellResult { drive: 0, ..result }
            };
            // The drive has done more before the last step when it was measured together with
            // others.
            if cell.plan.step != "after" {
                assert_eq!(of(&alone, 0), of(&together, drive), "{}", cell.plan.id);
                compared += 1;
            }
        }
        assert_eq!(compared, 6);
    }
}

/// Stops the run when it receives the start of this many cells.
struct StopAfter<'a> {
    cells: usize,
    stop: &'a AtomicBool,
}

impl RunListener for StopAfter<'_> {
    fn event(&mut self, plan: &RunPlan, event: &RunEvent<'_>) {
        refuse_failure(plan, event);
        if let RunEvent::CellStarted { .. } = event {
            match self.cells.checked_sub(1) {
                Some(left) => self.cells = left,
                None => self.stop.store(true, Ordering::Relaxed),
            }
        }
    }
}

fn finished(run: &Run) -> Vec<&CellRecord> {
    let cells = run.cells.iter();
    cells.filter(|c| c.state == CellState::Finished).collect()
}

#[test]
fn an_interrupted_run_keeps_the_finished_cells_of_every_drive_and_is_resumed() {
    let (_, whole, _folder) = run(&suite(), &DRIVES);
    let mut interruptions = 0;
    for cells in [0, 4, 9, 14] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let stop = AtomicBool::new(false);
        let mut progress = StopAfter { cells, stop: &stop };
        let audit = HostAudit::default();
        let (summary, cut) = run_in(&path, &suite(), &DRIVES, audit, &stop, &mut progress);
        if summary.outcome == RunEnd::Complete {
            continue;
        }
        interruptions += 1;
        assert!(finished(&cut).len() < cut.cells.len());
        let running = AtomicBool::new(false);
        let (_, resumed) = run_in(&path, &suite(), &DRIVES, audit, &running, &mut Quiet);
        assert_eq!(resumed.outcome, Some(RunEnd::Complete));
        assert_eq!(finished(&resumed).len(), whole.cells.len());
        for cell in finished(&cut) {
            for run in [&whole, &resumed] {
                let same = run.cells.iter().find(|c| c.plan.id == cell.plan.id);
                assert_eq!(same.unwrap().drives, cell.drives, "{}", cell.plan.id);
            }
        }
    }
    // The drives may have finished before the last signals were received.
    assert!(interruptions > 0);
}
