//! Results of fio, of every version since 2.1.

pub mod histograms;
pub mod json;
pub mod logs;
pub mod options;
pub mod terse;
pub mod text;
pub mod threads;

use assay_stats::summary::PERCENTILES;
use assay_stats::{LatencySummary, OpSummary};
use assay_units::Nanos;
use assay_units::rate::{mib_per_second, per_second};

use crate::{Direction, Job, Note};

/// The value of the largest bucket of fio's histogram of latencies, nanoseconds: `plat_idx_to_val`
/// of `stat.c` with the 29 groups of 64 buckets of `stat.h`. fio prints it where it kept no
/// samples, and for every longer latency.
pub const LARGEST_BUCKET_NS: u64 = 17_112_760_320;

/// Sets the percentile of this share, 0 to 100; others than the run folder's are left out. Returns
/// whether it is one of the largest bucket, which is not set.
pub(crate) fn set_percentile(latency: &mut LatencySummary, percent: f64, value_ns: f64) -> bool {
    if value_ns >= LARGEST_BUCKET_NS as f64 {
        return true;
    }
    let same = |per_million: u32| (percent * 1e4 - f64::from(per_million)).abs() < 1e-3;
    let found = PERCENTILES.iter().find(|(_, per_million)| same(*per_million));
    if let Some(place) = found.and_then(|(key, _)| latency.percentile_mut(key)) {
        *place = value_ns.max(0.0) as u64;
    }
    false
}

/// Whole latency over completion latency from which on the submission waited for the drive.
const BLOCKED: f64 = 2.0;

/// Whether completion is less than half of the whole latency, so that its percentiles say little
/// of the whole. Means, 0 where there is none.
pub(crate) fn submission_blocked(whole_ns: f64, completion_ns: f64) -> bool {
    completion_ns > 0.0 && whole_ns > BLOCKED * completion_ns
}

/// `EILSEQ` of Linux, with which fio ends where data are not those that were written.
const VERIFY_FAILED: i32 = 84;

/// Why a job that ended with this error of the system is not compared; `None` without one.
pub(crate) fn failure(code: u64) -> Option<String> {
    let code = i32::try_from(code).ok().filter(|code| *code != 0)?;
    Some(match code {
        VERIFY_FAILED => format!("it ended with error {code}: data that were read are not right"),
        _ => format!("it ended early: {}", std::io::Error::from_raw_os_error(code)),
    })
}

/// Errors with which the kernel fails I/Os of a drive: EIO, ENODATA, ETIMEDOUT, EREMOTEIO. A job
/// ends with others because of its options, its file system, or data that nobody wrote.
const OF_DRIVE: [u64; 4] = [5, 61, 110, 121];

/// At least one failed I/O, of the operation that the job did most of, where it ended with an error
/// of the drive.
pub(crate) fn count_failure(code: u64, directions: &mut [&mut Direction; 3]) {
    if !OF_DRIVE.contains(&code) {
        return;
    }
    let most = directions.iter_mut().max_by_key(|d| d.summary.ios);
    if let Some(most) = most.filter(|most| most.summary.ios > 0) {
        most.summary.errors = most.summary.errors.max(1);
    }
}

/// A direction of these counts within this time, without latencies.
pub(crate) fn rates(ios: u64, bytes: u64, elapsed: Nanos) -> Direction {
    let summary = OpSummary {
        ios,
        bytes,
        iops: per_second(ios, elapsed),
        mib_per_s: mib_per_second(bytes, elapsed),
        ..OpSummary::default()
    };
    Direction { summary, ..Direction::default() }
}

/// fio's header of a version: `fio-3.33` is `fio 3.33`.
fn tool(version: &str) -> String {
    let version = version.trim();
    match version.strip_prefix("fio-") {
        Some(number) => format!("fio {number}"),
        None => format!("fio {version}"),
    }
}

/// The number of a version before its first point: 3 of `fio-3.33`; 3 of what has none, since
/// today's units are meant by who leaves it out.
fn major(version: &str) -> u32 {
    let digits = version.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit());
    digits[..end.unwrap_or(digits.len())].parse().unwrap_or(3)
}

/// The job's block size where its options do not have it: bytes per I/O, if that is a whole number
/// and the same for reads and writes.
fn block_size_of_counts(job: &Job) -> u64 {
    let used = job.directions().map(|direction| &direction.summary);
    let mut sizes = used.into_iter().filter(|summary| summary.ios > 0);
    let of = |summary: &OpSummary| match summary.bytes % summary.ios {
        0 => summary.bytes / summary.ios,
        _ => 0,
    };
    let Some(first) = sizes.next().map(of) else {
        return 0;
    };
    match sizes.all(|summary| of(summary) == first) {
        true => first,
        false => 0,
    }
}

/// Completes and corrects what the options said by what was counted.
fn complete(job: &mut Job) {
    // I/Os of a rounded rate are no exact number.
    if !job.notes.contains(&Note::Rounded) && job.workload.single_bs_bytes().is_some() {
        let counted = block_size_of_counts(job);
        if counted > 0 && counted != job.workload.bs_bytes {
            options::set_block_size(&mut job.workload, counted);
        }
    }
    let unified = job.notes.contains(&Note::OneSum);
    if job.workload.rw.is_empty() && !unified {
        job.workload.rw = "unknown".to_owned();
    }
}
