//! Random operations, and the sources and sinks that give their commands.

use std::io;

use assay_stream::range::RangeRequest;
use assay_stream::registers::{ControlBits, Registers};
use assay_stream::source::{FillResult, StreamSink, StreamSource};
use assay_units::Rng;

use super::{CHUNK, REGION_CHUNKS};
use crate::common::slot::{Loss, Plan};

/// Something that is done with both streamers.
#[derive(Clone, Debug)]
pub enum Operation {
    Record(Recording),
    Replay(Replaying),
    /// Bytes of one chunk, `None` for all.
    ReadChunk {
        chunk: u64,
        bytes: Option<u64>,
    },
    /// A range that may be refused.
    Ask(RangeRequest),
    /// Commands without START while no session is running: no effect.
    Noise {
        control: u32,
        discards: bool,
    },
    /// A reset between sessions.
    Reset(Reset),
}

/// A reset between sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// By the register of the drive.
    Restart,
    /// Orderly shutdown, then a restart.
    Shutdown,
    /// The link goes down and comes up again.
    Link,
    /// The drive is taken out and another one with its content is put in.
    Exchange,
}

/// A recording.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Chunk numbers of the range.
    pub first: u64,
    pub chunks: u64,
    /// Bytes of the stream, ended by tlast; `None`: without an end.
    pub bytes: Option<u64>,
    /// Bytes given at once, at most.
    pub step: usize,
    pub seed: u64,
    /// Behind these bytes, or shortly after.
    pub command: Option<(u64, ControlBits)>,
    pub flush_after: bool,
    pub plan: Plan,
}

/// A replay.
#[derive(Clone, Debug)]
pub struct Replaying {
    pub first: u64,
    pub chunks: u64,
    pub bytes: Option<u64>,
    pub stop_at: Option<u64>,
    pub plan: Plan,
}

fn one_in(random: &mut Rng, of: u64) -> bool {
    random.below(of) == 0
}

/// A range of chunks: first, count.
fn chunks(random: &mut Rng) -> (u64, u64) {
    let first = random.below(REGION_CHUNKS);
    let most = (REGION_CHUNKS - first).min(if one_in(random, 4) { 14 } else { 5 });
    (first, 1 + random.below(most))
}

fn odd_bytes(random: &mut Rng, chunks: u64) -> u64 {
    let near = random.below(chunks + 1) * CHUNK;
    match random.below(5) {
        0 => near,
        1 => near.saturating_sub(1 + random.below(40)),
        2 => near + 1 + random.below(40),
        3 => near + 512 * random.below(CHUNK / 512),
        _ => random.below(chunks * CHUNK + 1),
    }
}

fn plan(random: &mut Rng, is_write: bool, first: u64, chunks: u64) -> Plan {
    let mut plan = Plan::default();
    match random.below(24) {
        0..3 => {
            let at = (first + random.below(chunks)) * CHUNK + random.below(CHUNK);
            plan.bad = Some((is_write, at));
        }
        3 => {
            let losses = [Loss::LinkDown, Loss::Removal, Loss::NoCompletion];
            let loss = losses[random.below(3) as usize];
            plan.loss = Some((1 + random.below(chunks), loss));
        }
        _ => {}
    }
    plan
}

fn recording(random: &mut Rng) -> Operation {
    let (first, chunks) = chunks(random);
    let bytes = match random.below(4) {
        0 => None,
        1 => Some(chunks * CHUNK),
        _ => Some(odd_bytes(random, chunks).clamp(1, chunks * CHUNK)),
    };
    let plan = plan(random, true, first, chunks);
    let given = bytes.unwrap_or(chunks * CHUNK);
    let may_stop = plan.loss.is_none();
    let command = match random.below(8) {
        0 | 1 if may_stop => Some(ControlBits::STOP),
        2 if may_stop => Some(ControlBits::ABORT),
        3 => Some(ControlBits::FLUSH_NOW),
        4 => Some(ControlBits::FLUSH_AFTER_WRITE),
        _ => None,
    };
    let at = if one_in(random, 3) {
        1 + random.below(given)
    } else {
        (1 + random.below(given.div_ceil(CHUNK))) * CHUNK
    };
    // In a chunk that is not complete, the software could fail.
    let is_exact =
        plan.bad.is_some() && matches!(command, Some(ControlBits::STOP | ControlBits::ABORT));
    let at = if is_exact { at.next_multiple_of(CHUNK) } else { at };
    let steps = [usize::MAX, usize::MAX, CHUNK as usize / 2, 1000, 4096, 16 + 1];
    let step = steps[random.below(6) as usize];
    Operation::Record(Recording {
        first,
        chunks,
        bytes,
        // The core's streamer lets time pass after every part of a chunk.
        step: step.max(given as usize / 12),
        seed: random.next_u64(),
        command: command.map(|command| (at, command)),
        flush_after: one_in(random, 4),
        plan,
    })
}

