//! io_uring submission and completion, shared by the engines. Submitting only writes
//! submission-queue entries; [`Ring::reap`] enters the kernel once, to submit and to wait together.
//! With `SINGLE_ISSUER | DEFER_TASKRUN` completion work runs in this thread inside `reap`, not in
//! interrupts (Linux `io_uring_setup(2)`, `io_uring_enter(2)`).

use std::io;
use std::num::NonZeroU64;

use assay_units::{Nanos, Op, limited_event};
use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, squeue};

use crate::buffers::Buffers;
use crate::clock::{Clock, SPIN};
use crate::page_cache::ReadSource;
use crate::placement::PlacementIds;
use crate::{Completion, Io, MAX_SLOTS, Target, TargetError};

/// Set-up flags of a ring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UringOptions {
    /// Poll for completions instead of interrupts; needs O_DIRECT and polling queues.
    pub iopoll: bool,
    /// A kernel thread takes submissions, so that submitting needs no system call.
    pub sqpoll: bool,
    /// Processor of that thread; `None`: where the kernel puts it.
    pub sqpoll_cpu: Option<u32>,
    /// A flush writes the metadata of a file too (fsync(2), not fdatasync(2)).
    pub flush_metadata: bool,
    /// A write with FUA writes the metadata of a file too (RWF_SYNC, not RWF_DSYNC).
    pub fua_metadata: bool,
    /// Writes have RWF_ATOMIC.
    pub atomic_writes: bool,
    /// Placement identifiers of writes; NVMe commands only.
    pub placement: Option<PlacementIds>,
    /// Writes append to zones of this length; NVMe commands only.
    pub append_zone_bytes: Option<NonZeroU64>,
}

/// `io_uring_enter(2)`.
const ENTER_GETEVENTS: u32 = 1;

/// `io_uring_enter(2)`.
const ENTER_SQ_WAKEUP: u32 = 2;

/// io_uring collects more entries of one system call in a plug, where the block layer merges
/// contiguous ones into larger requests of the drive (Linux, io_uring/io_uring.c,
/// `IO_PLUG_THRESHOLD`).
const UNPLUGGED_ENTRIES: usize = 2;

/// A dropped ring waits so long for I/Os in flight; after that their memory is leaked instead of
/// freed.
const DRAIN_TIMEOUT: Nanos = Nanos::from_secs(5);

/// Encoding of I/Os into submission entries and of completion entries into completions.
///
/// # Safety
/// An entry makes the kernel access only `buffer`, or memory that stays valid and unchanged until
/// the slot's completion was reaped. The low 32 bits of the user data are the slot.
// SAFETY: the requirements are above; each implementation states why it meets them.
pub unsafe trait Encode {
    /// Submission entry type.
    type Sqe: squeue::EntryMarker;
    /// Completion entry type.
    type Cqe: cqueue::EntryMarker;

    /// Whether the block layer may merge contiguous I/Os.
    const MAY_MERGE: bool;

    /// The entry of an I/O on the slot's buffer, registered with the kernel if `fixed`.
    fn entry(&mut self, io: &Io, buffer: *mut u8, fixed: bool) -> Self::Sqe;

    /// Decodes user data and result.
    fn decode(user_data: u64, result: i32) -> Completion;

    /// [`Target::drop_cached`].
    fn drop_cached(&self, offset_bytes: u64, len_bytes: u64) -> ReadSource;

    /// [`Target::reset_zone`].
    fn reset_zone(&self, offset_bytes: u64, len_bytes: u64) -> io::Result<()>;

    /// Called when entries remain in flight for ever: own memory that they refer to must be leaked.
    fn abandon(&mut self) {}
}

/// The io_uring of one worker.
pub struct RingTarget<E: Encode> {
    // Declared before the encoder, so dropped first: no reaped I/O is in flight when the encoder's
    // memory is freed.
    ring: Ring<E::Sqe, E::Cqe>,
    encoder: E,
}

impl<E: Encode> RingTarget<E> {
    pub(crate) fn over(ring: Ring<E::Sqe, E::Cqe>, encoder: E) -> RingTarget<E> {
        RingTarget { ring, encoder }
    }

    /// Whether the buffers are registered with the kernel (else each I/O pins its own).
    pub fn has_fixed_buffers(&self) -> bool {
        self.ring.fixed_buffers
    }
}

