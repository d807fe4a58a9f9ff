//! Making a recording durable while it goes on: index blocks, then a flush, then the word.

use std::collections::VecDeque;

use assay_io::{Nanos, Op};

use crate::index::{BLOCK_BYTES, Entry, IndexWriter};
use crate::lane::{Ended, Lane, Purpose};
use crate::status::StreamError;

/// What a checkpoint is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Idle,
    /// Index blocks are being written.
    Index,
    /// Flushes are under way.
    Flush,
}

/// A block of the index waiting for a slot: lane, address, bytes.
type Queued = (usize, u64, Box<[u8; BLOCK_BYTES as usize]>);

/// Checkpoints of a recording, one at a time.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    writers: Vec<IndexWriter>,
    every_chunks: Option<u64>,
    /// How far the stream may be ahead of the index, chunks.
    window_chunks: u64,
    /// Ahead of an index that is flushed, that is: in a ring the stream writes over what the index before tells of.
    ring: bool,
    step: Step,
    /// Chunks that the checkpoint under way covers, and those that the one before did.
    covers: u64,
    indexed: u64,
    durable: u64,
    queued: VecDeque<Queued>,
    to_flush: VecDeque<usize>,
    in_flight: usize,
    demanded: bool,
    /// The last one may leave out the flush.
    flush: bool,
    /// Something it wrote failed: nothing more becomes durable.
    broken: bool,
    /// A chunk failed. The drive may have lost its power, and with it what it had taken before: nothing more is called durable, only told of,
    /// for the checksums to judge.
    doubtful: bool,
}

impl Checkpoints {
    pub fn new(
        writers: Vec<IndexWriter>,
        every_chunks: Option<u64>,
        window_chunks: u64,
        ring: bool,
    ) -> Checkpoints {
        Checkpoints {
            writers,
            every_chunks,
            window_chunks,
            ring,
            step: Step::Idle,
            covers: 0,
            indexed: 0,
            durable: 0,
            queued: VecDeque::new(),
            to_flush: VecDeque::new(),
            in_flight: 0,
            demanded: false,
            flush: true,
            broken: false,
            doubtful: false,
        }
    }

    pub fn is_indexed(&self) -> bool {
        !self.writers.is_empty()
    }

    /// Chunks that are durable.
    pub fn durable(&self) -> u64 {
        self.durable
    }

    /// The next chunk of a lane was taken.
    pub fn note(&mut self, lane: usize, entry: Entry) {
        if let Some(writer) = self.writers.get_mut(lane) {
            writer.note(entry);
        }
    }

    /// Make what is done durable as soon as possible.
    pub fn demand(&mut self) {
        self.demanded = true;
    }

    /// Must the stream wait before it takes this chunk, because the index is too far behind?
    pub fn holds_up(&self, next: u64) -> bool {
        self.is_indexed() && !self.broken && next.saturating_sub(self.indexed) >= self.window_chunks
    }

