//! io_uring: registered buffers and file, one system call per batch, completions taken in bulk.
//!
//! # How it is fast
//! - [`Target::submit`] only writes submission-queue entries; [`Target::reap`] enters the kernel once, to submit and to wait
//!   together.
//! - `SINGLE_ISSUER | DEFER_TASKRUN`: completion work runs in this thread when it asks, not in interrupts of its own.
//! - The file and the buffers are registered, so the kernel neither looks up the one nor pins the other for each I/O.
//! - A device or file that does not answer `RWF_NOWAIT` (zram, tmpfs) makes the kernel hand every I/O to a worker thread of its
//!   own. A file in memory has nothing to wait for: read through a handle marked `O_NONBLOCK` it is read in this thread, at half
//!   the processor time. `IOSQE_ASYNC`, which skips the attempt, costs more than it saves (measured on zram and tmpfs).
//! - `IOPOLL` where the device has polling queues, `SQPOLL` on request.
//!
//! Source for flags: Linux `io_uring_setup(2)`, `io_uring_enter(2)`.

use std::io;
use std::os::fd::AsRawFd;

use assay_units::{Nanos, Op};
use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};

use crate::buffers::Buffers;
use crate::clock::{Clock, SPIN};
use crate::open::OpenDrive;
use crate::sync::fallocate_mode;
use crate::{Completion, Io, MAX_SLOTS, Target, TargetError};

/// How the ring is set up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UringOptions {
    /// Poll the device for completions instead of waiting for interrupts; needs O_DIRECT and a device with polling queues.
    pub iopoll: bool,
    /// A kernel thread takes submissions, so that submitting needs no system call.
    pub sqpoll: bool,
}

/// An io_uring of its own for one worker.
pub struct UringTarget {
    // Declared before `buffers`: dropped first, so the kernel has let go of the memory before it is unmapped.
    ring: IoUring,
    buffers: Buffers,
    drive: OpenDrive,
    clock: Clock,
    fixed_buffers: bool,
    queued: usize,
    in_flight: usize,
}

/// `IORING_ENTER_GETEVENTS` of `io_uring_enter(2)`.
const ENTER_GETEVENTS: u32 = 1;

/// How long a dropped ring may wait for I/Os in flight before their memory is given up instead of freed.
const DRAIN: Nanos = Nanos::from_secs(5);

impl UringTarget {
    /// A ring for `slots` I/Os in flight with a buffer of `slot_bytes` each.
    ///
    /// # Errors
    /// When the kernel refuses the ring or the memory.
    pub fn new(
        drive: OpenDrive,
        slots: u32,
        slot_bytes: u32,
        options: UringOptions,
    ) -> Result<UringTarget, TargetError> {
        if slots > MAX_SLOTS {
            return Err(TargetError::TooDeep {
                slots: u64::from(slots),
            });
        }
        let failed = |what: &'static str, source: io::Error| TargetError::Ring {
            drive: drive.name().to_owned(),
            what,
            source,
        };
        if drive.is_in_memory() && !drive.is_writable() {
            // For writes it stays as it is: a nonblocking one may fail instead of waiting for a lock.
            drive
                .mark_nonblocking()
                .map_err(|e| failed("O_NONBLOCK", e))?;
        }
        let buffers = Buffers::new(slots, slot_bytes)?;
        let ring = build(slots, options).map_err(|e| failed("io_uring_setup", e))?;
        ring.submitter()
            .register_files(&[drive.file().as_raw_fd()])
            .map_err(|e| failed("registering the file", e))?;
        let iovecs: Vec<libc::iovec> = (0..slots)
            .map(|slot| libc::iovec {
                iov_base: buffers.pointer(slot).cast(),
                iov_len: buffers.slot_bytes(),
            })
            .collect();
        // Registering pins the memory, which a small RLIMIT_MEMLOCK can forbid: then every I/O pins its own, correct but slower.
        // SAFETY: every iovec lies inside `buffers`, which the target keeps mapped until after the ring is gone.
        let fixed_buffers = unsafe { ring.submitter().register_buffers(&iovecs) }.is_ok();
        Ok(UringTarget {
            ring,
            buffers,
            drive,
            clock: Clock::monotonic(),
            fixed_buffers,
            queued: 0,
            in_flight: 0,
        })
    }

    /// Are the buffers registered with the kernel (or does each I/O pin its own)?
    pub fn has_fixed_buffers(&self) -> bool {
        self.fixed_buffers
    }

    fn entry(&self, io: &Io) -> squeue::Entry {
        const FILE: Fixed = Fixed(0);
        let pointer = self.buffers.pointer(io.slot);
        let index = io.slot as u16;
        // Buffer indices are 16 bits wide; slots are at most 32768.
        let entry = match (io.op, self.fixed_buffers) {
            (Op::Read, true) => opcode::ReadFixed::new(FILE, pointer, io.len_bytes, index)
                .offset(io.offset_bytes)
                .build(),
            (Op::Read, false) => opcode::Read::new(FILE, pointer, io.len_bytes)
                .offset(io.offset_bytes)
                .build(),
            (Op::Write, true) => opcode::WriteFixed::new(FILE, pointer, io.len_bytes, index)
                .offset(io.offset_bytes)
                .build(),
            (Op::Write, false) => opcode::Write::new(FILE, pointer, io.len_bytes)
                .offset(io.offset_bytes)
                .build(),
            (Op::Flush, _) => opcode::Fsync::new(FILE).flags(FsyncFlags::DATASYNC).build(),
            (Op::Discard | Op::WriteZeroes, _) => {
                opcode::Fallocate::new(FILE, u64::from(io.len_bytes))
                    .offset(io.offset_bytes)
                    .mode(fallocate_mode(io.op).bits() as i32)
                    .build()
            }
        };
        // The operation's own length comes back with the slot, for those that answer 0.
        let answers_zero = !matches!(io.op, Op::Read | Op::Write);
        let length = if answers_zero {
            u64::from(io.len_bytes)
        } else {
            0
        };
        entry.user_data(u64::from(io.slot) | length << 32)
    }

    fn collect(&mut self, out: &mut Vec<Completion>) -> usize {
        let before = out.len();
        for entry in self.ring.completion() {
            let slot = entry.user_data() as u32;
            let answer_for_zero = (entry.user_data() >> 32) as i32;
            let result = match entry.result() {
                0 => answer_for_zero,
                result => result,
            };
            self.buffers.take_back(slot);
            out.push(Completion { slot, result });
        }
        let taken = out.len() - before;
        self.in_flight -= taken;
        taken
    }

    fn enter(&mut self, want: usize, timeout: Option<Nanos>) -> Result<(), TargetError> {
        let queued = self.ring.submission().len();
        let submitter = self.ring.submitter();
        let answer = match timeout {
            // Nothing to wait for, but completions deferred to this thread must be brought in, which the crate's `submit`
            // does not ask for.
            // SAFETY: no argument is passed; entries queued were made by `entry`.
            None if want == 0 => unsafe {
                submitter.enter::<libc::sigset_t>(queued as u32, 0, ENTER_GETEVENTS, None)
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
                drive: self.drive.name().to_owned(),
                what: "io_uring_enter",
                source,
            }),
        }
    }
}

