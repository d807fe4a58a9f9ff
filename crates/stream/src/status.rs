//! What came of a stream.

use serde::Serialize;

use crate::registers::StatusBits;

/// A command that the drive failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{drive}: a {op} at address {address} failed: {}", describe(*.result))]
pub struct DeviceFailure {
    /// Which drive.
    pub drive: String,
    /// read, write or flush.
    pub op: &'static str,
    /// Byte address on that drive.
    pub address: u64,
    /// A negated `errno`, or the bytes that were moved when they were too few.
    pub result: i32,
}

fn describe(result: i32) -> String {
    if result < 0 {
        std::io::Error::from_raw_os_error(result.wrapping_neg()).to_string()
    } else {
        format!("only {result} bytes were moved")
    }
}

/// A time the stream had to wait for the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Stall {
    /// Nanoseconds since the stream began.
    pub at_ns: u64,
    /// How long, nanoseconds. Of a source with a rate of its own: until the stream had caught up with it.
    pub duration_ns: u64,
    /// The most that a chunk was taken after it was delivered, nanoseconds; 0 for sources without a rate.
    pub late_ns: u64,
    /// The (first) chunk that had to wait.
    pub chunk: u64,
}

/// How many of the longest stalls are kept.
pub const STALLS_KEPT: usize = 64;

/// All stalls of a stream: exactly counted, the longest kept one by one, so that memory does not grow with the stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stalls {
    /// How many.
    pub count: u64,
    /// All of them, nanoseconds.
    pub total_ns: u64,
    /// The longest, nanoseconds.
    pub longest_ns: u64,
    /// The most that a chunk was taken after it was delivered, nanoseconds; 0 for sources without a rate.
    pub latest_ns: u64,
    /// In how many data was taken later than a source that cannot wait can hold it (`--lossy-deadline`).
    pub over_deadline: u64,
    /// The [`STALLS_KEPT`] longest, in order of time.
    pub longest: Vec<Stall>,
}

impl Stalls {
    pub(crate) fn add(&mut self, stall: Stall, deadline_ns: Option<u64>) {
        self.count += 1;
        self.total_ns = self.total_ns.saturating_add(stall.duration_ns);
        self.longest_ns = self.longest_ns.max(stall.duration_ns);
        self.latest_ns = self.latest_ns.max(stall.late_ns);
        if deadline_ns.is_some_and(|deadline| stall.late_ns > deadline) {
            self.over_deadline += 1;
        }
        self.longest.push(stall);
        if self.longest.len() > STALLS_KEPT {
            let shortest = (0..self.longest.len()).min_by_key(|&i| self.longest[i].duration_ns);
            if let Some(shortest) = shortest {
                self.longest.remove(shortest);
            }
        }
    }
}

/// What a source that cannot wait would have met, and what it would have needed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Backlog {
    /// Rate at which the source delivered, bytes per second.
    pub rate_bytes_per_s: u64,
    /// The ring, bytes: what the stream may be behind before the source has to wait.
    pub buffer_bytes: u64,
    /// The most that was delivered and not yet on the drive, bytes. More than the ring: the source had to hold it.
    pub high_water_bytes: u64,
    /// The greatest rate at which this drive, over this stream, never needed more than the ring, bytes per second. Never more than
    /// the rate offered: what was not tried is not known.
    pub sustainable_bytes_per_s: u64,
}

/// What came of a stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StreamStatus {
    /// The `STATUS` register at the end.
    pub status: StatusBits,
    /// Address of the first chunk of the range.
    pub first_address: u64,
    /// Address of the last chunk of the range.
    pub last_address: u64,
    /// Bytes per chunk.
    pub chunk_bytes: u32,
    /// Drives of the stream.
    #[serde(rename = "lanes")]
    pub drives: u32,
    /// Address of the last chunk of the unbroken run of chunks that are done.
    pub last_address_written: Option<u64>,
    /// Bytes of the stream in that run (of a replay: handed on).
    pub bytes: u64,
    /// The same in beats of 16 bytes, a begun one counted.
    pub beats: u64,
    /// Chunks in that run.
    pub chunks: u64,
    /// Bytes that a flush has made durable.
    pub durable_bytes: u64,
    /// Did the source have more than the range takes? `None`: nobody asked it.
    pub source_had_more: Option<bool>,
    /// Times the stream had to wait for the drive.
    pub stalls: Stalls,
    /// For sources that cannot wait.
    pub backlog: Option<Backlog>,
    /// From the first chunk to the end of the last I/O, nanoseconds on the drive's clock.
    pub elapsed_ns: u64,
    /// What the drive failed, the first of it.
    pub failure: Option<DeviceFailure>,
}

impl StreamStatus {
    /// Bytes per second over the whole stream.
    pub fn rate_bytes_per_s(&self) -> f64 {
        assay_units::rate::per_second(self.bytes, assay_units::Nanos(self.elapsed_ns))
    }

    /// Did it end as it should: by itself, with nothing failed and no deadline missed?
    pub fn is_clean(&self) -> bool {
        self.failure.is_none()
            && self.stalls.over_deadline == 0
            && !self.status.has(StatusBits::DEVICE_ERROR)
    }
}

/// Why a stream could not be run at all. What the drive failed on the way is in [`StreamStatus::failure`].
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The target as a whole cannot go on.
    #[error(transparent)]
    Target(#[from] assay_io::TargetError),
    /// The source failed.
    #[error(
        "reading the stream from {source_name} failed after {bytes} bytes: {source}; what was read until then is on the drive"
    )]
    Source {
        /// Where it came from.
        source_name: String,
        /// Bytes taken until then.
        bytes: u64,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The sink failed.
    #[error("writing the stream to {sink_name} failed after {bytes} bytes: {source}")]
    Sink {
        /// Where it went.
        sink_name: String,
        /// Bytes handed on until then.
        bytes: u64,
        /// The system's answer.
        source: std::io::Error,
    },
    /// Nothing to stream to or from.
    #[error(
        "a stream needs at least one drive, and each at least {needed} slots; give it a deeper queue"
    )]
    NoSlots {
        /// Slots per drive.
        needed: usize,
    },
    /// A ring made for smaller chunks.
    #[error(
        "{drive}: chunks of {chunk_bytes} bytes do not fit into slots of {slot_bytes}; open it with slots of a chunk each"
    )]
    SmallSlots {
        /// Which drive.
        drive: String,
        /// Bytes of its slots.
        slot_bytes: u32,
        /// Bytes per chunk of the stream.
        chunk_bytes: u32,
    },
    /// The range was refused.
    #[error(transparent)]
    Range(#[from] crate::range::RangeError),
    /// The index cannot be where it should.
    #[error(transparent)]
    Index(#[from] crate::index::IndexError),
}

#[cfg(test)]
#[path = "../tests/unit/status.rs"]
mod tests;
