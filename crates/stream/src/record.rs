//! Recording: a stream onto drives.
//!
//! # The loop
//! One thread. While a slot of the next chunk's drive is free: fill it from the source, submit it, look for completions. When none is free: wait
//! for one; that is a stall. Chunks complete in any order; what is told (`LAST_ADDRESS_WRITTEN`, bytes, durable bytes) is the unbroken run from the
//! first on.
//!
//! # Time
//! All drives of a stream are kept at one time: before a chunk is handed to a drive whose clock is behind (simulated ones have each their
//! own), that clock is moved up.

mod ending;

use std::collections::VecDeque;

use assay_io::{Nanos, Op};

use crate::checkpoint::Checkpoints;
use crate::headroom::Headroom;
use crate::index::{Entry, IndexOptions, IndexWriter};
use crate::lane::{Ended, LOOK, Lane, Purpose, fits, latest};
use crate::pacing::{Pacing, Times};
use crate::places::{Places, indexed};
use crate::range::Range;
use crate::registers::{Control, Registers, StatusBits};
use crate::source::{Filled, Source};
use crate::status::{DeviceFailure, Status, StreamError};

pub use crate::pacing::Pace;

/// How to record.
#[derive(Clone, Debug, Default)]
pub struct RecordOptions {
    /// Flush when the stream has ended.
    pub flush_after: bool,
    /// Begin again at the first address when the range is full.
    pub ring: bool,
    /// Make the recording describe itself.
    pub index: Option<IndexOptions>,
    /// Make what is recorded durable, and with an index findable, after so many bytes; in a ring with an index at least four times a turn.
    pub checkpoint_bytes: Option<u64>,
    /// Deliver the stream at a rate.
    pub pace: Option<Pace>,
    /// Smallest I/O of the drives, bytes: what a short last chunk is rounded up to.
    pub min_io_bytes: u32,
    /// Wait, when the range is full, to learn whether the source has more.
    pub ask_for_more: bool,
    /// Keep the table of rates and buffers ([`Headroom`]).
    pub headroom: bool,
}

/// What came of a recording.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Registers and counts.
    pub status: Status,
    /// What buffer which rate would have needed.
    pub headroom: Option<Headroom>,
}

/// Bytes between checkpoints if nothing is said and there is an index.
pub const DEFAULT_CHECKPOINT_BYTES: u64 = 64 << 20;

/// Slots a lane must have: one for the index beside the stream's.
const MIN_SLOTS: usize = 2;

/// Record a stream onto lanes, one per drive of the range.
///
/// The status says how it ended; a drive that fails a command ends it with `DEVICE_ERROR`, and everything before stays.
///
/// # Errors
/// When the source fails (after what it gave was written), the index has no room, or a target as a whole cannot go on.
pub fn record(
    lanes: &mut [Lane<'_>],
    range: &Range,
    source: &mut dyn Source,
    options: &RecordOptions,
    registers: &Registers,
) -> Result<Recorded, StreamError> {
    Recorder::new(lanes, range, options, registers)?.run(source)
}

struct Recorder<'a, 't> {
    lanes: &'a mut [Lane<'t>],
    range: Range,
    places: Places,
    options: &'a RecordOptions,
    registers: &'a Registers,
    chunk_bytes: u64,
    began: Nanos,
    /// Chunks submitted.
    next: u64,
    /// The chunk that the source is still filling: drive, slot, bytes so far.
    filling: Option<(usize, u32, usize)>,
    /// Chunks below this are done; `done` says which of the following are.
    frontier: u64,
    done: VecDeque<bool>,
    /// Bytes in the last chunk when it was short.
    last_bytes: Option<u64>,
    checkpoints: Checkpoints,
    ended: Vec<Ended>,
    pacing: Pacing,
    headroom: Option<Headroom>,
    failure: Option<DeviceFailure>,
}

