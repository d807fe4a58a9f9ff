//! Partitions of an image, which the kernel shows only of block devices, and only where it scans
//! them: those of partition tables within partitions, and logical ones, too.

use std::io;

use super::Window;

/// Logical blocks of a partition table.
const BLOCK_SIZES: [u64; 4] = [512, 1024, 2048, 4096];
/// Entries of 128 bytes in a window; UEFI 2.10, 5.3.2: a table has at least 128.
const MOST_ENTRIES: u64 = super::WINDOW_BYTES / 128;
/// Partitions of one image.
const MOST_PARTITIONS: usize = 512;
/// Types of an entry that holds a further table: extended partitions.
const EXTENDED: [u8; 3] = [0x05, 0x0F, 0x85];
/// Type of the entry that stands for a GPT.
const PROTECTIVE: u8 = 0xEE;

struct Entry {
    start_bytes: u64,
    size_bytes: u64,
    is_extended: bool,
}

/// A region that may hold a partition table.
struct Place {
    start_bytes: u64,
    size_bytes: u64,
    /// Start of the extended partition whose chain this region belongs to.
    chain: Option<u64>,
}

/// Start and length of each partition within an image of this size, bytes. `read` reads the window
/// of a region by its start and length.
///
/// # Errors
/// Those of `read`; more than [`MOST_PARTITIONS`].
pub fn partitions(
    read: &dyn Fn(u64, u64) -> io::Result<Window>,
    image_bytes: u64,
) -> io::Result<Vec<(u64, u64)>> {
    let mut found: Vec<(u64, u64)> = Vec::new();
    let mut places = vec![Place { start_bytes: 0, size_bytes: image_bytes, chain: None }];
    while let Some(place) = places.pop() {
        for entry in entries(&read(place.start_bytes, place.size_bytes)?) {
            // UEFI 2.10, 5.2.1 leaves logical partitions to others: in an extended boot record the
            // entry of the partition counts from the record, that of the next record from the
            // start of the extended partition.
            let chain = place.chain.filter(|_| entry.is_extended);
            let base = chain.unwrap_or(place.start_bytes);
            let Some(start_bytes) = base.checked_add(entry.start_bytes) else {
                continue;
            };
            let size_bytes = entry.size_bytes.min(image_bytes.saturating_sub(start_bytes));
            let is_known = found.contains(&(start_bytes, size_bytes));
            if entry.start_bytes == 0 || size_bytes == 0 || is_known {
                continue;
            }
            if found.len() == MOST_PARTITIONS {
                let why = format!("it has more than {MOST_PARTITIONS} partitions");
                return Err(io::Error::other(why));
            }
            found.push((start_bytes, size_bytes));
            places.push(Place {
                start_bytes,
                size_bytes,
                chain: entry.is_extended.then(|| chain.unwrap_or(start_bytes)),
            });
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Of each table: a GPT at the start, its copy at the end (a damaged table and a stale copy name
/// more than is there), an MBR.
fn entries(window: &Window) -> Vec<Entry> {
    let last = |block: u64| window.size_bytes().saturating_sub(block);
    let headers = BLOCK_SIZES.iter().flat_map(|block| [(*block, *block), (*block, last(*block))]);
    let mut found: Vec<Entry> =
        headers.filter_map(|(block, header)| gpt(window, block, header)).flatten().collect();
    found.extend(mbr(window));
    found
}

/// UEFI 2.10, 5.3.2 and 5.3.3: the header, in LBA 1 and in the last, has the LBA of the entries at
/// 72, their number at 80, the length of one at 84; an entry has its type (zero: unused) at 0, its
/// first LBA at 32, its last at 40.
fn gpt(window: &Window, block: u64, header: u64) -> Option<Vec<Entry>> {
    if !window.has(header, b"EFI PART") {
        return None;
    }
    let entries = window.u64_le(header + 72)?.checked_mul(block)?;
    let count = u64::from(window.u32_le(header + 80)?).min(MOST_ENTRIES);
    let length = u64::from(window.u32_le(header + 84)?);
    let entry = |n: u64| {
        let at = entries.checked_add(n.checked_mul(length)?)?;
        let used = window.get(at, 16)?.iter().any(|byte| *byte != 0);
        let (first, last) = (window.u64_le(at + 32)?, window.u64_le(at + 40)?);
        let blocks = last.checked_sub(first)?.checked_add(1)?;
        used.then_some(Entry {
            start_bytes: first.checked_mul(block)?,
            size_bytes: blocks.checked_mul(block)?,
            is_extended: false,
        })
    };
    Some((0..count).filter_map(entry).collect())
}

/// UEFI 2.10, 5.2.1: entries of 16 bytes from 0x1BE: type (zero: unused) at 4, first LBA at 8,
/// blocks at 12.
fn mbr(window: &Window) -> Vec<Entry> {
    if !window.has(510, &[0x55, 0xAA]) {
        return Vec::new();
    }
    let entry = |n: u64| {
        let at = 0x1BE + 16 * n;
        let (first, blocks) = (window.u32_le(at + 8)?, window.u32_le(at + 12)?);
        let kind = window.get(at + 4, 1)?[0];
        (kind != 0 && kind != PROTECTIVE).then(|| Entry {
            start_bytes: u64::from(first) * 512,
            size_bytes: u64::from(blocks) * 512,
            is_extended: EXTENDED.contains(&kind),
        })
    };
    (0..4).filter_map(entry).collect()
}
