//! The shared store in a directory of a shared (or local) file system. The first version of a
//! document is the file of its key, the second `KEY~2`, and so on. A version is written to a
//! temporary file, flushed, and given its name by link(2), which fails where the name exists: so
//! one of several writers succeeds, on any file system that has hard links, without locks. Names
//! are never removed, so the highest version, the document, is found by bisection, and a writer
//! that was stopped for any time still fails. A superseded version is replaced by an empty file
//! (rename(2)); an empty highest version is a deleted document. A writer killed at any point leaves
//! the document whole, and at most a file in `.tmp`, which may be emptied while nothing runs. NFS:
//! the answer to a link(2) can be lost and the call repeated by the client, which then reads
//! "exists"; so the link count of the temporary file decides (open(2), O_EXCL). A read may be as
//! old as the client's attribute cache; a write never succeeds on that.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use assay_output::random_name;

use crate::space;

use super::{Condition, PutOutcome, SharedStore, SharedStoreError, Version, check_key};

/// Folder of temporary files in the store's directory.
const TEMPORARY: &str = ".tmp";
/// It separates a key from the number of its version.
const MARK: char = '~';

/// The tests have another implementation, which stops a writer between any two calls.
pub trait Files: Send + Sync {
    /// open, write, fsync.
    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn unlink(&self, path: &Path) -> io::Result<()>;
    /// mkdir(2).
    fn make_folder(&self, path: &Path) -> io::Result<()>;
    /// fsync(2) of the folder.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
}

#[derive(Clone, Copy, Debug)]
pub struct SystemFiles;

impl Files for SystemFiles {
    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = File::create_new(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
}

#[derive(Clone, Debug)]
pub struct DirectoryStore<F = SystemFiles> {
    root: PathBuf,
    files: F,
}

impl DirectoryStore {
    /// [`SharedStoreError::Location`]: a file system that is not mounted must not be taken for an
    /// empty store.
    pub fn open(root: &Path) -> Result<DirectoryStore, SharedStoreError> {
        DirectoryStore::with(root, SystemFiles)
    }
}

impl<F: Files> DirectoryStore<F> {
    pub(crate) fn with(root: &Path, files: F) -> Result<Self, SharedStoreError> {
        if !root.is_dir() {
            return Err(SharedStoreError::Location {
                at: root.display().to_string(),
                why: "there is no such directory; create it once, on the file system that all \
                      hosts mount there"
                    .to_owned(),
            });
        }
        let root = root.to_owned();
        Ok(DirectoryStore { root, files })
    }

