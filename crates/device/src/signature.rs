//! What filesystems, partition tables, RAID, LVM, encryption and swap look like on a drive: the marks that tell that its bytes
//! are somebody's.
//!
//! # Architecture
//! [`Window::read`] takes the first and last MiB; [`detect`] is a pure function over them; [`wipefs()`] asks util-linux, which
//! knows more kinds, where it is installed; [`union`] puts both together. Words are those of `wipefs` and `blkid`, so that
//! people and scripts know them.
//!
//! Most marks are a fixed string at a fixed place and stand in `magic.rs`; those that need arithmetic (the ext family, FAT, MBR,
//! GPT, md, ZFS, swap, LUKS2's second header) are functions in `probes.rs`. Marks of only two bytes are believed only together
//! with other fields, because this lab fills drives with random bytes and must not find filesystems in them.
//!
//! # Non-goals
//! No UUIDs or labels, no reading of file contents, no backup superblocks beyond the last MiB.
//!
//! # Key constants
//! [`WINDOW_BYTES`].

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use serde::Serialize;

mod magic;
mod probes;
mod wipefs;

pub use wipefs::wipefs;

/// How much is read at each end, bytes. The farthest primary mark (btrfs, 64 KiB) and all ZFS labels lie inside.
pub const WINDOW_BYTES: u64 = 1 << 20;

/// A mark found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundSignature {
    /// Its type, as `wipefs` calls it; the word for `--destroy`.
    pub word: String,
    /// The same in words, with its article: "an ext4 filesystem".
    pub what: String,
    /// Where it begins, bytes from the start of the drive or partition.
    pub offset_bytes: u64,
}

impl FoundSignature {
    fn new(word: &str, what: impl Into<String>, offset_bytes: u64) -> Self {
        Self {
            word: word.to_owned(),
            what: what.into(),
            offset_bytes,
        }
    }
}

/// The first and the last bytes of a drive, partition or image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    head: Vec<u8>,
    tail: Vec<u8>,
    size_bytes: u64,
}

impl Window {
    /// Reads the window of a region: `start_bytes` is where it begins on `file`, `size_bytes` how long it is.
    ///
    /// # Errors
    /// What the kernel says; a region that ends early (a file that shrank) is an error too.
    pub fn read(file: &File, start_bytes: u64, size_bytes: u64) -> io::Result<Self> {
        let length = size_bytes.min(WINDOW_BYTES);
        let part = |offset: u64| -> io::Result<Vec<u8>> {
            let mut bytes = vec![0; length as usize];
            file.read_exact_at(&mut bytes, start_bytes.saturating_add(offset))?;
            Ok(bytes)
        };
        Ok(Self {
            head: part(0)?,
            tail: part(size_bytes - length)?,
            size_bytes,
        })
    }

    /// The window of an image that lies in memory.
    pub fn of(image: &[u8]) -> Self {
        let length = image.len().min(WINDOW_BYTES as usize);
        Self {
            head: image.get(..length).unwrap_or_default().to_vec(),
            tail: image
                .get(image.len() - length..)
                .unwrap_or_default()
                .to_vec(),
            size_bytes: image.len() as u64,
        }
    }

    /// Size of the whole region, bytes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// `length` bytes at `offset_bytes` of the region; `None` where the window does not reach.
    pub fn get(&self, offset_bytes: u64, length: usize) -> Option<&[u8]> {
        let cut = |part: &'_ [u8], start: u64| -> Option<(usize, usize)> {
            let from = usize::try_from(offset_bytes.checked_sub(start)?).ok()?;
            let to = from.checked_add(length)?;
            (to <= part.len()).then_some((from, to))
        };
        if let Some((from, to)) = cut(&self.head, 0) {
            return self.head.get(from..to);
        }
        let (from, to) = cut(&self.tail, self.size_bytes - self.tail.len() as u64)?;
        self.tail.get(from..to)
    }

    fn array<const N: usize>(&self, offset_bytes: u64) -> Option<[u8; N]> {
        self.get(offset_bytes, N)?.try_into().ok()
    }

    fn u16_le(&self, offset_bytes: u64) -> Option<u16> {
        self.array(offset_bytes).map(u16::from_le_bytes)
    }

    fn u32_le(&self, offset_bytes: u64) -> Option<u32> {
        self.array(offset_bytes).map(u32::from_le_bytes)
    }

    fn has(&self, offset_bytes: u64, bytes: &[u8]) -> bool {
        self.get(offset_bytes, bytes.len()) == Some(bytes)
    }
}

/// Every mark in the window, in the order of their place. Never panics, whatever the bytes.
pub fn detect(window: &Window) -> Vec<FoundSignature> {
    let mut found: Vec<FoundSignature> = magic::fixed(window);
    found.extend(probes::all(window));
    found.sort_by_key(|signature| signature.offset_bytes);
    found
}

/// Our own findings and those of another finder of the same region: kinds that only the other knows are added.
pub fn union(own: Vec<FoundSignature>, other: Vec<FoundSignature>) -> Vec<FoundSignature> {
    let mut all = own;
    for signature in other {
        if !all
            .iter()
            .any(|known| known.word.eq_ignore_ascii_case(&signature.word))
        {
            all.push(signature);
        }
    }
    all
}

#[cfg(test)]
#[path = "../tests/unit/signature.rs"]
mod tests;
