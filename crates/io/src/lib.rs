//! I/O targets: submission and completion of reads and writes, by io_uring, blocking calls, NVMe passthrough, or nothing at all.
//!
//! # Architecture
//! - [`Target`] is the interface between workloads and drives: submit a batch, reap completions, read the clock. *Time belongs to the
//!   target*: a real one reads the monotonic clock, a simulated one advances to its next event.
//! - Implementations: [`uring::UringTarget`] (io_uring), [`passthru::PassthruTarget`] (NVMe commands by io_uring),
//!   [`sync::SyncTarget`] (one blocking call at a time), [`null::NullTarget`] (completes at once: measures the engine itself).
//! - [`drive_handle::DriveHandle`] is the open file that real targets share. Who may open a drive for writing is decided in the crate `device`.
//! - [`clock`] is the one clock; [`buffers`] holds the I/O memory; [`cpus`] sets processor affinity; [`system_calls`] wraps the system
//!   calls that no crate wraps.
//!
//! # Non-goals
//! No workload, no statistics, no discovery, no permissions.
//!
//! # Unsafe
//! This is the one crate that may use `unsafe` (`stream` has one hot kernel): for memory that the kernel or another process writes
//! ([`buffers`], [`uring`], [`passthru`], [`shared_memory`]), for the time-stamp counter ([`clock`]), for `madvise` ([`memory`]), and for
//! ioctls and register mappings ([`system_calls`]). Each use states why it is sound.
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
pub mod passthru;
mod ring;
pub mod shared_memory;
pub mod sync;
pub mod system_calls;
pub mod uring;

pub use assay_units::{DataClass, Nanos, Op};

/// Largest single I/O, bytes.
pub const MAX_IO_BYTES: u32 = 4 << 20;
/// Most I/Os one target keeps in flight: the io_uring submission queue's limit.
pub const MAX_SLOTS: u32 = 32_768;

/// One I/O to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// What to do.
    pub op: Op,
    /// What the bytes of a write are like (a simulated drive without data needs to be told).
    pub data: DataClass,
    /// Which slot: names the buffer, and the completion. A slot has at most one I/O in flight.
    pub slot: u32,
    /// How many bytes.
    pub len_bytes: u32,
    /// Where on the drive.
    pub offset_bytes: u64,
}

/// One I/O that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The slot it was submitted with.
    pub slot: u32,
    /// Bytes moved, or a negated `errno`.
    pub result: i32,
}

impl Completion {
    /// Did it move exactly this many bytes?
    #[inline]
    pub fn moved(&self, len_bytes: u32) -> bool {
        self.result >= 0 && self.result as u32 == len_bytes
    }
}

/// Why a target could not go on. Errors of single I/Os are not here: they come as [`Completion`]s.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// Memory for the I/O buffers could not be had.
    #[error(
        "cannot get {bytes} bytes of I/O buffers: {source}; lower --iodepth, --numjobs or --bs"
    )]
    Buffers {
        /// How much was asked for.
        bytes: u64,
        /// The system's answer.
        source: std::io::Error,
    },
    /// io_uring could not be set up.
    #[error("{drive}: cannot set up io_uring ({what}): {source}; try --engine sync")]
    Ring {
        /// The drive.
        drive: String,
        /// Which step.
        what: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A thread could not be kept on its processors.
    #[error("cannot keep a thread on processors {cpus}: {source}; check --cpus_allowed")]
    Cpus {
        /// Which processors.
        cpus: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// Submitting or waiting failed as a whole.
    #[error("{drive}: {what} failed: {source}")]
    Io {
        /// The drive.
        drive: String,
        /// Which call.
        what: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
    /// More in flight than a target can hold.
    #[error(
        "{slots} I/Os in flight are more than one thread can hold ({MAX_SLOTS}); lower --iodepth"
    )]
    TooDeep {
        /// Asked for.
        slots: u64,
    },
    /// A simulated drive could not be made or refused a command outright.
    #[error("{drive}: {message}")]
    Simulation {
        /// The drive.
        drive: String,
        /// What it said.
        message: String,
    },
}

/// A drive as the engine sees it. Monomorphised in the hot loop.
///
/// One thread owns a target. A simulated target serves all workers of a job from one thread, so that virtual time has one
/// owner; a real one serves the worker of its thread.
pub trait Target {
    /// The time on this target's clock.
    fn now(&mut self) -> Nanos;

    /// Accept a batch. The target may start it at once or with the next [`Target::reap`], which it must start no later than.
    ///
    /// Each slot must be free (never submitted, or reaped since) and below the number the target was made with.
    ///
    /// # Errors
    /// Only when the target as a whole cannot go on; an I/O that fails completes with its error.
    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError>;

    /// Start what was submitted and append completions to `out`: return when at least `min` have been appended or the clock
    /// has reached `until`, whichever is first. `min` of 0 only looks. With nothing in flight and a `min` of at least 1, it
    /// waits until `until`.
    ///
    /// # Errors
    /// As for [`Target::submit`].
    fn reap(
        &mut self,
        min: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError>;

    /// The buffer of a slot that is not in flight; `None` where the target moves no bytes (null, most simulations).
    fn buffer(&mut self, slot: u32) -> Option<&mut [u8]>;

    /// What the drive says of itself now, where it can without disturbing the measurement (simulated drives).
    fn telemetry(&mut self) -> Option<Telemetry> {
        None
    }
}

/// What points to a target is one.
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

            fn telemetry(&mut self) -> Option<Telemetry> {
                (**self).telemetry()
            }
        }
    };
}

target_behind!(&mut T);
target_behind!(Box<T>);

/// What a drive says of itself while it works.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Telemetry {
    /// Composite temperature, degrees Celsius.
    pub temperature_c: Option<f64>,
    /// Further sensors.
    pub sensors_c: Vec<f64>,
    /// Holding itself back because of heat.
    pub throttled: Option<bool>,
    /// Seconds above its warning temperature so far.
    pub warning_time_s: Option<u64>,
    /// Seconds above its critical temperature so far.
    pub critical_time_s: Option<u64>,
    /// Times that it began to throttle, as it counts them itself.
    pub thermal_transitions: Option<u64>,
    /// Errors of media and data integrity so far.
    pub media_errors: Option<u64>,
    /// Entries that its error log has had.
    pub error_log_entries: Option<u64>,
    /// Life used, percent, as the maker estimates it.
    pub percentage_used: Option<u8>,
    /// Spare capacity left, percent.
    pub available_spare_pct: Option<u8>,
    /// Critical warnings that are set, by name.
    pub critical_warnings: Vec<String>,
    /// Mean power since the last reading, milliwatts.
    pub power_mw: Option<u64>,
    /// NVMe power state.
    pub power_state: Option<u8>,
    /// Bytes the host has read since it was made.
    pub host_bytes_read: Option<u64>,
    /// Bytes the host has written since it was made.
    pub host_bytes_written: Option<u64>,
    /// Bytes written to its NAND.
    pub nand_bytes_written: Option<u64>,
}
