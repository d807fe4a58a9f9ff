//! Drive state cache: preconditioning and purges of real drives, kept between runs, and checked
//! against writes by other programs.
//!
//! # Mechanism
//! One file per drive, `$XDG_STATE_HOME/assay/drives/SERIAL.json` (else
//! `~/.local/state/assay/drives`; `ASSAY_STATE_DIR` replaces the directory `assay`; without any of
//! them the cache is disabled). Beside each state it holds the drive's write trace at that moment
//! ([`assay_device::identity::WriteTrace`]). An unchanged trace means that nothing was written; a
//! difference larger than assay's own writes means that another program wrote, and invalidates the
//! record. A state that cannot be verified is reported as unknown, never as valid.
//!
//! A file is replaced atomically (temporary file, fsync, rename), with a version and a checksum; a
//! damaged file counts as absent. Writing cells and purges are recorded before they start
//! (`in_progress`): after a kill, only the resumed run claims the writes. Discards by other
//! programs are detected where the kernel counts them; it does not for zram.
//!
//! # Non-goals
//! No simulated drives: their state ends with the process. No history: that is in the run folders.
//!
//! # Key constants
//! [`VERSION`] (1), [`SLACK_BYTES`] (1 MiB).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use assay_device::identity::{DriveInfo, DriveKind, SystemRoot, WriteTrace, write_trace_at};
use assay_workload::access::Region;
use serde::{Deserialize, Serialize};

mod in_progress;
mod record;

use in_progress::CellInProgress;
pub use in_progress::InterruptedWrites;
use record::{LoadOutcome, PurgeRecord, Recorded, StateRecord, load, parse, store};

pub const VERSION: u32 = 1;
/// Tolerance of the kernel's write count over assay's own, beside 0.1 %: failed writes count too.
pub const SLACK_BYTES: u64 = 1 << 20;
/// Preconditioning records kept per drive, newest first to stay.
const MAX_RECORDS: usize = 16;

/// The run continues.
#[derive(Debug, thiserror::Error)]
#[error(
    "{drive}: cannot store the drive state in {path}: {source}; the next run will repeat the \
     preconditioning (ASSAY_STATE_DIR selects another directory)"
)]
pub struct StateCacheError {
    pub drive: String,
    pub path: PathBuf,
    pub source: io::Error,
}

