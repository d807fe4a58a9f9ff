//! Replaying: a stream from drives, in order, whatever order it is read in.

use std::io;

use assay_io::{Nanos, Op};

use crate::index::Recording;
use crate::lane::{Ended, LOOK, Lane, Purpose, fits, latest};
use crate::range::Range;
use crate::registers::{Control, Registers, StatusBits};
use crate::source::Sink;
use crate::status::{DeviceFailure, Stall, Status, StreamError};

/// What to replay.
pub enum What<'r> {
    /// Bytes of a range as they are. `None`: all of it.
    Raw(Range, Option<u64>),
    /// A recording that describes itself, every chunk checked before it is handed on.
    Recording(&'r mut Recording),
}

/// How to replay.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplayOptions {
    /// Go on over chunks whose checksum is wrong, count them, and hand them on as they are (`assay verify`).
    pub go_on: bool,
    /// Smallest I/O of the drives, bytes.
    pub min_io_bytes: u32,
}

/// A chunk that is not what was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BadChunk {
    /// Number in the stream.
    pub chunk: u64,
    /// Which drive, counted as in the recording from 0.
    pub lane: usize,
    /// Where on it.
    pub address: u64,
}

/// What came of a replay.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// Registers and counts; `bytes` were handed on.
    pub status: Status,
    /// Chunks checked against the index.
    pub checked_chunks: u64,
    /// Chunks that are not what was recorded.
    pub bad_chunks: u64,
    /// The first of them.
    pub first_bad: Option<BadChunk>,
    /// Chunks that must be there and of which the index does not tell: [`Recording::missing`].
    pub missing_chunks: u64,
    /// Chunks at the end that were never told to be durable and are not whole: where the recorder was cut off.
    pub not_durable_chunks: u64,
    /// Chunks at the old end of a ring that were being written over when the recorder was cut off.
    pub frayed_chunks: u64,
}

impl Replayed {
    /// Is everything that was checked what was recorded, and nothing of it missing?
    pub fn is_right(&self) -> bool {
        self.bad_chunks == 0 && self.missing_chunks == 0
    }
}

/// Replay a stream to a sink.
///
/// # Errors
/// When the sink fails, the lanes' slots are smaller than a chunk, or a target as a whole cannot go on. What the drive fails is in the status.
pub fn replay(
    lanes: &mut [Lane<'_>],
    mut what: What<'_>,
    sink: &mut dyn Sink,
    options: ReplayOptions,
    registers: &Registers,
) -> Result<Replayed, StreamError> {
    let needed = match &what {
        What::Raw(range, _) => range.lanes as usize,
        What::Recording(recording) => recording.parts.len(),
    };
    if lanes.is_empty() || lanes.len() != needed || lanes.iter().any(|lane| lane.slots() < 2) {
        return Err(StreamError::NoSlots { needed: 2 });
    }
    let chunk_bytes = match &what {
        What::Raw(range, _) => range.chunk_bytes,
        What::Recording(recording) => recording.header().map_or(1, |h| h.layout.chunk_bytes),
    };
    fits(lanes, chunk_bytes)?;
    let (mut frayed_chunks, mut missing_chunks) = (0, 0);
    if let What::Recording(recording) = &mut what {
        missing_chunks = recording.missing;
        frayed_chunks = recording.trim(lanes)?;
        sink.begin(recording.first_byte());
    }
    let mut replayed = Replayer::new(lanes, what, options, registers).run(sink)?;
    replayed.frayed_chunks = frayed_chunks;
    replayed.missing_chunks = missing_chunks;
    Ok(replayed)
}

/// A chunk that is being read or waits for those before it.
#[derive(Debug)]
struct Reading {
    chunk: u64,
    lane: usize,
    slot: u32,
    done: bool,
    failure: Option<DeviceFailure>,
}

/// What became of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handed {
    /// It went on, whole.
    On,
    /// The stream ends before it.
    End,
    /// Told to end while it was handed on: not all of it went.
    Cut,
}

struct Replayer<'a, 't, 'r> {
    lanes: &'a mut [Lane<'t>],
    what: What<'r>,
    options: ReplayOptions,
    registers: &'a Registers,
    chunk_bytes: u64,
    /// Chunks of the stream to be handed on: from, to.
    from: u64,
    to: u64,
    /// Bytes in the last of them.
    last_bytes: u64,
    next: u64,
    reading: std::collections::VecDeque<Reading>,
    ended: Vec<Ended>,
    began: Nanos,
    out: Replayed,
    bytes: u64,
}

