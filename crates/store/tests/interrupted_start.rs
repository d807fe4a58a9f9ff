//! Folders as a process leaves them that is ended while it begins a run.

use std::fs;
use std::path::{Path, PathBuf};

use assay_store::error::StoreError;
use assay_store::journal::JOURNAL_FILE;
use assay_store::model::RunEnd;
use assay_store::run::MANIFEST_FILE;
use assay_store::{Destination, Run, RunWriter};

use crate::fixtures::{self, SMALL};

const TEMPORARY: &str = ".manifest.json.0123456789abcdef.tmp";

/// The journal and the manifest of a run that has just begun.
fn begun() -> (Vec<u8>, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let at = Destination::At(dir.path().join("run"));
    let writer = RunWriter::create(&at, &fixtures::manifest(SMALL)).unwrap();
    let read = |name| fs::read(writer.path.join(name)).unwrap();
    (read(JOURNAL_FILE), read(MANIFEST_FILE))
}

fn folder(dir: &Path, files: &[(&str, &[u8])]) -> PathBuf {
    let path = dir.join("run");
    let _ = fs::remove_dir_all(&path);
    fs::create_dir(&path).unwrap();
    for (name, content) in files {
        fs::write(path.join(name), content).unwrap();
    }
    path
}

fn entries_of(path: &Path) -> Vec<String> {
    let names = fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name());
    let mut names: Vec<String> = names.map(|n| n.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_start_that_was_interrupted_at_any_point_is_begun_again_by_the_same_command() {
    let (journal, text) = begun();
    let dir = tempfile::tempdir().unwrap();
    let manifest = fixtures::manifest(SMALL);
    let half = text.len() / 2;
    let mut cases: Vec<Vec<(&str, &[u8])>> = Vec::new();
    for end in 0..=journal.len() {
        cases.push(vec![(JOURNAL_FILE, &journal[..end])]);
    }
    for part in [&text[..0], &text[..half], &text[..]] {
        cases.push(vec![(JOURNAL_FILE, &journal), (TEMPORARY, part)]);
    }
    // Not by a kill, but by a file system that keeps names before contents.
    for part in [&text[..0], &text[..1], &text[..half]] {
        cases.push(vec![(JOURNAL_FILE, &journal), (MANIFEST_FILE, part)]);
        cases.push(vec![(JOURNAL_FILE, b""), (MANIFEST_FILE, part)]);
    }
    for case in cases {
        let lengths: Vec<_> = case.iter().map(|(name, c)| (*name, c.len())).collect();
        let path = folder(dir.path(), &case);
        for error in [RunWriter::resume(&path).unwrap_err(), Run::open(&path).unwrap_err()] {
            assert!(matches!(error, StoreError::InterruptedStart(_)), "{lengths:?}: {error}");
            assert!(error.to_string().contains(&format!("--out {}", path.display())));
        }
        let writer = RunWriter::create(&Destination::At(path.clone()), &manifest);
        let mut writer = writer.unwrap_or_else(|error| panic!("{lengths:?}: {error}"));
        assert_eq!(entries_of(&path), [JOURNAL_FILE, MANIFEST_FILE], "{lengths:?}");
        for entry in fixtures::entries(&manifest, SMALL) {
            writer.append(&entry).unwrap();
        }
        writer.finish(RunEnd::Complete, "2026-03-14T09:59:00Z").unwrap();
        let run = Run::open(&path).unwrap();
        assert_eq!((run.outcome, run.damaged_lines.len()), (Some(RunEnd::Complete), 0));
    }
}

#[test]
fn a_journal_with_events_and_no_manifest_is_neither_begun_anew_nor_called_a_start() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = fixtures::manifest(SMALL);
    let path = fixtures::make(dir.path(), SMALL);
    let whole = fs::read(path.join(JOURNAL_FILE)).unwrap();
    let second = whole.iter().position(|&b| b == b'\n').unwrap() + 1;
    // Also where no more than a part of the second line is there, or the first line is damaged.
    let mut damaged = whole[..second].to_owned();
    damaged[0] ^= 1;
    for journal in [&whole[..], &whole[..second + 1], &damaged] {
        let path = folder(dir.path(), &[(JOURNAL_FILE, journal)]);
        for error in [
            RunWriter::resume(&path).unwrap_err(),
            Run::open(&path).unwrap_err(),
            RunWriter::create(&Destination::At(path.clone()), &manifest).unwrap_err(),
        ] {
            assert!(matches!(error, StoreError::NoManifest(_)), "{error}");
            assert!(!error.to_string().contains("--resume"), "{error}");
        }
        assert_eq!(fs::read(path.join(JOURNAL_FILE)).unwrap(), journal);
    }
}

#[test]
fn files_that_no_start_leaves_keep_a_folder_from_being_taken() {
    let (journal, text) = begun();
    let dir = tempfile::tempdir().unwrap();
    let manifest = fixtures::manifest(SMALL);
    for other in ["notes", ".manifest.json.tmp.old", MANIFEST_FILE] {
        let path = folder(dir.path(), &[(JOURNAL_FILE, &journal), (other, &text)]);
        let error = RunWriter::create(&Destination::At(path.clone()), &manifest).unwrap_err();
        assert!(matches!(error, StoreError::NotEmpty(_)), "{other}: {error}");
        assert_eq!(fs::read(path.join(JOURNAL_FILE)).unwrap(), journal);
    }
    // A run that was begun, and measured something.
    let path = fixtures::make(dir.path(), SMALL);
    let error = RunWriter::create(&Destination::At(path), &manifest).unwrap_err();
    assert!(matches!(error, StoreError::NotEmpty(_)), "{error}");
    let path = folder(dir.path(), &[]);
    std::os::unix::fs::symlink("/dev/null", path.join(JOURNAL_FILE)).unwrap();
    let error = RunWriter::create(&Destination::At(path), &manifest).unwrap_err();
    assert!(matches!(error, StoreError::NotEmpty(_)), "{error}");
}

#[test]
fn a_start_under_way_is_busy() {
    let (journal, _) = begun();
    let dir = tempfile::tempdir().unwrap();
    let path = folder(dir.path(), &[(JOURNAL_FILE, &journal)]);
    let other = assay_store::journal::JournalWriter::open(&path.join(JOURNAL_FILE)).unwrap();
    let manifest = fixtures::manifest(SMALL);
    let error = RunWriter::create(&Destination::At(path.clone()), &manifest).unwrap_err();
    assert!(matches!(error, StoreError::Busy(_)), "{error}");
    drop(other);
    RunWriter::create(&Destination::At(path), &manifest).unwrap();
}
