//! I/O targets: submission and completion of reads and writes, by io_uring, blocking calls, NVMe
//! passthrough, or nothing at all.
//!
//! # Architecture
//! - [`Target`] is the interface between workloads and drives: submit a batch, reap completions,
//!   read the clock. *Time belongs to the target*: a real one reads the monotonic clock, a
//!   simulated one advances to its next event.
//! - Implementations: [`uring::UringTarget`] (io_uring), [`passthru::PassthruTarget`] (NVMe
//!   commands by io_uring), [`sync::SyncTarget`] (one blocking call at a time),
//!   [`threads::ThreadsTarget`] (a blocking call per thread, where io_uring is refused),
//!   [`null::NullTarget`] (completes at once: measures the engine itself).
//! - [`drive_handle::DriveHandle`] is the open file that real targets share. The crate `device`
//!   decides whether a drive may be written. [`page_cache`] drops the host's cache of it.
//! - [`system_calls`] wraps the system calls that no crate wraps.
//!
//! # Non-goals
//! No workload, no statistics, no discovery, no permissions.
//!
//! # Unsafe
//! This is the one crate that may use `unsafe` (`stream` has one hot kernel): for memory that the
//! kernel, a thread of a pool or another process writes ([`buffers`], [`uring`], [`passthru`],
//! [`mod@threads`], [`shared_memory`]), for
//! the time-stamp counter ([`clock`]), for `madvise` ([`memory`]), and for ioctls and register
//! mappings ([`system_calls`]). Each use states why it is sound.
//!
//! # Key constants
//! [`MAX_IO_BYTES`] (4 MiB, the largest I/O), [`MAX_SLOTS`].

pub mod buffers;
pub mod clock;
pub mod cpus;
pub mod drive_handle;
mod kernel_command;
pub mod memory;
pub mod null;
pub mod page_cache;
pub mod passthru;
pub mod placement;
pub mod priority;
pub mod private_socket;
pub mod realtime_signal;
mod ring;
pub mod shared_memory;
pub mod stall;
pub mod sync;
pub mod system_calls;
pub mod threads;
pub mod uring;

pub use assay_units::telemetry::Telemetry;
pub use assay_units::{DataClass, Nanos, Op};

use crate::page_cache::ReadSource;

/// Largest single I/O, bytes.
pub const MAX_IO_BYTES: u32 = 4 << 20;
/// Most I/Os one target keeps in flight: the io_uring submission queue's limit.
pub const MAX_SLOTS: u32 = 32_768;

/// One I/O to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// Operation.
    pub op: Op,
    /// Data class of a write; a simulated drive that stores no data uses it.
    pub data: DataClass,
    /// Buffer and completion index. A slot has at most one I/O in flight.
    pub slot: u32,
    /// Length, bytes.
    pub len_bytes: u32,
    /// Offset on the drive, bytes.
    pub offset_bytes: u64,
    /// Of a write: Force Unit Access, it completes when the data is on non-volatile media.
    pub fua: bool,
    /// Priority as the kernel packs it; 0: that of the thread. Only io_uring takes it.
    pub priority: u16,
}

/// A completed I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Slot of the submission.
    pub slot: u32,
    /// Bytes transferred, or a negated `errno`.
    pub result: i32,
}

impl Completion {
    /// Whether exactly `len_bytes` were transferred.
    #[inline]
    pub fn moved(&self, len_bytes: u32) -> bool {
        self.result >= 0 && self.result as u32 == len_bytes
    }
}

/// Longest time without a completion on a real drive. Linux aborts an NVMe command after 30 s,
/// resets the controller after 30 s more, which may take 127.5 s (CAP.TO), and gives a SCSI command
/// five retries of 30 s each.
pub const IO_TIMEOUT: Nanos = Nanos::from_secs(240);

