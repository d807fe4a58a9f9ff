//! I/O memory: one equal, page-aligned buffer per slot, guarded against use while in flight.

use std::io;
use std::ptr::NonNull;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::TargetError;

/// A page satisfies every O_DIRECT requirement.
pub const ALIGN_BYTES: u64 = 4096;

/// A huge page of x86-64 and of ARM with pages of 4 KiB; since Linux 6.7 mappings are aligned to
/// it.
const HUGE_PAGE_BYTES: u64 = 2 << 20;

/// Smallest buffer memory for a huge page; below, most of the page would be unused.
const HUGE_FROM_BYTES: u64 = 256 << 10;

/// Equal buffers in one mapping. A slot in flight belongs to the kernel and cannot be borrowed.
#[derive(Debug)]
pub struct Buffers {
    base: NonNull<u8>,
    mapped_bytes: usize,
    slot_bytes: usize,
    in_flight: Vec<bool>,
}

// SAFETY: this value alone owns the mapping and only lends borrows of it, so it may move to the I/O
// thread.
unsafe impl Send for Buffers {}

impl Buffers {
    /// Maps `slots` buffers of at least `slot_bytes` each (rounded up to whole pages).
    pub fn new(slots: u32, slot_bytes: u32) -> Result<Buffers, TargetError> {
        let slot_bytes = u64::from(slot_bytes.max(1)).next_multiple_of(ALIGN_BYTES);
        let bytes = slot_bytes * u64::from(slots.max(1));
        let failed = |source: io::Error| TargetError::Buffers { bytes, source };
        // The buffers of a stream fit into one huge page: then an I/O has one segment instead of
        // 32.
        let mapped = if (HUGE_FROM_BYTES..HUGE_PAGE_BYTES).contains(&bytes) {
            HUGE_PAGE_BYTES
        } else {
            bytes
        };
        let length =
            usize::try_from(mapped).map_err(|_| failed(io::ErrorKind::OutOfMemory.into()))?;
        // SAFETY: a new anonymous private mapping at an address of the kernel's choice touches no
        // existing memory.
        let pointer = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        }
        .map_err(|errno| failed(errno.into()))?;
        let base = NonNull::new(pointer.cast::<u8>())
            .ok_or_else(|| failed(io::ErrorKind::OutOfMemory.into()))?;
        // Fewer page-table entries to pin and walk; a failure of this advice costs only speed.
        // SAFETY: the range is the mapping made above; the advice changes no contents.
        let _ = unsafe { madvise(base.as_ptr().cast(), length, Advice::LinuxHugepage) };
        Ok(Buffers {
            base,
            mapped_bytes: length,
            slot_bytes: slot_bytes as usize,
            in_flight: vec![false; slots as usize],
        })
    }

    /// Number of slots.
    pub fn slots(&self) -> u32 {
        self.in_flight.len() as u32
    }

    /// Bytes of a slot.
    pub fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    /// The buffer of a slot; panics when the slot is in flight or does not exist.
    #[inline]
    pub fn slot(&mut self, slot: u32) -> &mut [u8] {
        assert!(!self.in_flight[slot as usize], "slot {slot} is in flight and owned by the kernel");
        // SAFETY: the slot exists (checked by the index above) and lies inside the mapping; it is
        // not in flight, so the kernel does not touch it; `&mut self` excludes every other borrow.
        unsafe { std::slice::from_raw_parts_mut(self.pointer(slot), self.slot_bytes) }
    }

    #[inline]
    pub(crate) fn pointer(&self, slot: u32) -> *mut u8 {
        assert!((slot as usize) < self.in_flight.len(), "no slot {slot}");
        // SAFETY: slot < slots, so the offset stays inside the mapping.
        unsafe { self.base.as_ptr().add(slot as usize * self.slot_bytes) }
    }

    /// Panics when the slot is in flight already.
    #[inline]
    pub(crate) fn mark_in_flight(&mut self, slot: u32) {
        let flag = &mut self.in_flight[slot as usize];
        assert!(!*flag, "slot {slot} was submitted twice");
        *flag = true;
    }

    #[inline]
    pub(crate) fn take_back(&mut self, slot: u32) {
        self.in_flight[slot as usize] = false;
    }

    pub(crate) fn any_lent(&self) -> bool {
        self.in_flight.iter().any(|&lent| lent)
    }

    /// Never unmaps: the kernel may still write into a slot that was not taken back.
    pub(crate) fn leak(&mut self) {
        self.mapped_bytes = 0;
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        if self.mapped_bytes > 0 {
            // SAFETY: the mapping was made in `new` with this length and is unmapped once; no
            // borrow outlives `self`.
            let _ = unsafe { munmap(self.base.as_ptr().cast(), self.mapped_bytes) };
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/buffers.rs"]
mod tests;
