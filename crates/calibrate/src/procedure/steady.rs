//! Steady state of a reference workload: rate and latency after a warm-up.

use assay_ssd::Profile;
use assay_stats::Histogram;
use assay_units::rate::{mib_per_second, per_second};
use assay_units::{DataClass, Nanos, Op};

use crate::CalibrateError;
use crate::drive_under_test::DriveUnderTest;
use crate::measurement::{PriorState, ReferenceMetric, ReferenceWorkload};

/// I/Os that give the rate of random reads of one page to about 1 %.
const IOS: u64 = 6000;
/// Warm-up I/Os per slot: threads that start together desynchronise meanwhile.
const WARM_UP_IOS: u64 = 30;
const MOST_IOS: u64 = 20_000_000;

pub struct SteadyResult {
    bytes: u64,
    elapsed: Nanos,
    block_bytes: u32,
    latency: Box<Histogram>,
}

/// Fewer I/Os where each is many flash reads, more for a high percentile.
fn ios(job: &ReferenceWorkload, metrics: &[ReferenceMetric], factor: u64) -> u64 {
    if let Some(ios) = job.ios {
        return ios.clamp(1, MOST_IOS);
    }
    let fewer = u64::from(job.block_bytes / 8192).clamp(1, 8);
    let slots = u64::from(job.threads) * u64::from(job.queue_depth);
    let steady = (IOS / fewer).max(slots * 10) * factor;
    let samples = metrics.iter().map(|m| m.least_samples()).max().unwrap_or(0);
    steady.max(samples)
}

/// `factor` multiplies the I/Os where their number is not given.
pub fn run(
    profile: &Profile,
    job: &ReferenceWorkload,
    metrics: &[ReferenceMetric],
    factor: u64,
) -> Result<SteadyResult, CalibrateError> {
    let ios = ios(job, metrics, factor);
    let mut drive = DriveUnderTest::new(profile, *job, None)?;
    if job.op == Op::Read && job.data == DataClass::Zero && job.state != PriorState::Fresh {
        drive.write_zeroes()?;
    }
    // A given number of I/Os was measured from the first on, without a warm-up.
    if job.ios.is_none() {
        let slots = u64::from(job.threads) * u64::from(job.queue_depth);
        drive.run((ios / 10).max(slots * WARM_UP_IOS), Nanos::MAX)?;
    }
    drive.latency = Some(Box::default());
    let start = drive.now;
    Ok(SteadyResult {
        bytes: drive.run(ios, Nanos::MAX)?,
        elapsed: drive.now - start,
        block_bytes: job.block_bytes,
        latency: drive.latency.expect("recording since the warm-up"),
    })
}

impl SteadyResult {
    /// `None` for metrics of other procedures.
    pub fn figure(&self, metric: ReferenceMetric) -> Option<f64> {
        let ios = self.bytes / u64::from(self.block_bytes);
        Some(match metric {
            ReferenceMetric::MibPerS => mib_per_second(self.bytes, self.elapsed),
            ReferenceMetric::MbPerS => per_second(self.bytes, self.elapsed) / 1e6,
            ReferenceMetric::Iops => per_second(ios, self.elapsed),
            ReferenceMetric::MeanUs => self.latency.mean_ns() / 1000.0,
            ReferenceMetric::Seconds => self.elapsed.as_secs_f64(),
            ReferenceMetric::Gb => self.bytes as f64 / 1e9,
            _ => self.latency.percentile(metric.per_million()?).0 as f64 / 1000.0,
        })
    }
}
