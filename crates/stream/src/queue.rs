//! One drive of a stream: its ring of buffers and what is in flight on it.

use assay_io::{Completion, DataClass, Io, Nanos, Op, Target, TargetError};

use crate::status::{DeviceFailure, StreamError};

/// How often a waiting loop looks whether the stream is to end.
pub(crate) const POLL_INTERVAL: Nanos = Nanos::from_millis(50);

/// Most I/Os that are started together.
const MAX_DEFERRED_IOS: usize = 4;

/// The time of a stream: that of the drive that is furthest.
pub(crate) fn latest(queues: &mut [StreamQueue<'_>]) -> Nanos {
    queues
        .iter_mut()
        .map(StreamQueue::now)
        .max()
        .unwrap_or(Nanos::ZERO)
}

/// Is there room for a chunk in every slot?
pub(crate) fn fits(queues: &[StreamQueue<'_>], chunk_bytes: u32) -> Result<(), StreamError> {
    match queues.iter().find(|queue| queue.slot_bytes < chunk_bytes) {
        None => Ok(()),
        Some(queue) => Err(StreamError::SmallSlots {
            drive: queue.name.clone(),
            slot_bytes: queue.slot_bytes,
            chunk_bytes,
        }),
    }
}

/// What an I/O in flight is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IoPurpose {
    /// A chunk of the stream, by its number.
    Chunk(u64),
    /// A flush; the number is the caller's.
    Flush(u64),
    /// Part of the index.
    Index,
}

/// An I/O that ended.
#[derive(Debug)]
pub(crate) struct EndedIo {
    pub purpose: IoPurpose,
    pub slot: u32,
    pub failure: Option<DeviceFailure>,
}

#[derive(Clone, Copy)]
struct StartedIo {
    purpose: IoPurpose,
    len_bytes: u32,
    address: u64,
    op: Op,
}

/// A drive with its ring: a target, which of its slots are free, and what the others are for.
///
/// Slots are buffers of one chunk each, registered with the kernel where the target is an io_uring. A target that moves no bytes (null,
/// or a simulated drive that keeps none) gets one buffer for all: what is in it is of no account once it was submitted.
pub struct StreamQueue<'t> {
    name: String,
    target: Box<dyn Target + 't>,
    free: Vec<u32>,
    started: Vec<Option<StartedIo>>,
    in_flight: usize,
    /// I/Os that were submitted since the target was last looked at, and may not have begun.
    unstarted: usize,
    slot_bytes: u32,
    scratch: Option<Vec<u8>>,
    completions: Vec<Completion>,
}

impl<'t> StreamQueue<'t> {
    /// A lane over a target with `slots` slots of at least `slot_bytes`. No I/O of the lane is longer than that.
    pub fn new(
        name: impl Into<String>,
        target: impl Target + 't,
        slots: u32,
        slot_bytes: u32,
    ) -> StreamQueue<'t> {
        let mut target = Box::new(target);
        let buffer_bytes = target.buffer(0).map(|buffer| buffer.len() as u32);
        let moves_bytes = buffer_bytes.is_some();
        let slot_bytes = slot_bytes.min(buffer_bytes.unwrap_or(u32::MAX));
        StreamQueue {
            name: name.into(),
            target,
            // Taken from the end: low slots first, so that a short stream touches little memory.
            free: (0..slots).rev().collect(),
            started: vec![None; slots as usize],
            in_flight: 0,
            unstarted: 0,
            slot_bytes,
            scratch: (!moves_bytes).then(|| vec![0; slot_bytes as usize]),
            completions: Vec::with_capacity(slots as usize),
        }
    }

    /// As named.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Does it move bytes, or only their number?
    pub fn moves_bytes(&self) -> bool {
        self.scratch.is_none()
    }

    /// Slots.
    pub fn slots(&self) -> usize {
        self.started.len()
    }

    /// Bytes of each slot: the longest I/O, and the largest chunk that a stream over this lane may have.
    pub fn slot_bytes(&self) -> u32 {
        self.slot_bytes
    }

    /// The time on its clock.
    pub fn now(&mut self) -> Nanos {
        self.target.now()
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// May what was submitted since the last look wait for more of its kind? While the drive has half a ring to do, starting I/Os a few at a time
    /// costs it nothing, and saves system calls and, on virtual machines, doorbells.
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

    /// The buffer of a slot that is not in flight: of a target that rounds up no more than was asked for.
    pub(crate) fn buffer(&mut self, slot: u32) -> &mut [u8] {
        let buffer = match &mut self.scratch {
            Some(scratch) => scratch,
            // Checked when the lane was made; a target does not change its mind.
            None => self.target.buffer(slot).unwrap_or_default(),
        };
        let bytes = buffer.len().min(self.slot_bytes as usize);
        &mut buffer[..bytes]
    }

    pub(crate) fn submit(
        &mut self,
        slot: u32,
        purpose: IoPurpose,
        op: Op,
        address: u64,
        len_bytes: u32,
    ) -> Result<(), TargetError> {
        // Whatever a header on a drive says, nothing is read past a buffer's end.
        if len_bytes > self.slot_bytes {
            return Err(TargetError::Io {
                drive: self.name.clone(),
                what: "an I/O longer than its buffer",
                source: std::io::ErrorKind::InvalidInput.into(),
            });
        }
        self.target.submit(&[Io {
            op,
            data: DataClass::Incompressible,
            slot,
            len_bytes,
            offset_bytes: address,
        }])?;
        self.started[slot as usize] = Some(StartedIo {
            purpose,
            len_bytes,
            address,
            op,
        });
        self.in_flight += 1;
        self.unstarted += 1;
        Ok(())
    }

    /// Wait for `min` I/Os or until `until`. The slots of chunks that were read stay taken, all others are free again.
    pub(crate) fn reap(
        &mut self,
        min: usize,
        until: Nanos,
        ended: &mut Vec<EndedIo>,
    ) -> Result<(), TargetError> {
        self.completions.clear();
        self.unstarted = 0;
        self.target
            .reap(min.min(self.in_flight), until, &mut self.completions)?;
        for completion in &self.completions {
            let Some(started) = self.started[completion.slot as usize].take() else {
                continue;
            };
            self.in_flight -= 1;
            let expected = match started.op {
                Op::Flush => completion.result >= 0,
                _ => completion.moved(started.len_bytes),
            };
            let failure = (!expected).then(|| DeviceFailure {
                drive: self.name.clone(),
                op: started.op.name(),
                address: started.address,
                result: completion.result,
            });
            if started.op != Op::Read {
                self.free.push(completion.slot);
            }
            ended.push(EndedIo {
                purpose: started.purpose,
                slot: completion.slot,
                failure,
            });
        }
        Ok(())
    }

    /// Wait until `until` whatever completes, as far as the target can wait without anything in flight.
    pub(crate) fn wait_until(
        &mut self,
        until: Nanos,
        ended: &mut Vec<EndedIo>,
    ) -> Result<(), TargetError> {
        while self.target.now() < until {
            if self.in_flight == 0 {
                // Nothing can come: the target waits out the time.
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
