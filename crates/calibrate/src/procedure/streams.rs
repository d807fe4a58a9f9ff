//! Report C's streams: 128 KiB chunks, several in flight, no processor in the data path.
//!
//! The sweep writes a stream of one chunk, reads it back, then two chunks, and so on, each stream after the last in the drive's
//! address space, with a pause between streams in which buffer and write cache are emptied (the brief does not say how long: ten seconds). The first comes after a long pause, in
//! which a drive may have gone to sleep. The brief repeats and averages; so is the sweep here, pause and all.

use std::collections::BTreeMap;

use assay_ssd::Profile;
use assay_units::rate::mib_per_second;
use assay_units::{Nanos, Op};

use crate::CalibrateError;
use crate::drive_under_test::DriveUnderTest;
use crate::measurement::{AccessPattern, CHUNK_BYTES, ReferenceWorkload};

/// How the streamer uses the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamerSettings {
    /// Chunk commands in flight. The brief does not say; its controller has "several".
    pub queue_depth: u32,
    /// Before each sweep.
    pub pause: Nanos,
    /// Between streams.
    pub gap: Nanos,
    /// Sweeps that are averaged.
    pub repeats: u32,
}

impl Default for StreamerSettings {
    fn default() -> StreamerSettings {
        StreamerSettings {
            queue_depth: 8,
            // Longer than any drive here waits before it goes to sleep ...
            pause: Nanos::from_secs(120),
            // ... shorter than that, and long enough for a write cache to be emptied.
            gap: Nanos::from_secs(10),
            repeats: 1,
        }
    }
}

/// Mean time of each stream of a sweep, by operation and chunks.
pub type ChunkTimes = BTreeMap<(Op, u32), Nanos>;

fn host(profile: &Profile) -> Result<DriveUnderTest, CalibrateError> {
    let mut drive = DriveUnderTest::new(
        profile,
        ReferenceWorkload::read(AccessPattern::Sequential, 1, CHUNK_BYTES),
    )?;
    drive.drain();
    Ok(drive)
}

/// The sweep over these sizes, in ascending order, each written and then read. A size of which only reads are wanted is written too:
/// the procedure writes first.
///
/// # Errors
/// When the profile makes no drive or the drive fails an I/O.
pub fn sweep(
    profile: &Profile,
    sizes: &[u32],
    streamer: &StreamerSettings,
) -> Result<ChunkTimes, CalibrateError> {
    let mut drive = host(profile)?;
    let capacity = drive.capacity_bytes();
    let mut sums: BTreeMap<(Op, u32), u64> = BTreeMap::new();
    let mut first = 0;
    for _ in 0..streamer.repeats.max(1) {
        drive.idle(streamer.pause);
        for &chunks in sizes {
            let bytes = u64::from(chunks) * u64::from(CHUNK_BYTES);
            if first + bytes > capacity {
                first = 0;
            }
            let fitting = bytes.min(capacity) / u64::from(CHUNK_BYTES);
            for op in [Op::Write, Op::Read] {
                let time = drive.stream(op, first, fitting, CHUNK_BYTES, streamer.queue_depth)?;
                *sums.entry((op, chunks)).or_default() += time.0;
                drive.idle(streamer.gap);
            }
            first += bytes;
        }
    }
    Ok(sums
        .into_iter()
        .map(|(key, sum)| (key, Nanos(sum / u64::from(streamer.repeats.max(1)))))
        .collect())
}

/// Rate of a stream in MiB/s.
pub fn rate(chunks: u32, time: Nanos) -> f64 {
    mib_per_second(u64::from(chunks) * u64::from(CHUNK_BYTES), time)
}

/// Piece in which the long stream is looked at, in chunks: 1 GiB.
const PIECE_CHUNKS: u64 = 8192;
/// A long stream has settled when so many pieces ...
const SETTLED_PIECES: usize = 32;
/// ... and as many before them differ by no more than this share.
const SETTLED_SHARE: f64 = 0.005;

/// MiB/s of the whole drive in one stream. With `settle` the stream ends where its rate has settled, and the rest is taken to go
/// on at that rate.
///
/// # Errors
/// When the profile makes no drive or the drive fails an I/O.
pub fn full_stream(
    profile: &Profile,
    op: Op,
    settle: bool,
    streamer: &StreamerSettings,
) -> Result<f64, CalibrateError> {
    let mut drive = host(profile)?;
    drive.idle(streamer.pause);
    let chunks = drive.capacity_bytes() / u64::from(CHUNK_BYTES);
    let start = drive.now();
    let (mut done, mut pieces) = (0, Vec::new());
    while done < chunks {
        let now = PIECE_CHUNKS.min(chunks - done);
        let first = done * u64::from(CHUNK_BYTES);
        let time = drive.stream(op, first, now, CHUNK_BYTES, streamer.queue_depth)?;
        done += now;
        pieces.push(time.as_secs_f64());
        if let Some(piece_s) = settled(&pieces).filter(|_| settle) {
            let left = (chunks - done) as f64 / PIECE_CHUNKS as f64 * piece_s;
            let whole_s = (drive.now() - start).as_secs_f64() + left;
            return Ok(chunks as f64 * f64::from(CHUNK_BYTES) / whole_s / (1 << 20) as f64);
        }
    }
    Ok(mib_per_second(
        chunks * u64::from(CHUNK_BYTES),
        drive.now() - start,
    ))
}

/// Seconds per piece, once they no longer change.
fn settled(pieces: &[f64]) -> Option<f64> {
    let recent = pieces.get(pieces.len().checked_sub(2 * SETTLED_PIECES)?..)?;
    let (before, after) = recent.split_at(SETTLED_PIECES);
    let (before, after) = (before.iter().sum::<f64>(), after.iter().sum::<f64>());
    ((after / before - 1.0).abs() < SETTLED_SHARE).then(|| after / SETTLED_PIECES as f64)
}

#[cfg(test)]
#[path = "../../tests/unit/procedure/streams.rs"]
mod tests;
