//! Chunks: work that is divided by index, computed anywhere, and joined in the order of its
//! indices. The result of a unit (a point of a sweep, a start of a fit) follows from
//! its index alone. A task computes a chunk of consecutive units and
//! stores its text as one document of the shared store, which appears complete or not at all. Two
//! tasks that compute the same chunk write the same bytes, so a chunk needs no claim; bytes that
//! differ are an error, because then the hosts do not compute alike. The name of a document has the
//! units, so that chunks of another length are other documents. Its first line is [`FORMAT`], a
//! space and the CRC-32C of the text after that line, in eight hexadecimal digits.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use assay_units::text::hexadecimal;
use sha2::{Digest, Sha256};

use crate::PlanId;
use crate::name::NameError;
use crate::name::PLAN_HASH_DIGITS;
use crate::shared_store::{self, Condition, PutOutcome, SharedStore, SharedStoreError};

/// Begins every document.
pub const FORMAT: &str = "assay-chunk 1";
const FOLDER: &str = "sweeps";

#[derive(Debug, thiserror::Error)]
pub enum ChunkError {
    #[error("there is no chunk {chunk}: {id} has the chunks 0 to {last}")]
    NoSuchChunk {
        /// Whose chunks.
        id: PlanId,
        chunk: u64,
        last: u64,
    },
    #[error(
        "{missing} of {all} chunks have no result yet, the first of them chunk {first}; `assay \
         fleet sweep FILE` computes them"
    )]
    Incomplete {
        /// Chunks without a result.
        missing: u64,
        all: u64,
        first: u64,
    },
    /// Another task stored other bytes for the same chunk.
    #[error(
        "{key} in the shared store differs from the result of this host for the same chunk: the \
         hosts do not compute alike; compare their versions of assay and of the system, and \
         delete the document of the one that is wrong"
    )]
    Differs {
        /// Key of the document.
        key: String,
    },
    #[error(
        "{key} in the shared store is damaged: {why}; delete it, and its chunk is computed again"
    )]
    Damaged {
        /// Key of the document.
        key: String,
        why: &'static str,
    },
    #[error(
        "cannot make the directory {path} of the shared store: {source}; create it on the file \
         system that all hosts mount there"
    )]
    Directory { path: String, source: std::io::Error },
    #[error(transparent)]
    Store(#[from] SharedStoreError),
}

pub struct Chunks {
    store: Box<dyn SharedStore>,
    id: PlanId,
    unit: &'static str,
    units: u64,
    length: u64,
}

impl Chunks {
    /// `length`, in units, is at least 1; `unit` names them in the keys of documents (`points`).
    /// `at` is a directory (made where its parent exists) or `s3://BUCKET/PREFIX`.
    pub fn open(
        at: &str,
        id: PlanId,
        unit: &'static str,
        units: u64,
        length: u64,
    ) -> Result<Chunks, ChunkError> {
        assert!(units > 0 && length > 0, "{id} has no {unit}");
        let store = match at.contains("://") {
            true => shared_store::open(at)?,
            false => {
                let path = directory(Path::new(at))
                    .map_err(|source| ChunkError::Directory { path: at.to_owned(), source })?;
                shared_store::open(&path.display().to_string())?
            }
        };
        Ok(Chunks { store, id, unit, units, length })
    }

    pub fn id(&self) -> &PlanId {
        &self.id
    }

    /// The plural noun.
    pub fn unit(&self) -> &'static str {
        self.unit
    }

    pub fn units(&self) -> u64 {
        self.units
    }

    pub fn count(&self) -> u64 {
        self.units.div_ceil(self.length)
    }

    pub fn range(&self, chunk: u64) -> Result<Range<u64>, ChunkError> {
        let last = self.count() - 1;
        if chunk > last {
            let id = self.id.clone();
            return Err(ChunkError::NoSuchChunk { id, chunk, last });
        }
        let first = chunk * self.length;
        Ok(first..self.units.min(first + self.length))
    }

    fn key(&self, chunk: u64) -> Result<String, ChunkError> {
        let Range { start, end } = self.range(chunk)?;
        let (id, unit) = (&self.id, self.unit);
        Ok(format!("{FOLDER}/{id}/{unit}-{start:09}-{end:09}"))
    }

    pub fn missing(&self) -> Result<Vec<u64>, ChunkError> {
        let prefix = format!("{FOLDER}/{}/{}-", self.id, self.unit);
        let there: BTreeSet<String> = self.store.list(&prefix)?.into_iter().collect();
        let mut missing = Vec::new();
        for chunk in 0..self.count() {
            if !there.contains(&self.key(chunk)?) {
                missing.push(chunk);
            }
        }
        Ok(missing)
    }

    /// Durable when this returns. Errors: [`ChunkError::Differs`] where the chunk has another
    /// result.
    pub fn put(&self, chunk: u64, text: &str) -> Result<(), ChunkError> {
        let key = self.key(chunk)?;
        let sum = crc32c::crc32c(text.as_bytes());
        let document = format!("{FORMAT} {sum:08x}\n{text}");
        if let PutOutcome::Conflict =
            self.store.put(&key, document.as_bytes(), Condition::Absent)?
        {
            let there = self.store.get(&key)?;
            if there.is_some_and(|(bytes, _)| bytes != document.as_bytes()) {
                return Err(ChunkError::Differs { key });
            }
        }
        tracing::info!(key, "chunk stored");
        Ok(())
    }

    /// `None` without a result.
    fn get(&self, chunk: u64) -> Result<Option<String>, ChunkError> {
        let key = self.key(chunk)?;
        let Some((bytes, _)) = self.store.get(&key)? else {
            return Ok(None);
        };
        let damaged = |why| ChunkError::Damaged { key: key.clone(), why };
        let document = String::from_utf8(bytes).map_err(|_| damaged("it is no text"))?;
        let parts = document.split_once('\n').and_then(|(head, text)| {
            let sum = head.strip_prefix(FORMAT)?.trim_start();
            Some((u32::from_str_radix(sum, 16).ok()?, text))
        });
        let (sum, text) = parts.ok_or_else(|| damaged("its first line is none of this format"))?;
        if sum != crc32c::crc32c(text.as_bytes()) {
            return Err(damaged("its checksum is another one"));
        }
        Ok(Some(text.to_owned()))
    }

    /// Joined in the order of the units. Fails with [`ChunkError::Incomplete`] while results are
    /// missing.
    pub fn join(&self) -> Result<String, ChunkError> {
        let mut joined = String::new();
        let mut missing = Vec::new();
        for chunk in 0..self.count() {
            match self.get(chunk)? {
                Some(text) => joined.push_str(&text),
                None => missing.push(chunk),
            }
        }
        match missing.first() {
            None => Ok(joined),
            Some(&first) => Err(ChunkError::Incomplete {
                missing: missing.len() as u64,
                all: self.count(),
                first,
            }),
        }
    }
}

/// Absolute; made where only the last component is missing, so that a file system that is not
/// mounted is noticed.
fn directory(at: &Path) -> std::io::Result<PathBuf> {
    let path = std::path::absolute(at)?;
    match std::fs::create_dir(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(path),
    }
}

/// A name and the hash of what the results depend on.
pub fn id(name: &str, depends_on: &serde_json::Value) -> Result<PlanId, NameError> {
    let hash = hexadecimal(&Sha256::digest(depends_on.to_string().as_bytes()));
    PlanId::parse(&format!("{name}-{}", &hash[..PLAN_HASH_DIGITS]))
}

#[cfg(test)]
#[path = "../tests/unit/chunks.rs"]
mod tests;
