//! Drives that compress, or that return zeroed areas without reading flash, read such data faster
//! than incompressible data.

use assay_device::open::open_drive;
use assay_device::session::{DriveSession, SessionError};
use assay_io::sync::SyncTarget;
use assay_io::{Io, Nanos, Target};
use assay_store::model::CellResult;
use assay_units::{DataClass, Op, Rng};
use assay_workload::run::RunError;

use crate::ExecuteError;

const SAMPLES: u32 = 64;
const SAMPLE_BYTES: u32 = 64 << 10;
/// zstd level; models the best compression of a drive.
const ZSTD_LEVEL: i32 = 1;
/// Ratio up to which data count as incompressible; random data compress to slightly below 1.
pub const COMPRESSIBLE_RATIO: f64 = 1.05;

/// Values of the result: `zstd_ratio` (original over compressed, all samples together),
/// `zero_share_pct`, `samples`.
pub fn inspect(
    session: &DriveSession,
    drive: usize,
    span_bytes: u64,
    seed: u64,
) -> Result<CellResult, ExecuteError> {
    let info = session.info();
    let sample_bytes = sample_bytes(span_bytes, info.min_io_bytes);
    let open = open_drive(info, info.direct_io, None).map_err(SessionError::from)?;
    let mut target = SyncTarget::new(open, 1, sample_bytes).map_err(SessionError::from)?;
    let mut rng = Rng::stream(seed, "inspect");
    let stripe = (span_bytes / u64::from(SAMPLES)).max(u64::from(sample_bytes));
    let start = target.now();
    let mut result = CellResult { drive, ..CellResult::default() };
    let (mut original, mut compressed, mut zero, mut taken) = (0_u64, 0_u64, 0_u64, 0_u64);
    for i in 0..u64::from(SAMPLES) {
        // One sample at a random offset in each of equal stripes: spread out and aperiodic.
        let within =
            rng.below((stripe - u64::from(sample_bytes)) / u64::from(info.min_io_bytes) + 1);
        let offset_bytes = i * stripe + within * u64::from(info.min_io_bytes);
        if offset_bytes + u64::from(sample_bytes) > span_bytes {
            continue;
        }
        let io = Io {
            op: Op::Read,
            data: DataClass::Incompressible,
            slot: 0,
            len_bytes: sample_bytes,
            offset_bytes,
            fua: false,
            priority: 0,
        };
        let mut done = Vec::new();
        target
            .submit(&[io])
            .and_then(|()| target.reap(1, Nanos::MAX, &mut done))
            .map_err(RunError::from)?;
        if let Some(bad) = done.iter().find(|c| !c.moved(sample_bytes)) {
            result.read.errors += 1;
            result.read.causes.count(bad.result);
            continue;
        }
        let Some(bytes) = target.buffer(0).map(|b| &b[..sample_bytes as usize]) else {
            continue;
        };
        taken += 1;
        original += u64::from(sample_bytes);
        compressed += zstd::bulk::compress(bytes, ZSTD_LEVEL)
            .map_or(u64::from(sample_bytes), |c| c.len() as u64);
        zero += u64::from(bytes.iter().all(|&b| b == 0));
    }
    result.elapsed = target.now() - start;
    let mut insert = |name: &str, value: f64| result.values.insert(name.to_owned(), value);
    insert("samples", taken as f64);
    if taken > 0 {
        insert("zstd_ratio", original as f64 / compressed.max(1) as f64);
        insert("zero_share_pct", zero as f64 / taken as f64 * 100.0);
    }
    Ok(result)
}

/// Length of a sample, a multiple of the smallest I/O.
fn sample_bytes(span_bytes: u64, min_io_bytes: u32) -> u32 {
    let most = span_bytes.min(u64::from(SAMPLE_BYTES)) as u32;
    (most / min_io_bytes * min_io_bytes).max(min_io_bytes)
}

#[cfg(test)]
#[path = "../tests/unit/inspect.rs"]
mod tests;