    fn error<'a>(
        &'a self,
        action: &'static str,
        key: &'a str,
    ) -> impl Fn(io::Error) -> SharedStoreError + 'a {
        move |error| {
            let at = self.root.display().to_string();
            let (key, why) = (key.to_owned(), error.to_string());
            if error.get_ref().is_some_and(|cause| cause.is::<Foreign>()) {
                return SharedStoreError::Foreign { at, action, key, why };
            }
            match space::is_full(&error) {
                true => {
                    SharedStoreError::Full { at, action, key, why, space: space::at(&self.root) }
                }
                false => SharedStoreError::Io { at, action, key, why },
            }
        }
    }

    /// Versions count from 1.
    fn path(&self, key: &str, version: u64) -> PathBuf {
        self.root.join(match version {
            1 => key.to_owned(),
            _ => format!("{key}{MARK}{version}"),
        })
    }

    fn exists(&self, key: &str, version: u64) -> io::Result<bool> {
        match fs::symlink_metadata(self.path(key, version)) {
            Ok(metadata) if metadata.is_file() => Ok(true),
            // Its name is taken for ever, so that a writer would try the next one for ever.
            Ok(_) => Err(Foreign::error("file", self.path(key, version))),
            Err(error) if is_absence(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// 0 without any. All versions up to the highest exist, so that doubling and bisection find it.
    fn highest(&self, key: &str) -> io::Result<u64> {
        let mut above = 1;
        while self.exists(key, above)? {
            above *= 2;
        }
        let (mut there, mut absent) = (above / 2, above);
        while absent - there > 1 {
            let middle = there + (absent - there) / 2;
            match self.exists(key, middle)? {
                true => there = middle,
                false => absent = middle,
            }
        }
        Ok(there)
    }

    /// The content is empty when deleted.
    fn read(&self, key: &str) -> io::Result<(u64, Vec<u8>)> {
        let mut version = self.highest(key)?;
        if version == 0 {
            return Ok((0, Vec::new()));
        }
        loop {
            let content = fs::read(self.path(key, version))?;
            // Empty: deleted, or superseded since.
            let next = match content.is_empty() {
                true => self.highest(key)?,
                false => version,
            };
            if next == version {
                return Ok((version, content));
            }
            version = next;
        }
    }

    /// Unique among hosts (random) and never reused.
    fn temporary(&self) -> io::Result<PathBuf> {
        let folder = self.root.join(TEMPORARY);
        self.ensure_folder(&folder)?;
        Ok(folder.join(random_name::<16>()?))
    }

    /// Makes the folder and those above it, durably. A link below the root is not followed: others
    /// can write there, and it may lead anywhere.
    fn ensure_folder(&self, folder: &Path) -> io::Result<()> {
        match fs::symlink_metadata(folder) {
            _ if folder == self.root && folder.is_dir() => return Ok(()),
            Ok(there) if !there.is_dir() => return Err(Foreign::error("folder", folder.into())),
            Ok(_) => {
                return folder.parent().map_or(Ok(()), |above| self.ensure_folder(above));
            }
            Err(_) => {}
        }
        let Some(parent) = folder.parent().filter(|p| p.starts_with(&self.root)) else {
            return Err(io::Error::new(ErrorKind::NotFound, "the directory of the store is gone"));
        };
        self.ensure_folder(parent)?;
        match self.files.make_folder(folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => made?,
        }
        self.files.sync_folder(parent)
    }

    /// Returns whether this writer made the version.
    fn create_version(&self, key: &str, version: u64, bytes: &[u8]) -> io::Result<bool> {
        let path = self.path(key, version);
        let folder = path.parent().unwrap_or(&self.root);
        self.ensure_folder(folder)?;
        let temporary = self.temporary()?;
        let created = self.files.create(&temporary, bytes);
        let linked = created.and_then(|()| self.link(&temporary, &path));
        // The result stands; a leftover does no harm, but takes space where there may be none.
        let flushed = match linked {
            Ok(true) => self.files.sync_folder(folder),
            _ => Ok(()),
        };
        let _ = self.files.unlink(&temporary);
        let linked = linked?;
        flushed?;
        if linked && version > 1 {
            let _ = self.empty(key, version - 1);
        }
        Ok(linked)
    }

    /// False where another writer has made the file.
    fn link(&self, temporary: &Path, path: &Path) -> io::Result<bool> {
        match self.files.link(temporary, path) {
            Ok(()) => Ok(true),
            // The link may be this writer's own, made by a call whose answer was lost.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let (own, there) = (fs::metadata(temporary)?, fs::symlink_metadata(path)?);
                Ok(own.nlink() == 2 && (own.dev(), own.ino()) == (there.dev(), there.ino()))
            }
            Err(error) => Err(error),
        }
    }

    /// The name of the superseded version stays.
    fn empty(&self, key: &str, version: u64) -> io::Result<()> {
        let temporary = self.temporary()?;
        let created = self.files.create(&temporary, b"");
        let renamed =
            created.and_then(|()| self.files.rename(&temporary, &self.path(key, version)));
        if renamed.is_err() {
            let _ = self.files.unlink(&temporary);
        }
        renamed
    }

    fn put_if(&self, key: &str, bytes: &[u8], condition: &Condition) -> io::Result<PutOutcome> {
        loop {
            let (highest, content) = match condition {
                // A condition on a version needs no content; a deleted document has another
                // version.
                Condition::Is(version) => {
                    let known = version.name().parse().ok().filter(|n| *n > 0);
                    (known.unwrap_or(u64::MAX - 1), Vec::new())
                }
                _ => self.read(key)?,
            };
            match condition {
                Condition::Is(_) if !self.exists(key, highest)? => return Ok(PutOutcome::Conflict),
                Condition::Absent if !content.is_empty() => return Ok(PutOutcome::Conflict),
                _ => {}
            }
            let next = highest + 1;
            if self.create_version(key, next, bytes)? {
                return Ok(PutOutcome::Stored(Version::new(next.to_string())));
            }
            if matches!(condition, Condition::Is(_)) {
                return Ok(PutOutcome::Conflict);
            }
        }
    }

    fn keys_under(&self, folder: &Path, prefix: &str, keys: &mut Vec<String>) -> io::Result<()> {
        let entries = match fs::read_dir(folder) {
            Err(error) if is_absence(&error) => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let path = entry.path();
            let Some(name) = path.strip_prefix(&self.root).ok().and_then(Path::to_str) else {
                continue;
            };
            let is_hidden =
                path.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b"."));
            let matches = name.starts_with(prefix) || prefix.starts_with(name);
            if is_hidden || !matches {
                continue;
            }
            // Of a link, false: it is no file of this store either.
            if entry.file_type()?.is_dir() {
                self.keys_under(&path, prefix, keys)?;
            } else if !name.contains(MARK) && name.starts_with(prefix) {
                let (_, content_bytes) = self.size(name)?;
                if content_bytes > 0 {
                    keys.push(name.to_owned());
                }
            }
        }
        Ok(())
    }

    /// Length in bytes.
    fn size(&self, key: &str) -> io::Result<(u64, u64)> {
        let mut version = self.highest(key)?;
        loop {
            let bytes = fs::metadata(self.path(key, version))?.len();
            let next = match bytes {
                0 => self.highest(key)?,
                _ => version,
            };
            if next == version {
                return Ok((version, bytes));
            }
            version = next;
        }
    }
}

