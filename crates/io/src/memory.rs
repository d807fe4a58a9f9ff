//! Memory advice: transparent huge pages.

use rustix::mm::{Advice, madvise};

/// Smallest table that gains from huge pages.
const WORTH_BYTES: usize = 4 << 20;
const PAGE_BYTES: usize = 4096;

/// Advises huge pages for a large table, before it is filled: present pages are not replaced.
pub fn prefer_huge_pages<T>(table: &[T]) {
    let bytes = size_of_val(table);
    if bytes < WORTH_BYTES {
        return;
    }
    let start = table.as_ptr().cast::<u8>();
    let skipped = start.align_offset(PAGE_BYTES);
    let length = bytes.saturating_sub(skipped) & !(PAGE_BYTES - 1);
    // SAFETY: the range lies within the table, which is borrowed, and this advice changes neither
    // what memory holds nor whether it can be accessed. A kernel without huge pages rejects the
    // advice, which does not matter.
    let _ = unsafe {
        madvise(start.wrapping_add(skipped).cast_mut().cast(), length, Advice::LinuxHugepage)
    };
}

#[cfg(test)]
#[path = "../tests/unit/memory.rs"]
mod tests;
