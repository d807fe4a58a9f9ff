//! A process that is ended while it begins a run leaves a journal that holds at most its first
//! line, perhaps a part of the manifest under a temporary name, and no manifest. Nothing was
//! measured then, so the same command may begin anew in that folder.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::journal::{JOURNAL_FILE, JournalWriter, LineContent, parse_line};
use crate::model::Entry;
use crate::run::MANIFEST_FILE;

/// What is in a folder without a manifest that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Remains {
    /// A run with its manifest, no journal, or files that no start of a run leaves.
    Other,
    /// Nothing was measured; with temporary files of the manifest.
    Start(Vec<PathBuf>),
    /// The journal has events: its manifest was removed later.
    Journal,
}

/// Why a folder without a manifest is no run, or none any more.
pub(crate) fn no_manifest(folder: &Path) -> StoreError {
    match remains(folder) {
        Ok(Remains::Start(_)) => StoreError::InterruptedStart(folder.to_owned()),
        Ok(Remains::Journal) => StoreError::NoManifest(folder.to_owned()),
        Ok(Remains::Other) | Err(_) => StoreError::NotARun(folder.to_owned()),
    }
}

/// [`StoreError::InterruptedStart`] in place of another error of the manifest where nothing was
/// measured.
pub(crate) fn or_torn_manifest(folder: &Path, damaged: StoreError) -> StoreError {
    match remains(folder) {
        Ok(Remains::Start(_)) => StoreError::InterruptedStart(folder.to_owned()),
        _ => damaged,
    }
}

/// The emptied journal of an interrupted start, locked. Errors: [`StoreError::NotEmpty`] for a
/// folder that holds anything else, [`StoreError::Busy`] while another process begins the run.
pub(crate) fn take_over(folder: &Path) -> Result<JournalWriter, StoreError> {
    let looked = StoreError::io("look into the folder", folder);
    let not_empty = || Err(StoreError::NotEmpty(folder.to_owned()));
    match remains(folder).map_err(looked)? {
        Remains::Start(_) => {}
        Remains::Journal => return Err(StoreError::NoManifest(folder.to_owned())),
        Remains::Other => return not_empty(),
    }
    let journal = JournalWriter::open(&folder.join(JOURNAL_FILE));
    let mut journal = journal.map_err(|error| match error {
        StoreError::Busy(_) => StoreError::Busy(folder.to_owned()),
        other => other,
    })?;
    // Again under the lock: another process may have begun the run since.
    let Ok(Remains::Start(temporary)) = remains(folder) else {
        return not_empty();
    };
    journal.clear()?;
    for path in temporary {
        fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
    }
    Ok(journal)
}

fn remains(folder: &Path) -> io::Result<Remains> {
    let mut temporary = Vec::new();
    let (mut has_journal, mut has_manifest, mut has_other) = (false, false, false);
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        match entry.file_type()?.is_file() {
            true if name == JOURNAL_FILE => has_journal = true,
            true if name == MANIFEST_FILE => has_manifest = is_whole_json(&entry.path()),
            true if is_temporary_manifest(&name) => temporary.push(entry.path()),
            _ => has_other = true,
        }
    }
    if !has_journal || has_manifest {
        return Ok(Remains::Other);
    }
    Ok(match is_journal_of_start(&folder.join(JOURNAL_FILE)) {
        true if has_other => Remains::Other,
        true => Remains::Start(temporary),
        false => Remains::Journal,
    })
}

/// As [`assay_output::Replacement`] names it.
fn is_temporary_manifest(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let rest = name.strip_prefix('.').and_then(|n| n.strip_prefix(MANIFEST_FILE));
    rest.is_some_and(|rest| rest.starts_with('.') && rest.ends_with(".tmp"))
}

fn is_whole_json(path: &Path) -> bool {
    let text = assay_output::read(path, crate::run::MANIFEST_BYTES);
    text.is_ok_and(|text| serde_json::from_slice::<serde::de::IgnoredAny>(&text).is_ok())
}

/// Empty, or its first line alone, which may be torn.
fn is_journal_of_start(path: &Path) -> bool {
    /// Of that line: a SHA-256 and its frame.
    const MOST_BYTES: u64 = 4 << 10;
    let Ok(journal) = assay_output::read(path, MOST_BYTES) else {
        return false;
    };
    match journal.iter().position(|&byte| byte == b'\n') {
        None => true,
        Some(end) if end + 1 < journal.len() => false,
        Some(end) => matches!(
            parse_line(&journal[..end]),
            LineContent::Entry(entry) if matches!(*entry, Entry::Manifest { .. })
        ),
    }
}
