//! Joined tables are a function of the run folders in them.

use crate::fixtures;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use assay_analysis::cohort::observe::{Origin, of_run};
use assay_export::ExportError;
use assay_export::lake::{Joined, JoinedRun, Lake, NO_PLAN, Partition, RunFacts, Source};
use assay_export::table::Row;
use assay_store::model::{Entry, RunEnd};
use assay_store::{Destination, Run, RunWriter};

use fixtures::SMALL;

/// A run folder under `dir` of this name and date; its journal ends before the `Finish` where
/// `whole` is false.
fn run(dir: &Path, run_id: &str, created: &str, whole: bool) -> PathBuf {
    let mut manifest = fixtures::manifest(SMALL);
    run_id.clone_into(&mut manifest.run_id);
    created.clone_into(&mut manifest.created);
    manifest.drives[0].serial = format!("{run_id}-0");
    manifest.drives[1].serial = format!("{run_id}-1");
    let mut writer = RunWriter::create(&Destination::Under(dir.to_owned()), &manifest).unwrap();
    for entry in fixtures::entries(&manifest, SMALL) {
        writer.append(&entry).unwrap();
    }
    match whole {
        true => writer.finish(RunEnd::Complete, created).unwrap(),
        false => writer.path.clone(),
    }
}

fn source(folder: &Path, plan: Option<&str>) -> Source {
    Source {
        folder: folder.to_owned(),
        facts: RunFacts {
            plan: plan.map(str::to_owned),
            host: Some("bench-1".to_owned()),
            attempt: Some(1),
            ..RunFacts::default()
        },
    }
}

/// Six runs of two plans and two months.
fn sources(dir: &Path) -> Vec<Source> {
    let runs = (0..6).map(|n| {
        let created = ["2026-10-31T23:59:59Z", "2026-11-01T00:00:00Z"][n % 2];
        let folder = run(dir, &format!("run-{n}"), created, true);
        source(&folder, (n < 4).then_some("qualification"))
    });
    runs.collect()
}

/// Every file below a directory with its bytes, but the lock.
fn bytes(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().unwrap() != ".lock" {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                files.insert(name, fs::read(path).unwrap());
            }
        }
    }
    files
}

/// The rows of a table of a lake.
fn rows(lake: &Lake, table: &str) -> Vec<(Partition, Row)> {
    let place = JoinedRun::NAMES.iter().position(|name| *name == table).unwrap();
    let columns = &JoinedRun::definitions()[place];
    let mut rows = Vec::new();
    lake.read::<ExportError>(table, columns, &mut |partition, row| {
        rows.push((partition.clone(), row));
        Ok(())
    })
    .unwrap();
    rows
}

/// The names of the runs of a lake.
fn runs(lake: &Lake) -> Vec<String> {
    let rows = rows(lake, "runs").into_iter();
    let mut runs: Vec<String> = rows.map(|(_, row)| row[0].text().unwrap().to_owned()).collect();
    runs.dedup();
    runs
}

fn reasons(joined: &Joined) -> Vec<&str> {
    joined.left_out.iter().map(|left| left.reason.as_str()).collect()
}

#[test]
fn the_same_folders_give_the_same_bytes_whatever_the_order() {
    let dir = tempfile::tempdir().unwrap();
    let sources = sources(&dir.path().join("runs"));
    let at_once = Lake::new(&dir.path().join("at-once"));
    let joined = at_once.join(&sources, &of_run).unwrap();
    assert_eq!(joined.added.len(), 6);
    // Two plans (one of them none), two months, ten tables.
    assert_eq!(joined.files.len(), 4 * 10);
    let expected = bytes(&dir.path().join("at-once"));
    assert_eq!(expected.len(), 4 * 10, "and nothing else");

    let in_steps = Lake::new(&dir.path().join("in-steps"));
    for (step, count) in
        [(vec![5, 3], 2), (vec![4], 1), (vec![4, 3, 2], 1), (vec![0, 1, 2, 3, 4, 5], 2)]
    {
        let part: Vec<Source> = step.iter().map(|&n: &usize| sources[n].clone()).collect();
        let joined = in_steps.join(&part, &of_run).unwrap();
        assert_eq!(joined.added.len(), count, "only new ones: {joined:?}");
        assert_eq!(joined.unchanged, step.len() - count);
        assert!(joined.left_out.is_empty() && joined.replaced.is_empty());
    }
    assert_eq!(bytes(&dir.path().join("in-steps")), expected);

    let again = in_steps.join(&sources, &of_run).unwrap();
    assert_eq!((again.unchanged, again.files.len()), (6, 0));
    assert_eq!(bytes(&dir.path().join("in-steps")), expected);
}