/// What stands where a file or folder of the store belongs.
#[derive(Debug, thiserror::Error)]
#[error("{} is no {wanted} of this store but {found}: remove it", path.display())]
struct Foreign {
    path: PathBuf,
    wanted: &'static str,
    found: &'static str,
}

impl Foreign {
    fn error(wanted: &'static str, path: PathBuf) -> io::Error {
        let found = match wanted {
            "file" => "a folder, link or special file",
            _ => "a file, link or special file",
        };
        io::Error::other(Foreign { path, wanted, found })
    }
}

/// Nothing of that name, or a file where a folder would be.
fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

impl<F: Files> SharedStore for DirectoryStore<F> {
    fn get(&self, key: &str) -> Result<Option<(Vec<u8>, Version)>, SharedStoreError> {
        check_key(key)?;
        let (version, content) = self.read(key).map_err(self.error("read", key))?;
        if version == 0 && !self.root.is_dir() {
            let gone = io::Error::new(ErrorKind::NotFound, "the directory of the store is gone");
            return Err(self.error("read", key)(gone));
        }
        Ok((!content.is_empty()).then(|| (content, Version::new(version.to_string()))))
    }

    fn put(
        &self,
        key: &str,
        bytes: &[u8],
        condition: Condition,
    ) -> Result<PutOutcome, SharedStoreError> {
        check_key(key)?;
        if bytes.is_empty() {
            return Err(SharedStoreError::Empty(key.to_owned()));
        }
        self.put_if(key, bytes, &condition).map_err(self.error("write", key))
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>, SharedStoreError> {
        let failed = self.error("list", prefix);
        if !self.root.is_dir() {
            let gone = io::Error::new(ErrorKind::NotFound, "the directory of the store is gone");
            return Err(failed(gone));
        }
        let folder = match prefix.rsplit_once('/') {
            Some((folder, _)) => self.root.join(folder),
            None => self.root.clone(),
        };
        let mut keys = Vec::new();
        self.keys_under(&folder, prefix, &mut keys).map_err(failed)?;
        keys.sort();
        Ok(keys)
    }

    fn delete(&self, key: &str) -> Result<(), SharedStoreError> {
        check_key(key)?;
        let delete = || -> io::Result<()> {
            loop {
                let (version, content) = self.read(key)?;
                if content.is_empty() || self.create_version(key, version + 1, b"")? {
                    return Ok(());
                }
            }
        };
        delete().map_err(self.error("delete", key))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/shared_store_directory.rs"]
mod tests;
