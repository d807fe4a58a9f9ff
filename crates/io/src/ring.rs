//! The part of io_uring that all engines on it share: entering the kernel, waiting with a deadline, taking completions in bulk.
//!
//! # How it is fast
//! Submitting only writes submission-queue entries; [`Ring::reap`] enters the kernel once, to submit and to wait together. `SINGLE_ISSUER |
//! DEFER_TASKRUN`: completion work runs in this thread when it asks, not in interrupts of its own.
//!
//! Source for flags: Linux `io_uring_setup(2)`, `io_uring_enter(2)`.

use std::io;

use assay_units::{Nanos, Op};
use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, squeue};

use crate::buffers::Buffers;
use crate::clock::{Clock, SPIN};
use crate::{Completion, Io, MAX_SLOTS, Target, TargetError};

/// How a ring is set up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UringOptions {
    /// Poll the device for completions instead of waiting for interrupts; needs O_DIRECT and a device with polling queues.
    pub iopoll: bool,
    /// A kernel thread takes submissions, so that submitting needs no system call.
    pub sqpoll: bool,
}

/// `IORING_ENTER_GETEVENTS` of `io_uring_enter(2)`.
const ENTER_GETEVENTS: u32 = 1;

/// `IORING_ENTER_SQ_WAKEUP` of `io_uring_enter(2)`.
const ENTER_SQ_WAKEUP: u32 = 2;

/// How long a dropped ring may wait for I/Os in flight before their memory is given up instead of freed.
const DRAIN: Nanos = Nanos::from_secs(5);

/// What an engine adds to a ring: entries of I/Os, and completions of what comes back.
///
/// # Safety
/// Whatever an entry makes the kernel read or write is `buffer`, or memory that stays valid and unchanged until the slot's completion was taken. User data
/// begin with the slot.
// SAFETY: what an implementation must promise is above; each says beside it why it holds.
pub unsafe trait Encode {
    /// What is submitted.
    type Submission: squeue::EntryMarker;
    /// What comes back.
    type Completion: cqueue::EntryMarker;

    /// The entry of an I/O on the slot's buffer, which may be registered with the kernel under the slot's number.
    fn entry(&mut self, io: &Io, buffer: *mut u8, fixed: bool) -> Self::Submission;

    /// User data and result back to a completion.
    fn decode(user_data: u64, result: i32) -> Completion;

    /// Entries are in flight that will not be waited for: memory of its own that they name must never be freed.
    fn give_up(&mut self) {}
}

/// A ring of its own for one worker.
pub struct RingTarget<E: Encode> {
    // Declared before the encoder: dropped first, so that nothing that was waited for is in flight when what that keeps goes.
    ring: Ring<E::Submission, E::Completion>,
    encoder: E,
}

impl<E: Encode> RingTarget<E> {
    pub(crate) fn over(ring: Ring<E::Submission, E::Completion>, encoder: E) -> RingTarget<E> {
        RingTarget { ring, encoder }
    }

    /// Are the buffers registered with the kernel (or does each I/O pin its own)?
    pub fn has_fixed_buffers(&self) -> bool {
        self.ring.fixed_buffers
    }
}

impl<E: Encode> Drop for RingTarget<E> {
    fn drop(&mut self) {
        if !self.ring.drain() {
            self.encoder.give_up();
        }
    }
}

impl<E: Encode> Target for RingTarget<E> {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.ring.clock.now()
    }

    #[inline]
    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
        for io in batch {
            let moves = matches!(io.op, Op::Read | Op::Write);
            if moves && io.len_bytes as usize > self.ring.buffers.slot_bytes() {
                // The kernel would read or write what lies behind the slot's buffer.
                return Err(TargetError::Io {
                    drive: self.ring.drive.clone(),
                    what: "an I/O longer than its buffer",
                    source: io::ErrorKind::InvalidInput.into(),
                });
            }
            let buffer = self.ring.buffers.pointer(io.slot);
            let entry = self.encoder.entry(io, buffer, self.ring.fixed_buffers);
            // SAFETY: that is what implementations of `Encode` promise of their entries.
            unsafe { self.ring.push(io.slot, &entry) }?;
        }
        Ok(())
    }

    #[inline]
    fn reap(
        &mut self,
        min: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        self.ring.reap(min, until, out, E::decode)
    }

    fn buffer(&mut self, slot: u32) -> Option<&mut [u8]> {
        Some(self.ring.buffers.slot(slot))
    }
}

