use std::collections::VecDeque;
use std::io;

use assay_io::{Nanos, Op};

use crate::index::Recording;
use crate::queue::{EndedIo, POLL_INTERVAL, StreamQueue, busy_queue, check_queues, latest};
use crate::range::StreamRange;
use crate::registers::{Registers, StatusBits};
use crate::source::StreamSink;
use crate::status::{DeviceFailure, Stall, StreamError, StreamStatus};

pub enum ReplaySource<'r> {
    /// Bytes of a range as they are. `None`: all of it.
    Raw(StreamRange, Option<u64>),
    /// An indexed recording; every chunk is checked before it is delivered.
    Recording(&'r mut Recording),
}

#[derive(Clone, Copy, Debug, Default)]
pub struct ReplayOptions {
    /// Chunks with a wrong checksum are delivered as they are (`assay verify`).
    pub keep_going: bool,
    /// Smallest I/O of the drives, bytes.
    pub min_io_bytes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BadChunk {
    pub chunk: u64,
    /// Drive, numbered from 0 as in the recording.
    #[serde(rename = "lane")]
    pub drive: usize,
    pub address: u64,
}

#[derive(Clone, Debug, Default)]
pub struct ReplayOutcome {
    pub status: StreamStatus,
    pub checked_chunks: u64,
    /// Chunks with a wrong checksum.
    pub bad_chunks: u64,
    pub first_bad: Option<BadChunk>,
    /// Chunks that must exist and are not in the index: [`Recording::missing`].
    pub missing_chunks: u64,
    /// Incomplete chunks at the end that were never reported durable.
    pub not_durable_chunks: u64,
    /// Chunks at the old end of a ring that were being overwritten.
    pub partially_overwritten_chunks: u64,
    /// The replay of a recording ended by itself without a chunk checked, and no header says that
    /// the recording has none.
    pub nothing_checked: bool,
}

impl ReplayOutcome {
    pub fn is_right(&self) -> bool {
        self.bad_chunks == 0 && self.missing_chunks == 0 && !self.nothing_checked
    }
}

/// Failed commands are in the status.
pub fn replay(
    queues: &mut [StreamQueue<'_>],
    mut what: ReplaySource<'_>,
    sink: &mut dyn StreamSink,
    options: ReplayOptions,
    registers: &Registers,
) -> Result<ReplayOutcome, StreamError> {
    let (drives, chunk_bytes) = match &what {
        ReplaySource::Raw(range, _) => (range.drives as usize, range.chunk_bytes),
        ReplaySource::Recording(recording) => {
            let chunk_bytes = recording.header().map_or(1, |h| h.layout.chunk_bytes);
            (recording.parts.len(), chunk_bytes)
        }
    };
    check_queues(queues, drives, chunk_bytes)?;
    let mut out = ReplayOutcome::default();
    if let ReplaySource::Recording(recording) = &mut what {
        out.missing_chunks = recording.missing;
        out.partially_overwritten_chunks = recording.trim(queues)?;
        sink.begin(recording.first_byte());
    }
    Replayer::new(queues, what, options, registers, out).run(sink)
}

#[derive(Debug)]
struct PendingRead {
    chunk: u64,
    queue: usize,
    slot: u32,
    done: bool,
    failure: Option<DeviceFailure>,
}

struct Replayer<'a, 't, 'r> {
    queues: &'a mut [StreamQueue<'t>],
    what: ReplaySource<'r>,
    options: ReplayOptions,
    registers: &'a Registers,
    chunk_bytes: u64,
    from: u64,
    to: u64,
    last_bytes: u64,
    next: u64,
    reading: VecDeque<PendingRead>,
    ended: Vec<EndedIo>,
    began: Nanos,
    out: ReplayOutcome,
    bytes: u64,
}