fn replaying(random: &mut Rng) -> Operation {
    let (first, chunks) = chunks(random);
    let plan = plan(random, false, first, chunks);
    let stops = plan == Plan::default() && one_in(random, 4);
    Operation::Replay(Replaying {
        first,
        chunks,
        bytes: (!one_in(random, 3)).then(|| odd_bytes(random, chunks)),
        stop_at: stops.then(|| (1 + random.below(chunks)) * CHUNK),
        plan,
    })
}

fn request(random: &mut Rng, end: u64) -> Operation {
    let address = |random: &mut Rng| match random.below(8) {
        0 => None,
        1 => Some(end),
        2 => Some(end - CHUNK),
        3 => Some(1 << (9 + random.below(55))),
        4 => Some(random.next_u64()),
        5 => Some(random.below(REGION_CHUNKS) * CHUNK + (1 << random.below(14))),
        6 => Some(random.next_u64() / CHUNK * CHUNK),
        _ => Some(random.below(REGION_CHUNKS) * CHUNK),
    };
    Operation::Ask(RangeRequest {
        first: address(random),
        last: address(random),
        chunk_bytes: CHUNK as u32,
    })
}

impl Operation {
    /// Any; `end`: bytes of whole chunks on the drive.
    pub fn random(random: &mut Rng, end: u64) -> Operation {
        match random.below(40) {
            0..17 => recording(random),
            17..29 => replaying(random),
            29..31 => Operation::ReadChunk {
                chunk: random.below(REGION_CHUNKS),
                bytes: one_in(random, 2).then(|| 1 + random.below(CHUNK)),
            },
            31..36 => request(random, end),
            36..39 => Operation::Noise {
                control: random.next_u64() as u32 & 0x7e,
                discards: one_in(random, 2),
            },
            _ => {
                let resets = [Reset::Restart, Reset::Shutdown, Reset::Link, Reset::Exchange];
                Operation::Reset(resets[random.below(4) as usize])
            }
        }
    }
}

/// The bytes of a stream.
pub fn stream(seed: u64, bytes: u64) -> Vec<u8> {
    let mut stream = vec![0; bytes as usize];
    Rng::new(seed).fill(&mut stream);
    stream
}

/// Gives a stream, and a command behind some bytes.
pub struct Source<'r> {
    recording: &'r Recording,
    stream: Vec<u8>,
    pub given: u64,
}

impl Source<'_> {
    pub fn new(recording: &Recording) -> Source<'_> {
        let bytes = recording.bytes.unwrap_or((recording.chunks + 1) * CHUNK);
        Source { recording, stream: stream(recording.seed, bytes), given: 0 }
    }
}

impl StreamSource for Source<'_> {
    fn name(&self) -> String {
        "the test".to_owned()
    }

    fn fill(&mut self, chunk: &mut [u8], registers: &Registers) -> io::Result<FillResult> {
        let rest = &self.stream[self.given as usize..];
        let bytes = chunk.len().min(self.recording.step).min(rest.len());
        chunk[..bytes].copy_from_slice(&rest[..bytes]);
        let before = self.given;
        self.given += bytes as u64;
        if let Some((at, command)) = self.recording.command
            && before < at
            && self.given >= at
        {
            registers.command(command);
        }
        let last = self.recording.bytes == Some(self.given);
        Ok(FillResult { bytes, last })
    }

    fn has_more(&mut self, _: bool, _: &Registers) -> io::Result<Option<bool>> {
        Ok(Some(self.given < self.stream.len() as u64))
    }
}

/// Takes a stream, and stops behind some bytes.
#[derive(Default)]
pub struct Sink {
    pub bytes: Vec<u8>,
    pub stop_at: Option<u64>,
}

impl StreamSink for Sink {
    fn name(&self) -> String {
        "the test".to_owned()
    }

    fn put(&mut self, bytes: &[u8], registers: &Registers) -> io::Result<()> {
        self.bytes.extend_from_slice(bytes);
        if self.stop_at.is_some_and(|at| self.bytes.len() as u64 >= at) {
            registers.command(ControlBits::STOP);
        }
        Ok(())
    }
}