/// A ring and the buffers that its I/Os move.
pub(crate) struct Ring<S: squeue::EntryMarker, C: cqueue::EntryMarker> {
    // Declared before `buffers`: dropped first, so the kernel has let go of the memory before it is unmapped.
    ring: IoUring<S, C>,
    buffers: Buffers,
    drive: String,
    clock: Clock,
    /// Are the buffers registered with the kernel (or does each I/O pin its own)?
    fixed_buffers: bool,
    /// Does a kernel thread take the submissions ([`UringOptions::sqpoll`])?
    polled_by_kernel: bool,
    queued: usize,
    in_flight: usize,
    /// What was in flight did not come back in time and is waited for no more.
    given_up: bool,
}

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> Ring<S, C> {
    /// A ring for `slots` I/Os in flight on one file, with a buffer of `slot_bytes` each.
    pub(crate) fn new(
        drive: &str,
        file: std::os::fd::RawFd,
        slots: u32,
        slot_bytes: u32,
        options: UringOptions,
    ) -> Result<Ring<S, C>, TargetError> {
        if slots > MAX_SLOTS {
            return Err(TargetError::TooDeep {
                slots: u64::from(slots),
            });
        }
        let failed = |what: &'static str, source: io::Error| TargetError::Ring {
            drive: drive.to_owned(),
            what,
            source,
        };
        let buffers = Buffers::new(slots, slot_bytes)?;
        let ring: IoUring<S, C> = build(slots, options).map_err(|e| failed("io_uring_setup", e))?;
        ring.submitter()
            .register_files(&[file])
            .map_err(|e| failed("registering the file", e))?;
        let iovecs: Vec<libc::iovec> = (0..slots)
            .map(|slot| libc::iovec {
                iov_base: buffers.pointer(slot).cast(),
                iov_len: buffers.slot_bytes(),
            })
            .collect();
        // Registering pins the memory, which a small RLIMIT_MEMLOCK can forbid: then every I/O pins its own, correct but slower.
        // SAFETY: every iovec lies inside `buffers`, which the ring keeps mapped until after it is gone itself.
        let fixed_buffers = unsafe { ring.submitter().register_buffers(&iovecs) }.is_ok();
        Ok(Ring {
            ring,
            buffers,
            drive: drive.to_owned(),
            clock: Clock::monotonic(),
            fixed_buffers,
            polled_by_kernel: options.sqpoll,
            queued: 0,
            in_flight: 0,
            given_up: false,
        })
    }

    /// Queue an entry whose buffer is the slot's, and lend that to the kernel.
    ///
    /// # Safety
    /// Whatever the entry makes the kernel read or write must be the slot's buffer, or stay valid until the completion was taken.
    // SAFETY: what a caller must promise is above; each says beside its call why it holds.
    pub(crate) unsafe fn push(&mut self, slot: u32, entry: &S) -> Result<(), TargetError> {
        self.buffers.lend(slot);
        // SAFETY: the caller's promise; the slot's buffer is mapped for as long as the ring lives, and lent to the kernel until its completion
        // is seen.
        let pushed = unsafe { self.ring.submission().push(entry) };
        if pushed.is_err() {
            // Cannot happen while slots <= entries, but a full queue is emptied, not a reason to fail.
            self.enter(0, None)?;
            // SAFETY: as above.
            unsafe { self.ring.submission().push(entry) }.map_err(|_| TargetError::Io {
                drive: self.drive.clone(),
                what: "queueing an I/O",
                source: io::ErrorKind::WouldBlock.into(),
            })?;
        }
        self.queued += 1;
        self.in_flight += 1;
        Ok(())
    }

    fn collect(
        &mut self,
        out: &mut Vec<Completion>,
        decode: &impl Fn(u64, i32) -> Completion,
    ) -> usize {
        let before = out.len();
        for entry in self.ring.completion() {
            let entry: cqueue::Entry = entry.into();
            let completion = decode(entry.user_data(), entry.result());
            self.buffers.take_back(completion.slot);
            out.push(completion);
        }
        let taken = out.len() - before;
        self.in_flight -= taken;
        taken
    }

    fn enter(&mut self, want: usize, timeout: Option<Nanos>) -> Result<(), TargetError> {
        let queue = self.ring.submission();
        let queued = queue.len();
        let mut flags = ENTER_GETEVENTS;
        // A kernel thread that fell asleep takes nothing until it is woken, however long it is waited. Asked after `queued` was published:
        // `need_wakeup` has the fence that this order needs.
        if self.polled_by_kernel && queue.need_wakeup() {
            flags |= ENTER_SQ_WAKEUP;
        }
        drop(queue);
        let submitter = self.ring.submitter();
        let answer = match timeout {
            // Nothing to wait for, but completions deferred to this thread must be brought in, which the crate's `submit`
            // does not ask for.
            // SAFETY: no argument is passed; entries queued were made by `entry`.
            None if want == 0 => unsafe {
                submitter.enter::<libc::sigset_t>(queued as u32, 0, flags, None)
            },
            None => submitter.submit_and_wait(want),
            Some(left) => {
                let spec = Timespec::new()
                    .sec(left.0 / 1_000_000_000)
                    .nsec((left.0 % 1_000_000_000) as u32);
                submitter.submit_with_args(want, &SubmitArgs::new().timespec(&spec))
            }
        };
        match answer {
            Ok(_) => {
                self.queued = 0;
                Ok(())
            }
            // Timed out, a signal arrived, or the completion queue must be emptied first: the caller looks again.
            Err(error)
                if matches!(
                    error.raw_os_error(),
                    Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN)
                ) =>
            {
                // Entries the kernel took before it stopped waiting are no longer in the queue.
                self.queued = self.ring.submission().len();
                Ok(())
            }
            Err(source) => Err(TargetError::Io {
                drive: self.drive.clone(),
                what: "io_uring_enter",
                source,
            }),
        }
    }

    /// As [`crate::Target::reap`]. `decode` makes a completion of user data and result.
    #[inline]
    pub(crate) fn reap(
        &mut self,
        min: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
        decode: impl Fn(u64, i32) -> Completion,
    ) -> Result<(), TargetError> {
        if self.in_flight == 0 {
            if min > 0 {
                self.clock.wait_until(until);
            }
            return Ok(());
        }
        let want = min.min(self.in_flight);
        let mut got = if self.queued == 0 {
            self.collect(out, &decode)
        } else {
            0
        };
        while got < want {
            let left = if until == Nanos::MAX {
                Nanos::MAX
            } else {
                until - self.clock.now()
            };
            if left > SPIN {
                self.enter(want - got, (left != Nanos::MAX).then(|| left - SPIN))?;
            } else {
                // Close to the deadline: look without sleeping.
                self.enter(0, None)?;
            }
            got += self.collect(out, &decode);
            if left == Nanos::ZERO {
                return Ok(());
            }
        }
        // Only looking: completions deferred to this thread come in when it enters the kernel, and only then.
        if self.queued > 0 || got == 0 {
            self.enter(0, None)?;
            self.collect(out, &decode);
        }
        Ok(())
    }
}

