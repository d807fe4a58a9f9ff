//! One place for plans, claims and shipped run folders, that every host of a fleet reaches. A
//! document is replaced as a whole, on condition of the version that the writer has read (compare
//! and swap), so that two hosts never lose each other's change; clocks and locks of shared file
//! systems play no part. The adapters [`DirectoryStore`] and `ObjectStore` (S3; cargo feature `s3`)
//! block, with a limit on the time of each call. Non-goals: transactions over several keys, listing
//! by content, streaming; the largest document is a piece of a journal of a few MiB.

use std::path::Path;

mod directory;
mod key;
#[cfg(feature = "s3")]
mod object;

pub use directory::DirectoryStore;
pub use key::check_key;
#[cfg(feature = "s3")]
pub use object::ObjectStore;

/// Name of a version, as its store gives it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(String);

impl Version {
    pub fn new(name: String) -> Version {
        Version(name)
    }

    pub fn name(&self) -> &str {
        &self.0
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    Any,
    /// No document has the key.
    Absent,
    /// The document still has this version.
    Is(Version),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutOutcome {
    /// Durable, with this version.
    Stored(Version),
    /// Nothing was changed.
    Conflict,
}

/// The operation may or may not have taken effect.
#[derive(Debug, thiserror::Error)]
pub enum SharedStoreError {
    #[error("shared store {at}: {why}")]
    Location {
        at: String,
        /// With what to write instead.
        why: String,
    },
    #[error("{key:?} is no key of a shared store: {why}")]
    Key {
        key: String,
        /// What is wrong.
        why: &'static str,
    },
    #[error("{0}: a document of the shared store cannot be empty")]
    Empty(String),
    #[error("shared store {at}: cannot {action} {key}: {why}")]
    Io {
        at: String,
        /// What was tried.
        action: &'static str,
        key: String,
        why: String,
    },
    /// Something that no host put there: another try meets it again.
    #[error("shared store {at}: cannot {action} {key}: {why}")]
    Foreign {
        at: String,
        /// What was tried.
        action: &'static str,
        key: String,
        why: String,
    },
    /// The file system or the quota of the store is full.
    #[error(
        "shared store {at}: cannot {action} {key}: {why}; {space}; nothing that was measured is \
         lost: free some space there or raise the quota, then `assay fleet submit` goes on"
    )]
    Full {
        at: String,
        /// What was tried.
        action: &'static str,
        key: String,
        why: String,
        /// How much is free.
        space: String,
    },
}

impl SharedStoreError {
    /// The same for all keys that fail for one reason.
    pub fn cause(&self) -> String {
        match self {
            SharedStoreError::Io { at, why, .. } | SharedStoreError::Full { at, why, .. } => {
                format!("shared store {at}: {why}")
            }
            other => other.to_string(),
        }
    }

    /// Another try can succeed.
    pub fn is_temporary(&self) -> bool {
        matches!(self, SharedStoreError::Io { .. } | SharedStoreError::Full { .. })
    }
}

/// Writes of one key are linearizable.
pub trait SharedStore: Send + Sync {
    /// `None` without a document; never a torn one.
    fn get(&self, key: &str) -> Result<Option<(Vec<u8>, Version)>, SharedStoreError>;

    /// Durable when this returns. After [`SharedStoreError::Io`] the document may have been written
    /// all the same, and a reader must look.
    fn put(
        &self,
        key: &str,
        bytes: &[u8],
        condition: Condition,
    ) -> Result<PutOutcome, SharedStoreError>;

    /// Sorted. A prefix ends at any character.
    fn list(&self, prefix: &str) -> Result<Vec<String>, SharedStoreError>;

    /// No error without a document.
    fn delete(&self, key: &str) -> Result<(), SharedStoreError>;
}

/// `at` is the path of a directory, or `s3://BUCKET/PREFIX` with endpoint and credentials of the
/// `AWS_*` environment variables. Errors: [`SharedStoreError::Location`] for another scheme, a
/// relative path, a directory that does not exist, or an object store in a build without the
/// feature `s3`.
pub fn open(at: &str) -> Result<Box<dyn SharedStore>, SharedStoreError> {
    let wrong = |why: String| SharedStoreError::Location { at: at.to_owned(), why };
    match at.split_once("://") {
        None if !Path::new(at).is_absolute() => Err(wrong(
            "a relative path is another directory on each host; write an absolute one, or \
             s3://BUCKET/PREFIX"
                .to_owned(),
        )),
        None => Ok(Box::new(DirectoryStore::open(Path::new(at))?)),
        #[cfg(feature = "s3")]
        Some(("s3", _)) => Ok(Box::new(ObjectStore::open(at)?)),
        #[cfg(not(feature = "s3"))]
        Some(("s3", _)) => Err(wrong(
            "this build has no object stores; name a shared directory, or build with `cargo build \
             --release -p assay-cli --features s3`"
                .to_owned(),
        )),
        Some((scheme, _)) => Err(wrong(format!(
            "{scheme}:// is no kind of shared store; write an absolute path, or s3://BUCKET/PREFIX"
        ))),
    }
}
