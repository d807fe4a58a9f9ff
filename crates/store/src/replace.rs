//! Files that are replaced whole.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use assay_output::Replacement;

use crate::error::StoreError;

/// [`Replacement`] of a file by these bytes.
pub fn replace_content(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut new = Replacement::begin(path).map_err(StoreError::io("create", path))?;
    let written = new.file.write_all(bytes).and_then(|()| new.commit());
    written.map_err(StoreError::io("write", path))
}

/// Only a regular file that begins with `head` (in any case), an earlier output, may be replaced.
/// This protects drive images and device nodes from a mistyped path.
pub fn check_replaceable(path: &Path, head: &str) -> Result<(), StoreError> {
    let Ok(there) = fs::metadata(path) else {
        return Ok(());
    };
    if !there.is_file() {
        return Err(StoreError::NotAFile(path.to_owned()));
    }
    let mut start = Vec::new();
    let file = File::open(path).map_err(StoreError::io("open", path))?;
    let read = file.take(head.len() as u64).read_to_end(&mut start);
    read.map_err(StoreError::io("read", path))?;
    match there.len() > 0 && !start.eq_ignore_ascii_case(head.as_bytes()) {
        true => Err(StoreError::NotAnOutput(path.to_owned())),
        false => Ok(()),
    }
}

/// Before a long work of which this file is to be written at the end: [`check_replaceable`], and
/// its folder takes a new file.
pub fn check_output(path: &Path, head: &str) -> Result<(), StoreError> {
    check_replaceable(path, head)?;
    // Removed again, as it is not committed.
    let begun = Replacement::begin(path).map(drop);
    begun.map_err(StoreError::io("create", path))
}

/// For a file that is written anew all the time: others read the one before or the new one, whole.
/// Nothing is flushed, so that the storage under test is not made to, and a loss of power can leave
/// the file empty or torn.
pub fn write_unflushed(path: &Path, text: &str) -> Result<(), StoreError> {
    let write = || -> io::Result<()> {
        let mut new = Replacement::begin(path)?;
        new.file.write_all(text.as_bytes())?;
        new.commit_unflushed()
    };
    write().map_err(|source| StoreError::Unwritten { path: path.to_owned(), source })
}
