//! Run folders into the shared store while they are written, and back onto any host.
//! `runs/PLAN/SERIAL/NN-SUITE/` holds `manifest.json`, `journal/ATTEMPT-OFFSET-LENGTH-CRC` and, of
//! a complete run, `SHA256SUMS`. A piece is part of the journal, whole lines only, and never
//! changes. Its CRC-32C is that of the journal from its beginning to the end of the piece, so
//! pieces fit together only as they were written. [`chain`] finds from the names of the pieces and
//! the claim's [`Base`]s those that make the journal: what an older attempt ships after it was
//! superseded lies beyond the base of the next and is left out.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::claim::Base;
use crate::shared_store::{Condition, PutOutcome, SharedStore, SharedStoreError};
use crate::{PlanId, Serial};
use assay_output::create_new;
use assay_store::journal::JOURNAL_FILE;
use assay_store::run::{CHECKSUM_FILE, MANIFEST_FILE};

mod chain;
mod fetch;

pub use chain::{Chain, Piece, chain};
pub use fetch::fetch;

/// A longer line is one piece.
pub const PIECE_BYTES: usize = 4 << 20;
/// File in a shipped folder.
pub const DRIVE_STATE_FILE: &str = "drive-state.json";

#[derive(Debug, thiserror::Error)]
pub enum ShipError {
    #[error(transparent)]
    Store(#[from] SharedStoreError),
    #[error(
        "cannot {action} {path}: {source}{advice}",
        advice = crate::space::advice(source, path)
    )]
    File { action: &'static str, path: PathBuf, source: io::Error },
    #[error(
        "{path} is not the folder that was shipped to {key}: {why}; the next attempt goes on from \
         what was shipped"
    )]
    Diverged { path: PathBuf, key: String, why: &'static str },
    #[error(
        "{key} in the shared store is {what}; restore it from a backup, or delete the claim and \
         the keys beside it to measure anew"
    )]
    Damaged {
        key: String,
        /// `missing`, or what is wrong.
        what: String,
    },
}

impl ShipError {
    /// A file could not be written for want of space.
    pub fn is_full(&self) -> bool {
        matches!(self, ShipError::File { source, .. } if crate::space::is_full(source))
    }

    pub(crate) fn file(
        action: &'static str,
        path: &Path,
    ) -> impl Fn(io::Error) -> ShipError + use<> {
        let path = path.to_owned();
        move |source| ShipError::File { action, path: path.clone(), source }
    }
}

pub fn prefix(plan: &PlanId, serial: &Serial, folder: &str) -> String {
    format!("runs/{plan}/{}/{folder}", serial.key())
}

#[derive(Debug)]
pub struct Shipper {
    prefix: String,
    folder: PathBuf,
    attempt: u64,
    manifest_sent: bool,
    sent_bytes: u64,
    crc: u32,
    /// A piece whose put had no answer is put again before any other, so that one offset has one
    /// piece.
    pending: Option<(Piece, Vec<u8>)>,
    drive_state: Vec<u8>,
}

impl Shipper {
    /// The local `folder` continues what was shipped up to `base`.
    pub fn new(prefix: String, folder: &Path, base: Base) -> Shipper {
        Shipper {
            prefix,
            folder: folder.to_owned(),
            attempt: base.attempt,
            manifest_sent: false,
            sent_bytes: base.bytes,
            crc: base.crc,
            pending: None,
            drive_state: Vec::new(),
        }
    }

    /// Local and not shipped.
    pub fn waiting_bytes(&self) -> u64 {
        let metadata = fs::metadata(self.folder.join(JOURNAL_FILE));
        metadata.map_or(0, |m| m.len().saturating_sub(self.sent_bytes))
    }

    /// Ships the manifest and whole lines of the journal; nothing without a manifest. Can be
    /// repeated after an error.
    pub fn ship(&mut self, store: &dyn SharedStore) -> Result<(), ShipError> {
        if !self.ship_manifest(store)? {
            return Ok(());
        }
        loop {
            if self.pending.is_none() {
                self.pending = self.next_piece()?;
            }
            let Some((piece, bytes)) = &self.pending else {
                return Ok(());
            };
            let key = piece.key(&self.prefix);
            put_once(store, &key, bytes, &self.folder)?;
            self.sent_bytes = piece.offset + piece.bytes;
            self.crc = piece.crc;
            self.pending = None;
        }
    }

