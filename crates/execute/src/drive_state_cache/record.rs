//! A record of a drive state: its file, read and written.

use std::fs;
use std::io;
use std::path::Path;

use assay_device::host::wall_clock;
use assay_device::identity::WriteTrace;
use serde::{Deserialize, Serialize};

use super::in_progress::CellInProgress;
use super::{PreconditioningRecord, StateValidity, VERSION};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Recorded<T> {
    pub(super) what: T,
    pub(super) when: String,
    pub(super) written_since_bytes: u64,
}

impl<T> Recorded<T> {
    pub(super) fn now(what: T) -> Recorded<T> {
        Recorded { what, when: wall_clock(), written_since_bytes: 0 }
    }

    pub(super) fn valid(&self) -> StateValidity {
        StateValidity::Valid {
            since: self.when.clone(),
            written_since_bytes: self.written_since_bytes,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PurgeRecord {
    pub(super) how: String,
    pub(super) complete: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StateRecord {
    pub(super) serial: String,
    pub(super) model: Option<String>,
    pub(super) capacity_bytes: u64,
    pub(super) trace: WriteTrace,
    pub(super) purge: Option<Recorded<PurgeRecord>>,
    #[serde(rename = "conditionings")]
    pub(super) preconditionings: Vec<Recorded<PreconditioningRecord>>,
    /// Why earlier records were dropped.
    #[serde(rename = "lost")]
    pub(super) invalidated: Option<String>,
    #[serde(default, rename = "under_way", skip_serializing_if = "Option::is_none")]
    pub(super) in_progress: Option<CellInProgress>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Envelope {
    pub(super) version: u32,
    /// CRC-32C of the record's serialisation.
    pub(super) check: u32,
    pub(super) record: StateRecord,
}

pub(super) enum LoadOutcome {
    Absent,
    Damaged,
    Newer,
    Loaded(Box<StateRecord>),
}

pub(super) fn load(path: &Path) -> LoadOutcome {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return LoadOutcome::Absent,
        Err(_) => return LoadOutcome::Damaged,
    };
    #[derive(Deserialize)]
    struct VersionOnly {
        version: u32,
    }
    match serde_json::from_slice::<VersionOnly>(&text) {
        Ok(VersionOnly { version }) if version > VERSION => return LoadOutcome::Newer,
        Ok(_) => {}
        Err(_) => return LoadOutcome::Damaged,
    }
    match parse(&text) {
        Some(record) => LoadOutcome::Loaded(Box::new(record)),
        None => LoadOutcome::Damaged,
    }
}

/// The record in a file of this version, if its checksum holds.
pub(super) fn parse(text: &[u8]) -> Option<StateRecord> {
    let envelope = serde_json::from_slice::<Envelope>(text).ok()?;
    let is_whole = check_of(&envelope.record).is_ok_and(|check| check == envelope.check);
    (envelope.version == VERSION && is_whole).then_some(envelope.record)
}

pub(super) fn check_of(record: &StateRecord) -> serde_json::Result<u32> {
    Ok(crc32c::crc32c(&serde_json::to_vec(record)?))
}

pub(super) fn store(path: &Path, record: StateRecord) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let envelope = Envelope { version: VERSION, check: check_of(&record)?, record };
    let mut text = serde_json::to_vec_pretty(&envelope)?;
    text.push(b'\n');
    assay_output::replace(path, &text)
}
