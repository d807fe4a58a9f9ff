//! Checkpoints: make a recording durable while it continues. Index blocks, then a flush, then the
//! report.

use std::collections::VecDeque;

use assay_io::{Nanos, Op};

use crate::index::{BlockWrite, ChunkEntry, IndexError, IndexWriter};
use crate::queue::{EndedIo, StreamQueue, busy_queue};
use crate::status::{DeviceFailure, StreamError};

/// State of the checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CheckpointStep {
    #[default]
    Idle,
    Index,
    Flush,
}

/// A write waiting for a slot: queue, and address and bytes of an index block; `None`: a flush.
type Queued = (usize, Option<BlockWrite>);

/// Checkpoints of a recording, one at a time.
#[derive(Debug, Default)]
pub(crate) struct Checkpoints {
    writers: Vec<IndexWriter>,
    every_chunks: Option<u64>,
    /// How far the stream may run ahead of the index, chunks.
    window_chunks: u64,
    /// In a ring: ahead of the flushed index, because the stream overwrites chunks of the index
    /// before.
    ring: bool,
    step: CheckpointStep,
    /// Chunks covered by the checkpoint in progress; chunks covered by the previous one.
    covers: u64,
    indexed: u64,
    durable: u64,
    queued: VecDeque<Queued>,
    in_flight: usize,
    requested: bool,
    /// The last checkpoint omits the flush.
    without_flush: bool,
    broken: bool,
    /// The drive may have lost power and the contents of its cache: nothing more is reported
    /// durable; entries are still written, and the checksums decide.
    durability_unknown: bool,
}

impl Checkpoints {
    pub fn new(
        writers: Vec<IndexWriter>,
        every_chunks: Option<u64>,
        window_chunks: u64,
        ring: bool,
    ) -> Checkpoints {
        Checkpoints { writers, every_chunks, window_chunks, ring, ..Checkpoints::default() }
    }

    pub fn is_indexed(&self) -> bool {
        !self.writers.is_empty()
    }

    pub fn durable(&self) -> u64 {
        self.durable
    }

    pub fn add_entry(&mut self, queue: usize, entry: ChunkEntry) {
        if let Some(writer) = self.writers.get_mut(queue) {
            writer.add_entry(entry);
        }
    }

    pub fn request(&mut self) {
        self.requested = true;
    }

    /// Whether the stream must wait before it takes this chunk, because the index is too far
    /// behind.
    pub fn blocks_stream(&self, next: u64) -> bool {
        self.is_indexed() && !self.broken && next - self.indexed >= self.window_chunks
    }