    /// Fails with [`ShipError::Diverged`] when what was shipped is not the complete folder.
    pub fn seal(&mut self, store: &dyn SharedStore) -> Result<(), ShipError> {
        self.ship(store)?;
        let path = self.folder.join(CHECKSUM_FILE);
        let sums = fs::read(&path).map_err(ShipError::file("read", &path))?;
        let journal = self.folder.join(JOURNAL_FILE);
        let len = fs::metadata(&journal).map_err(ShipError::file("examine", &journal))?;
        let (crc, _) = crc_of(&journal, self.sent_bytes)?;
        if crc != self.crc || len.len() != self.sent_bytes {
            return Err(self.diverged("its journal was changed after it was shipped"));
        }
        let key = format!("{}/{CHECKSUM_FILE}", self.prefix);
        put_once(store, &key, &sums, &self.folder)
    }

    /// Nothing if the state is as last shipped.
    pub fn ship_drive_state(
        &mut self,
        store: &dyn SharedStore,
        serial: &Serial,
        state: &[u8],
    ) -> Result<(), ShipError> {
        if state.is_empty() || state == self.drive_state {
            return Ok(());
        }
        let of_run = format!("{}/{DRIVE_STATE_FILE}", self.prefix);
        for key in [of_run, drive_state_key(serial)] {
            store.put(&key, state, Condition::Any)?;
        }
        self.drive_state = state.to_owned();
        Ok(())
    }

    fn diverged(&self, why: &'static str) -> ShipError {
        ShipError::Diverged { path: self.folder.clone(), key: self.prefix.clone(), why }
    }

    fn ship_manifest(&mut self, store: &dyn SharedStore) -> Result<bool, ShipError> {
        if self.manifest_sent {
            return Ok(true);
        }
        let path = self.folder.join(MANIFEST_FILE);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            text => text.map_err(ShipError::file("read", &path))?,
        };
        let key = format!("{}/{MANIFEST_FILE}", self.prefix);
        put_once(store, &key, &text, &self.folder)?;
        self.manifest_sent = true;
        Ok(true)
    }

    fn next_piece(&self) -> Result<Option<(Piece, Vec<u8>)>, ShipError> {
        let path = self.folder.join(JOURNAL_FILE);
        let file = File::open(&path).map_err(ShipError::file("open", &path))?;
        let failed = ShipError::file("read", &path);
        let len = file.metadata().map_err(&failed)?.len();
        if len < self.sent_bytes {
            return Err(self.diverged("its journal is shorter than what was shipped"));
        }
        let mut bytes = Vec::new();
        let mut offset = self.sent_bytes;
        // Up to the last line end within PIECE_BYTES; of a longer line, to its end.
        let end = loop {
            let start = bytes.len();
            let more = usize::try_from(len - offset).map_or(PIECE_BYTES, |n| n.min(PIECE_BYTES));
            if more == 0 {
                return Ok(None);
            }
            bytes.resize(start + more, 0);
            file.read_exact_at(&mut bytes[start..], offset).map_err(&failed)?;
            offset += more as u64;
            if let Some(at) = bytes.iter().rposition(|&byte| byte == b'\n') {
                break at + 1;
            }
        };
        bytes.truncate(end);
        let piece = Piece {
            attempt: self.attempt,
            offset: self.sent_bytes,
            bytes: end as u64,
            crc: crc32c::crc32c_append(self.crc, &bytes),
        };
        Ok(Some((piece, bytes)))
    }
}

pub fn drive_state_key(serial: &Serial) -> String {
    format!("drive-state/{}.json", serial.key())
}

/// The document never changes; no error where it is there already.
fn put_once(
    store: &dyn SharedStore,
    key: &str,
    bytes: &[u8],
    folder: &Path,
) -> Result<(), ShipError> {
    match store.put(key, bytes, Condition::Absent)? {
        PutOutcome::Stored(_) => Ok(()),
        PutOutcome::Conflict => match store.get(key)? {
            Some((there, _)) if there == bytes => Ok(()),
            _ => Err(ShipError::Diverged {
                path: folder.to_owned(),
                key: key.to_owned(),
                why: "another content was shipped before",
            }),
        },
    }
}

/// CRC-32C of the first `bytes` of the file, and how many there were.
pub(crate) fn crc_of(path: &Path, bytes: u64) -> Result<(u32, u64), ShipError> {
    let failed = ShipError::file("read", path);
    let mut file = File::open(path).map_err(ShipError::file("open", path))?.take(bytes);
    let mut buffer = vec![0; 256 << 10];
    let (mut crc, mut read_bytes) = (0, 0);
    loop {
        match file.read(&mut buffer).map_err(&failed)? {
            0 => return Ok((crc, read_bytes)),
            read => {
                crc = crc32c::crc32c_append(crc, &buffer[..read]);
                read_bytes += read as u64;
            }
        }
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<(), ShipError> {
    let written = create_new(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(ShipError::file("write", path))
}
