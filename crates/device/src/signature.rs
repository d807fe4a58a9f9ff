//! Signatures of filesystems, partition tables, RAID, LVM, encryption, swap. [`detect`] is a pure
//! function over the first and last MiB ([`Window::read`]); [`wipefs()`] runs util-linux, which
//! detects more kinds; [`union`] combines both. Type names are those of `wipefs` and `blkid`.
//! Two-byte signatures count only together with other fields, because measured drives hold random
//! data. Non-goals: UUIDs, labels, file contents, backup superblocks beyond the last MiB.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use serde::Serialize;

mod kinds;
mod magic;
mod partitions;
mod probes;
mod wipefs;

pub use kinds::{KINDS, is_kind};
pub use partitions::partitions;
pub use wipefs::wipefs;

/// Read at each end. The farthest primary signature (btrfs, 64 KiB) and all ZFS labels lie inside.
pub const WINDOW_BYTES: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundSignature {
    /// Type as in `wipefs`; the value for `--destroy`.
    pub word: String,
    /// Description with its article: "an ext4 filesystem".
    pub what: String,
    /// Offset from the start of the drive or partition.
    pub offset_bytes: u64,
}

impl FoundSignature {
    fn new(word: &str, what: impl Into<String>, offset_bytes: u64) -> Self {
        Self { word: word.to_owned(), what: what.into(), offset_bytes }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    head: Vec<u8>,
    tail: Vec<u8>,
    size_bytes: u64,
}

impl Window {
    /// Of the region of `size_bytes` at `start_bytes`. Fails also when the file ends within the
    /// region.
    pub fn read(file: &File, start_bytes: u64, size_bytes: u64) -> io::Result<Self> {
        let read = |bytes: &mut [u8], at: u64| file.read_exact_at(bytes, at);
        Self::read_by(&read, start_bytes, size_bytes)
    }

    /// As [`Window::read`]; `read` fills bytes from an offset on.
    pub(crate) fn read_by(
        read: &dyn Fn(&mut [u8], u64) -> io::Result<()>,
        start_bytes: u64,
        size_bytes: u64,
    ) -> io::Result<Self> {
        let length = size_bytes.min(WINDOW_BYTES);
        let part = |offset: u64| -> io::Result<Vec<u8>> {
            let mut bytes = vec![0; length as usize];
            read(&mut bytes, start_bytes.saturating_add(offset))?;
            Ok(bytes)
        };
        Ok(Self { head: part(0)?, tail: part(size_bytes - length)?, size_bytes })
    }

    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// `None` outside the window.
    pub fn get(&self, offset_bytes: u64, length: usize) -> Option<&[u8]> {
        fn part(bytes: &[u8], start: Option<u64>, length: usize) -> Option<&[u8]> {
            let from = usize::try_from(start?).ok()?;
            bytes.get(from..from.checked_add(length)?)
        }
        let tail_start = self.size_bytes - self.tail.len() as u64;
        part(&self.head, Some(offset_bytes), length)
            .or_else(|| part(&self.tail, offset_bytes.checked_sub(tail_start), length))
    }

    fn array<const N: usize>(&self, offset_bytes: u64) -> Option<[u8; N]> {
        self.get(offset_bytes, N)?.try_into().ok()
    }

    fn u16_le(&self, offset_bytes: u64) -> Option<u16> {
        self.array(offset_bytes).map(u16::from_le_bytes)
    }

    fn u64_le(&self, offset_bytes: u64) -> Option<u64> {
        self.array(offset_bytes).map(u64::from_le_bytes)
    }

    fn u32_le(&self, offset_bytes: u64) -> Option<u32> {
        self.array(offset_bytes).map(u32::from_le_bytes)
    }

    fn has(&self, offset_bytes: u64, bytes: &[u8]) -> bool {
        self.get(offset_bytes, bytes.len()) == Some(bytes)
    }
}

/// False for the two bytes of HFS and HFS+ in random data, of which util-linux examines no more:
/// TN1150, HFSPlusVolumeHeader: `version` 4, of HFSX 5; Inside Macintosh: Files, 2-60:
/// `drAlBlkSiz`, a multiple of 512 bytes.
pub fn is_plausible(window: &Window, signature: &FoundSignature) -> bool {
    let at = signature.offset_bytes;
    let number = |offset: u64| window.array(at + offset).map(u16::from_be_bytes);
    match signature.word.as_str() {
        "hfsplus" => matches!(number(2), None | Some(4 | 5)),
        "hfs" => {
            let bytes = window.array(at + 20).map(u32::from_be_bytes);
            bytes.is_none_or(|bytes| bytes > 0 && bytes % 512 == 0)
        }
        _ => true,
    }
}

/// Sorted by offset.
pub fn detect(window: &Window) -> Vec<FoundSignature> {
    let mut found: Vec<FoundSignature> = magic::fixed(window);
    found.extend(probes::all(window));
    found.sort_by_key(|signature| signature.offset_bytes);
    found
}

/// Adds the types that only `other` has.
pub fn union(own: Vec<FoundSignature>, other: Vec<FoundSignature>) -> Vec<FoundSignature> {
    let mut all = own;
    for signature in other {
        let is_it = |known: &FoundSignature| known.word.eq_ignore_ascii_case(&signature.word);
        if !all.iter().any(is_it) {
            all.push(signature);
        }
    }
    all
}

#[cfg(test)]
#[path = "../tests/unit/signature.rs"]
mod tests;
