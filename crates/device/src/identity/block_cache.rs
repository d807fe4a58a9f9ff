//! Counters of bcache and of device mapper's cache target (dm-cache, LVM's cache volumes). bcache
//! has them in sysfs (Documentation/admin-guide/bcache.rst; `stats_total` grows every 13.6 s,
//! `dirty_data` is rounded), dm-cache in the target's status
//! (Documentation/admin-guide/device-mapper/cache.rst), which needs root.

use std::fs::File;

use assay_io::system_calls::device_mapper_status;

use super::block::node_of;
use super::{BlockNode, DriveInfo, SystemRoot};

/// Counters since the cache was set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockCache {
    pub read_hits: u64,
    pub reads: u64,
    /// Bytes that the backing device does not have.
    pub dirty_bytes: Option<u64>,
}

/// Counters of the drive, or of the one under a file; `None` where it is no cache.
pub(crate) fn block_cache_at(root: &SystemRoot, info: &DriveInfo) -> Option<BlockCache> {
    let node = node_of(root, info)?;
    let node = match node.is_partition() {
        true => node.parent()?,
        false => node,
    };
    of_bcache(&node).or_else(|| of_device_mapper(root, &node))
}

fn of_bcache(node: &BlockNode) -> Option<BlockCache> {
    let number = |name: &str| -> Option<u64> { node.number(&format!("bcache/stats_total/{name}")) };
    let (read_hits, misses) = (number("cache_hits")?, number("cache_misses")?);
    let dirty = node.attribute("bcache/dirty_data");
    Some(BlockCache {
        read_hits,
        reads: read_hits.checked_add(misses)?,
        dirty_bytes: dirty.and_then(|text| rounded_bytes(&text)),
    })
}

/// Bytes as bcache prints them, `1.5k` (drivers/md/bcache/util.c, `bch_hprint`; powers of 1024).
fn rounded_bytes(text: &str) -> Option<u64> {
    let (number, power) = match text.char_indices().last()? {
        (_, last) if last.is_ascii_digit() => (text, 0),
        (at, last) => (&text[..at], 1 + "kMGTPEZY".find(last)? as i32),
    };
    let number: f64 = number.parse().ok()?;
    let bytes = number * 1024_f64.powi(power);
    (bytes >= 0.0 && bytes < u64::MAX as f64).then_some(bytes as u64)
}

fn of_device_mapper(root: &SystemRoot, node: &BlockNode) -> Option<BlockCache> {
    node.attribute("dm/name")?;
    let control = File::open(root.dev("mapper/control")).ok()?;
    let (major, minor) = (node.device.major, node.device.minor);
    let (targets, bytes) = device_mapper_status(&control, major, minor).ok()?;
    targets_of(targets, &bytes)
        .iter()
        .find(|(kind, _)| kind == "cache")
        .and_then(|(_, text)| of_status(text))
}

/// Types and texts of targets: each a `struct dm_target_spec` of 40 bytes (sector, length, status,
/// offset of the next one, type) and its text.
fn targets_of(count: u32, bytes: &[u8]) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| {
        let end = bytes.iter().position(|byte| *byte == 0);
        String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).into_owned()
    };
    let (mut found, mut at) = (Vec::new(), 0);
    for _ in 0..count {
        let Some((header, body)) = bytes.get(at..).and_then(|b| b.split_at_checked(40)) else {
            break;
        };
        found.push((text(&header[24..]), text(body)));
        // The offset counts from the first target.
        let next = header[20..24].try_into().map_or(0, u32::from_ne_bytes) as usize;
        if next <= at {
            break;
        }
        at = next;
    }
    found
}

/// `<metadata block> <used>/<total> <cache block> <used>/<total> <read hits> <read misses>
/// <write hits> <write misses> <demotions> <promotions> <dirty> ...`: sizes in sectors of 512
/// bytes, dirty in cache blocks.
fn of_status(text: &str) -> Option<BlockCache> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |at: usize| -> Option<u64> { words.get(at)?.parse().ok() };
    let (read_hits, misses) = (number(4)?, number(5)?);
    let dirty = number(10).zip(number(2));
    Some(BlockCache {
        read_hits,
        reads: read_hits.checked_add(misses)?,
        dirty_bytes: dirty
            .and_then(|(blocks, sectors)| blocks.checked_mul(sectors)?.checked_mul(512)),
    })
}

#[cfg(test)]
#[path = "../../tests/unit/identity/block_cache.rs"]
mod tests;
