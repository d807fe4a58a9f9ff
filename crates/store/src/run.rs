//! Creation, resumption and completion of run folders.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use assay_output::open_to_read;
use assay_output::owner::{chown_to_sudo_user, create_folders};
use assay_stats::Interval;
use assay_units::text::hexadecimal;
use sha2::{Digest, Sha256};

use crate::error::StoreError;
use crate::interrupted_start::{no_manifest, or_torn_manifest, take_over};
use crate::journal::{self, JOURNAL_FILE, JournalReader, JournalWriter, LineContent};
use crate::model::{BorrowedIntervalEntry, Entry, Manifest, RunEnd, SCHEMA};
use crate::read::Run;
use crate::replace::replace_content;

/// The manifest's name in a run folder.
pub const MANIFEST_FILE: &str = "manifest.json";
/// A longer manifest is an error; that of 10,000 cells on 256 drives is below 16 MiB.
pub(crate) const MANIFEST_BYTES: u64 = 64 << 20;
/// The checksum file's name in a finished run folder, in the format of sha256sum(1).
pub const CHECKSUM_FILE: &str = "SHA256SUMS";

/// Where a new run's folder goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Into this folder (made when missing), named by [`Manifest::run_id`].
    Under(PathBuf),
    /// Exactly here; may exist if it is empty, or if an earlier start was interrupted before
    /// anything was measured.
    At(PathBuf),
}

impl Destination {
    /// The folder of a run of this identifier.
    pub fn folder(&self, run_id: &str) -> PathBuf {
        match self {
            Destination::Under(parent) => parent.join(run_id),
            Destination::At(path) => path.clone(),
        }
    }
}

/// Writes a run folder under a lock that ends with the process.
#[derive(Debug)]
pub struct RunWriter {
    /// The run folder.
    pub path: PathBuf,
    /// [`Manifest::run_id`].
    pub run_id: String,
    /// Earlier starts: 0 for a new run.
    pub resumed: u32,
    journal: JournalWriter,
    manifest_sha256: String,
}

impl RunWriter {
    /// Makes the folder and writes the manifest durably. Fails when the folder holds something
    /// already, when the run id is no file name, or the plan contradicts itself.
    pub fn create(destination: &Destination, manifest: &Manifest) -> Result<RunWriter, StoreError> {
        check_plan(manifest).map_err(StoreError::BadPlan)?;
        let text = manifest_text(manifest)?;
        // The journal first: a folder with a manifest always has its journal too.
        let (path, mut journal) = make_folder(destination, &manifest.run_id)?;
        let manifest_sha256 = hexadecimal(&Sha256::digest(text.as_bytes()));
        let begun = journal.append_all(&[Entry::Manifest { sha256: manifest_sha256.clone() }]);
        begun.and_then(|()| journal.sync()).map_err(StoreError::before_the_run)?;
        // Its name too: after a loss of power a later name can be there without an earlier one.
        sync_folder(&path)?;
        replace_content(&path.join(MANIFEST_FILE), text.as_bytes())?;
        if let Some(parent) = path.parent() {
            sync_folder(parent)?;
        }
        Ok(RunWriter {
            path,
            run_id: manifest.run_id.clone(),
            journal,
            manifest_sha256,
            resumed: 0,
        })
    }

    /// Resumes a run that was not completed. A torn last line is cut off. The caller appends
    /// [`Entry::Start`]. The run is that of [`Run::open_segments`]. Errors: [`StoreError::Busy`]
    /// while another process writes it, [`StoreError::AlreadyComplete`], those of [`Run::open`],
    /// and [`StoreError::Manifest`] also when the manifest is not the one the run was begun with.
    pub fn resume(path: &Path) -> Result<(RunWriter, Run), StoreError> {
        // Read first: a wrong folder must not be repaired.
        Manifest::load(path)?;
        let (journal_path, manifest_path) = (path.join(JOURNAL_FILE), path.join(MANIFEST_FILE));
        let journal = JournalWriter::open(&journal_path).map_err(|error| match error {
            StoreError::Busy(_) => StoreError::Busy(path.to_owned()),
            other => other,
        })?;
        let run = Run::open_segments(path)?;
        if run.outcome == Some(RunEnd::Complete) {
            // Killed between the last line and the checksums: write those.
            if !path.join(CHECKSUM_FILE).exists() {
                write_checksums(path, &sha256_of(&journal_path)?, &sha256_of(&manifest_path)?)?;
            }
            return Err(StoreError::AlreadyComplete(path.to_owned()));
        }
        let (mut stated, mut starts, mut is_empty) = (None, 0, true);
        let mut reader = JournalReader::open(&journal_path)?;
        let failed = |error| StoreError::io("read", &journal_path)(error);
        while let Some(line) = reader.next_line().map_err(failed)? {
            is_empty = false;
            if let LineContent::Entry(entry) = line.content {
                match *entry {
                    Entry::Manifest { sha256 } => stated = Some(sha256),
                    Entry::Start { .. } => starts += 1,
                    _ => {}
                }
            }
        }
        let found = sha256_of(&manifest_path)?;
        if stated.is_some_and(|stated| stated != found) {
            return Err(StoreError::Manifest {
                path: manifest_path,
                reason: "it is not the manifest that this run was begun with".to_owned(),
            });
        }
        let mut writer = RunWriter {
            path: path.to_owned(),
            run_id: run.manifest.run_id.clone(),
            journal,
            manifest_sha256: found.clone(),
            resumed: starts,
        };
        if is_empty {
            // Killed before its first line was whole.
            writer.append(&Entry::Manifest { sha256: found })?;
        }
        Ok((writer, run))
    }