impl<'a, 't, 'r> Replayer<'a, 't, 'r> {
    fn new(
        queues: &'a mut [StreamQueue<'t>],
        what: ReplaySource<'r>,
        options: ReplayOptions,
        registers: &'a Registers,
        mut out: ReplayOutcome,
    ) -> Replayer<'a, 't, 'r> {
        let status = &mut out.status;
        status.drives = queues.len() as u32;
        let (from, to, last_bytes) = match &what {
            ReplaySource::Raw(range, bytes) => {
                (status.first_address, status.last_address) = (range.first, range.last);
                status.chunk_bytes = range.chunk_bytes;
                let chunk = u64::from(range.chunk_bytes);
                let bytes = bytes.map_or(range.bytes(), |bytes| bytes.min(range.bytes()));
                let chunks = bytes.div_ceil(chunk);
                (0, chunks, bytes - chunks.saturating_sub(1) * chunk)
            }
            ReplaySource::Recording(recording) => {
                status.chunk_bytes = 1;
                if let Some(header) = recording.header() {
                    let data = header.layout.data(header.drives);
                    (status.first_address, status.last_address) = (data.first, data.last);
                    status.chunk_bytes = data.chunk_bytes;
                }
                // The index holds the length of each chunk.
                (recording.from, recording.to, u64::from(status.chunk_bytes))
            }
        };
        registers.begin();
        Replayer {
            began: latest(queues),
            queues,
            what,
            options,
            registers,
            chunk_bytes: u64::from(out.status.chunk_bytes),
            from,
            to,
            last_bytes,
            next: from,
            reading: VecDeque::new(),
            ended: Vec::new(),
            out,
            bytes: 0,
        }
    }

    fn run(mut self, sink: &mut dyn StreamSink) -> Result<ReplayOutcome, StreamError> {
        let ending = self.all(sink);
        // Buffers must not be freed with I/Os in flight.
        self.drain()?;
        let mut status = ending?;
        if status.has(StatusBits::STOPPED) {
            // An ABORT may have followed.
            status = self.registers.stop_status();
        }
        let out = &mut self.out.status;
        if out.failure.is_some() {
            status = status.failed();
        }
        if let Some(address) = out.last_address_written {
            status = status.with(StatusBits::LAST_VALID);
            self.registers.progress(address, self.bytes);
        }
        self.registers.set_status(status);
        out.status = status;
        out.bytes = self.bytes;
        out.beats = self.bytes.div_ceil(crate::registers::BEAT_BYTES);
        out.elapsed_ns = latest(self.queues).0 - self.began.0;
        Ok(self.out)
    }

    fn all(&mut self, sink: &mut dyn StreamSink) -> Result<StatusBits, StreamError> {
        for chunk in self.from..self.to {
            if self.registers.stop_requested() {
                return Ok(self.registers.stop_status());
            }
            self.read_ahead()?;
            if !self.wait_for(chunk)? {
                return Ok(self.registers.stop_status());
            }
            if let Some(end) = self.deliver(sink)? {
                return Ok(end);
            }
        }
        Ok(self.finished())
    }

    /// How a stream ended that was not stopped: finished only if all of a recording was checked.
    fn finished(&mut self) -> StatusBits {
        if let ReplaySource::Recording(recording) = &self.what {
            self.out.nothing_checked = self.out.checked_chunks == 0 && !recording.is_whole();
        }
        let skipped = self.out.bad_chunks > 0 && !self.options.keep_going;
        if skipped || self.out.missing_chunks > 0 || self.out.nothing_checked {
            return StatusBits::default();
        }
        let early = !self.bytes.is_multiple_of(self.chunk_bytes);
        StatusBits::FINISHED.with_if(early, StatusBits::EARLY_LAST)
    }

    /// Submit reads while slots are free; one per queue is reserved for the index.
    fn read_ahead(&mut self) -> Result<(), StreamError> {
        while self.next < self.to {
            let (queue, address) = self.locate(self.next);
            if self.queues[queue].free_slots() <= 1 {
                break;
            }
            let Some(slot) = self.queues[queue].take_slot() else {
                break;
            };
            let len_bytes = self.read_len(self.next);
            self.queues[queue].submit(slot, Some(self.next), Op::Read, address, len_bytes)?;
            self.reading.push_back(PendingRead {
                chunk: self.next,
                queue,
                slot,
                done: false,
                failure: None,
            });
            self.next += 1;
        }
        Ok(())
    }

    fn locate(&self, chunk: u64) -> (usize, u64) {
        match &self.what {
            ReplaySource::Raw(range, _) => range.locate(chunk),
            ReplaySource::Recording(recording) => {
                let (queue, _, address) = recording.locate(chunk);
                (queue, address)
            }
        }
    }

    /// Bytes to read of a chunk: the last one of a raw range may be short.
    fn read_len(&self, chunk: u64) -> u32 {
        let unit = u64::from(self.options.min_io_bytes.max(1));
        let bytes = if chunk + 1 == self.to { self.last_bytes } else { self.chunk_bytes };
        bytes.next_multiple_of(unit).min(self.chunk_bytes) as u32
    }

    fn wait_for(&mut self, chunk: u64) -> Result<bool, StreamError> {
        let Some(&PendingRead { queue, .. }) = self.reading.front() else {
            return Ok(false);
        };
        let began = self.queues[queue].now();
        let mut waited = false;
        while self.reading.front().is_some_and(|front| !front.done) {
            if waited && self.registers.stop_requested() {
                return Ok(false);
            }
            // The first reap starts submitted I/Os and takes what is there.
            let until = self.queues[queue].now() + POLL_INTERVAL;
            self.queues[queue].reap(usize::from(waited), until, &mut self.ended)?;
            self.process_completions();
            waited |= self.reading.front().is_some_and(|front| !front.done);
        }
        let now = self.queues[queue].now();
        if waited && now > began {
            let stall = Stall {
                // The clock of one drive may be behind the start, which is the latest of all
                // clocks.
                at_ns: began.0.saturating_sub(self.began.0),
                duration_ns: now.0 - began.0,
                late_ns: 0,
                chunk,
            };
            self.out.status.stalls.add(stall, None);
            self.registers.stalled(stall.duration_ns);
        }
        Ok(true)
    }

    fn process_completions(&mut self) {
        let front = self.reading.front().map(|front| front.chunk);
        for ended in self.ended.drain(..) {
            if let (Some(chunk), Some(front)) = (ended.chunk, front)
                && let Some(reading) = self.reading.get_mut((chunk - front) as usize)
            {
                (reading.done, reading.failure) = (true, ended.failure);
            }
        }
    }

    /// Check the oldest chunk and deliver it; returns the status if the stream ends before it.
    fn deliver(&mut self, sink: &mut dyn StreamSink) -> Result<Option<StatusBits>, StreamError> {
        let Some(PendingRead { chunk, queue, slot, failure, .. }) = self.reading.pop_front() else {
            return Ok(Some(self.finished()));
        };
        let (_, address) = self.locate(chunk);
        let mut len = self.read_len(chunk) as usize;
        if chunk + 1 == self.to {
            len = len.min(self.last_bytes as usize);
        }
        let unreadable = failure.is_some();
        if let Some(failure) = failure {
            self.out.status.failure.get_or_insert(failure);
        }
        let mut good = !unreadable;
        let mut durable = true;
        if let ReplaySource::Recording(recording) = &mut self.what {
            let (_, local, _) = recording.locate(chunk);
            let part = &mut recording.parts[queue];
            let entry = part.entry(&mut self.queues[queue], local, &mut self.ended)?;
            // A recording that was stopped without a flush is complete if its header marks it as
            // ended.
            durable = chunk < recording.durable || recording.is_ended();
            let bytes = self.queues[queue].buffer(slot);
            if let Some(entry) = entry.filter(|entry| entry.len_bytes as usize <= bytes.len()) {
                len = entry.len_bytes as usize;
                good &= entry.is_of(bytes);
            } else {
                good = false;
            }
            self.process_completions();
        }
        if !good && !durable && !unreadable {
            self.out.not_durable_chunks = self.to - chunk;
            self.queues[queue].give_slot(slot);
            return Ok(Some(self.finished()));
        }
        self.out.checked_chunks += u64::from(matches!(self.what, ReplaySource::Recording(_)));
        if !good {
            self.out.bad_chunks += 1;
            let bad = BadChunk { chunk, drive: queue, address };
            self.out.first_bad.get_or_insert(bad);
            if !self.options.keep_going {
                self.queues[queue].give_slot(slot);
                return Ok(Some(self.finished()));
            }
        }
        self.put(sink, (queue, slot), len, address)
    }

    /// Hands a checked chunk to the sink; returns the status if the stream is stopped there.
    fn put(
        &mut self,
        sink: &mut dyn StreamSink,
        (queue, slot): (usize, u32),
        len: usize,
        address: u64,
    ) -> Result<Option<StatusBits>, StreamError> {
        let bytes = &self.queues[queue].buffer(slot)[..len];
        let put = sink.put(bytes, self.registers);
        self.queues[queue].give_slot(slot);
        if let Err(source) = put {
            if source.kind() == io::ErrorKind::Interrupted && self.registers.stop_requested() {
                // A partially taken chunk does not count.
                return Ok(Some(self.registers.stop_status()));
            }
            return Err(StreamError::Sink { sink_name: sink.name(), bytes: self.bytes, source });
        }
        self.bytes += len as u64;
        self.out.status.chunks += 1;
        self.out.status.last_address_written = Some(address);
        self.registers.progress(address, self.bytes);
        Ok(None)
    }

    fn drain(&mut self) -> Result<(), StreamError> {
        while let Some(at) = busy_queue(self.queues) {
            let until = self.queues[at].now() + POLL_INTERVAL;
            self.queues[at].reap(1, until, &mut self.ended)?;
        }
        for reading in self.reading.drain(..) {
            self.queues[reading.queue].give_slot(reading.slot);
        }
        Ok(())
    }
}
