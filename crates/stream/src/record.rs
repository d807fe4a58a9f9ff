//! While a slot of the next chunk's drive is free: fill it from the source, submit it, reap
//! completions. Otherwise wait for one; that is a stall. Chunks complete in any order;
//! `LAST_ADDRESS_WRITTEN`, bytes and durable bytes describe the contiguous run from the first chunk
//! on.
//!
//! # Time

mod ending;

use std::collections::VecDeque;

use assay_io::{Nanos, Op};

use crate::buffer_table::BufferTable;
use crate::checkpoint::Checkpoints;
use crate::index::{ChunkEntry, IndexLayout, IndexOptions, IndexWriter};
use crate::pacing::{ChunkTimes, StallAccounting};
use crate::queue::{EndedIo, POLL_INTERVAL, StreamQueue, busy_queue, check_queues, latest};
use crate::range::StreamRange;
use crate::registers::{ControlBits, Registers, StatusBits};
use crate::source::{FillResult, StreamSource};
use crate::status::{DeviceFailure, StreamError, StreamStatus};

pub use crate::pacing::SourceRate;

#[derive(Clone, Debug, Default)]
pub struct RecordOptions {
    pub flush_after: bool,
    pub ring: bool,
    pub index: Option<IndexOptions>,
    /// At most a quarter of an indexed ring.
    pub checkpoint_bytes: Option<u64>,
    pub source_rate: Option<SourceRate>,
    /// Smallest I/O of the drives, bytes: a short last chunk is padded to a multiple.
    pub min_io_bytes: u32,
    /// When the range is full, wait until the source reports whether it has more.
    pub ask_for_more: bool,
    pub buffer_table: bool,
}

/// Result of a recording.
#[derive(Clone, Debug)]
pub struct RecordOutcome {
    pub status: StreamStatus,
    pub buffer_table: Option<BufferTable>,
}

/// Default checkpoint interval with an index, bytes.
pub const DEFAULT_CHECKPOINT_BYTES: u64 = 64 << 20;

/// A failed command ends it with `DEVICE_ERROR`; chunks before it stay.
pub fn record(
    queues: &mut [StreamQueue<'_>],
    range: &StreamRange,
    source: &mut dyn StreamSource,
    options: &RecordOptions,
    registers: &Registers,
) -> Result<RecordOutcome, StreamError> {
    let length_bytes = source.length_bytes();
    Recorder::new(queues, range, options, registers, length_bytes)?.run(source)
}

struct Recorder<'a, 't> {
    queues: &'a mut [StreamQueue<'t>],
    range: StreamRange,
    /// The range without the index.
    data: StreamRange,
    options: &'a RecordOptions,
    registers: &'a Registers,
    chunk_bytes: u64,
    began: Nanos,
    next: u64,
    /// The chunk that is being filled: queue, slot, bytes so far.
    filling: Option<(usize, u32, usize)>,
    /// Chunks below this have completed; `done` holds the state of the following ones.
    contiguous_chunks: u64,
    done: VecDeque<bool>,
    /// Bytes in the last chunk if it is short.
    last_bytes: Option<u64>,
    checkpoints: Checkpoints,
    ended: Vec<EndedIo>,
    pacing: StallAccounting,
    buffer_table: Option<BufferTable>,
    failure: Option<DeviceFailure>,
}

