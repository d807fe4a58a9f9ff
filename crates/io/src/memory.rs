//! Advice to the kernel on memory.

use rustix::mm::{Advice, madvise};

/// Tables smaller than this gain nothing from huge pages, in bytes.
const WORTH_BYTES: usize = 4 << 20;
/// Advice is taken for whole pages, in bytes.
const PAGE_BYTES: usize = 4096;

/// Have the kernel use huge pages for a large table, where it gives any. Call it before the table is filled: memory that is there
/// stays as it is.
pub fn prefer_huge_pages<T>(table: &[T]) {
    let bytes = size_of_val(table);
    if bytes < WORTH_BYTES {
        return;
    }
    let start = table.as_ptr().cast::<u8>();
    let skipped = start.align_offset(PAGE_BYTES);
    let length = bytes.saturating_sub(skipped) & !(PAGE_BYTES - 1);
    // SAFETY: the range lies within the table, which is borrowed, and this advice changes neither what memory holds nor whether it can
    // be accessed. A kernel without huge pages refuses it, and nothing depends on its taking it.
    let _ = unsafe {
        madvise(
            start.wrapping_add(skipped).cast_mut().cast(),
            length,
            Advice::LinuxHugepage,
        )
    };
}

#[cfg(test)]
#[path = "../tests/unit/memory.rs"]
mod tests;
