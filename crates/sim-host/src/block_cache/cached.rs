//! A disk with a block cache on a cache device in front of it.
//!
//! # Mechanism
//! - A read whose pages are all cached is read from the cache device (a hit). Any other block of it
//!   is read from the disk as a whole, which completes the read, and then written into the cache.
//! - A write goes into the cache. *Write-back*: it completes when the cache device has it.
//!   *Write-through*: when the disk has it too.
//! - The slot of a new block is a free one, else that of the least recently used block. Dirty pages
//!   of that block are read from the cache device and written to the disk first.
//! - When the disk has been idle for [`CLEANING_DELAY`], dirty blocks are written to it, the least
//!   recently used first.
//!
//! # Durability
//! The cache is not volatile, as those of bcache and dm-cache: a flush is a flush of the cache
//! device. Losing the cache device loses the dirty pages of write-back mode; in write-through mode
//! the disk has every completed write.
//!
//! A write counts as whole pages of [`PAGE_BYTES`]. Only time is modelled: a block that is read
//! again on its way to the disk or into the cache is not held back.

mod jobs;

use std::collections::{BTreeMap, VecDeque};

use assay_ssd::{Command, Completion, Drive, Status};
use assay_units::{DataClass, Nanos, Op};

use super::disk::{Disk, DiskCommand, DiskProfile};
use super::lru::{Evicted, LruMap};
pub use jobs::{CacheCounters, CacheMode};
use jobs::{CacheJob, DiskJob, HostCommand, WriteBack};

pub const DEFAULT_BLOCK_BYTES: u64 = 64 << 10;
/// Unit of what is valid and dirty in a block, which has at most 64.
pub const PAGE_BYTES: u64 = 4096;
/// Idle time of the disk before dirty blocks are written to it.
pub const CLEANING_DELAY: Nanos = Nanos::from_millis(100);

/// The cache device belongs to the caller and is passed in.
#[derive(Clone, Debug)]
pub struct CachedDisk {
    disk: Disk,
    capacity_bytes: u64,
    map: LruMap,
    block_bytes: u64,
    mode: CacheMode,
    hosts: BTreeMap<u32, HostCommand>,
    /// Commands of the cache device by tag, and the tags that are free.
    cache_jobs: Vec<Option<CacheJob>>,
    free: Vec<u32>,
    disk_jobs: BTreeMap<u64, DiskJob>,
    next_disk_tag: u64,
    write_backs: BTreeMap<u64, WriteBack>,
    next_write_back: u64,
    /// Commands that complete without either device, in order.
    instant: VecDeque<(Nanos, u32)>,
    idle_since: Nanos,
    counters: CacheCounters,
}

/// Time, tag and status.
pub type HostCompletion = (Nanos, u32, Status);

impl CachedDisk {
    /// # Errors
    /// When the sizes do not fit together; the text says which do.
    pub fn new(
        profile: DiskProfile,
        cache_bytes: u64,
        block_bytes: u64,
        mode: CacheMode,
    ) -> Result<CachedDisk, String> {
        if !block_bytes.is_power_of_two() || !(PAGE_BYTES..=64 * PAGE_BYTES).contains(&block_bytes)
        {
            return Err(format!(
                "a block of the cache is a power of two from {PAGE_BYTES} to {} bytes, not \
                 {block_bytes}",
                64 * PAGE_BYTES
            ));
        }
        let slots = u32::try_from(cache_bytes / block_bytes).unwrap_or(u32::MAX - 1);
        if slots == 0 {
            return Err(format!(
                "a cache of {cache_bytes} bytes has no block of {block_bytes} bytes"
            ));
        }
        Ok(CachedDisk {
            disk: Disk::new(profile),
            capacity_bytes: profile.capacity_bytes / block_bytes * block_bytes,
            map: LruMap::new(slots.min(u32::MAX - 1)),
            block_bytes,
            mode,
            hosts: BTreeMap::new(),
            cache_jobs: Vec::new(),
            free: Vec::new(),
            disk_jobs: BTreeMap::new(),
            next_disk_tag: 0,
            write_backs: BTreeMap::new(),
            next_write_back: 0,
            instant: VecDeque::new(),
            idle_since: Nanos::ZERO,
            counters: CacheCounters::default(),
        })
    }