fn build<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    slots: u32,
    options: UringOptions,
) -> io::Result<IoUring<S, C>> {
    let entries = slots.max(1).next_power_of_two();
    let mut builder = IoUring::<S, C>::builder();
    builder.setup_clamp();
    if options.iopoll {
        builder.setup_iopoll();
    }
    if options.sqpoll {
        // The kernel thread sleeps after this many idle milliseconds.
        builder.setup_sqpoll(50);
    } else {
        builder.setup_single_issuer().setup_defer_taskrun();
    }
    match builder.build(entries) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) && !options.sqpoll => {
            // Kernels before 6.1 know neither flag.
            let mut plain = IoUring::<S, C>::builder();
            plain.setup_clamp();
            if options.iopoll {
                plain.setup_iopoll();
            }
            plain.build(entries)
        }
        answer => answer,
    }
}

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> Ring<S, C> {
    /// Wait for what is in flight, [`DRAIN`] at most and only once; false when some of it is the kernel's for good.
    fn drain(&mut self) -> bool {
        let deadline = self.clock.now() + DRAIN;
        let mut drained = Vec::new();
        // Every user data begins with its slot.
        let slot_of = |user_data: u64, result: i32| Completion {
            slot: user_data as u32,
            result,
        };
        while self.in_flight > 0 && !self.given_up {
            let late = self.clock.now() >= deadline;
            self.given_up = late || self.reap(1, deadline, &mut drained, slot_of).is_err();
        }
        !self.buffers.any_lent()
    }
}

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> Drop for Ring<S, C> {
    fn drop(&mut self) {
        if !self.drain() {
            // A drive that never answers may still write later: its memory is lost rather than handed to someone else.
            self.buffers.leak();
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/ring.rs"]
mod tests;
