//! Blocking calls of a pool of threads, one for each I/O in flight: asynchronous I/O where the
//! kernel refuses io_uring (seccomp filters of containers, `kernel.io_uring_disabled`, Linux before
//! 5.11). An I/O costs two switches of context more than with io_uring, which is part of its
//! latency: a file on a virtual disk, read at depth 16 on two processors, gave 0.67 times the rate
//! of io_uring (medians of three interleaved pairs).

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use assay_units::Nanos;

use crate::buffers::Buffers;
use crate::clock::Clock;
use crate::drive_handle::DriveHandle;
use crate::page_cache::ReadSource;
use crate::sync::BlockingCalls;
use crate::{Completion, Io, Target, TargetError};

/// Most threads of one target; more I/Os wait in its queue.
pub const MAX_THREADS: u32 = 1024;
const STACK_BYTES: usize = 128 << 10;
/// A dropped target waits so long for I/Os in flight; after that their memory is leaked.
const DRAIN: Duration = Duration::from_secs(5);

/// A pool of threads that make blocking calls.
#[derive(Debug)]
pub struct ThreadsTarget {
    drive: DriveHandle,
    buffers: Buffers,
    clock: Clock,
    queue: Arc<Queue>,
    completions: Receiver<Completion>,
    in_flight: usize,
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    calls: VecDeque<Call>,
    is_closed: bool,
}

/// An I/O and the memory of its slot.
#[derive(Debug)]
struct Call {
    io: Io,
    buffer: *mut u8,
    buffer_bytes: usize,
}

// SAFETY: the memory belongs to the thread that runs the call until its completion is sent; see
// `ThreadsTarget::submit`.
unsafe impl Send for Call {}

impl Queue {
    /// `None` once it is closed.
    fn take(&self) -> Option<Call> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |state: &mut State| state.calls.is_empty() && !state.is_closed;
        let waited = self.changed.wait_while(state, waits);
        waited.unwrap_or_else(PoisonError::into_inner).calls.pop_front()
    }
}

impl ThreadsTarget {
    /// A target with `slots` buffers of `slot_bytes`. Fails where the threads cannot be started.
    pub fn new(
        drive: DriveHandle,
        slots: u32,
        slot_bytes: u32,
        calls: BlockingCalls,
    ) -> Result<ThreadsTarget, TargetError> {
        let queue = Arc::new(Queue::default());
        let (sender, completions) = mpsc::channel();
        let target = ThreadsTarget {
            buffers: Buffers::new(slots, slot_bytes)?,
            clock: Clock::monotonic(),
            queue: Arc::clone(&queue),
            completions,
            in_flight: 0,
            drive: drive.clone(),
        };
        for number in 0..slots.clamp(1, MAX_THREADS) {
            let (drive, queue, sender) = (drive.clone(), Arc::clone(&queue), sender.clone());
            let thread = std::thread::Builder::new()
                .name(format!("io-{number}"))
                .stack_size(STACK_BYTES)
                .spawn(move || serve(&drive, &queue, &sender, calls));
            thread.map_err(|source| TargetError::Io {
                drive: target.drive.name().to_owned(),
                what: "starting a thread for each I/O in flight",
                source,
            })?;
        }
        Ok(target)
    }

    fn take_back(&mut self, completion: Completion, out: &mut Vec<Completion>) {
        self.buffers.take_back(completion.slot);
        self.in_flight -= 1;
        out.push(completion);
    }
}

fn serve(drive: &DriveHandle, queue: &Queue, sender: &Sender<Completion>, calls: BlockingCalls) {
    while let Some(call) = queue.take() {
        // SAFETY: the slot is in flight, so that its target neither lends nor frees this memory
        // until it has received the completion, which is sent after the last access.
        let buffer = unsafe { std::slice::from_raw_parts_mut(call.buffer, call.buffer_bytes) };
        let completion =
            Completion { slot: call.io.slot, result: calls.run(drive, &call.io, buffer) };
        // The target is gone: it has leaked the memory.
        let _ = sender.send(completion);
    }
}

impl Target for ThreadsTarget {
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
        let buffer_bytes = self.buffers.slot_bytes();
        let state = self.queue.state.lock();
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        for io in batch {
            self.buffers.mark_in_flight(io.slot);
            state.calls.push_back(Call {
                io: *io,
                buffer: self.buffers.pointer(io.slot),
                buffer_bytes,
            });
        }
        drop(state);
        self.in_flight += batch.len();
        match batch.len() {
            1 => self.queue.changed.notify_one(),
            _ => self.queue.changed.notify_all(),
        }
        Ok(())
    }

    fn reap(
        &mut self,
        min: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        if self.in_flight == 0 && min > 0 {
            self.clock.wait_until(until);
        }
        let want = min.min(self.in_flight);
        let mut got = 0;
        while self.in_flight > 0 {
            let received = match self.completions.try_recv() {
                Ok(completion) => Ok(completion),
                Err(_) if got >= want => break,
                Err(_) => {
                    let left = until - self.clock.now();
                    self.completions.recv_timeout(Duration::from_nanos(left.0))
                }
            };
            match received {
                Ok(completion) => {
                    self.take_back(completion, out);
                    got += 1;
                }
                Err(RecvTimeoutError::Timeout) => break,
                // The threads hold their ends for as long as the target.
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(TargetError::Io {
                        drive: self.drive.name().to_owned(),
                        what: "a thread of the pool",
                        source: io::ErrorKind::BrokenPipe.into(),
                    });
                }
            }
        }
        Ok(())
    }

    fn buffer(&mut self, slot: u32) -> Option<&mut [u8]> {
        Some(self.buffers.slot(slot))
    }

    fn drop_cached(&mut self, offset_bytes: u64, len_bytes: u64) -> ReadSource {
        self.drive.drop_cached(offset_bytes, len_bytes)
    }

    fn reset_zone(&mut self, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
        self.drive.reset_zone(offset_bytes, len_bytes)
    }
}

impl Drop for ThreadsTarget {
    fn drop(&mut self) {
        let mut state = self.queue.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_closed = true;
        // What no thread has taken is not done.
        self.in_flight -= state.calls.len();
        state.calls.clear();
        drop(state);
        self.queue.changed.notify_all();
        while self.in_flight > 0 && self.completions.recv_timeout(DRAIN).is_ok() {
            self.in_flight -= 1;
        }
        if self.in_flight > 0 {
            self.buffers.leak();
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/threads.rs"]
mod tests;