/// Failure of a target as a whole. Errors of single I/Os are reported in their [`Completion`].
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// I/O buffers could not be allocated.
    #[error(
        "cannot allocate {bytes} bytes of I/O buffers: {source}; lower --iodepth, --numjobs or \
         --bs"
    )]
    Buffers {
        /// Requested size, bytes.
        bytes: u64,
        /// Error from the kernel.
        source: std::io::Error,
    },
    /// io_uring could not be set up.
    #[error("{drive}: cannot set up io_uring ({what}): {source}; try --engine sync")]
    Ring {
        /// The drive.
        drive: String,
        /// Failed step.
        what: &'static str,
        /// Error from the kernel.
        source: std::io::Error,
    },
    /// Processor affinity could not be set.
    #[error("cannot set processor affinity to {cpus}: {source}; check --cpus_allowed")]
    Cpus {
        /// Processor list.
        cpus: String,
        /// Error from the kernel.
        source: std::io::Error,
    },
    /// The I/O priority could not be set.
    #[error(
        "cannot set the I/O priority {priority}: {source}; check --ioprio: real-time needs the \
         capability CAP_SYS_NICE"
    )]
    Priority {
        /// Class and level.
        priority: String,
        /// Error from the kernel.
        source: std::io::Error,
    },
    /// Submission or waiting failed.
    #[error("{drive}: {what} failed: {source}")]
    Io {
        /// The drive.
        drive: String,
        /// Failed call.
        what: &'static str,
        /// Error from the kernel.
        source: std::io::Error,
    },
    /// I/Os have no answer for too long.
    #[error(
        "{drive}: no answer to {ios} I/Os for {} s, longer than any retry of the kernel: the \
         drive, its controller or its path hangs; see dmesg, then power-cycle it",
        waited.as_secs_f64().round()
    )]
    Unanswered {
        /// The drive.
        drive: String,
        /// I/Os in flight.
        ios: usize,
        /// Time since the last completion.
        waited: Nanos,
    },
    /// More I/Os in flight than a target supports.
    #[error("{slots} I/Os in flight exceed the limit of one thread ({MAX_SLOTS}); lower --iodepth")]
    TooDeep {
        /// Requested.
        slots: u64,
    },
    /// A simulated drive could not be created or rejected a command.
    #[error("{drive}: {message}")]
    Simulation {
        /// The drive.
        drive: String,
        /// Error message of the model.
        message: String,
    },
}

/// Asynchronous I/O on one drive. Monomorphised in the hot loop.
///
/// One thread owns a target. A simulated target serves all workers of a job from one thread, so
/// that virtual time has one owner; a real one serves the worker of its thread.
pub trait Target {
    /// The time on this target's clock.
    fn now(&mut self) -> Nanos;

    /// Submits a batch. The target starts it now or, at the latest, in the next [`Target::reap`].
    ///
    /// Each slot must be free (never submitted, or reaped since) and below the number the target
    /// was made with.
    ///
    /// # Errors
    /// Only when the target as a whole cannot go on; an I/O that fails completes with its error.
    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError>;

    /// Starts what was submitted and appends completions to `out`: returns when at least `min` have
    /// been appended or the clock has reached `until`, whichever is first. `min` of 0 does not
    /// wait. With nothing in flight and a `min` of at least 1, it waits until `until`.
    ///
    /// # Errors
    /// As for [`Target::submit`].
    fn reap(
        &mut self,
        min: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError>;

    /// The buffer of a slot that is not in flight; `None` where the target transfers no data (null,
    /// most simulations).
    fn buffer(&mut self, slot: u32) -> Option<&mut [u8]>;

    /// Before a range is read to verify it: drops it from the host's page cache, and returns where
    /// the reads come from.
    fn drop_cached(&mut self, _offset_bytes: u64, _len_bytes: u64) -> ReadSource {
        ReadSource::Drive
    }

    /// Empties a zone of a zoned drive, in which nothing is in flight.
    ///
    /// # Errors
    /// That of the drive. A write to the zone then fails, too.
    fn reset_zone(&mut self, _offset_bytes: u64, _len_bytes: u64) -> std::io::Result<()> {
        Ok(())
    }

    /// Current telemetry, where reading it does not disturb the measurement (simulated drives).
    fn telemetry(&mut self) -> Option<Telemetry> {
        None
    }
}

/// Implements [`Target`] for a pointer to a target.
macro_rules! target_behind {
    ($pointer:ty) => {
        impl<T: Target + ?Sized> Target for $pointer {
            fn now(&mut self) -> Nanos {
                (**self).now()
            }

            fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
                (**self).submit(batch)
            }

            fn reap(
                &mut self,
                min: usize,
                until: Nanos,
                out: &mut Vec<Completion>,
            ) -> Result<(), TargetError> {
                (**self).reap(min, until, out)
            }

            fn buffer(&mut self, slot: u32) -> Option<&mut [u8]> {
                (**self).buffer(slot)
            }

            fn drop_cached(&mut self, offset_bytes: u64, len_bytes: u64) -> ReadSource {
                (**self).drop_cached(offset_bytes, len_bytes)
            }

            fn reset_zone(&mut self, offset_bytes: u64, len_bytes: u64) -> std::io::Result<()> {
                (**self).reset_zone(offset_bytes, len_bytes)
            }

            fn telemetry(&mut self) -> Option<Telemetry> {
                (**self).telemetry()
            }
        }
    };
}

target_behind!(&mut T);
target_behind!(Box<T>);