impl<'a, 't> Recorder<'a, 't> {
    fn new(
        lanes: &'a mut [Lane<'t>],
        range: &Range,
        options: &'a RecordOptions,
        registers: &'a Registers,
    ) -> Result<Recorder<'a, 't>, StreamError> {
        if lanes.is_empty()
            || lanes.len() != range.lanes as usize
            || lanes.iter().any(|lane| lane.slots() < MIN_SLOTS)
        {
            return Err(StreamError::NoSlots { needed: MIN_SLOTS });
        }
        fits(lanes, range.chunk_bytes)?;
        let every = options.checkpoint_bytes.or_else(|| {
            let indexed = options.index.is_some();
            indexed.then_some(DEFAULT_CHECKPOINT_BYTES)
        });
        let mut every_chunks = every.map(|bytes| (bytes / u64::from(range.chunk_bytes)).max(1));
        let slots: u64 = lanes.iter().map(|lane| lane.slots() as u64).sum();
        let (places, writers, window) = match &options.index {
            None => (Places::Plain(*range), Vec::new(), u64::MAX),
            Some(index) => {
                let layout = indexed(range, options.ring, lanes[0].name())?;
                // What may run ahead of the index: a checkpoint's worth while one is under way and the next is due, and the slots.
                let mut every = every_chunks.unwrap_or(1);
                let mut window = 2 * every + slots;
                if options.ring {
                    // Half of a ring outlives any accident.
                    let half = (layout.chunks.saturating_mul(u64::from(range.lanes)) / 2).max(1);
                    every = every.min(half.div_ceil(2));
                    window = (2 * every + slots).min(half);
                }
                every_chunks = Some(every);
                let writers = (0..range.lanes)
                    .map(|lane| {
                        let place = (lane, range.lanes);
                        IndexWriter::new(index, layout, place, options.ring, window)
                    })
                    .collect();
                (Places::Indexed(layout, range.lanes), writers, window)
            }
        };
        let began = latest(lanes);
        registers.begin(range.first, range.last, range.chunk_bytes);
        let tables = options.headroom || options.pace.is_some();
        Ok(Recorder {
            lanes,
            range: *range,
            places,
            options,
            registers,
            chunk_bytes: u64::from(range.chunk_bytes),
            began,
            next: 0,
            filling: None,
            frontier: 0,
            done: VecDeque::new(),
            last_bytes: None,
            checkpoints: Checkpoints::new(writers, every_chunks, window, options.ring),
            ended: Vec::new(),
            pacing: Pacing::new(options.pace, began, u64::from(range.chunk_bytes)),
            headroom: tables.then(|| Headroom::new(began)),
            failure: None,
        })
    }

    fn run(mut self, source: &mut dyn Source) -> Result<Recorded, StreamError> {
        self.checkpoints.begin(self.lanes, self.began)?;
        self.began = self.now();
        self.pacing = Pacing::new(self.options.pace, self.began, self.chunk_bytes);
        if let Some(headroom) = &mut self.headroom {
            *headroom = Headroom::new(self.began);
        }
        let taken = self.take_all(source);
        let mut status = match taken {
            Ok(status) => status,
            Err(error @ StreamError::Target(_)) => return Err(error),
            Err(error) => {
                // The source failed: what it gave is finished and told of all the same.
                self.finish(false)?;
                return Err(error);
            }
        };
        let stopped = status.has(StatusBits::STOPPED);
        self.finish(stopped)?;
        if self.failure.is_some() {
            status = status
                .without(StatusBits::FINISHED)
                .with(StatusBits::DEVICE_ERROR);
        }
        let more = match (self.is_full(), self.options.ring) {
            (true, false) if !status.has(StatusBits::EARLY_LAST) && self.failure.is_none() => {
                let wait = self.options.ask_for_more && !self.registers.is_to_end();
                source
                    .has_more(wait, self.registers)
                    .map_err(|e| self.source_failed(source, 0, e))?
            }
            _ => Some(false),
        };
        Ok(self.outcome(status, more))
    }

    /// Take the stream until it ends, the range is full, or somebody says so.
    fn take_all(&mut self, source: &mut dyn Source) -> Result<StatusBits, StreamError> {
        loop {
            if self.failure.is_some() {
                return Ok(StatusBits::DEVICE_ERROR);
            }
            if self.registers.is_to_end() {
                // What came of a chunk is not thrown away.
                if let Some((lane, slot, bytes)) = self.filling.take() {
                    self.submit(lane, slot, bytes)?;
                }
                let aborted = self.registers.commanded(Control::ABORT);
                return Ok(if aborted {
                    StatusBits::ABORTED
                } else {
                    StatusBits::STOPPED
                });
            }
            if self.registers.acknowledge(Control::FLUSH_NOW) {
                self.checkpoints.demand();
            }
            if self.filling.is_none() {
                if self.is_full() && !self.options.ring {
                    return Ok(StatusBits::FINISHED);
                }
                let slot = self.wait_for_slot()?;
                self.filling = slot.map(|(lane, slot)| (lane, slot, 0));
            }
            let Some((lane, slot, before)) = self.filling.take() else {
                continue;
            };
            let whole = self.chunk_bytes as usize;
            let rest = &mut self.lanes[lane].buffer(slot)[before..whole];
            let Filled { bytes: more, last } = match source.fill(rest, self.registers) {
                Ok(filled) => filled,
                Err(error) => {
                    // As much as it gave is kept.
                    let failed = self.source_failed(source, before as u64, error);
                    self.submit(lane, slot, before)?;
                    return Err(failed);
                }
            };
            let bytes = before + more;
            if bytes < whole && !last {
                // The source pauses: time to look after what is done, and to make it durable if that is wanted at all.
                self.filling = Some((lane, slot, bytes));
                if more == 0 && self.checkpoints.is_indexed() {
                    self.checkpoints.demand();
                }
                self.collect_all()?;
                continue;
            }
            let early = self.submit(lane, slot, bytes)?;
            // A rate, or a table of rates, is about when each chunk begins and ends.
            if self.headroom.is_some() || !self.lanes[lane].may_gather() {
                self.collect(lane, 0)?;
            }
            if last {
                let bits = if early {
                    StatusBits::EARLY_LAST
                } else {
                    StatusBits::default()
                };
                return Ok(StatusBits::FINISHED.with(bits));
            }
        }
    }

    /// Hand a chunk to its drive; true when the stream ended inside it.
    fn submit(&mut self, lane: usize, slot: u32, bytes: usize) -> Result<bool, StreamError> {
        let whole = self.chunk_bytes as usize;
        if bytes == 0 {
            self.lanes[lane].give_slot(slot);
            return Ok(false);
        }
        let early = bytes < whole;
        let unit = self.options.min_io_bytes.max(1) as usize;
        let len_bytes = bytes.next_multiple_of(unit).min(whole);
        let chunk = &mut self.lanes[lane].buffer(slot)[..len_bytes];
        chunk[bytes..].fill(0);
        if self.checkpoints.is_indexed() {
            let entry = Entry {
                crc32c: crc32c::crc32c(&chunk[..bytes]),
                len_bytes: bytes as u32,
            };
            self.checkpoints.note(lane, entry);
        }
        let (_, address) = self.places.place(self.next);
        let purpose = Purpose::Chunk(self.next);
        self.lanes[lane].submit(slot, purpose, Op::Write, address, len_bytes as u32)?;
        if early {
            self.last_bytes = Some(bytes as u64);
        }
        self.next += 1;
        self.done.push_back(false);
        Ok(early)
    }

    /// A free slot on the next chunk's drive, at the time the chunk is there; `None` when something else must be looked at first.
    fn wait_for_slot(&mut self) -> Result<Option<(usize, u32)>, StreamError> {
        let (lane, _) = self.places.place(self.next);
        let due = self.pacing.due(self.next);
        let now = self.now();
        if let Some(due) = due.filter(|&due| due > now) {
            // In steps, so that an order to end is seen.
            let until = due.min(now + LOOK);
            self.lanes[lane].wait_until(until, &mut self.ended)?;
            self.settle()?;
            if self.now() < due {
                return Ok(None);
            }
        }
        self.level(lane)?;
        let wanted_at = due.unwrap_or_else(|| self.now());
        let mut waited = false;
        loop {
            let now = self.now();
            self.checkpoints.advance(self.lanes, self.frontier, now)?;
            let held_up = self.checkpoints.holds_up(self.next);
            // One slot is always left to the index: it must be able to move when the stream cannot.
            let spare = usize::from(self.checkpoints.is_indexed());
            let has_place = !self.is_under_way(self.next.checked_sub(self.places.chunks()));
            // First of all: after a failure nothing more is written.
            if self.failure.is_some() || (waited && self.registers.is_to_end()) {
                return Ok(None);
            }
            if !held_up && has_place && self.lanes[lane].free_slots() > spare {
                break;
            }
            waited = true;
            let at = if held_up {
                self.checkpoints.waits_for(self.lanes).unwrap_or(lane)
            } else {
                lane
            };
            self.collect(at, 1)?;
        }
        let now = self.now();
        let done = self.frontier + self.done.iter().filter(|&&done| done).count() as u64;
        let times = Times {
            wanted_at,
            now,
            waited,
        };
        self.pacing.taken(self.next, done, times, self.registers);
        Ok(self.lanes[lane].take_slot().map(|slot| (lane, slot)))
    }

    fn now(&mut self) -> Nanos {
        latest(self.lanes)
    }

    /// Bring a lane's clock up to the stream's time.
    fn level(&mut self, lane: usize) -> Result<(), StreamError> {
        let now = self.now();
        if self.lanes[lane].now() < now {
            self.lanes[lane].wait_until(now, &mut self.ended)?;
            self.settle()?;
        }
        Ok(())
    }

    /// Take completions of a lane, waiting for `min` of them, at most until it is time to look up.
    fn collect(&mut self, lane: usize, min: usize) -> Result<(), StreamError> {
        let until = match min {
            0 => self.lanes[lane].now(),
            _ => self.lanes[lane].now() + LOOK,
        };
        self.lanes[lane].reap(min, until, &mut self.ended)?;
        self.settle()
    }

    /// Take what has completed on any lane, without waiting.
    fn collect_all(&mut self) -> Result<(), StreamError> {
        for lane in 0..self.lanes.len() {
            self.collect(lane, 0)?;
        }
        // With nothing in flight there is nothing to take, and a checkpoint may be due all the same.
        let now = self.now();
        self.checkpoints.advance(self.lanes, self.frontier, now)
    }

    /// Account for what has ended.
    fn settle(&mut self) -> Result<(), StreamError> {
        if self.ended.is_empty() {
            return Ok(());
        }
        let mut chunks = 0;
        for ended in self.ended.drain(..) {
            if let Some(failure) = ended.failure {
                self.failure.get_or_insert(failure);
                self.checkpoints.failed(ended.purpose);
                continue;
            }
            match ended.purpose {
                Purpose::Chunk(chunk) => {
                    let place = chunk.checked_sub(self.frontier);
                    if let Some(done) = place.and_then(|at| self.done.get_mut(at as usize)) {
                        *done = true;
                        chunks += 1;
                    }
                }
                other => self.checkpoints.ended(other),
            }
        }
        let before = self.frontier;
        while self.done.front() == Some(&true) {
            self.done.pop_front();
            self.frontier += 1;
        }
        let now = self.now();
        if let Some(headroom) = &mut self.headroom {
            headroom.taken(now, chunks * self.chunk_bytes);
        }
        if self.frontier > before {
            let (_, address) = self.places.place(self.frontier - 1);
            self.registers
                .progress(address, self.bytes_of(self.frontier));
        }
        self.checkpoints.advance(self.lanes, self.frontier, now)?;
        let durable = self.checkpoints.durable().min(self.frontier);
        self.registers.durable(self.bytes_of(durable));
        Ok(())
    }

    /// Is this chunk submitted and not yet done? In a ring the next one on its place must wait: a drive keeps no order (NVMe Base 2.0, 3.4.1).
    fn is_under_way(&self, chunk: Option<u64>) -> bool {
        let place = chunk.and_then(|chunk| chunk.checked_sub(self.frontier));
        place.and_then(|at| self.done.get(at as usize)) == Some(&false)
    }

    fn is_full(&self) -> bool {
        self.next >= self.places.chunks()
    }

    /// Bytes of the stream in its first `chunks` chunks.
    fn bytes_of(&self, chunks: u64) -> u64 {
        match self.last_bytes {
            Some(last) if chunks == self.next && chunks > 0 => {
                (chunks - 1) * self.chunk_bytes + last
            }
            _ => chunks * self.chunk_bytes,
        }
    }

    fn source_failed(&self, source: &dyn Source, begun: u64, error: std::io::Error) -> StreamError {
        StreamError::Source {
            source_name: source.name(),
            bytes: self.bytes_of(self.next) + begun,
            source: error,
        }
    }
}