impl<E: Encode> Drop for RingTarget<E> {
    fn drop(&mut self) {
        if !self.ring.drain() {
            self.encoder.abandon();
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
            // SAFETY: implementations of `Encode` guarantee this for their entries.
            unsafe { self.ring.push(io.slot, &entry) }?;
            if E::MAY_MERGE {
                self.ring.merging.add(io);
            }
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

    fn drop_cached(&mut self, offset_bytes: u64, len_bytes: u64) -> ReadSource {
        self.encoder.drop_cached(offset_bytes, len_bytes)
    }

    fn reset_zone(&mut self, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
        self.encoder.reset_zone(offset_bytes, len_bytes)
    }
}

/// Whether entries that are queued are contiguous.
#[derive(Debug, Default)]
struct Merging {
    /// Start and end of the last read, the last write and the last of the others.
    last: [(u64, u64); 3],
    is_possible: bool,
}

impl Merging {
    #[inline]
    fn add(&mut self, io: &Io) {
        let last = match io.op {
            Op::Read => &mut self.last[0],
            Op::Write => &mut self.last[1],
            _ => &mut self.last[2],
        };
        let (start, end) = (io.offset_bytes, io.offset_bytes + u64::from(io.len_bytes));
        self.is_possible |= start == last.1 || end == last.0;
        *last = (start, end);
    }
}

pub(crate) struct Ring<S: squeue::EntryMarker, C: cqueue::EntryMarker> {
    // Declared before `buffers`, so dropped first: the kernel releases the memory before it is
    // unmapped.
    ring: IoUring<S, C>,
    buffers: Buffers,
    drive: String,
    clock: Clock,
    /// Registered with the kernel (else each I/O pins its own).
    fixed_buffers: bool,
    /// A kernel thread takes the submissions ([`UringOptions::sqpoll`]).
    polled_by_kernel: bool,
    merging: Merging,
    queued: usize,
    in_flight: usize,
    /// I/Os in flight did not complete within the drain timeout.
    abandoned: bool,
}

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> Ring<S, C> {
    /// Makes a ring for `slots` I/Os in flight, with a buffer of `slot_bytes` each.
    pub(crate) fn new(
        drive: &str,
        files: &[std::os::fd::RawFd],
        slots: u32,
        slot_bytes: u32,
        options: &UringOptions,
    ) -> Result<Ring<S, C>, TargetError> {
        if slots > MAX_SLOTS {
            let slots = u64::from(slots);
            return Err(TargetError::TooDeep { slots });
        }
        let failed = |what: &'static str, source: io::Error| TargetError::Ring {
            drive: drive.to_owned(),
            what,
            source,
        };
        let buffers = Buffers::new(slots, slot_bytes)?;
        let ring: IoUring<S, C> = build(slots, options).map_err(|e| failed("io_uring_setup", e))?;
        ring.submitter().register_files(files).map_err(|e| failed("registering the file", e))?;
        let iovec = |slot| libc::iovec {
            iov_base: buffers.pointer(slot).cast(),
            iov_len: buffers.slot_bytes(),
        };
        let iovecs: Vec<libc::iovec> = (0..slots).map(iovec).collect();
        // Registering pins the memory, which a small RLIMIT_MEMLOCK can forbid: then every I/O pins
        // its own. SAFETY: every iovec lies inside `buffers`, which the ring keeps mapped until
        // after it is gone itself.
        let fixed_buffers = unsafe { ring.submitter().register_buffers(&iovecs) }.is_ok();
        if !fixed_buffers {
            limited_event!(Clock::monotonic().now(), INFO, drive, "no registered buffers");
        }
        Ok(Ring {
            ring,
            buffers,
            drive: drive.to_owned(),
            clock: Clock::monotonic(),
            fixed_buffers,
            polled_by_kernel: options.sqpoll,
            merging: Merging::default(),
            queued: 0,
            in_flight: 0,
            abandoned: false,
        })
    }

    /// Queues an entry on the slot's buffer and marks the slot as owned by the kernel.
    ///
    /// # Safety
    /// The entry makes the kernel access only the slot's buffer, or memory that stays valid until
    /// the completion was reaped.
    // SAFETY: the requirements are above; each caller states why it meets them.
    pub(crate) unsafe fn push(&mut self, slot: u32, entry: &S) -> Result<(), TargetError> {
        self.buffers.mark_in_flight(slot);
        // SAFETY: the caller's guarantee; the slot's buffer stays mapped as long as the ring
        // exists, and is owned by the kernel until its completion is reaped.
        let pushed = unsafe { self.ring.submission().push(entry) };
        if pushed.is_err() {
            // Impossible while slots <= entries; a full queue is flushed.
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

    /// Submits contiguous entries one by one or in pairs, but for the last ones: the drive gets the
    /// I/Os of the job, as it does from fio, which submits each by a call of its own.
    fn submit_unmerged(&mut self) -> io::Result<()> {
        while self.ring.submission().len() > UNPLUGGED_ENTRIES {
            let entries = UNPLUGGED_ENTRIES as u32;
            let submitter = self.ring.submitter();
            // SAFETY: no argument is passed; entries queued were made by `entry`.
            let taken = unsafe { submitter.enter::<libc::sigset_t>(entries, 0, 0, None) }?;
            if taken == 0 {
                return Err(io::Error::from_raw_os_error(libc::EAGAIN));
            }
        }
        self.merging.is_possible = false;
        Ok(())
    }

    fn enter(&mut self, want: usize, timeout: Option<Nanos>) -> Result<(), TargetError> {
        let answer = match self.merging.is_possible && !self.polled_by_kernel {
            true => self.submit_unmerged(),
            false => Ok(()),
        };
        match answer.and_then(|()| self.enter_once(want, timeout)) {
            Ok(_) => {
                self.queued = 0;
                Ok(())
            }
            // Timed out, a signal arrived, or the completion queue must be emptied first: the
            // caller retries.
            Err(error)
                if matches!(
                    error.raw_os_error(),
                    Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN)
                ) =>
            {
                // Entries that the kernel consumed before the wait ended are no longer queued.
                self.queued = self.ring.submission().len();
                Ok(())
            }
            Err(source) => {
                Err(TargetError::Io { drive: self.drive.clone(), what: "io_uring_enter", source })
            }
        }
    }

    fn enter_once(&mut self, want: usize, timeout: Option<Nanos>) -> io::Result<usize> {
        let queue = self.ring.submission();
        let queued = queue.len();
        let mut flags = ENTER_GETEVENTS;
        // A sleeping SQPOLL thread must be woken. Checked after `queued` was published:
        // `need_wakeup` has the fence that this order needs.
        if self.polled_by_kernel && queue.need_wakeup() {
            flags |= ENTER_SQ_WAKEUP;
        }
        drop(queue);
        let submitter = self.ring.submitter();
        match timeout {
            // Deferred completion work must run, which the crate's `submit` does not request.
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
        }
    }

    /// As [`crate::Target::reap`]; `decode` decodes user data and result.
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
        let mut got = if self.queued == 0 { self.collect(out, &decode) } else { 0 };
        while got < want {
            let left = if until == Nanos::MAX { Nanos::MAX } else { until - self.clock.now() };
            if left > SPIN {
                self.enter(want - got, (left != Nanos::MAX).then(|| left - SPIN))?;
            } else {
                // Close to the deadline: poll without sleeping.
                self.enter(0, None)?;
            }
            got += self.collect(out, &decode);
            if left == Nanos::ZERO {
                return Ok(());
            }
        }
        // Deferred completion work runs only when this thread enters the kernel.
        if self.queued > 0 || got == 0 {
            self.enter(0, None)?;
            self.collect(out, &decode);
        }
        Ok(())
    }
}

fn build<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    slots: u32,
    options: &UringOptions,
) -> io::Result<IoUring<S, C>> {
    let entries = slots.max(1).next_power_of_two();
    let build = |single_issuer: bool| {
        let mut builder = IoUring::<S, C>::builder();
        builder.setup_clamp();
        if options.iopoll {
            builder.setup_iopoll();
        }
        if options.sqpoll {
            // The kernel thread sleeps after this many idle milliseconds.
            builder.setup_sqpoll(50);
            if let Some(cpu) = options.sqpoll_cpu {
                builder.setup_sqpoll_cpu(cpu);
            }
        } else if single_issuer {
            builder.setup_single_issuer().setup_defer_taskrun();
        }
        builder.build(entries)
    };
    match build(true) {
        // Kernels before 6.1 support neither flag.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) && !options.sqpoll => {
            limited_event!(
                Clock::monotonic().now(),
                INFO,
                "no single issuer: this kernel is older than 6.1"
            );
            build(false)
        }
        ring => ring,
    }
}

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> Ring<S, C> {
    /// Waits for I/Os in flight, [`DRAIN_TIMEOUT`] at most and only once; `false` when some did not
    /// complete.
    fn drain(&mut self) -> bool {
        let deadline = self.clock.now() + DRAIN_TIMEOUT;
        let mut drained = Vec::new();
        // Every user data begins with its slot.
        let slot_of = |user_data: u64, result: i32| Completion { slot: user_data as u32, result };
        while self.in_flight > 0 && !self.abandoned {
            let late = self.clock.now() >= deadline;
            self.abandoned = late || self.reap(1, deadline, &mut drained, slot_of).is_err();
        }
        !self.buffers.any_lent()
    }
}

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> Drop for Ring<S, C> {
    fn drop(&mut self) {
        if !self.drain() {
            // The drive may still write to these buffers: the memory is leaked instead of reused.
            self.buffers.leak();
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/ring.rs"]
mod tests;
