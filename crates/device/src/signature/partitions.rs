//! Partitions of an image, which the kernel shows only of block devices.

use super::Window;

/// Logical blocks of a partition table.
const BLOCK_SIZES: [u64; 4] = [512, 1024, 2048, 4096];
/// UEFI 2.10, 5.3.2: a table has at least 128 entries; more are not read.
const MOST_ENTRIES: u64 = 128;

/// Start and length of each partition within the image, bytes: of a GPT, or else the primary ones
/// of an MBR.
pub fn partitions(window: &Window) -> Vec<(u64, u64)> {
    let found = BLOCK_SIZES.into_iter().find_map(|block| gpt(window, block));
    let found = found.unwrap_or_else(|| mbr(window));
    let within = |(start, length): (u64, u64)| {
        let rest = window.size_bytes().checked_sub(start)?;
        (start > 0 && length > 0 && rest > 0).then(|| (start, length.min(rest)))
    };
    found.into_iter().filter_map(within).collect()
}

/// UEFI 2.10, 5.3.2 and 5.3.3: the header in LBA 1 has the LBA of the entries at 72, their number
/// at 80, the length of one at 84; an entry has its type (zero: unused) at 0, its first LBA at 32,
/// its last at 40.
fn gpt(window: &Window, block: u64) -> Option<Vec<(u64, u64)>> {
    if !window.has(block, b"EFI PART") {
        return None;
    }
    let entries = window.u64_le(block + 72)?.checked_mul(block)?;
    let count = u64::from(window.u32_le(block + 80)?).min(MOST_ENTRIES);
    let length = u64::from(window.u32_le(block + 84)?);
    let entry = |n: u64| {
        let at = entries.checked_add(n.checked_mul(length)?)?;
        let used = window.get(at, 16)?.iter().any(|byte| *byte != 0);
        let (first, last) = (window.u64_le(at + 32)?, window.u64_le(at + 40)?);
        let blocks = last.checked_sub(first)?.checked_add(1)?;
        used.then_some((first.checked_mul(block)?, blocks.checked_mul(block)?))
    };
    Some((0..count).filter_map(entry).collect())
}

/// UEFI 2.10, 5.2.1: entries of 16 bytes from 0x1BE: type (zero: unused) at 4, first LBA at 8,
/// blocks at 12.
fn mbr(window: &Window) -> Vec<(u64, u64)> {
    if !window.has(510, &[0x55, 0xAA]) {
        return Vec::new();
    }
    let entry = |n: u64| {
        let at = 0x1BE + 16 * n;
        let (first, blocks) = (window.u32_le(at + 8)?, window.u32_le(at + 12)?);
        let is_used = window.get(at + 4, 1)? != [0];
        is_used.then(|| (u64::from(first) * 512, u64::from(blocks) * 512))
    };
    (0..4).filter_map(entry).collect()
}