fn build(slots: u32, options: UringOptions) -> io::Result<IoUring> {
    let entries = slots.max(1).next_power_of_two();
    let mut builder = IoUring::builder();
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
            let mut plain = IoUring::builder();
            plain.setup_clamp();
            if options.iopoll {
                plain.setup_iopoll();
            }
            plain.build(entries)
        }
        answer => answer,
    }
}

impl Target for UringTarget {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    #[inline]
    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
        for io in batch {
            let entry = self.entry(io);
            self.buffers.lend(io.slot);
            // SAFETY: the entry's buffer is the slot's, mapped for as long as the ring lives, and lent to the kernel until its
            // completion is seen; the registered file is kept open by `drive`.
            let pushed = unsafe { self.ring.submission().push(&entry) };
            if pushed.is_err() {
                // Cannot happen while slots <= entries, but a full queue is emptied, not a reason to fail.
                self.enter(0, None)?;
                // SAFETY: as above.
                unsafe { self.ring.submission().push(&entry) }.map_err(|_| TargetError::Io {
                    drive: self.drive.name().to_owned(),
                    what: "queueing an I/O",
                    source: io::ErrorKind::WouldBlock.into(),
                })?;
            }
        }
        self.queued += batch.len();
        self.in_flight += batch.len();
        Ok(())
    }

    #[inline]
    fn reap(
        &mut self,
        min: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        if self.in_flight == 0 {
            if min > 0 {
                self.clock.wait_until(until);
            }
            return Ok(());
        }
        let want = min.min(self.in_flight);
        let mut got = if self.queued == 0 {
            self.collect(out)
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
            got += self.collect(out);
            if left == Nanos::ZERO {
                return Ok(());
            }
        }
        // Only looking: completions deferred to this thread come in when it enters the kernel, and only then.
        if self.queued > 0 || got == 0 {
            self.enter(0, None)?;
            self.collect(out);
        }
        Ok(())
    }

    fn buffer(&mut self, slot: u32) -> Option<&mut [u8]> {
        Some(self.buffers.slot(slot))
    }
}

impl Drop for UringTarget {
    fn drop(&mut self) {
        let deadline = self.clock.now() + DRAIN;
        let mut drained = Vec::new();
        while self.in_flight > 0 && self.clock.now() < deadline {
            if self.reap(1, deadline, &mut drained).is_err() {
                break;
            }
        }
        if self.buffers.any_lent() {
            // A drive that never answers may still write later: its memory is lost rather than handed to someone else.
            self.buffers.leak();
        }
    }
}
