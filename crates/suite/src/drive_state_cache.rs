//! What is remembered of a drive from run to run: when it was last purged, what it was conditioned with, and whether anybody wrote to it since.
//!
//! # Mechanism
//! One file per drive, `$XDG_STATE_HOME/assay/drives/SERIAL.json` (else `~/.local/state/assay/drives`; `ASSAY_STATE_DIR` replaces the
//! directory `assay` itself; without any of them nothing is remembered). Beside what was done it holds the traces of writing at that moment
//! ([`assay_device::identity::Trace`]): as long as they are the same, nobody wrote; where they differ by more than this program says
//! it wrote itself, somebody else did, and everything remembered is void. What cannot be known is said to be unknown, and never taken
//! for valid.
//!
//! A file is replaced as a whole (written beside, flushed, renamed), so it is the old one or the new one whenever the power fails. It carries
//! a version and a checksum; a damaged one is as none.
//!
//! A cell that writes is noted before it does ([`DriveStateCache::begin`]). When the program is killed in it, the resumed run, and no other, claims
//! what that cell wrote ([`DriveStateCache::claim`]): as many bytes as its journal allows for (of a file: as long as it can have lasted), and no more.
//! A purge is noted before it begins, too ([`DriveStateCache::record_purge_start`]): nothing holds of a drive that was left in the middle of one.
//!
//! Discards by others are seen where the kernel counts them, which it does not for zram.
//!
//! # Non-goals
//! Simulated drives are never remembered: they begin anew with each run. No history: the run folders are that.
//!
//! # Key constants
//! [`VERSION`] (1), [`SLACK_BYTES`] (1 MiB).

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use assay_device::host::wall_clock;
use assay_device::identity::{DriveInfo, DriveKind, NoTrace, SystemRoot, Trace, trace_at};
use assay_workload::access::Region;
use serde::{Deserialize, Serialize};

mod in_progress;

use in_progress::CellInProgress;
pub use in_progress::InterruptedWrites;

/// Version of the file's form.
pub const VERSION: u32 = 1;
/// While this program writes, so much more may be counted than it says it wrote, beside a thousandth: writes that failed count, too.
pub const SLACK_BYTES: u64 = 1 << 20;
/// Conditionings remembered of one drive, the newest.
const MOST_CONDITIONINGS: usize = 16;

/// Why something could not be remembered. The run can go on without.
#[derive(Debug, thiserror::Error)]
#[error(
    "{drive}: cannot remember what was done to it in {path}: {source}; the next run will do it again (ASSAY_STATE_DIR chooses another place)"
)]
pub struct StateCacheError {
    /// The drive as named.
    pub drive: String,
    /// The file.
    pub path: PathBuf,
    /// The system's answer.
    pub source: io::Error,
}

/// Is what was done to a drive still so?
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateValidity {
    /// Yes.
    Valid {
        /// When it was done, UTC.
        since: String,
        /// What this program itself wrote to the drive since then, bytes.
        written_since_bytes: u64,
    },
    /// No, and why.
    Stale(String),
    /// Nobody can know, and why.
    Unknown(String),
}

