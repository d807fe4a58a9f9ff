//! One drive of a stream: its ring of buffers and the I/Os in flight.

use assay_io::stall::StallTimer;
use assay_io::{Completion, DataClass, Io, Nanos, Op, Target, TargetError};

use crate::status::{DeviceFailure, StreamError};

/// Interval at which waiting loops check for a stop request.
pub(crate) const POLL_INTERVAL: Nanos = Nanos::from_millis(50);

/// Most I/Os that are submitted together.
const MAX_DEFERRED_IOS: usize = 4;

pub(crate) fn latest(queues: &mut [StreamQueue<'_>]) -> Nanos {
    let clocks = queues.iter_mut().map(StreamQueue::now);
    clocks.max().unwrap_or(Nanos::ZERO)
}

pub(crate) fn busy_queue(queues: &[StreamQueue<'_>]) -> Option<usize> {
    queues.iter().position(|queue| queue.in_flight > 0)
}

/// At least two slots for each drive, one of which is for the index.
pub(crate) fn check_queues(
    queues: &[StreamQueue<'_>],
    drives: usize,
    chunk_bytes: u32,
) -> Result<(), StreamError> {
    const NEEDED: usize = 2;
    let few = queues.iter().any(|queue| queue.slots() < NEEDED);
    if queues.is_empty() || queues.len() != drives || few {
        return Err(StreamError::NoSlots { needed: NEEDED });
    }
    match queues.iter().find(|queue| queue.slot_bytes < chunk_bytes) {
        None => Ok(()),
        Some(queue) => Err(StreamError::SmallSlots {
            drive: queue.name.clone(),
            slot_bytes: queue.slot_bytes,
            chunk_bytes,
        }),
    }
}

#[derive(Debug)]
pub(crate) struct EndedIo {
    /// Number of the chunk; `None` for flushes and the index.
    pub chunk: Option<u64>,
    pub slot: u32,
    pub failure: Option<DeviceFailure>,
}

/// A target that moves no bytes (null, or a simulated drive without data) has one buffer for all
/// slots.
pub struct StreamQueue<'t> {
    name: String,
    target: Box<dyn Target + 't>,
    free: Vec<u32>,
    /// The I/O of each slot in flight, and its chunk.
    started: Vec<Option<(Io, Option<u64>)>>,
    in_flight: usize,
    stall: StallTimer,
    /// I/Os submitted since the last reap, which may not have started.
    unstarted: usize,
    slot_bytes: u32,
    scratch: Option<Vec<u8>>,
    completions: Vec<Completion>,
}

impl<'t> StreamQueue<'t> {
    /// A queue over a target with `slots` slots of at least `slot_bytes`, the longest I/O.
    pub fn new(
        name: impl Into<String>,
        target: impl Target + 't,
        slots: u32,
        slot_bytes: u32,
    ) -> StreamQueue<'t> {
        let mut target = Box::new(target);
        let buffer_bytes = target.buffer(0).map(|buffer| buffer.len() as u32);
        let moves_bytes = buffer_bytes.is_some();
        let slot_bytes = buffer_bytes.map_or(slot_bytes, |bytes| slot_bytes.min(bytes));
        StreamQueue {
            name: name.into(),
            target,
            // Popped from the end: low slots first, so that a short stream touches little memory.
            free: (0..slots).rev().collect(),
            started: vec![None; slots as usize],
            in_flight: 0,
            stall: StallTimer::new(Nanos::ZERO, Nanos::MAX),
            unstarted: 0,
            slot_bytes,
            scratch: (!moves_bytes).then(|| vec![0; slot_bytes as usize]),
            completions: Vec::with_capacity(slots as usize),
        }
    }

    /// A time limit as for real drives: a simulated one answers after a latency of any length.
    #[must_use]
    pub fn with_io_timeout(mut self, io_timeout: Nanos) -> StreamQueue<'t> {
        self.stall = StallTimer::new(Nanos::ZERO, io_timeout);
        self
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the target moves bytes, or only counts them.
    pub fn moves_bytes(&self) -> bool {
        self.scratch.is_none()
    }

    pub fn slots(&self) -> usize {
        self.started.len()
    }

    /// Time on the drive's clock.
    pub fn now(&mut self) -> Nanos {
        self.target.now()
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// While more than half of the ring is in flight, batching costs no throughput and saves system
    /// calls and, in virtual machines, doorbells.
    pub(crate) fn may_defer(&self) -> bool {
        self.unstarted < MAX_DEFERRED_IOS && self.in_flight - self.unstarted > self.slots() / 2
    }

    pub(crate) fn free_slots(&self) -> usize {
        self.free.len()
    }

    pub(crate) fn take_slot(&mut self) -> Option<u32> {
        self.free.pop()
    }

    pub(crate) fn give_slot(&mut self, slot: u32) {
        self.free.push(slot);
    }

    pub(crate) fn buffer(&mut self, slot: u32) -> &mut [u8] {
        let buffer = match &mut self.scratch {
            Some(scratch) => scratch,
            None => self.target.buffer(slot).unwrap_or_default(),
        };
        let bytes = buffer.len().min(self.slot_bytes as usize);
        &mut buffer[..bytes]
    }

    /// Submit an I/O of a chunk, or `None`: a flush or part of the index.
    pub(crate) fn submit(
        &mut self,
        slot: u32,
        chunk: Option<u64>,
        op: Op,
        offset_bytes: u64,
        len_bytes: u32,
    ) -> Result<(), TargetError> {
        // A header read from a drive may claim any length.
        if len_bytes > self.slot_bytes {
            return Err(TargetError::Io {
                drive: self.name.clone(),
                what: "an I/O longer than its buffer",
                source: std::io::ErrorKind::InvalidInput.into(),
            });
        }
        let io = Io {
            op,
            data: DataClass::Incompressible,
            slot,
            len_bytes,
            offset_bytes,
            fua: false,
            priority: 0,
        };
        if self.in_flight == 0 {
            self.stall.restart(self.target.now());
        }
        self.target.submit(&[io])?;
        self.started[slot as usize] = Some((io, chunk));
        self.in_flight += 1;
        self.unstarted += 1;
        Ok(())
    }

    /// Slots of chunk reads stay taken, others are freed.
    pub(crate) fn reap(
        &mut self,
        min: usize,
        until: Nanos,
        ended: &mut Vec<EndedIo>,
    ) -> Result<(), TargetError> {
        self.completions.clear();
        self.unstarted = 0;
        let until = match self.in_flight {
            0 => until,
            // Past it, one look more.
            _ => until.min(self.stall.deadline()),
        };
        self.target.reap(min.min(self.in_flight), until, &mut self.completions)?;
        self.check_answered()?;
        for completion in &self.completions {
            let Some((io, chunk)) = self.started[completion.slot as usize].take() else {
                continue;
            };
            self.in_flight -= 1;
            let expected = match io.op {
                Op::Flush => completion.result >= 0,
                _ => completion.moved(io.len_bytes),
            };
            let failure = (!expected).then(|| DeviceFailure {
                drive: self.name.clone(),
                op: io.op.name(),
                address: io.offset_bytes,
                result: completion.result,
            });
            if io.op != Op::Read {
                self.free.push(io.slot);
            }
            ended.push(EndedIo { chunk, slot: io.slot, failure });
        }
        Ok(())
    }

    fn check_answered(&mut self) -> Result<(), TargetError> {
        let now = self.target.now();
        if !self.completions.is_empty() || self.in_flight == 0 {
            self.stall.restart(now);
        } else if self.stall.has_expired(now) {
            return Err(TargetError::Unanswered {
                drive: self.name.clone(),
                ios: self.in_flight,
                waited: self.stall.waited(now),
            });
        }
        Ok(())
    }

    /// Wait until `until`, whatever completes.
    pub(crate) fn wait_until(
        &mut self,
        until: Nanos,
        ended: &mut Vec<EndedIo>,
    ) -> Result<(), TargetError> {
        while self.target.now() < until {
            if self.in_flight == 0 {
                self.completions.clear();
                self.target.reap(1, until, &mut self.completions)?;
            } else {
                self.reap(self.in_flight, until, ended)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "../tests/unit/queue.rs"]
mod tests;