    /// Write the header and wait for it, before the first chunk.
    pub fn begin(&mut self, queues: &mut [StreamQueue<'_>], now: Nanos) -> Result<(), StreamError> {
        if !self.is_indexed() {
            return Ok(());
        }
        self.queue_blocks(|_, writer| writer.begin());
        let mut ended: Vec<EndedIo> = Vec::new();
        self.advance(queues, 0, now)?;
        while self.step != CheckpointStep::Idle
            && let Some(queue) = busy_queue(queues)
        {
            queues[queue].reap(1, Nanos::MAX, &mut ended)?;
            for ended in ended.drain(..) {
                if let Some(failure) = ended.failure {
                    return Err(IndexError::Device(failure).into());
                }
                self.ended();
            }
            self.advance(queues, 0, now)?;
        }
        Ok(())
    }

    pub fn cancel_request(&mut self) {
        self.requested = false;
    }

    /// An I/O of the checkpoint completed.
    pub fn ended(&mut self) {
        let left = self.in_flight.checked_sub(1);
        self.in_flight = left.expect("every I/O of a checkpoint completes once");
    }

    /// An I/O failed; `is_chunk`: of the stream, not of the checkpoint. Full storage has kept what
    /// was written before, so a flush still makes that durable.
    pub fn failed(&mut self, is_chunk: bool, failure: &DeviceFailure) {
        if is_chunk {
            self.durability_unknown |= !failure.is_out_of_space();
        } else {
            self.broken = true;
            self.ended();
        }
    }

    /// Continue the checkpoint as far as slots allow, or start one if it is due.
    pub fn advance(
        &mut self,
        queues: &mut [StreamQueue<'_>],
        contiguous_chunks: u64,
        now: Nanos,
    ) -> Result<(), StreamError> {
        if self.broken {
            self.queued.clear();
            self.step = CheckpointStep::Idle;
            return Ok(());
        }
        if self.step == CheckpointStep::Idle {
            let every = self.every_chunks;
            let due = every.is_some_and(|every| contiguous_chunks >= self.covers + every);
            let requested = self.requested && contiguous_chunks > self.durable;
            if !due && !requested {
                return Ok(());
            }
            self.start(queues.len(), contiguous_chunks, None);
        }
        self.push(queues, now)
    }

    /// The last checkpoint, with nothing of the stream in flight; `stream_bytes` marks it as ended.
    pub fn end(
        &mut self,
        queues: &mut [StreamQueue<'_>],
        chunks: u64,
        stream_bytes: Option<u64>,
        flush: bool,
        now: Nanos,
    ) -> Result<(), StreamError> {
        // Nothing is in flight, so the previous checkpoint has completed.
        if !flush && !self.is_indexed() || self.broken {
            return Ok(());
        }
        if self.durability_unknown && stream_bytes.is_some() && flush {
            // The header is not marked as ended.
            return Ok(());
        }
        let stream_bytes = stream_bytes.filter(|_| !self.durability_unknown);
        self.without_flush = !flush;
        self.start(queues.len(), chunks, stream_bytes);
        self.push(queues, now)
    }

    fn start(&mut self, queues: usize, contiguous_chunks: u64, stream_bytes: Option<u64>) {
        self.requested = false;
        self.covers = contiguous_chunks;
        self.queue_blocks(|queue, writer| {
            let finished = of_drive(contiguous_chunks, queue, queues);
            writer.checkpoint(finished, stream_bytes)
        });
    }

    /// Begin a checkpoint with these blocks of each drive.
    fn queue_blocks(&mut self, blocks: impl Fn(usize, &mut IndexWriter) -> Vec<BlockWrite>) {
        self.step = CheckpointStep::Index;
        for (queue, writer) in self.writers.iter_mut().enumerate() {
            let writes = blocks(queue, writer).into_iter();
            self.queued.extend(writes.map(|write| (queue, Some(write))));
        }
    }

    fn push(&mut self, queues: &mut [StreamQueue<'_>], now: Nanos) -> Result<(), StreamError> {
        while self.step != CheckpointStep::Idle {
            while let Some((at, write)) = self.queued.pop_front() {
                let queue = &mut queues[at];
                let Some(slot) = queue.take_slot() else {
                    self.queued.push_front((at, write));
                    return Ok(());
                };
                advance_clock(queue, now)?;
                match write {
                    Some((address, block)) => {
                        queue.buffer(slot)[..block.len()].copy_from_slice(&block[..]);
                        queue.submit(slot, None, Op::Write, address, block.len() as u32)?;
                    }
                    None => queue.submit(slot, None, Op::Flush, 0, 0)?,
                }
                self.in_flight += 1;
            }
            if self.in_flight > 0 {
                return Ok(());
            }
            if self.step == CheckpointStep::Index {
                if !self.ring {
                    self.indexed = self.covers;
                }
                self.step = CheckpointStep::Idle;
                if !self.without_flush {
                    self.step = CheckpointStep::Flush;
                    self.queued.extend((0..queues.len()).map(|at| (at, None)));
                }
                continue;
            }
            self.step = CheckpointStep::Idle;
            self.indexed = self.covers;
            if !self.durability_unknown {
                self.durable = self.durable.max(self.covers);
                for (queue, writer) in self.writers.iter_mut().enumerate() {
                    // The second copies may be written from now on.
                    writer.durable(of_drive(self.covers, queue, queues.len()));
                }
            }
        }
        Ok(())
    }
}

/// Chunks of one drive among the first `chunks` of the stream.
fn of_drive(chunks: u64, queue: usize, queues: usize) -> u64 {
    (chunks + (queues - 1 - queue) as u64) / queues as u64
}

/// Advance the clock of an idle simulated drive to the stream time.
fn advance_clock(queue: &mut StreamQueue<'_>, now: Nanos) -> Result<(), StreamError> {
    if queue.in_flight() == 0 && queue.now() < now {
        let mut none = Vec::new();
        queue.wait_until(now, &mut none)?;
    }
    Ok(())
}