/// A conditioning, to be remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreconditioningRecord {
    /// What it is called; who asks for it must use the same name for the same procedure.
    pub name: String,
    /// Where it began, bytes.
    pub offset_bytes: u64,
    /// How much of the drive it covered, bytes.
    pub size_bytes: u64,
    /// Block size, as written in the suite.
    pub block_sizes: String,
    /// Bytes written by it.
    pub bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Done<T> {
    what: T,
    when: String,
    written_since_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Purging {
    how: String,
    complete: bool,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    serial: String,
    model: Option<String>,
    capacity_bytes: u64,
    trace: Trace,
    purge: Option<Done<Purging>>,
    conditionings: Vec<Done<PreconditioningRecord>>,
    /// Why there is nothing, if there was something before.
    lost: Option<String>,
    /// A cell that writes, or was cut off while it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    under_way: Option<CellInProgress>,
}

/// A record as it is stored.
#[derive(Serialize, Deserialize)]
struct Envelope {
    version: u32,
    /// CRC-32C of the record as this program writes it, so that a changed digit does not pass.
    check: u32,
    record: Record,
}

/// Only as much of a file as tells its version.
#[derive(Deserialize)]
struct VersionOnly {
    version: u32,
}

/// What was found of a drive.
enum Found {
    Nothing,
    Damaged,
    Newer,
    Record(Box<Record>),
}

/// The memory of all drives.
#[derive(Clone, Debug)]
pub struct DriveStateCache {
    dir: Option<PathBuf>,
    root: SystemRoot,
}

impl DriveStateCache {
    /// The memory of the user that runs this program, by the environment.
    pub fn of_user() -> DriveStateCache {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        // The XDG Base Directory Specification has relative paths ignored.
        let absolute = |name: &str| {
            variable(name)
                .map(PathBuf::from)
                .filter(|p| p.is_absolute())
        };
        let own = variable("ASSAY_STATE_DIR").map(PathBuf::from);
        let of_state = || absolute("XDG_STATE_HOME").map(|dir| dir.join("assay"));
        let of_home = || absolute("HOME").map(|dir| dir.join(".local/state/assay"));
        DriveStateCache {
            dir: own
                .or_else(of_state)
                .or_else(of_home)
                .map(|dir| dir.join("drives")),
            root: SystemRoot::host(),
        }
    }

    /// A memory in this directory, which is made when something is to be remembered.
    pub fn at(dir: impl Into<PathBuf>) -> DriveStateCache {
        DriveStateCache {
            dir: Some(dir.into()),
            root: SystemRoot::host(),
        }
    }

    /// A memory that keeps nothing.
    pub fn none() -> DriveStateCache {
        DriveStateCache {
            dir: None,
            root: SystemRoot::host(),
        }
    }

    /// Is there a place to remember things in?
    pub fn is_on(&self) -> bool {
        self.dir.is_some()
    }

    /// The drive has just been purged, `how` in words; `complete` when nothing can be left.
    ///
    /// # Errors
    /// [`StateCacheError`] when that cannot be stored.
    pub fn record_purge(
        &self,
        info: &DriveInfo,
        how: &str,
        complete: bool,
    ) -> Result<(), StateCacheError> {
        self.change(info, u64::MAX, true, |record| {
            record.conditionings.clear();
            record.lost = None;
            record.purge = Some(Done {
                what: Purging {
                    how: how.to_owned(),
                    complete,
                },
                when: wall_clock(),
                written_since_bytes: 0,
            });
        })
    }

    /// The drive has just been conditioned. Earlier conditionings that lie in the same area are over.
    ///
    /// # Errors
    /// [`StateCacheError`] when that cannot be stored.
    pub fn record_preconditioning(
        &self,
        info: &DriveInfo,
        done: PreconditioningRecord,
    ) -> Result<(), StateCacheError> {
        let bytes = done.bytes;
        self.change(info, bytes, true, |record| {
            add_written(record, bytes);
            let end = done.offset_bytes.saturating_add(done.size_bytes);
            record.conditionings.retain(|other| {
                let other = &other.what;
                let other_end = other.offset_bytes.saturating_add(other.size_bytes);
                other_end <= done.offset_bytes || end <= other.offset_bytes
            });
            record.conditionings.push(Done {
                what: done,
                when: wall_clock(),
                written_since_bytes: 0,
            });
            let surplus = record
                .conditionings
                .len()
                .saturating_sub(MOST_CONDITIONINGS);
            record.conditionings.drain(..surplus);
        })
    }

    /// This program has just written so many bytes to the drive beside that (0 to look whether others did). Nothing happens where nothing is
    /// remembered of it.
    ///
    /// # Errors
    /// [`StateCacheError`] when that cannot be stored.
    pub fn record_writes(&self, info: &DriveInfo, bytes: u64) -> Result<(), StateCacheError> {
        self.change(info, bytes, false, |record| add_written(record, bytes))
    }

    /// Is a conditioning of that name still in force over that area?
    pub fn ask(&self, info: &DriveInfo, name: &str, area: Region) -> StateValidity {
        let record = match self.in_force(info) {
            Ok(record) => record,
            Err(why) => return why,
        };
        let named = record
            .conditionings
            .iter()
            .rev()
            .find(|c| c.what.name == name);
        let Some(done) = named else {
            return StateValidity::Stale(match &record.lost {
                Some(reason) => format!("it was not conditioned with {name} since {reason}"),
                None => format!("it was not conditioned with {name} last"),
            });
        };
        let from = done.what.offset_bytes;
        let end = from.saturating_add(done.what.size_bytes);
        if area.offset_bytes < from || area.offset_bytes.saturating_add(area.size_bytes) > end {
            return StateValidity::Stale(format!(
                "{name} covered bytes {from} to {end} only, on {}",
                done.when
            ));
        }
        StateValidity::Valid {
            since: done.when.clone(),
            written_since_bytes: done.written_since_bytes,
        }
    }

    /// When was the drive last purged, and is nothing but this program's own writing since?
    pub fn lookup_purge(&self, info: &DriveInfo) -> StateValidity {
        let record = match self.in_force(info) {
            Ok(record) => record,
            Err(why) => return why,
        };
        match &record.purge {
            Some(done) => StateValidity::Valid {
                since: done.when.clone(),
                written_since_bytes: done.written_since_bytes,
            },
            None => StateValidity::Unknown("no purge of it is remembered".to_owned()),
        }
    }

    /// What is remembered of a drive to which nobody else has written since.
    fn in_force(&self, info: &DriveInfo) -> Result<Record, StateValidity> {
        let unknown = |why: &str| Err(StateValidity::Unknown(why.to_owned()));
        let Some(path) = self.path(info) else {
            return unknown(match info.kind {
                DriveKind::Null | DriveKind::Simulated => "simulated drives begin anew each time",
                _ => "there is no place to remember it in: set ASSAY_STATE_DIR or HOME",
            });
        };
        let record = match load(&path) {
            Found::Nothing => return unknown("nothing is remembered of it"),
            Found::Damaged => return unknown("what was remembered of it is damaged"),
            Found::Newer => return unknown("what is remembered of it was stored by a newer assay"),
            Found::Record(record) => *record,
        };
        let now = match trace_at(&self.root, info) {
            Ok(now) => now,
            Err(NoTrace::NotCounted | NoTrace::NothingLasts) => {
                return unknown("the kernel does not count what is written to it");
            }
        };
        match difference(&record, info, &now, 0) {
            Difference::None => Ok(record),
            Difference::Written(reason) => Err(StateValidity::Stale(match &record.under_way {
                Some(CellInProgress { run, cell, .. }) => format!(
                    "assay was cut off while it wrote to it (cell {cell} of run {run}), and how much it wrote is known only when that run is resumed"
                ),
                None => reason,
            })),
            Difference::Unknown(reason) => Err(StateValidity::Unknown(reason)),
        }
    }

    /// Change what is remembered of a drive, given that this program wrote `own_bytes` since the last time. `create` makes a record where there
    /// is none.
    fn change(
        &self,
        info: &DriveInfo,
        own_bytes: u64,
        create: bool,
        change: impl FnOnce(&mut Record),
    ) -> Result<(), StateCacheError> {
        let Some(path) = self.path(info) else {
            return Ok(());
        };
        let Ok(trace) = trace_at(&self.root, info) else {
            return forget(info, &path);
        };
        let new = Record {
            serial: info.serial.clone(),
            model: info.model.clone(),
            capacity_bytes: info.capacity_bytes,
            trace: trace.clone(),
            purge: None,
            conditionings: Vec::new(),
            lost: None,
            under_way: None,
        };
        let mut record = match load(&path) {
            Found::Record(known) => match difference(&known, info, &trace, own_bytes) {
                Difference::None => *known,
                Difference::Written(reason) | Difference::Unknown(reason) => Record {
                    lost: Some(reason),
                    ..new
                },
            },
            // Nobody overwrites what a newer version knows.
            Found::Newer => return Ok(()),
            Found::Nothing | Found::Damaged if create => new,
            Found::Nothing | Found::Damaged => return Ok(()),
        };
        record.trace = trace;
        record.under_way = None;
        change(&mut record);
        store(&path, record).map_err(|source| StateCacheError {
            drive: info.spec.clone(),
            path,
            source,
        })
    }

    /// The file of a drive that can be remembered.
    fn path(&self, info: &DriveInfo) -> Option<PathBuf> {
        let dir = self.dir.as_ref()?;
        let mut name = info.serial.clone();
        match info.kind {
            DriveKind::Null | DriveKind::Simulated => return None,
            // Files of one name are many.
            DriveKind::File => {
                let (device, inode) = (info.device?, info.inode?);
                name.push_str(&format!("@{}-{}-{inode}", device.major, device.minor));
            }
            // Partitions and namespaces have their drive's serial.
            DriveKind::Block => {
                let whole = info.partition_of.as_deref().unwrap_or(&info.name);
                let namespace = match &info.nvme {
                    // The number in the name may be another one after the next boot.
                    Some(place) => format!("n{}", place.nsid),
                    None => whole
                        .strip_prefix("nvme")
                        .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()))
                        .unwrap_or_default()
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

/// A name that is one file's in any directory: other bytes than letters, digits, `.`, `_`, `-`, `@` as `%XX`.
fn file_name(name: &str) -> String {
    let mut safe = String::with_capacity(name.len());
    for (index, byte) in name.bytes().enumerate() {
        let plain = byte.is_ascii_alphanumeric() || b"_-@".contains(&byte);
        if plain || (byte == b'.' && index > 0) {
            safe.push(char::from(byte));
        } else {
            safe.push_str(&format!("%{byte:02X}"));
        }
    }
    safe
}

fn add_written(record: &mut Record, bytes: u64) {
    let since_purge = record
        .purge
        .iter_mut()
        .map(|done| &mut done.written_since_bytes);
    let since_others = record
        .conditionings
        .iter_mut()
        .map(|done| &mut done.written_since_bytes);
    for written in since_purge.chain(since_others) {
        *written = written.saturating_add(bytes);
    }
}

/// What happened to a drive between a record and now.
enum Difference {
    None,
    Written(String),
    Unknown(String),
}

/// Compare the traces, given that this program wrote `own_bytes` between them (all of what there is, when it is [`u64::MAX`]).
fn difference(record: &Record, info: &DriveInfo, now: &Trace, own_bytes: u64) -> Difference {
    let written = |reason: String| Difference::Written(reason);
    let same = (record.serial.as_str(), &record.model, record.capacity_bytes)
        == (info.serial.as_str(), &info.model, info.capacity_bytes);
    if !same {
        return written("another drive of that serial, or another size, is there now".to_owned());
    }
    if record.trace == *now {
        return Difference::None;
    }
    match (&record.trace, now) {
        (
            Trace::Block {
                boot_id: boot_before,
                diskseq: medium_before,
                written_bytes: before,
                discarded_bytes: discarded_before,
            },
            Trace::Block {
                boot_id,
                diskseq,
                written_bytes: after,
                discarded_bytes,
            },
        ) => {
            if boot_id != boot_before {
                return Difference::Unknown(
                    "the machine was started anew since, and what was written before that cannot be seen".to_owned(),
                );
            }
            if diskseq != medium_before || after < before || discarded_bytes < discarded_before {
                return written("the device was set up anew since".to_owned());
            }
            let allowed = match own_bytes {
                0 | u64::MAX => own_bytes,
                own => own.saturating_add(own / 1000).saturating_add(SLACK_BYTES),
            };
            let others = (after - before).saturating_sub(allowed);
            if others > 0 {
                return written(format!("{others} bytes were written to it by others"));
            }
            let discarded = discarded_bytes - discarded_before;
            if discarded > 0 && own_bytes != u64::MAX {
                return written(format!("{discarded} bytes of it were discarded by others"));
            }
            Difference::None
        }
        (
            Trace::File {
                device: device_before,
                inode: inode_before,
                len_bytes: len_before,
                ..
            },
            Trace::File {
                device,
                inode,
                len_bytes,
                ..
            },
        ) => {
            if (device, inode, len_bytes) != (device_before, inode_before, len_before) {
                return written("another file is there now".to_owned());
            }
            if own_bytes == 0 {
                return written("the file was changed by others".to_owned());
            }
            Difference::None
        }
        _ => written("another kind of drive is there now".to_owned()),
    }
}

fn load(path: &Path) -> Found {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Found::Nothing,
        Err(_) => return Found::Damaged,
    };
    match serde_json::from_slice::<VersionOnly>(&text) {
        Ok(VersionOnly { version }) if version > VERSION => return Found::Newer,
        Ok(_) => {}
        Err(_) => return Found::Damaged,
    }
    let Ok(envelope) = serde_json::from_slice::<Envelope>(&text) else {
        return Found::Damaged;
    };
    match check_of(&envelope.record) {
        Ok(check) if check == envelope.check => Found::Record(Box::new(envelope.record)),
        _ => Found::Damaged,
    }
}

fn check_of(record: &Record) -> serde_json::Result<u32> {
    Ok(crc32c::crc32c(&serde_json::to_vec(record)?))
}

/// Replace a file as a whole.
fn store(path: &Path, record: Record) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let envelope = Envelope {
        version: VERSION,
        check: check_of(&record)?,
        record,
    };
    let mut text = serde_json::to_vec_pretty(&envelope)?;
    text.push(b'\n');
    let beside = path.with_extension(format!("json.{}", std::process::id()));
    let written = File::create(&beside)
        .and_then(|mut file| file.write_all(&text).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&beside, path))
        .and_then(|()| File::open(dir)?.sync_all());
    if written.is_err() {
        // Whatever there is of it is of no use; the old file stands.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Nothing can be known of this drive any more.
fn forget(info: &DriveInfo, path: &Path) -> Result<(), StateCacheError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(StateCacheError {
            drive: info.spec.clone(),
            path: path.to_owned(),
            source,
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "../tests/unit/drive_state_cache.rs"]
mod tests;
