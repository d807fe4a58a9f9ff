//! Memory shared with another process through a file descriptor, such as guest memory. Both sides
//! access it at any time, so no Rust reference to it exists: bytes are copied in and out, whole or
//! not at all, within checked bounds.

use std::fs::File;
use std::io;
use std::sync::atomic::{Ordering, fence};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Shorter copies go word by word, in order of address: a reader that polls the last word of an
/// entry finds the others written.
const ORDERED_BYTES: usize = 64;

/// A mapped part of a file.
#[derive(Debug)]
pub struct SharedMemory {
    start: *mut u8,
    len: usize,
    writable: bool,
}

// SAFETY: the mapping belongs to this value alone and stays until it is dropped; which thread
// copies makes no difference, and writing needs `&mut self`.
unsafe impl Send for SharedMemory {}

impl SharedMemory {
    /// Maps `len_bytes` of a file from `offset_bytes` on; fails when the file is shorter. A process
    /// that truncates the file afterwards terminates this one on the next access (SIGBUS): map only
    /// files of processes that are trusted with that.
    pub fn map(
        file: &File,
        offset_bytes: u64,
        len_bytes: u64,
        writable: bool,
    ) -> io::Result<SharedMemory> {
        let end = offset_bytes.checked_add(len_bytes);
        let fits = end.is_some_and(|end| file.metadata().is_ok_and(|there| end <= there.len()));
        let len = usize::try_from(len_bytes).unwrap_or(0);
        if !fits || len == 0 {
            let why = "the file is shorter than the requested mapping";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let mut protection = ProtFlags::READ;
        protection.set(ProtFlags::WRITE, writable);
        // SAFETY: the kernel chooses an address range that is free, so that no memory of this
        // process is replaced; nothing but this value knows the address.
        let start = unsafe {
            mmap(std::ptr::null_mut(), len, protection, MapFlags::SHARED, file, offset_bytes)
        }?;
        Ok(SharedMemory { start: start.cast(), len, writable })
    }

    /// Its length in bytes.
    pub fn len_bytes(&self) -> u64 {
        self.len as u64
    }

    fn address_of(&self, at: u64, len: usize) -> Option<*mut u8> {
        let from = usize::try_from(at).ok()?;
        (from <= self.len && len <= self.len - from).then(|| self.start.wrapping_add(from))
    }

    /// Copies bytes out; `false` when the range is out of bounds.
    pub fn read(&self, at: u64, bytes: &mut [u8]) -> bool {
        let Some(from) = self.address_of(at, bytes.len()) else {
            return false;
        };
        // SAFETY: `address_of` checked that all bytes lie in the mapping, which is readable and
        // lives as long as `self`; `bytes` is memory of our own, so that they do not overlap.
        // Another process may write at the same time: the bytes are plain numbers, and any mixture
        // of old and new ones is a valid value.
        unsafe {
            std::ptr::copy_nonoverlapping(from.cast_const(), bytes.as_mut_ptr(), bytes.len())
        };
        // Later reads are ordered after these.
        fence(Ordering::Acquire);
        true
    }

    /// Copies bytes in; `false` when out of bounds or the mapping is read-only.
    pub fn write(&mut self, at: u64, bytes: &[u8]) -> bool {
        let Some(to) = self.address_of(at, bytes.len()).filter(|_| self.writable) else {
            return false;
        };
        // Earlier writes are visible before these.
        fence(Ordering::Release);
        let words = bytes.chunks_exact(4);
        if bytes.len() <= ORDERED_BYTES
            && to.cast::<u32>().is_aligned()
            && words.remainder().is_empty()
        {
            for (index, word) in words.enumerate() {
                let mut value = [0; 4];
                value.copy_from_slice(word);
                fence(Ordering::Release);
                // SAFETY: as for the copy below; the word is aligned, and within since all bytes
                // are.
                unsafe {
                    to.cast::<u32>().add(index).write_volatile(u32::from_ne_bytes(value));
                }
            }
            return true;
        }
        // SAFETY: `address_of` checked that all bytes lie in the mapping, which is writable and
        // lives as long as `self`; no reference to it exists, and `bytes` is memory of our own.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        true
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: this is the range that was mapped, and nothing refers to it any more.
        let _ = unsafe { munmap(self.start.cast(), self.len) };
    }
}

#[cfg(test)]
#[path = "../tests/unit/shared_memory.rs"]
mod tests;