impl<'a, 't, 'r> Replayer<'a, 't, 'r> {
    fn new(
        lanes: &'a mut [Lane<'t>],
        what: What<'r>,
        options: ReplayOptions,
        registers: &'a Registers,
    ) -> Replayer<'a, 't, 'r> {
        let (chunk_bytes, from, to, last_bytes, first, last) = match &what {
            What::Raw(range, bytes) => {
                let chunk = u64::from(range.chunk_bytes);
                let bytes = bytes.unwrap_or(u64::MAX).min(range.bytes());
                let chunks = bytes.div_ceil(chunk);
                let last_bytes = bytes - chunks.saturating_sub(1) * chunk;
                (
                    range.chunk_bytes,
                    0,
                    chunks,
                    last_bytes,
                    range.first,
                    range.last,
                )
            }
            What::Recording(recording) => {
                let layout = recording.header().map(|h| h.layout);
                let chunk_bytes = layout.map_or(1, |l| l.chunk_bytes);
                let first = layout.map_or(0, |l| l.data_first);
                let last = layout.map_or(0, |l| l.chunk_address(l.chunks - 1));
                // Entries say how long each chunk is.
                let whole = u64::from(chunk_bytes);
                (
                    chunk_bytes,
                    recording.from,
                    recording.to,
                    whole,
                    first,
                    last,
                )
            }
        };
        registers.begin(first, last, chunk_bytes);
        let began = latest(lanes);
        let status = Status {
            first_address: first,
            last_address: last,
            chunk_bytes,
            lanes: lanes.len() as u32,
            ..Status::default()
        };
        Replayer {
            lanes,
            what,
            options,
            registers,
            chunk_bytes: u64::from(chunk_bytes),
            from,
            to,
            last_bytes,
            next: from,
            reading: std::collections::VecDeque::new(),
            ended: Vec::new(),
            began,
            out: Replayed {
                status,
                checked_chunks: 0,
                bad_chunks: 0,
                first_bad: None,
                missing_chunks: 0,
                not_durable_chunks: 0,
                frayed_chunks: 0,
            },
            bytes: 0,
        }
    }

    fn run(mut self, sink: &mut dyn Sink) -> Result<Replayed, StreamError> {
        let ending = self.all(sink);
        // Nothing may be in flight when buffers go, whatever happened.
        self.drain()?;
        let mut status = ending?;
        if self.out.status.failure.is_some() {
            status = status
                .without(StatusBits::FINISHED)
                .with(StatusBits::DEVICE_ERROR);
        }
        if let Some(address) = self.out.status.last_address_written {
            status = status.with(StatusBits::LAST_VALID);
            self.registers.progress(address, self.bytes);
        }
        self.registers.set_status(status);
        let end = latest(self.lanes);
        let out = &mut self.out.status;
        out.status = status;
        out.bytes = self.bytes;
        out.beats = self.bytes.div_ceil(crate::registers::BEAT_BYTES);
        out.elapsed_ns = end.0.saturating_sub(self.began.0);
        Ok(self.out)
    }

    fn all(&mut self, sink: &mut dyn Sink) -> Result<StatusBits, StreamError> {
        for chunk in self.from..self.to {
            if self.registers.is_to_end() {
                return Ok(self.told_to_end());
            }
            self.read_ahead()?;
            if !self.wait_for(chunk)? {
                // Told to end while waiting.
                return Ok(self.told_to_end());
            }
            match self.hand_on(sink)? {
                Handed::On => {}
                Handed::End => break,
                Handed::Cut => return Ok(self.told_to_end()),
            }
        }
        let early = !self.bytes.is_multiple_of(self.chunk_bytes);
        let early = if early {
            StatusBits::EARLY_LAST
        } else {
            StatusBits::default()
        };
        Ok(StatusBits::FINISHED.with(early))
    }

    /// Why it ends before its end.
    fn told_to_end(&self) -> StatusBits {
        if self.registers.commanded(Control::ABORT) {
            StatusBits::ABORTED
        } else {
            StatusBits::STOPPED
        }
    }

    /// Submit reads as far ahead as there are slots. One per lane is left for the index.
    fn read_ahead(&mut self) -> Result<(), StreamError> {
        while self.next < self.to {
            let (lane, address) = self.place(self.next);
            if self.lanes[lane].free_slots() <= 1 {
                break;
            }
            let Some(slot) = self.lanes[lane].take_slot() else {
                break;
            };
            let len_bytes = self.read_len(self.next);
            let purpose = Purpose::Chunk(self.next);
            self.lanes[lane].submit(slot, purpose, Op::Read, address, len_bytes)?;
            self.reading.push_back(Reading {
                chunk: self.next,
                lane,
                slot,
                done: false,
                failure: None,
            });
            self.next += 1;
        }
        Ok(())
    }

    fn place(&self, chunk: u64) -> (usize, u64) {
        match &self.what {
            What::Raw(range, _) => range.place(chunk),
            What::Recording(recording) => {
                let (lane, _, address) = recording.place(chunk);
                (lane, address)
            }
        }
    }

    /// Bytes to read of a chunk: the last one of a raw range may be short.
    fn read_len(&self, chunk: u64) -> u32 {
        let unit = u64::from(self.options.min_io_bytes.max(1));
        let bytes = if chunk + 1 == self.to {
            self.last_bytes
        } else {
            self.chunk_bytes
        };
        bytes.next_multiple_of(unit).min(self.chunk_bytes) as u32
    }

    /// Wait until the chunk, the oldest that is being read, is there; false when it will not come.
    fn wait_for(&mut self, chunk: u64) -> Result<bool, StreamError> {
        let Some(&Reading { lane, .. }) = self.reading.front() else {
            return Ok(false);
        };
        let began = self.lanes[lane].now();
        let mut waited = false;
        while self.reading.front().is_some_and(|front| !front.done) {
            if waited && self.registers.is_to_end() {
                return Ok(false);
            }
            // The first look starts what was submitted and takes what is there.
            let until = self.lanes[lane].now() + LOOK;
            self.lanes[lane].reap(usize::from(waited), until, &mut self.ended)?;
            self.settle();
            waited |= self.reading.front().is_some_and(|front| !front.done);
        }
        let now = self.lanes[lane].now();
        if waited && now > began {
            let stall = Stall {
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

    fn settle(&mut self) {
        for ended in self.ended.drain(..) {
            let Purpose::Chunk(chunk) = ended.purpose else {
                continue;
            };
            let Some(front) = self.reading.front().map(|front| front.chunk) else {
                continue;
            };
            if let Some(reading) = self.reading.get_mut(chunk.wrapping_sub(front) as usize) {
                (reading.done, reading.failure) = (true, ended.failure);
            }
        }
    }

    /// Check the oldest chunk and hand it on.
    fn hand_on(&mut self, sink: &mut dyn Sink) -> Result<Handed, StreamError> {
        let Some(Reading {
            chunk,
            lane,
            slot,
            failure,
            ..
        }) = self.reading.pop_front()
        else {
            return Ok(Handed::End);
        };
        let (_, address) = self.place(chunk);
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
        if let What::Recording(recording) = &mut self.what {
            let (_, local, _) = recording.place(chunk);
            let part = &mut recording.parts[lane];
            let entry = part.entry(&mut self.lanes[lane], local, &mut self.ended)?;
            // What was stopped without a flush was whole all the same when its recorder said that it ended.
            durable = chunk < recording.durable || recording.is_ended();
            let bytes = self.lanes[lane].buffer(slot);
            if let Some(entry) = entry.filter(|entry| entry.len_bytes as usize <= bytes.len()) {
                len = entry.len_bytes as usize;
                good &= entry.is_of(bytes);
            } else {
                good = false;
            }
            self.out.checked_chunks += 1;
            self.settle();
        }
        if !good && !durable && !unreadable {
            self.out.not_durable_chunks = self.to - chunk;
            self.lanes[lane].give_slot(slot);
            return Ok(Handed::End);
        }
        if !good {
            self.out.bad_chunks += 1;
            let bad = BadChunk {
                chunk,
                lane,
                address,
            };
            self.out.first_bad.get_or_insert(bad);
            if !self.options.go_on {
                self.lanes[lane].give_slot(slot);
                return Ok(Handed::End);
            }
        }
        let bytes = &self.lanes[lane].buffer(slot)[..len];
        let put = sink.put(bytes, self.registers);
        self.lanes[lane].give_slot(slot);
        if let Err(source) = put {
            if source.kind() == io::ErrorKind::Interrupted && self.registers.is_to_end() {
                // Some of the chunk may have been taken: it does not count.
                return Ok(Handed::Cut);
            }
            return Err(StreamError::Sink {
                sink_name: sink.name(),
                bytes: self.bytes,
                source,
            });
        }
        self.bytes += len as u64;
        self.out.status.chunks += 1;
        self.out.status.last_address_written = Some(address);
        self.registers.progress(address, self.bytes);
        Ok(Handed::On)
    }

    fn drain(&mut self) -> Result<(), StreamError> {
        while let Some(lane) = self.lanes.iter_mut().find(|lane| lane.in_flight() > 0) {
            let until = lane.now() + LOOK;
            lane.reap(1, until, &mut self.ended)?;
        }
        for ended in self.ended.drain(..) {
            if let Purpose::Chunk(chunk) = ended.purpose
                && let Some(reading) = self.reading.iter_mut().find(|r| r.chunk == chunk)
            {
                reading.done = true;
            }
        }
        for reading in self.reading.drain(..) {
            self.lanes[reading.lane].give_slot(reading.slot);
        }
        Ok(())
    }
}