    /// Capacity of the disk in whole blocks.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    pub fn counters(&self) -> CacheCounters {
        self.counters
    }

    /// Bytes that the disk does not have.
    pub fn dirty_bytes(&self) -> u64 {
        self.map.dirty_pages() * PAGE_BYTES
    }

    pub fn mode(&self) -> CacheMode {
        self.mode
    }

    /// Whether neither device works on a command of the cache's own.
    pub fn is_idle(&self) -> bool {
        self.disk.is_idle() && self.free.len() == self.cache_jobs.len() && self.instant.is_empty()
    }

    /// Drop all cached blocks, dirty ones included. Only while it [is idle](CachedDisk::is_idle).
    pub fn clear(&mut self) {
        assert!(self.is_idle(), "a cache is cleared while commands are in flight");
        self.map = LruMap::new(self.map.most());
    }

    /// Pages of a block that a range touches, a bit each.
    fn pages(&self, block: u64, offset_bytes: u64, end_bytes: u64) -> u64 {
        let start = block * self.block_bytes;
        let first = offset_bytes.max(start) - start;
        let last = end_bytes.min(start + self.block_bytes) - start - 1;
        let (first, last) = (first / PAGE_BYTES, last / PAGE_BYTES);
        (u64::MAX >> (63 - (last - first))) << first
    }

    fn all_pages(&self) -> u64 {
        u64::MAX >> (64 - self.block_bytes / PAGE_BYTES)
    }

    /// A command of the cache device for part of a slot.
    fn cache_command(
        &mut self,
        job: CacheJob,
        like: &Command,
        op: Op,
        offset_bytes: u64,
        len_bytes: u64,
    ) -> Command {
        let tag = self.free.pop().unwrap_or_else(|| {
            self.cache_jobs.push(None);
            self.cache_jobs.len() as u32 - 1
        });
        self.cache_jobs[tag as usize] = Some(job);
        Command {
            tag,
            op,
            offset_bytes,
            // A part of a block is far below 2^32.
            len_bytes: len_bytes as u32,
            ..*like
        }
    }

    fn slot_offset(&self, slot: u32) -> u64 {
        u64::from(slot) * self.block_bytes
    }

    fn disk_command(&mut self, at: Nanos, job: DiskJob, op: Op, offset_bytes: u64, len_bytes: u64) {
        let tag = self.next_disk_tag;
        self.next_disk_tag += 1;
        self.disk_jobs.insert(tag, job);
        self.disk.submit(at, DiskCommand { tag, op, offset_bytes, len_bytes });
    }

    /// Start a command of the cache device once the slot's old block is on the disk.
    fn start_in_slot(
        &mut self,
        at: Nanos,
        drive: &mut Drive,
        command: Command,
        evicted: Option<Evicted>,
    ) {
        match evicted.filter(|evicted| evicted.dirty != 0) {
            None => drive.submit(at, command),
            Some(evicted) => {
                self.counters.evictions_written += 1;
                self.write_back(at, drive, evicted, Some(command));
            }
        }
    }

    /// Write a block's dirty pages to the disk, a command for each run of pages.
    fn write_back(
        &mut self,
        at: Nanos,
        drive: &mut Drive,
        evicted: Evicted,
        waiting: Option<Command>,
    ) {
        let id = self.next_write_back;
        self.next_write_back += 1;
        let mut left = 0;
        for (first, count) in runs(evicted.dirty) {
            left += 1;
            let (within, len_bytes) = (first * PAGE_BYTES, count * PAGE_BYTES);
            let job = CacheJob::WriteBack {
                offset_bytes: evicted.block * self.block_bytes + within,
                len_bytes,
                write_back: id,
            };
            let from = self.slot_offset(evicted.slot) + within;
            let read = self.cache_command(job, &BACKGROUND, Op::Read, from, len_bytes);
            drive.submit(at, read);
        }
        assert!(left > 0, "a block that is written back has dirty pages");
        self.write_backs.insert(id, WriteBack { left, waiting });
    }

    pub fn submit(&mut self, at: Nanos, command: Command, drive: &mut Drive) {
        let (offset, end) = (
            command.offset_bytes,
            command.offset_bytes.saturating_add(u64::from(command.len_bytes)),
        );
        let has_range = matches!(command.op, Op::Read | Op::Write | Op::WriteZeroes);
        if has_range && (command.len_bytes == 0 || end > self.capacity_bytes) {
            let status = match command.len_bytes {
                0 => Status::InvalidField,
                _ => Status::LbaOutOfRange,
            };
            self.hosts.insert(command.tag, HostCommand { left: 0, status });
            self.instant.push_back((at, command.tag));
            return;
        }
        match command.op {
            Op::Read => self.read(at, command, (offset, end), drive),
            Op::Write | Op::WriteZeroes => self.write(at, command, (offset, end), drive),
            Op::Flush => {
                self.begin(command.tag, 1);
                let job = CacheJob::Host(command.tag);
                let flush = self.cache_command(job, &command, Op::Flush, 0, 0);
                drive.submit(at, flush);
            }
            // Cached data stays valid: a deallocated block may be read as it was.
            Op::Discard => {
                self.begin(command.tag, 0);
                self.instant.push_back((at, command.tag));
            }
        }
    }

    fn begin(&mut self, tag: u32, left: u32) {
        let status = Status::Ok;
        self.hosts.insert(tag, HostCommand { left, status });
    }

    fn blocks(&self, (offset, end): (u64, u64)) -> std::ops::Range<u64> {
        offset / self.block_bytes..end.div_ceil(self.block_bytes)
    }

    /// A command of the disk alone.
    fn uncached(&mut self, at: Nanos, command: Command, op: Op, range: (u64, u64)) {
        self.begin(command.tag, 1);
        let job = DiskJob::Host(command.tag);
        self.disk_command(at, job, op, range.0, range.1 - range.0);
    }

    fn read(&mut self, at: Nanos, command: Command, range: (u64, u64), drive: &mut Drive) {
        self.counters.reads += 1;
        if self.mode == CacheMode::None {
            return self.uncached(at, command, Op::Read, range);
        }
        let blocks = self.blocks(range);
        self.begin(command.tag, (blocks.end - blocks.start) as u32);
        let mut is_hit = true;
        for block in blocks {
            let pages = self.pages(block, range.0, range.1);
            let cached = self.map.touch(block).filter(|(_, valid)| valid & pages == pages);
            let start = block * self.block_bytes;
            match cached {
                Some((slot, _)) => {
                    let from = range.0.max(start) - start;
                    let to = range.1.min(start + self.block_bytes) - start;
                    let job = CacheJob::Host(command.tag);
                    let at_bytes = self.slot_offset(slot) + from;
                    let read = self.cache_command(job, &command, Op::Read, at_bytes, to - from);
                    drive.submit(at, read);
                }
                None => {
                    is_hit = false;
                    let job = DiskJob::HostRead(command.tag, block);
                    self.disk_command(at, job, Op::Read, start, self.block_bytes);
                }
            }
        }
        self.counters.read_hits += u64::from(is_hit);
    }

    fn write(&mut self, at: Nanos, command: Command, range: (u64, u64), drive: &mut Drive) {
        self.counters.writes += 1;
        if self.mode == CacheMode::None {
            return self.uncached(at, command, Op::Write, range);
        }
        let blocks = self.blocks(range);
        let through = self.mode == CacheMode::WriteThrough;
        let parts = (blocks.end - blocks.start) as u32 + u32::from(through);
        self.begin(command.tag, parts);
        for block in blocks {
            let pages = self.pages(block, range.0, range.1);
            let (slot, evicted) = self.map.insert(block);
            match self.mode {
                CacheMode::WriteBack => self.map.write(slot, pages),
                CacheMode::WriteThrough | CacheMode::None => self.map.fill(slot, pages),
            }
            let start = block * self.block_bytes;
            let from = range.0.max(start) - start;
            let to = range.1.min(start + self.block_bytes) - start;
            let job = CacheJob::Host(command.tag);
            let at_bytes = self.slot_offset(slot) + from;
            let write = self.cache_command(job, &command, Op::Write, at_bytes, to - from);
            self.start_in_slot(at, drive, write, evicted);
        }
        if through {
            let job = DiskJob::Host(command.tag);
            self.disk_command(at, job, Op::Write, range.0, range.1 - range.0);
        }
    }

    fn part_done(&mut self, at: Nanos, tag: u32, status: Status, out: &mut Vec<HostCompletion>) {
        let Some(host) = self.hosts.get_mut(&tag) else {
            return;
        };
        if host.status.is_ok() {
            host.status = status;
        }
        host.left -= 1;
        if host.left == 0 {
            let status = host.status;
            self.hosts.remove(&tag);
            out.push((at, tag, status));
        }
    }

    pub fn cache_completed(&mut self, completion: &Completion, out: &mut Vec<HostCompletion>) {
        let job = self.cache_jobs[completion.tag as usize].take();
        self.free.push(completion.tag);
        match job {
            Some(CacheJob::Host(tag)) => self.part_done(completion.at, tag, completion.status, out),
            Some(CacheJob::WriteBack { offset_bytes, len_bytes, write_back }) => {
                let job = DiskJob::WriteBack(write_back);
                self.disk_command(completion.at, job, Op::Write, offset_bytes, len_bytes);
            }
            Some(CacheJob::Promote) | None => {}
        }
    }

    /// Next instant at which something happens without the cache device, or [`Nanos::MAX`].
    pub fn next_event(&self) -> Nanos {
        let instant = self.instant.front().map_or(Nanos::MAX, |(at, _)| *at);
        let cleaning = self.next_cleaning().unwrap_or(Nanos::MAX);
        instant.min(self.disk.next_event()).min(cleaning)
    }

    /// Dirty blocks are written to the idle disk one at a time.
    fn next_cleaning(&self) -> Option<Nanos> {
        let is_due =
            self.disk.is_idle() && self.write_backs.is_empty() && self.map.dirty_pages() > 0;
        is_due.then(|| self.idle_since + CLEANING_DELAY)
    }

    /// Process what happens without the cache device up to `until`.
    pub fn advance(&mut self, until: Nanos, drive: &mut Drive, out: &mut Vec<HostCompletion>) {
        while let Some(&(at, tag)) = self.instant.front().filter(|(at, _)| *at <= until) {
            self.instant.pop_front();
            if let Some(host) = self.hosts.remove(&tag) {
                out.push((at, tag, host.status));
            }
        }
        while let Some((at, command)) = self.disk.advance(until) {
            self.idle_since = at;
            match self.disk_jobs.remove(&command.tag) {
                Some(DiskJob::HostRead(tag, block)) => {
                    self.part_done(at, tag, Status::Ok, out);
                    self.promote(at, block, drive);
                }
                Some(DiskJob::Host(tag)) => self.part_done(at, tag, Status::Ok, out),
                Some(DiskJob::WriteBack(id)) => self.written_back(at, id, drive),
                None => {}
            }
        }
        if let Some(at) = self.next_cleaning().filter(|at| *at <= until)
            && let Some(block) = self.map.clean_oldest()
        {
            self.counters.cleaned += 1;
            self.write_back(at, drive, block, None);
        }
    }

    /// The disk has one more run of pages of a block.
    fn written_back(&mut self, at: Nanos, id: u64, drive: &mut Drive) {
        let Some(found) = self.write_backs.get_mut(&id) else {
            return;
        };
        found.left -= 1;
        if found.left == 0 {
            let waiting = found.waiting;
            self.write_backs.remove(&id);
            match waiting {
                Some(command) => drive.submit(at, command),
                // The next dirty block follows at once.
                None => self.idle_since = at - CLEANING_DELAY,
            }
        }
    }

    fn promote(&mut self, at: Nanos, block: u64, drive: &mut Drive) {
        self.counters.promotions += 1;
        let (slot, evicted) = self.map.insert(block);
        self.map.fill(slot, self.all_pages());
        let (offset, bytes) = (self.slot_offset(slot), self.block_bytes);
        let write = self.cache_command(CacheJob::Promote, &BACKGROUND, Op::Write, offset, bytes);
        self.start_in_slot(at, drive, write, evicted);
    }
}

/// The runs of set bits, lowest first: first bit and length.
fn runs(mut bits: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut passed = 0;
    std::iter::from_fn(move || {
        (bits != 0).then(|| {
            let skip = bits.trailing_zeros();
            let count = (bits >> skip).trailing_ones();
            let first = passed + u64::from(skip);
            passed = first + u64::from(count);
            bits = (bits >> skip).checked_shr(count).unwrap_or(0);
            (first, u64::from(count))
        })
    })
}

/// Template of the cache's own commands.
const BACKGROUND: Command = Command {
    tag: 0,
    queue: 0,
    op: Op::Read,
    offset_bytes: 0,
    len_bytes: 0,
    data: DataClass::Incompressible,
    fua: false,
};

#[cfg(test)]
#[path = "../../tests/unit/block_cache/cached.rs"]
mod tests;