/// Whether a recorded state is still valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateValidity {
    Valid {
        since: String,
        written_since_bytes: u64,
    },
    /// It is not; the reason.
    Stale(String),
    /// It cannot be determined; the reason.
    Unknown(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreconditioningRecord {
    pub name: String,
    pub offset_bytes: u64,
    pub size_bytes: u64,
    /// Block size, as written in the suite.
    pub block_sizes: String,
    pub bytes: u64,
}

impl PreconditioningRecord {
    fn end_bytes(&self) -> u64 {
        self.offset_bytes.saturating_add(self.size_bytes)
    }
}

#[derive(Clone, Debug)]
pub struct DriveStateCache {
    dir: Option<PathBuf>,
    root: SystemRoot,
}

impl DriveStateCache {
    pub fn for_user() -> DriveStateCache {
        let set = |value: &std::ffi::OsString| !value.is_empty();
        let variable = |name: &str| std::env::var_os(name).filter(set).map(PathBuf::from);
        // XDG Base Directory Specification: relative paths are ignored.
        let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
        let of_state = || absolute("XDG_STATE_HOME").map(|dir| dir.join("assay"));
        let of_home = || absolute("HOME").map(|dir| dir.join(".local/state/assay"));
        let own = variable("ASSAY_STATE_DIR").or_else(of_state);
        let dir = own.or_else(of_home).map(|dir| dir.join("drives"));
        DriveStateCache { dir, ..DriveStateCache::disabled() }
    }

    pub fn at(dir: impl Into<PathBuf>) -> DriveStateCache {
        DriveStateCache { dir: Some(dir.into()), ..DriveStateCache::disabled() }
    }

    pub fn disabled() -> DriveStateCache {
        DriveStateCache { dir: None, root: SystemRoot::host() }
    }

    /// A drive's file, to be installed on another host; none without a valid one.
    pub fn export(&self, info: &DriveInfo) -> Option<Vec<u8>> {
        let bytes = fs::read(self.path(info)?).ok()?;
        parse(&bytes).is_some().then_some(bytes)
    }

    /// Whether the state still holds is decided by its trace of writing, as for any other: the
    /// counters of another boot leave it in doubt.
    pub fn install(&self, info: &DriveInfo, bytes: &[u8]) -> Result<bool, StateCacheError> {
        let (Some(path), Some(record)) = (self.path(info), parse(bytes)) else {
            return Ok(false);
        };
        let is_same = (record.serial.as_str(), &record.model, record.capacity_bytes)
            == (info.serial.as_str(), &info.model, info.capacity_bytes);
        if !is_same {
            return Ok(false);
        }
        store(&path, record).map_err(|source| cache_error(info, &path, source))?;
        Ok(true)
    }

    pub fn record_purge(
        &self,
        info: &DriveInfo,
        how: &str,
        complete: bool,
    ) -> Result<(), StateCacheError> {
        self.update(info, u64::MAX, true, |record| {
            record.preconditionings.clear();
            record.invalidated = None;
            let how = how.to_owned();
            record.purge = Some(Recorded::now(PurgeRecord { how, complete }));
        })
    }

    /// Record a preconditioning. It replaces records of overlapping areas.
    pub fn record_preconditioning(
        &self,
        info: &DriveInfo,
        done: PreconditioningRecord,
    ) -> Result<(), StateCacheError> {
        let bytes = done.bytes;
        self.update(info, bytes, true, |record| {
            add_written(record, bytes);
            record.preconditionings.retain(|Recorded { what: other, .. }| {
                other.end_bytes() <= done.offset_bytes || done.end_bytes() <= other.offset_bytes
            });
            record.preconditionings.push(Recorded::now(done));
            let surplus = record.preconditionings.len().saturating_sub(MAX_RECORDS);
            record.preconditionings.drain(..surplus);
        })
    }

    /// No effect without a record of the drive.
    pub fn record_writes(&self, info: &DriveInfo, bytes: u64) -> Result<(), StateCacheError> {
        self.update(info, bytes, false, |record| add_written(record, bytes))
    }

    pub fn lookup(&self, info: &DriveInfo, name: &str, area: Region) -> StateValidity {
        let record = match self.current_state(info) {
            Ok(record) => record,
            Err(why) => return why,
        };
        let mut newest_first = record.preconditionings.iter().rev();
        let Some(done) = newest_first.find(|done| done.what.name == name) else {
            return StateValidity::Stale(match &record.invalidated {
                Some(reason) => format!("it was not preconditioned with {name} since {reason}"),
                None => format!("its last preconditioning was not {name}"),
            });
        };
        let (from, end) = (done.what.offset_bytes, done.what.end_bytes());
        if area.offset_bytes < from || area.offset_bytes.saturating_add(area.size_bytes) > end {
            return StateValidity::Stale(format!(
                "{name} covered bytes {from} to {end} only, on {}",
                done.when
            ));
        }
        done.valid()
    }

    pub fn lookup_purge(&self, info: &DriveInfo) -> StateValidity {
        let record = match self.current_state(info) {
            Ok(record) => record,
            Err(why) => return why,
        };
        let unknown = || StateValidity::Unknown("no purge is recorded".to_owned());
        record.purge.as_ref().map_or_else(unknown, Recorded::valid)
    }

    fn current_state(&self, info: &DriveInfo) -> Result<StateRecord, StateValidity> {
        let unknown = |why: &str| Err(StateValidity::Unknown(why.to_owned()));
        let Some(path) = self.path(info) else {
            return unknown(match info.kind {
                DriveKind::Null | DriveKind::Simulated => {
                    "the state of a simulated drive ends with the process"
                }
                _ => "the drive state cache has no directory: set ASSAY_STATE_DIR or HOME",
            });
        };
        let record = match load(&path) {
            LoadOutcome::Absent => return unknown("nothing is recorded of it"),
            LoadOutcome::Damaged => return unknown("its record is damaged"),
            LoadOutcome::Newer => return unknown("its record was stored by a newer assay"),
            LoadOutcome::Loaded(record) => *record,
        };
        let Ok(now) = write_trace_at(&self.root, info) else {
            return unknown("the kernel does not count writes to it");
        };
        match compare_traces(&record, info, &now, 0) {
            TraceChange::Unchanged => Ok(record),
            TraceChange::Changed(reason) => Err(StateValidity::Stale(match &record.in_progress {
                Some(CellInProgress { run, cell, .. }) => format!(
                    "assay was interrupted while writing to it (cell {cell} of run {run}); only \
                     the resumption of that run can attribute those writes"
                ),
                None => reason,
            })),
            TraceChange::Unknown(reason) => Err(StateValidity::Unknown(reason)),
        }
    }

    /// Update a drive's record after own writes of `own_bytes`; [`u64::MAX`] stands for any amount.
    /// `create`: also without a record.
    fn update(
        &self,
        info: &DriveInfo,
        own_bytes: u64,
        create: bool,
        change: impl FnOnce(&mut StateRecord),
    ) -> Result<(), StateCacheError> {
        let Some(path) = self.path(info) else {
            return Ok(());
        };
        let Ok(trace) = write_trace_at(&self.root, info) else {
            return remove(info, &path);
        };
        let new = StateRecord {
            serial: info.serial.clone(),
            model: info.model.clone(),
            capacity_bytes: info.capacity_bytes,
            trace: trace.clone(),
            purge: None,
            preconditionings: Vec::new(),
            invalidated: None,
            in_progress: None,
        };
        let mut record = match load(&path) {
            LoadOutcome::Loaded(known) => match compare_traces(&known, info, &trace, own_bytes) {
                TraceChange::Unchanged => *known,
                TraceChange::Changed(reason) | TraceChange::Unknown(reason) => {
                    StateRecord { invalidated: Some(reason), ..new }
                }
            },
            // The record of a newer version is not overwritten.
            LoadOutcome::Newer => return Ok(()),
            LoadOutcome::Absent | LoadOutcome::Damaged if create => new,
            LoadOutcome::Absent | LoadOutcome::Damaged => return Ok(()),
        };
        record.trace = trace;
        record.in_progress = None;
        change(&mut record);
        store(&path, record).map_err(|source| cache_error(info, &path, source))
    }

    fn path(&self, info: &DriveInfo) -> Option<PathBuf> {
        let dir = self.dir.as_ref()?;
        let mut name = info.serial.clone();
        match info.kind {
            DriveKind::Null | DriveKind::Simulated => return None,
            // File names are not unique.
            DriveKind::File => {
                let (device, inode) = (info.device?, info.inode?);
                name.push_str(&format!("@{}-{}-{inode}", device.major, device.minor));
            }
            // Partitions and namespaces share the drive's serial.
            DriveKind::Block => {
                let whole = info.partition_of.as_deref().unwrap_or(&info.name);
                let namespace = match (&info.nvme, whole.strip_prefix("nvme")) {
                    // The number in the device name can change at boot.
                    (Some(location), _) => format!("n{}", location.nsid),
                    (None, rest) => rest
                        .unwrap_or_default()
                        .trim_start_matches(|c: char| c.is_ascii_digit())
                        .to_owned(),
                };
                let partition = info.name.strip_prefix(whole).unwrap_or(&info.name);
                for part in [namespace.as_str(), partition] {
                    if !part.is_empty() && part != "n1" {
                        name.push_str(&format!("@{part}"));
                    }
                }
            }
        }
        Some(dir.join(format!("{}.json", file_name(&name))))
    }
}

/// A portable file name: bytes other than letters, digits, `.`, `_`, `-`, `@` as `%XX`.
fn file_name(name: &str) -> String {
    let bytes = name.bytes().enumerate();
    let safe = bytes.map(|(index, byte)| match byte {
        b'.' if index > 0 => ".".to_owned(),
        b'_' | b'-' | b'@' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    safe.collect()
}

fn add_written(record: &mut StateRecord, bytes: u64) {
    let purges = record.purge.iter_mut();
    let since_purge = purges.map(|done| &mut done.written_since_bytes);
    let others = record.preconditionings.iter_mut();
    for written in since_purge.chain(others.map(|done| &mut done.written_since_bytes)) {
        // A counter from a file: an overflow means "far more than allowed".
        *written = written.saturating_add(bytes);
    }
}

enum TraceChange {
    Unchanged,
    Changed(String),
    Unknown(String),
}

fn change_by_others(written_bytes: u64, discarded_bytes: u64, own_bytes: u64) -> TraceChange {
    let allowed = match own_bytes {
        0 | u64::MAX => own_bytes,
        own => own.saturating_add(own / 1000).saturating_add(SLACK_BYTES),
    };
    let others = written_bytes.saturating_sub(allowed);
    if others > 0 {
        return TraceChange::Changed(format!("{others} bytes were written to it by others"));
    }
    if discarded_bytes > 0 && own_bytes != u64::MAX {
        let change = format!("{discarded_bytes} bytes of it were discarded by others");
        return TraceChange::Changed(change);
    }
    TraceChange::Unchanged
}

/// Compare the traces, allowing for assay's own writes of `own_bytes` ([`u64::MAX`]: any amount).
fn compare_traces(
    record: &StateRecord,
    info: &DriveInfo,
    now: &WriteTrace,
    own_bytes: u64,
) -> TraceChange {
    let changed = |reason: &str| TraceChange::Changed(reason.to_owned());
    let same = (record.serial.as_str(), &record.model, record.capacity_bytes)
        == (info.serial.as_str(), &info.model, info.capacity_bytes);
    if !same {
        return changed("another drive with that serial, or another size, is there now");
    }
    if record.trace == *now {
        return TraceChange::Unchanged;
    }
    match (&record.trace, now) {
        (
            WriteTrace::Block {
                boot_id: boot_before,
                diskseq: medium_before,
                written_bytes: before,
                discarded_bytes: discarded_before,
            },
            WriteTrace::Block { boot_id, diskseq, written_bytes: after, discarded_bytes },
        ) => {
            if boot_id != boot_before {
                return TraceChange::Unknown(
                    "the host was rebooted since, which resets the kernel's write counters"
                        .to_owned(),
                );
            }
            if diskseq != medium_before || after < before || discarded_bytes < discarded_before {
                return changed("the device was set up again since");
            }
            let discarded = discarded_bytes - discarded_before;
            change_by_others(after - before, discarded, own_bytes)
        }
        (
            WriteTrace::File {
                device: device_before,
                inode: inode_before,
                len_bytes: len_before,
                ..
            },
            WriteTrace::File { device, inode, len_bytes, .. },
        ) => {
            if (device, inode, len_bytes) != (device_before, inode_before, len_before) {
                return changed("another file is there now");
            }
            if own_bytes == 0 {
                return changed("the file was changed by others");
            }
            TraceChange::Unchanged
        }
        _ => changed("another kind of drive is there now"),
    }
}

/// Delete the record of a drive whose writes cannot be traced.
fn remove(info: &DriveInfo, path: &Path) -> Result<(), StateCacheError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(cache_error(info, path, source))
        }
        _ => Ok(()),
    }
}

fn cache_error(info: &DriveInfo, path: &Path, source: io::Error) -> StateCacheError {
    StateCacheError { drive: info.spec.clone(), path: path.to_owned(), source }
}

#[cfg(test)]
#[path = "../tests/unit/drive_state_cache.rs"]
mod tests;