    /// [`RunWriter::append_all`] of one event.
    pub fn append(&mut self, entry: &Entry) -> Result<(), StoreError> {
        self.append_all(std::slice::from_ref(entry))
    }

    /// Appends events with one write; they survive the end of this process. A value of
    /// [`crate::model::CellResult::values`] that is not finite (a ratio to zero) is left out: JSON
    /// cannot hold it.
    pub fn append_all(&mut self, entries: &[Entry]) -> Result<(), StoreError> {
        if !entries.iter().any(has_unmeasured_values) {
            return self.journal.append_all(entries);
        }
        let entries: Vec<Entry> = entries.iter().map(without_unmeasured_values).collect();
        self.journal.append_all(&entries)
    }

    /// [`RunWriter::append_all`] of events that were encoded elsewhere.
    pub fn append_encoded(&mut self, entries: &EncodedEntries) -> Result<(), StoreError> {
        self.journal.write(&entries.lines)
    }

    /// [`JournalWriter::sync`], for cell boundaries: a power cut costs at most the cell under way.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.journal.sync()
    }

    /// Ends the run. A complete one gets its `SHA256SUMS`; an interrupted one can be resumed.
    pub fn finish(mut self, outcome: RunEnd, at: &str) -> Result<PathBuf, StoreError> {
        let at = at.to_owned();
        self.journal.append_all(&[Entry::Finish { at, outcome }])?;
        self.journal.sync()?;
        if outcome == RunEnd::Complete {
            write_checksums(&self.path, &self.journal.sha256()?, &self.manifest_sha256)?;
        }
        Ok(self.path)
    }
}

/// Lines of the journal, encoded in another thread, appended by the folder's owner with one write.
#[derive(Clone, Debug, Default)]
pub struct EncodedEntries {
    lines: Vec<u8>,
}

impl EncodedEntries {
    /// Encodes an event of the run in `folder`, as [`RunWriter::append`] does.
    pub fn push(&mut self, entry: &Entry, folder: &Path) -> Result<(), StoreError> {
        let path = folder.join(JOURNAL_FILE);
        if has_unmeasured_values(entry) {
            return journal::encode(&without_unmeasured_values(entry), &path, &mut self.lines);
        }
        journal::encode(entry, &path, &mut self.lines)
    }

    /// Encodes [`Entry::Interval`] without a copy of the interval.
    pub fn interval(
        cell: &str,
        drive: usize,
        interval: &Interval,
        folder: &Path,
    ) -> Result<EncodedEntries, StoreError> {
        let mut lines = Vec::new();
        let entry = BorrowedIntervalEntry::new(cell, drive, interval);
        journal::encode_unread(&entry, &folder.join(JOURNAL_FILE), &mut lines)?;
        Ok(EncodedEntries { lines })
    }

    /// Their length in the journal.
    pub fn bytes(&self) -> usize {
        self.lines.len()
    }
}

fn without_unmeasured_values(entry: &Entry) -> Entry {
    let mut entry = entry.clone();
    if let Entry::CellFinish { results, .. } = &mut entry {
        for result in results {
            result.values.retain(|_, value| value.is_finite());
        }
    }
    entry
}

fn has_unmeasured_values(entry: &Entry) -> bool {
    let Entry::CellFinish { results, .. } = entry else {
        return false;
    };
    let mut values = results.iter().flat_map(|result| result.values.values());
    values.any(|value| !value.is_finite())
}