    /// A lane on which something is in flight for whoever must wait for the index.
    pub fn waits_for(&self, lanes: &[Lane<'_>]) -> Option<usize> {
        (0..lanes.len()).find(|&lane| lanes[lane].in_flight() > 0)
    }

    /// Put the header on the drives and wait until it is there, before the first chunk.
    pub fn begin(&mut self, lanes: &mut [Lane<'_>], now: Nanos) -> Result<(), StreamError> {
        if !self.is_indexed() {
            return Ok(());
        }
        for (lane, writer) in self.writers.iter_mut().enumerate() {
            let writes = writer.begin().into_iter();
            self.queued
                .extend(writes.map(|(address, block)| (lane, address, block)));
        }
        self.to_flush.extend(0..lanes.len());
        self.step = Step::Index;
        let mut ended: Vec<Ended> = Vec::new();
        self.advance(lanes, 0, now)?;
        while self.step != Step::Idle {
            let Some(lane) = self.waits_for(lanes) else {
                break;
            };
            lanes[lane].reap(1, Nanos::MAX, &mut ended)?;
            for ended in ended.drain(..) {
                if let Some(failure) = ended.failure {
                    return Err(crate::index::IndexError::Device(failure).into());
                }
                self.ended(ended.purpose);
            }
            self.advance(lanes, 0, now)?;
        }
        Ok(())
    }

    /// Nobody waits for that any more.
    pub fn forget_demand(&mut self) {
        self.demanded = false;
    }

    /// Something of the checkpoint has ended.
    pub fn ended(&mut self, purpose: Purpose) {
        debug_assert!(!matches!(purpose, Purpose::Chunk(_)));
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// Something failed. Without index or flush nothing more becomes durable; a chunk that failed stops the run of those that are done, and
    /// what lies before it can still be told of.
    pub fn failed(&mut self, purpose: Purpose) {
        if matches!(purpose, Purpose::Chunk(_)) {
            self.doubtful = true;
        } else {
            self.broken = true;
            self.ended(purpose);
        }
    }

    /// Go on with the checkpoint as far as slots allow, or begin one if it is time. `frontier`: chunks that are done.
    pub fn advance(
        &mut self,
        lanes: &mut [Lane<'_>],
        frontier: u64,
        now: Nanos,
    ) -> Result<(), StreamError> {
        if self.broken {
            self.queued.clear();
            self.to_flush.clear();
            self.step = Step::Idle;
            return Ok(());
        }
        if self.step == Step::Idle {
            let due = self
                .every_chunks
                .is_some_and(|every| frontier >= self.covers + every);
            let demanded = self.demanded && frontier > self.durable;
            if !due && !demanded {
                return Ok(());
            }
            self.start(lanes.len(), frontier, None);
        }
        self.push(lanes, now)
    }

    /// Nothing of the stream is in flight any more, `chunks` are done: a last checkpoint, and with `stream_bytes` the word that this was all,
    /// unless something failed.
    pub fn end(
        &mut self,
        lanes: &mut [Lane<'_>],
        chunks: u64,
        stream_bytes: Option<u64>,
        flush: bool,
        now: Nanos,
    ) -> Result<(), StreamError> {
        // Everything in flight has ended, so the checkpoint before has, too.
        if !flush && !self.is_indexed() || self.broken {
            return Ok(());
        }
        if self.doubtful && stream_bytes.is_some() && flush {
            // It has had its last checkpoint; the word is not said.
            return Ok(());
        }
        let stream_bytes = stream_bytes.filter(|_| !self.doubtful);
        self.flush = flush;
        self.start(lanes.len(), chunks, stream_bytes);
        self.push(lanes, now)
    }

    fn start(&mut self, lanes: usize, frontier: u64, stream_bytes: Option<u64>) {
        self.demanded = false;
        self.covers = frontier;
        self.step = Step::Index;
        for (lane, writer) in self.writers.iter_mut().enumerate() {
            let finished = of_lane(frontier, lane, lanes);
            let writes = writer.checkpoint(finished, stream_bytes).into_iter();
            self.queued
                .extend(writes.map(|(address, block)| (lane, address, block)));
        }
        self.to_flush.extend(0..lanes);
    }

    fn push(&mut self, lanes: &mut [Lane<'_>], now: Nanos) -> Result<(), StreamError> {
        loop {
            match self.step {
                Step::Idle => return Ok(()),
                Step::Index => {
                    while let Some((lane, address, block)) = self.queued.pop_front() {
                        let Some(slot) = lanes[lane].take_slot() else {
                            self.queued.push_front((lane, address, block));
                            return Ok(());
                        };
                        level(&mut lanes[lane], now)?;
                        lanes[lane].buffer(slot)[..block.len()].copy_from_slice(&block[..]);
                        let len_bytes = block.len() as u32;
                        lanes[lane].submit(slot, Purpose::Index, Op::Write, address, len_bytes)?;
                        self.in_flight += 1;
                    }
                    if self.in_flight > 0 {
                        return Ok(());
                    }
                    if !self.ring {
                        self.indexed = self.covers;
                    }
                    self.step = Step::Flush;
                    if !self.flush {
                        self.to_flush.clear();
                        self.step = Step::Idle;
                    }
                }
                Step::Flush => {
                    while let Some(lane) = self.to_flush.pop_front() {
                        let Some(slot) = lanes[lane].take_slot() else {
                            self.to_flush.push_front(lane);
                            return Ok(());
                        };
                        level(&mut lanes[lane], now)?;
                        lanes[lane].submit(slot, Purpose::Flush(self.covers), Op::Flush, 0, 0)?;
                        self.in_flight += 1;
                    }
                    if self.in_flight > 0 {
                        return Ok(());
                    }
                    self.step = Step::Idle;
                    self.indexed = self.covers;
                    if self.doubtful {
                        return Ok(());
                    }
                    self.durable = self.durable.max(self.covers);
                    for (lane, writer) in self.writers.iter_mut().enumerate() {
                        // What was just written may now be written a second time.
                        writer.durable(of_lane(self.covers, lane, lanes.len()));
                    }
                }
            }
        }
    }
}

/// Chunks of a lane among the first so many of the stream.
fn of_lane(chunks: u64, lane: usize, lanes: usize) -> u64 {
    (chunks + (lanes - 1 - lane) as u64) / lanes as u64
}

/// A simulated drive that was left alone is behind; what is given to it now is given at the stream's time. Completions are taken by
/// whoever collects: here is only waited without anything in flight.
fn level(lane: &mut Lane<'_>, now: Nanos) -> Result<(), StreamError> {
    if lane.in_flight() == 0 && lane.now() < now {
        let mut none = Vec::new();
        lane.wait_until(now, &mut none)?;
    }
    Ok(())
}
