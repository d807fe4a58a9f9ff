use std::fmt;

use assay_io::Op;
use serde::Serialize;

use crate::registers::StatusBits;

/// A command that the drive failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{drive}: a {op} at address {address} failed: {}", describe(*.result))]
pub struct DeviceFailure {
    pub drive: String,
    pub op: &'static str,
    pub address: u64,
    /// A negated `errno`, or the bytes moved if fewer than requested.
    pub result: i32,
}

impl DeviceFailure {
    /// The storage has no room for new blocks: a file system, quota or thin volume. A write that
    /// begins before that and ends after it is short. The storage still answers, and what was
    /// written before is as it was.
    pub fn is_out_of_space(&self) -> bool {
        use rustix::io::Errno;
        let full = [Errno::NOSPC, Errno::DQUOT, Errno::FBIG].map(Errno::raw_os_error);
        self.op == Op::Write.name()
            && (self.result >= 0 || full.contains(&self.result.wrapping_neg()))
    }
}

fn describe(result: i32) -> String {
    if result < 0 {
        std::io::Error::from_raw_os_error(result.wrapping_neg()).to_string()
    } else {
        format!("only {result} bytes were transferred")
    }
}

/// A wait of the stream for the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Stall {
    /// Nanoseconds since the stream began.
    pub at_ns: u64,
    /// Duration, nanoseconds. For a rate-limited source: until the stream had caught up.
    pub duration_ns: u64,
    /// Maximum delay from delivery to acceptance of a chunk; 0 for sources without a rate.
    pub late_ns: u64,
    /// The first chunk that had to wait.
    pub chunk: u64,
}

/// Number of longest stalls kept.
pub const STALLS_KEPT: usize = 64;

/// All stalls of a stream: counted, the longest kept individually.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stalls {
    pub count: u64,
    /// Total duration, nanoseconds.
    pub total_ns: u64,
    pub longest_ns: u64,
    pub latest_ns: u64,
    pub over_deadline: u64,
    /// The [`STALLS_KEPT`] longest, in order of time.
    pub longest: Vec<Stall>,
}

impl Stalls {
    pub(crate) fn add(&mut self, stall: Stall, deadline_ns: Option<u64>) {
        self.count += 1;
        self.total_ns += stall.duration_ns;
        self.longest_ns = self.longest_ns.max(stall.duration_ns);
        self.latest_ns = self.latest_ns.max(stall.late_ns);
        if deadline_ns.is_some_and(|deadline| stall.late_ns > deadline) {
            self.over_deadline += 1;
        }
        self.longest.push(stall);
        if self.longest.len() > STALLS_KEPT {
            let stalls = self.longest.iter().enumerate();
            let shortest = stalls.min_by_key(|(_, stall)| stall.duration_ns);
            let (at, _) = shortest.expect("a stall was added");
            self.longest.remove(at);
        }
    }
}

/// Backlog of a source that cannot wait.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Backlog {
    /// Rate at which the source delivered, bytes per second.
    pub rate_bytes_per_s: u64,
    /// Size of the ring, bytes.
    pub buffer_bytes: u64,
    /// Maximum of bytes delivered and not yet written; above the ring size the source had to
    /// buffer.
    pub high_water_bytes: u64,
    /// The greatest rate that never needed more than the ring; at most the offered rate.
    pub sustainable_bytes_per_s: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StreamStatus {
    pub status: StatusBits,
    pub first_address: u64,
    pub last_address: u64,
    pub chunk_bytes: u32,
    #[serde(rename = "lanes")]
    pub drives: u32,
    /// Address of the last chunk of the contiguous run of completed chunks.
    pub last_address_written: Option<u64>,
    /// Bytes of the contiguous run of completed chunks (of a replay: delivered).
    pub bytes: u64,
    /// The same in beats of 16 bytes, rounded up.
    pub beats: u64,
    pub chunks: u64,
    /// Bytes covered by a completed flush.
    pub durable_bytes: u64,
    /// Whether the source had more than the range holds; `None`: not determined.
    pub source_had_more: Option<bool>,
    pub stalls: Stalls,
    /// For sources that cannot wait.
    pub backlog: Option<Backlog>,
    /// From the first chunk to the last completion, nanoseconds on the drive's clock.
    pub elapsed_ns: u64,
    /// The first command that the drive failed.
    pub failure: Option<DeviceFailure>,
}

impl StreamStatus {
    pub fn rate_bytes_per_s(&self) -> f64 {
        assay_units::rate::per_second(self.bytes, assay_units::Nanos(self.elapsed_ns))
    }

    /// Not refused, no failed command and no missed deadline.
    pub fn is_clean(&self) -> bool {
        self.failure.is_none()
            && self.stalls.over_deadline == 0
            && !self.status.has(StatusBits::DEVICE_ERROR)
            && !self.status.is_refusal()
    }
}

/// What not every streamer can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamOption {
    /// Recordings with an index: written, found, verified, replayed.
    Index,
    /// Wrapping around at the end of the range.
    Ring,
    DurableEvery,
    /// A source of a fixed rate, and what it must buffer.
    Rate,
    /// The buffer needed per rate.
    Plan,
}

impl fmt::Display for StreamOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StreamOption::Index => "a recording with an index (--index)",
            StreamOption::Ring => "a ring (--ring)",
            StreamOption::DurableEvery => "flushing at an interval (--durable-every)",
            StreamOption::Rate => "a source of a fixed rate (--rate)",
            StreamOption::Plan => "a plan of buffers (--plan)",
        })
    }
}

/// Why a stream could not run. Failed commands are in [`StreamStatus::failure`].
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The target failed as a whole.
    #[error(transparent)]
    Target(#[from] assay_io::TargetError),
    #[error(
        "reading the stream from {source_name} failed after {bytes} bytes: {source}; the data \
         read before are on the drive"
    )]
    Source { source_name: String, bytes: u64, source: std::io::Error },
    #[error("writing the stream to {sink_name} failed after {bytes} bytes: {source}")]
    Sink { sink_name: String, bytes: u64, source: std::io::Error },
    /// No drive or too few slots.
    #[error(
        "a stream needs at least one drive, and each at least {needed} slots; use a deeper queue"
    )]
    NoSlots {
        /// Slots per drive.
        needed: usize,
    },
    /// The slots are smaller than a chunk.
    #[error("{drive}: chunks of {chunk_bytes} bytes do not fit into slots of {slot_bytes} bytes")]
    SmallSlots { drive: String, slot_bytes: u32, chunk_bytes: u32 },
    #[error("{streamer}: {source}")]
    Core { streamer: String, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("{streamer}: {option} is not supported by this streamer")]
    Unsupported { streamer: String, option: StreamOption },
    #[error(
        "{drives}: not verified: the host's page cache holds the data and could not be dropped, so \
         that reading says nothing about the drive; use direct I/O (--direct true)"
    )]
    HostMemory { drives: String },
    #[error(transparent)]
    Session(#[from] assay_device::session::SessionError),
    #[error(transparent)]
    Range(#[from] crate::range::RangeError),
    #[error(transparent)]
    Index(#[from] crate::index::IndexError),
}

#[cfg(test)]
#[path = "../tests/unit/status.rs"]
mod tests;
