//! Streams of the MLE NVMe Streamer: 128 KiB chunks, several in flight, no processor in the data
//! path.
//!
//! The sweep writes a stream of one chunk, reads it back, then two chunks, and so on, each stream
//! after the last in the drive's address space. Buffer and write cache are flushed between streams
//! (for ten seconds; the brief does not state the time). The brief repeats the sweep and averages;
//! the model has no variation between sweeps.

use std::collections::{BTreeMap, BTreeSet};

use assay_ssd::Profile;
use assay_units::rate::mib_per_second;
use assay_units::{Nanos, Op};

use super::steady_mean;
use crate::CalibrateError;
use crate::drive_under_test::DriveUnderTest;
use crate::measurement::{AccessPattern, CHUNK_BYTES, ReferenceWorkload, chunk_bytes};

/// Idle time before a sweep: longer than any profile's before a non-operational power state.
const PAUSE: Nanos = Nanos::from_secs(120);
/// Idle time between streams: shorter than [`PAUSE`], but long enough to flush a write cache.
const GAP: Nanos = Nanos::from_secs(10);

pub type ChunkTimes = BTreeMap<(Op, u32), Nanos>;

fn idle_drive(profile: &Profile) -> Result<DriveUnderTest, CalibrateError> {
    let workload = ReferenceWorkload::read(AccessPattern::Sequential, 1, CHUNK_BYTES);
    let mut drive = DriveUnderTest::new(profile, workload, None)?;
    drive.drain();
    drive.idle(PAUSE);
    Ok(drive)
}

/// Sizes ascend; each is written and then read, also where only reads are wanted.
pub fn sweep(profile: &Profile, sizes: &BTreeSet<u32>) -> Result<ChunkTimes, CalibrateError> {
    let mut drive = idle_drive(profile)?;
    let capacity = drive.capacity_bytes();
    let mut times = ChunkTimes::new();
    let mut first = 0;
    for &chunks in sizes {
        let bytes = chunk_bytes(chunks);
        if first + bytes > capacity {
            first = 0;
        }
        let fitting = bytes.min(capacity) / u64::from(CHUNK_BYTES);
        for op in [Op::Write, Op::Read] {
            let time = drive.stream(op, first, fitting)?;
            times.insert((op, chunks), time);
            drive.idle(GAP);
        }
        first += bytes;
    }
    Ok(times)
}

pub fn rate(chunks: u32, time: Nanos) -> f64 {
    mib_per_second(chunk_bytes(chunks), time)
}

/// Chunks per sample of a long stream's rate: 1 GiB.
const SAMPLE_CHUNKS: u64 = 8192;
/// Steady state of a long stream: the means of twice so many samples differ by less than this.
const STEADY_SAMPLES: usize = 32;
const STEADY_SHARE: f64 = 0.005;

/// MiB/s of the whole drive. With `stop_when_steady` the rest is extrapolated from steady state.
pub fn full_stream(
    profile: &Profile,
    op: Op,
    stop_when_steady: bool,
) -> Result<f64, CalibrateError> {
    let mut drive = idle_drive(profile)?;
    let chunks = drive.capacity_bytes() / u64::from(CHUNK_BYTES);
    let start = drive.now;
    let (mut done, mut samples) = (0, Vec::new());
    while done < chunks {
        let now = SAMPLE_CHUNKS.min(chunks - done);
        let first = done * u64::from(CHUNK_BYTES);
        let time = drive.stream(op, first, now)?;
        done += now;
        samples.push(time.as_secs_f64());
        let steady_s = steady_mean(&samples, STEADY_SAMPLES, STEADY_SHARE);
        if let Some(sample_s) = steady_s.filter(|_| stop_when_steady) {
            let left = (chunks - done) as f64 / SAMPLE_CHUNKS as f64 * sample_s;
            let whole_s = (drive.now - start).as_secs_f64() + left;
            return Ok(chunks as f64 * f64::from(CHUNK_BYTES) / whole_s / (1 << 20) as f64);
        }
    }
    let bytes = chunks * u64::from(CHUNK_BYTES);
    Ok(mib_per_second(bytes, drive.now - start))
}

#[cfg(test)]
#[path = "../../tests/unit/procedure/streams.rs"]
mod tests;