impl Manifest {
    /// Reads and checks the manifest of a run folder.
    pub fn load(folder: &Path) -> Result<Manifest, StoreError> {
        #[derive(serde::Deserialize)]
        struct Version {
            schema: u64,
        }
        let path = folder.join(MANIFEST_FILE);
        let text =
            assay_output::read(&path, MANIFEST_BYTES).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => no_manifest(folder),
                _ => StoreError::io("read", &path)(error),
            })?;
        let damaged = |reason: String| StoreError::Manifest { path: path.clone(), reason };
        // The version first: a newer layout need not look like this one anywhere else.
        let not_json =
            |error: serde_json::Error| or_torn_manifest(folder, damaged(error.to_string()));
        let version: Version = serde_json::from_slice(&text).map_err(not_json)?;
        if version.schema > u64::from(SCHEMA) {
            return Err(StoreError::NewerSchema { path: folder.to_owned(), found: version.schema });
        }
        let manifest: Manifest = serde_json::from_slice(&text).map_err(not_json)?;
        check_plan(&manifest).map_err(damaged)?;
        Ok(manifest)
    }
}

/// Every lookup relies on the plan's consistency.
fn check_plan(manifest: &Manifest) -> Result<(), String> {
    let mut ids = std::collections::BTreeSet::new();
    let drives = manifest.drives.len();
    for cell in &manifest.cells {
        let id = &cell.id;
        if !ids.insert(id) {
            return Err(format!("the cell {id:?} is planned twice"));
        }
        for (at, &drive) in cell.drives.iter().enumerate() {
            if drive >= drives {
                return Err(format!("the cell {id:?} names drive {drive}, but there are {drives}"));
            }
            if cell.drives[..at].contains(&drive) {
                return Err(format!("the cell {id:?} names drive {drive} twice"));
            }
        }
    }
    Ok(())
}

fn manifest_text(manifest: &Manifest) -> Result<String, StoreError> {
    let bad = |e: serde_json::Error| StoreError::BadPlan(format!("the manifest is not JSON ({e})"));
    let mut text = serde_json::to_string_pretty(manifest).map_err(bad)?;
    // Before the run depends on it.
    if journal::may_have_null(text.as_bytes()) {
        serde_json::from_slice::<Manifest>(text.as_bytes()).map_err(bad)?;
    }
    text.push('\n');
    Ok(text)
}

/// With its journal.
fn make_folder(
    destination: &Destination,
    run_id: &str,
) -> Result<(PathBuf, JournalWriter), StoreError> {
    let create =
        |path: &Path| create_folders(path).map_err(StoreError::io("create the folder", path));
    let with_journal = |path: PathBuf| {
        let journal = JournalWriter::create(&path.join(JOURNAL_FILE))?;
        Ok((path, journal))
    };
    match destination {
        Destination::Under(parent) => {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            if !run_id.starts_with(|c: char| c.is_ascii_alphanumeric())
                || run_id.len() > 200
                || !run_id.chars().all(is_plain)
            {
                return Err(StoreError::BadRunId(run_id.to_owned()));
            }
            create(parent)?;
            let path = destination.folder(run_id);
            match fs::create_dir(&path) {
                Ok(()) => {
                    chown_to_sudo_user(&path);
                    with_journal(path)
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(StoreError::Exists(path)),
                Err(e) => Err(StoreError::io("create the folder", &path)(e)),
            }
        }
        Destination::At(path) => {
            create(path)?;
            let mut entries =
                fs::read_dir(path).map_err(StoreError::io("look into the folder", path))?;
            match entries.next() {
                Some(_) => Ok((path.clone(), take_over(path)?)),
                None => with_journal(path.clone()),
            }
        }
    }
}

/// Makes a folder's entries durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    let is_here = folder.as_os_str().is_empty();
    let folder = if is_here { Path::new(".") } else { folder };
    let synced = File::open(folder).and_then(|f| f.sync_all());
    synced.map_err(StoreError::io("flush the folder", folder))
}

/// Sums are in the order of the file.
fn write_checksums(folder: &Path, journal: &str, manifest: &str) -> Result<(), StoreError> {
    let text = format!("{journal}  {JOURNAL_FILE}\n{manifest}  {MANIFEST_FILE}\n");
    replace_content(&folder.join(CHECKSUM_FILE), text.as_bytes())
}

pub(crate) fn sha256_of(path: &Path) -> Result<String, StoreError> {
    let mut file = open_to_read(path).map_err(StoreError::io("open", path))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer).map_err(StoreError::io("read", path))? {
            0 => return Ok(hexadecimal(&hasher.finalize())),
            read => hasher.update(&buffer[..read]),
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/run.rs"]
mod tests;