impl<'a, 't> Recorder<'a, 't> {
    fn new(
        queues: &'a mut [StreamQueue<'t>],
        range: &StreamRange,
        options: &'a RecordOptions,
        registers: &'a Registers,
        length_bytes: Option<u64>,
    ) -> Result<Recorder<'a, 't>, StreamError> {
        check_queues(queues, range.drives as usize, range.chunk_bytes)?;
        let chunk_bytes = u64::from(range.chunk_bytes);
        let indexed_by_default = options.index.as_ref().map(|_| DEFAULT_CHECKPOINT_BYTES);
        let every = options.checkpoint_bytes.or(indexed_by_default);
        let mut every_chunks = every.map(|bytes| (bytes / chunk_bytes).max(1));
        let slots: u64 = queues.iter().map(|queue| queue.slots() as u64).sum();
        let (mut data, mut writers) = (*range, Vec::new());
        let mut window = u64::MAX;
        if let Some(index) = &options.index {
            let layout = IndexLayout::in_range(range, options.ring, queues[0].name())?;
            // How far the stream may run ahead of the index: the checkpoint in progress, the next
            // one, and the slots.
            let mut every = every_chunks.unwrap_or(1);
            window = 2 * every + slots;
            if options.ring {
                // A crash must leave at least half of a ring.
                let half = (layout.data(range.drives).chunks() / 2).max(1);
                every = every.min(half.div_ceil(2));
                window = (2 * every + slots).min(half);
            }
            every_chunks = Some(every);
            let writer = |queue| {
                let drive = (queue, range.drives);
                IndexWriter::new(index, layout, drive, options.ring, window)
            };
            writers = (0..range.drives).map(writer).collect();
            data = layout.data(range.drives);
        }
        registers.begin();
        let mut checkpoints = Checkpoints::new(writers, every_chunks, window, options.ring);
        let now = latest(queues);
        checkpoints.begin(queues, now)?;
        let began = latest(queues);
        let buffer_table = match options.source_rate {
            _ if options.buffer_table => Some(BufferTable::new(began)),
            Some(rate) => Some(BufferTable::up_to(began, rate.rate_bytes_per_s as f64)),
            None => None,
        };
        let buffer_table = buffer_table.map(|table| table.of_length(length_bytes));
        Ok(Recorder {
            queues,
            range: *range,
            data,
            options,
            registers,
            chunk_bytes,
            began,
            next: 0,
            filling: None,
            contiguous_chunks: 0,
            done: VecDeque::new(),
            last_bytes: None,
            checkpoints,
            ended: Vec::new(),
            pacing: StallAccounting::new(options.source_rate, began, chunk_bytes, length_bytes),
            buffer_table,
            failure: None,
        })
    }

    fn run(mut self, source: &mut dyn StreamSource) -> Result<RecordOutcome, StreamError> {
        let mut status = match self.take_all(source) {
            Ok(status) => status,
            Err(error @ StreamError::Target(_)) => return Err(error),
            Err(error) => {
                // The chunks received before the source failed are completed and reported.
                self.finish(StatusBits::FINISHED)?;
                return Err(error);
            }
        };
        status = self.finish(status)?;
        if self.failure.is_some() {
            status = status.failed();
        }
        let was_full = self.is_full() && !self.options.ring && self.failure.is_none();
        let more = if was_full && !status.has(StatusBits::EARLY_LAST) {
            let wait = self.options.ask_for_more && !self.registers.stop_requested();
            let more = source.has_more(wait, self.registers);
            more.map_err(|e| self.source_failed(source, 0, e))?
        } else {
            Some(false)
        };
        Ok(self.outcome(status, more))
    }

    fn take_all(&mut self, source: &mut dyn StreamSource) -> Result<StatusBits, StreamError> {
        loop {
            if self.failure.is_some() {
                return Ok(StatusBits::DEVICE_ERROR);
            }
            if self.registers.stop_requested() {
                if let Some((queue, slot, bytes)) = self.filling.take() {
                    self.submit(queue, slot, bytes)?;
                }
                return Ok(self.registers.stop_status());
            }
            if self.registers.acknowledge(ControlBits::FLUSH_NOW) {
                self.checkpoints.request();
            }
            if self.filling.is_none() {
                if self.is_full() && !self.options.ring {
                    return Ok(StatusBits::FINISHED);
                }
                let slot = self.wait_for_slot()?;
                self.filling = slot.map(|(queue, slot)| (queue, slot, 0));
            }
            let Some((queue, slot, before)) = self.filling.take() else {
                continue;
            };
            let whole = self.chunk_bytes as usize;
            let rest = &mut self.queues[queue].buffer(slot)[before..whole];
            let FillResult { bytes: more, last } = match source.fill(rest, self.registers) {
                Ok(filled) => filled,
                Err(error) => {
                    // A partial chunk is written.
                    let failed = self.source_failed(source, before as u64, error);
                    self.submit(queue, slot, before)?;
                    return Err(failed);
                }
            };
            let bytes = before + more;
            if bytes < whole && !last {
                // The source pauses: process completions and, with an index, make the stream
                // durable.
                self.filling = Some((queue, slot, bytes));
                if more == 0 && self.checkpoints.is_indexed() {
                    self.checkpoints.request();
                }
                self.collect_all()?;
                continue;
            }
            let early = self.submit(queue, slot, bytes)?;
            // Rates and buffer tables need the exact start and end of each chunk.
            if self.buffer_table.is_some() || !self.queues[queue].may_defer() {
                self.collect(queue, 0)?;
            }
            if last {
                return Ok(StatusBits::FINISHED.with_if(early, StatusBits::EARLY_LAST));
            }
        }
    }

    /// Submit a chunk; true when the stream ended inside it.
    fn submit(&mut self, queue: usize, slot: u32, bytes: usize) -> Result<bool, StreamError> {
        let whole = self.chunk_bytes as usize;
        if bytes == 0 {
            self.queues[queue].give_slot(slot);
            return Ok(false);
        }
        let early = bytes < whole;
        let unit = self.options.min_io_bytes.max(1) as usize;
        let len_bytes = bytes.next_multiple_of(unit).min(whole);
        let chunk = &mut self.queues[queue].buffer(slot)[..len_bytes];
        chunk[bytes..].fill(0);
        if self.checkpoints.is_indexed() {
            let entry =
                ChunkEntry { crc32c: crc32c::crc32c(&chunk[..bytes]), len_bytes: bytes as u32 };
            self.checkpoints.add_entry(queue, entry);
        }
        let (_, address) = self.data.locate(self.next);
        let len_bytes = len_bytes as u32;
        self.queues[queue].submit(slot, Some(self.next), Op::Write, address, len_bytes)?;
        if early {
            self.last_bytes = Some(bytes as u64);
        }
        self.next += 1;
        self.done.push_back(false);
        Ok(early)
    }

    /// A free slot on the next chunk's drive, once the chunk is delivered; `None` when the
    /// registers must be checked first.
    fn wait_for_slot(&mut self) -> Result<Option<(usize, u32)>, StreamError> {
        let (queue, _) = self.data.locate(self.next);
        let due = self.pacing.due(self.next);
        let now = self.now();
        if let Some(due) = due.filter(|&due| due > now) {
            // In steps, so that a stop request is seen.
            let until = due.min(now + POLL_INTERVAL);
            self.queues[queue].wait_until(until, &mut self.ended)?;
            self.process_completions()?;
            if self.now() < due {
                return Ok(None);
            }
        }
        self.advance_clock(queue)?;
        let wanted_at = due.unwrap_or_else(|| self.now());
        let mut waited = false;
        loop {
            let now = self.now();
            self.checkpoints.advance(self.queues, self.contiguous_chunks, now)?;
            let blocked = self.checkpoints.blocks_stream(self.next);
            // One slot is reserved for the index, which must progress when the stream cannot.
            let spare = usize::from(self.checkpoints.is_indexed());
            let address_free = !self.is_in_flight(self.next.checked_sub(self.data.chunks()));
            // First: after a failure nothing more is written.
            if self.failure.is_some() || (waited && self.registers.stop_requested()) {
                return Ok(None);
            }
            if !blocked && address_free && self.queues[queue].free_slots() > spare {
                break;
            }
            waited = true;
            let at = if blocked { busy_queue(self.queues).unwrap_or(queue) } else { queue };
            self.collect(at, 1)?;
        }
        let now = self.now();
        let done = self.contiguous_chunks + self.done.iter().filter(|&&done| done).count() as u64;
        let times = ChunkTimes { wanted_at, now, waited };
        self.pacing.taken(self.next, done, times, self.registers);
        Ok(self.queues[queue].take_slot().map(|slot| (queue, slot)))
    }

    fn now(&mut self) -> Nanos {
        latest(self.queues)
    }

    fn advance_clock(&mut self, queue: usize) -> Result<(), StreamError> {
        let now = self.now();
        if self.queues[queue].now() < now {
            self.queues[queue].wait_until(now, &mut self.ended)?;
            self.process_completions()?;
        }
        Ok(())
    }

    /// Reap completions of a queue: `min` of them, for at most a poll interval.
    fn collect(&mut self, queue: usize, min: usize) -> Result<(), StreamError> {
        let until = match min {
            0 => self.queues[queue].now(),
            _ => self.queues[queue].now() + POLL_INTERVAL,
        };
        self.queues[queue].reap(min, until, &mut self.ended)?;
        self.process_completions()
    }

    /// Reap completions of all queues without waiting.
    fn collect_all(&mut self) -> Result<(), StreamError> {
        for queue in 0..self.queues.len() {
            self.collect(queue, 0)?;
        }
        // A checkpoint may be due with nothing in flight.
        let now = self.now();
        self.checkpoints.advance(self.queues, self.contiguous_chunks, now)
    }

    fn process_completions(&mut self) -> Result<(), StreamError> {
        if self.ended.is_empty() {
            return Ok(());
        }
        let mut chunks = 0;
        for ended in self.ended.drain(..) {
            if let Some(failure) = ended.failure {
                self.checkpoints.failed(ended.chunk.is_some(), &failure);
                self.failure.get_or_insert(failure);
                continue;
            }
            let Some(chunk) = ended.chunk else {
                self.checkpoints.ended();
                continue;
            };
            let index = chunk.checked_sub(self.contiguous_chunks);
            if let Some(done) = index.and_then(|at| self.done.get_mut(at as usize)) {
                *done = true;
                chunks += 1;
            }
        }
        let before = self.contiguous_chunks;
        while self.done.front() == Some(&true) {
            self.done.pop_front();
            self.contiguous_chunks += 1;
        }
        let now = self.now();
        if let Some(buffer_table) = &mut self.buffer_table {
            buffer_table.taken(now, chunks * self.chunk_bytes);
        }
        if self.contiguous_chunks > before {
            let (_, address) = self.data.locate(self.contiguous_chunks - 1);
            self.registers.progress(address, self.bytes_of(self.contiguous_chunks));
        }
        self.checkpoints.advance(self.queues, self.contiguous_chunks, now)?;
        let durable = self.checkpoints.durable().min(self.contiguous_chunks);
        self.registers.durable(self.bytes_of(durable));
        Ok(())
    }

    /// Whether this chunk is in flight. In a ring, the next chunk for its address must wait: a
    /// drive need not keep the order (NVMe Base 2.0, 3.4.1).
    fn is_in_flight(&self, chunk: Option<u64>) -> bool {
        let index = chunk.and_then(|chunk| chunk.checked_sub(self.contiguous_chunks));
        index.and_then(|at| self.done.get(at as usize)) == Some(&false)
    }

    fn is_full(&self) -> bool {
        self.next >= self.data.chunks()
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

    fn source_failed(
        &self,
        source: &dyn StreamSource,
        begun: u64,
        error: std::io::Error,
    ) -> StreamError {
        StreamError::Source {
            source_name: source.name(),
            bytes: self.bytes_of(self.next) + begun,
            source: error,
        }
    }
}
