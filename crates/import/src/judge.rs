//! What an imported figure cannot tell: each reason once per job.

use assay_stats::LatencySummary;
use assay_store::model::WorkloadRecord;
use assay_units::Nanos;
use assay_units::text::format_size;

use crate::{Direction, Job, Note};

/// Drives hold the map and the data of a smaller area in their memory (the host memory buffer of
/// drives without DRAM is 64 MiB and maps 64 GiB; caches of blocks reach a gigabyte).
pub const SMALL_AREA_BYTES: u64 = 1 << 30;

/// A shorter span says more about the start than about the drive.
pub const SHORT_RUN: Nanos = Nanos::from_secs(1);

/// Mean latency times rate over the I/Os in flight, from which on one of them is wrong: rates are
/// counted from the first submission, so the ratio of sound results is below 1 or little above.
const LITTLE: f64 = 2.0;

/// Adds the reasons that hold for files of every program.
pub fn judge(job: &mut Job) {
    job.operations_mut().into_iter().for_each(drop_senseless);
    let in_flight = in_flight(&job.workload);
    let is_wrong = |direction: &Direction| {
        let summary = &direction.summary;
        is_implausible(summary.iops, summary.latency_ns.mean, in_flight)
    };
    if job.directions().into_iter().any(is_wrong) {
        for direction in job.operations_mut() {
            direction.summary.latency_ns = LatencySummary::default();
            direction.distribution.clear();
        }
        job.note(Note::ImplausibleLatency);
        job.notes.retain(|note| *note != Note::BeyondHistogram);
    }
    job.workload.cache_unknown = !job.knows_direct;
    let workload = &job.workload;
    let mut reasons = Vec::new();
    if job.knows_direct && !workload.direct {
        reasons.push("it went through the page cache".to_owned());
    }
    if !job.knows_direct {
        reasons.push("the file does not say whether it went through the page cache".to_owned());
    }
    if workload.rw.is_empty() || workload.rw == "unknown" {
        reasons.push("the file does not say whether it was sequential or random".to_owned());
    }
    if workload.bs_bytes == 0 {
        reasons.push("the file does not have the block size".to_owned());
    }
    if workload.iodepth == 0 {
        reasons.push("the file does not have the I/Os in flight".to_owned());
    }
    if (1..SMALL_AREA_BYTES).contains(&workload.span_bytes) {
        let size = format_size(workload.span_bytes);
        reasons.push(format!("its area of {size} fits the caches of drives"));
    }
    if job.elapsed < SHORT_RUN {
        let span_ms = job.elapsed.0 / 1_000_000;
        reasons.push(format!("it ran for {span_ms} ms"));
    }
    job.unfit.extend(reasons);
    job.unfit.dedup();
}

/// A larger number is no rate and no latency in nanoseconds, and JSON cannot hold all of them.
const LARGEST: f64 = 1e18;

/// Figures that are no number, below 0 or beyond [`LARGEST`] become 0, which is none.
fn drop_senseless(direction: &mut Direction) {
    let summary = &mut direction.summary;
    let latency = &mut summary.latency_ns;
    let reals = [&mut summary.iops, &mut summary.mib_per_s, &mut latency.mean, &mut latency.stddev];
    for value in reals {
        if !(0.0..=LARGEST).contains(value) {
            *value = 0.0;
        }
    }
}

/// Little's law: the I/Os in flight are the rate times the mean latency. False where they are not
/// known (0).
pub fn is_implausible(iops: f64, mean_ns: f64, in_flight: u64) -> bool {
    in_flight > 0 && iops * mean_ns / 1e9 > LITTLE * in_flight as f64
}

/// All threads together; 0 where it is not known.
pub fn in_flight(workload: &WorkloadRecord) -> u64 {
    u64::from(workload.iodepth) * u64::from(workload.numjobs)
}
