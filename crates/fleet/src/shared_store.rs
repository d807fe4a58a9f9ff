//! The shared store: one place for plans, claims and shipped run folders, that every host of a
//! fleet reaches.
//!
//! # Mechanism
//! A store holds documents by key. A document is replaced as a whole, on condition of the version
//! that the writer has read (compare and swap), so that two hosts never lose each other's change.
//! Clocks and locks of shared file systems play no part. Two adapters: [`DirectoryStore`] and
//! `ObjectStore` (S3; cargo feature `s3`). Both block, with a limit on the time of each call;
//! nothing above them is asynchronous.
//!
//! # Non-goals
//! No transactions over several keys, no listing by content, no streaming: the largest document is
//! a piece of a journal of a few MiB.

use std::path::Path;

mod directory;
mod key;
#[cfg(feature = "s3")]
mod object;

pub use directory::DirectoryStore;
pub use key::check_key;
#[cfg(feature = "s3")]
pub use object::ObjectStore;

/// The version of a document, as its store names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(String);

impl Version {
    /// For adapters.
    pub fn new(name: String) -> Version {
        Version(name)
    }

    /// As its store names it.
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// When a document may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Always.
    Any,
    /// If there is none of that key.
    Absent,
    /// If it still has this version.
    Is(Version),
}

/// Outcome of a conditional write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutOutcome {
    /// The document is durable, with this version.
    Stored(Version),
    /// The condition does not hold; nothing was changed.
    Conflict,
}

/// The shared store failed. The operation may or may not have taken effect.
#[derive(Debug, thiserror::Error)]
pub enum SharedStoreError {
    /// The name of the store cannot be used.
    #[error("shared store {at}: {why}")]
    Location {
        /// As named in the plan.
        at: String,
        /// Why, and what to write.
        why: String,
    },
    /// A key that no store takes.
    #[error("{key:?} is no key of a shared store: {why}")]
    Key {
        key: String,
        /// What is wrong.
        why: &'static str,
    },
    /// A document without content.
    #[error("{0}: a document of the shared store cannot be empty")]
    Empty(String),
    /// It cannot be read or written.
    #[error("shared store {at}: cannot {action} {key}: {why}")]
    Io {
        /// The store.
        at: String,
        /// What was tried.
        action: &'static str,
        key: String,
        /// The cause.
        why: String,
    },
}

/// A place for documents that all hosts of a fleet reach. Writes of one key are linearizable.
pub trait SharedStore: Send + Sync {
    /// The document of a key, with its version; `None` without one. Never a torn one.
    ///
    /// # Errors
    /// [`SharedStoreError::Key`], or [`SharedStoreError::Io`] while the store is away.
    fn get(&self, key: &str) -> Result<Option<(Vec<u8>, Version)>, SharedStoreError>;

    /// Write a document durably, if the condition holds.
    ///
    /// # Errors
    /// [`SharedStoreError::Key`], [`SharedStoreError::Empty`], or [`SharedStoreError::Io`]: then
    /// the document may have been written all the same, and a reader must look.
    fn put(
        &self,
        key: &str,
        bytes: &[u8],
        condition: Condition,
    ) -> Result<PutOutcome, SharedStoreError>;

    /// The keys that begin with `prefix`, sorted. A prefix ends at any character.
    ///
    /// # Errors
    /// [`SharedStoreError::Io`].
    fn list(&self, prefix: &str) -> Result<Vec<String>, SharedStoreError>;

    /// Delete a document; no error without one.
    ///
    /// # Errors
    /// As [`SharedStore::get`].
    fn delete(&self, key: &str) -> Result<(), SharedStoreError>;
}

/// The store at `at`: the path of a directory, or `s3://BUCKET/PREFIX` with endpoint and
/// credentials of the `AWS_*` environment variables.
///
/// # Errors
/// [`SharedStoreError::Location`] for another scheme, a relative path, a directory that does not
/// exist, or an object store in a build without the feature `s3`.
pub fn open(at: &str) -> Result<Box<dyn SharedStore>, SharedStoreError> {
    let wrong = |why: String| SharedStoreError::Location {
        at: at.to_owned(),
        why,
    };
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