#[test]
fn rows_are_those_of_the_single_runs() {
    let dir = tempfile::tempdir().unwrap();
    let sources = sources(&dir.path().join("runs"));
    let lake = Lake::new(&dir.path().join("lake"));
    lake.join(&sources, &of_run).unwrap();
    let mut wanted: [Vec<Row>; 9] = Default::default();
    // In order of partition, then of run: none, October; none, November; ...
    for at in [4, 5, 0, 2, 1, 3] {
        let run = Run::open_minutes(&sources[at].folder).unwrap();
        let manifest = fs::read(sources[at].folder.join("manifest.json")).unwrap();
        let joined = JoinedRun {
            facts: sources[at].facts.clone(),
            manifest_sha256: hex(&sha2::Digest::finalize(sha2::Digest::chain_update(
                <sha2::Sha256 as sha2::Digest>::new(),
                manifest,
            ))),
            journal_bytes: fs::metadata(sources[at].folder.join("journal.log")).unwrap().len(),
        };
        // Conclusions are of the intervals as recorded.
        let found =
            assay_analysis::conclusions::conclude_run(&Run::open(&sources[at].folder).unwrap());
        for (rows, table) in wanted.iter_mut().zip(joined.tables(&run, &found)) {
            rows.extend(table.rows);
        }
    }
    for (name, wanted) in JoinedRun::NAMES.into_iter().zip(wanted) {
        let found: Vec<Row> = rows(&lake, name).into_iter().map(|(_, row)| row).collect();
        // Two intervals are too few for modes.
        assert_eq!(wanted.is_empty(), name == "modes", "{name}");
        assert_eq!(found, wanted, "{name}");
    }
    // Observations are those of the folders, with what is known beside them.
    let mut observed = Vec::new();
    for at in [4, 5, 0, 2, 1, 3] {
        let run = Run::open(&sources[at].folder).unwrap();
        let facts = &sources[at].facts;
        let origin = Origin {
            plan: facts.plan.clone().unwrap_or_default(),
            host: "bench-1".to_owned(),
            ..Origin::default()
        };
        observed.extend(of_run(&run, &origin));
    }
    assert!(observed.len() > 6);
    assert_eq!(lake.observations(None).unwrap(), observed);
    observed.retain(|observation| observation.plan == "qualification");
    assert_eq!(lake.observations(Some("qualification")).unwrap(), observed);
    let partitions = lake.partitions().unwrap();
    let plans: Vec<&str> = partitions.iter().map(|p| p.plan.as_str()).collect();
    assert_eq!(plans, [NO_PLAN, NO_PLAN, "qualification", "qualification"]);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_damaged_folder_is_left_out_and_what_was_joined_of_it_stays() {
    let dir = tempfile::tempdir().unwrap();
    let mut sources = sources(&dir.path().join("runs"));
    let lake = Lake::new(&dir.path().join("lake"));
    lake.join(&sources[..3], &of_run).unwrap();
    let before = rows(&lake, "cells");
    // Of one that is there already, and of one that is not.
    for at in [0, 3] {
        let journal = sources[at].folder.join("journal.log");
        let mut text = fs::read(&journal).unwrap();
        let middle = text.len() / 2;
        text[middle] ^= 0x10;
        text.extend_from_slice(b"torn");
        fs::write(&journal, text).unwrap();
    }
    fs::write(sources[4].folder.join("manifest.json"), "{").unwrap();
    sources.push(source(&dir.path().join("nothing"), None));
    let joined = lake.join(&sources, &of_run).unwrap();
    assert_eq!((joined.added.as_slice(), joined.unchanged), (["run-5".to_owned()].as_slice(), 2));
    let folders: Vec<&Path> = joined.left_out.iter().map(|left| left.folder.as_path()).collect();
    let wanted = [6, 0, 3, 4].map(|at| sources[at].folder.as_path());
    assert_eq!(folders, wanted);
    let reasons = reasons(&joined);
    assert!(reasons[0].contains("is not a run folder"), "{}", reasons[0]);
    assert!(reasons[1].contains("journal.log line"), "{}", reasons[1]);
    assert!(reasons[3].contains("manifest.json is damaged"), "{}", reasons[3]);
    assert_eq!(runs(&lake), ["run-5", "run-0", "run-2", "run-1"]);
    let of = |rows: &[(Partition, Row)]| {
        rows.iter().filter(|(_, row)| row[0].text() == Some("run-0")).count()
    };
    assert_eq!(of(&rows(&lake, "cells")), of(&before));
}

#[test]
fn a_resumed_run_replaces_its_rows() {
    let dir = tempfile::tempdir().unwrap();
    let folder = run(&dir.path().join("runs"), "run-0", "2026-11-01T00:00:00Z", false);
    // As a killed process leaves it.
    let mut journal = OpenOptions::new().append(true).open(folder.join("journal.log")).unwrap();
    journal.write_all(b"0123 torn").unwrap();
    let (lake, source) = (Lake::new(&dir.path().join("lake")), source(&folder, None));
    assert_eq!(lake.join(std::slice::from_ref(&source), &of_run).unwrap().added, ["run-0"]);
    let place = |name: &str| {
        let definitions = JoinedRun::definitions();
        definitions[0].iter().position(|(column, _)| column == name).unwrap()
    };
    let outcome = |lake: &Lake| rows(lake, "runs")[0].1[place("outcome")].clone();
    assert_eq!(outcome(&lake).text(), None);
    let (mut writer, _) = RunWriter::resume(&folder).unwrap();
    let at = "2026-11-01T01:00:00Z".to_owned();
    writer.append(&Entry::Start { at: at.clone(), resumed: 1 }).unwrap();
    writer.finish(RunEnd::Complete, &at).unwrap();
    let joined = lake.join(std::slice::from_ref(&source), &of_run).unwrap();
    assert_eq!((joined.added.len(), joined.replaced.len()), (0, 1));
    assert_eq!(outcome(&lake).text(), Some("complete"));
    assert_eq!(rows(&lake, "runs").len(), 2, "one per drive");
}

#[test]
fn a_run_that_changes_its_plan_changes_its_partition() {
    let dir = tempfile::tempdir().unwrap();
    let folder = run(&dir.path().join("runs"), "run-0", "2026-11-01T00:00:00Z", true);
    let lake = Lake::new(&dir.path().join("lake"));
    lake.join(&[source(&folder, None)], &of_run).unwrap();
    let joined = lake.join(&[source(&folder, Some("plan"))], &of_run).unwrap();
    assert_eq!(joined.replaced, ["run-0"]);
    let partitions = lake.partitions().unwrap();
    assert_eq!(partitions.len(), 1, "{partitions:?}");
    assert_eq!(partitions[0].plan, "plan");
    assert!(!dir.path().join("lake/plan=none").exists());
}

#[test]
fn copies_of_a_run_count_once_and_two_runs_of_one_name_are_not_mixed() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    let first = run(&a, "run-0", "2026-11-01T00:00:00Z", true);
    let copy = b.join("copy");
    fs::create_dir_all(&copy).unwrap();
    for name in ["manifest.json", "journal.log"] {
        fs::copy(first.join(name), copy.join(name)).unwrap();
    }
    let lake = Lake::new(&dir.path().join("lake"));
    let joined = lake.join(&[source(&copy, None), source(&first, None)], &of_run).unwrap();
    assert_eq!((joined.added.len(), joined.left_out.len()), (1, 0));
    let other = run(&dir.path().join("c"), "run-0", "2026-11-02T00:00:00Z", true);
    let joined = lake.join(&[source(&other, None), source(&first, None)], &of_run).unwrap();
    assert_eq!(joined.left_out.len(), 1, "{joined:?}");
    assert!(reasons(&joined)[0].contains("the same name, run-0"));
    assert_eq!(runs(&lake), ["run-0"]);
}
