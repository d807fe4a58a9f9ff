//! Results of other programs than fio.

pub mod crystaldiskmark;
pub mod diskspd;
pub mod elbencho;
pub mod ezfio;
pub mod iocost;
pub mod iotune;
pub mod vdbench;
pub mod yabs;

use assay_units::Nanos;

use crate::fio::options::Options;
use crate::{Direction, Job};

/// A job with the workload of these options, in the spelling of fio.
fn job<'a>(name: &str, options: impl IntoIterator<Item = (&'a str, String)>) -> Job {
    let options: Vec<(&str, String)> = options.into_iter().collect();
    let pairs = options.iter().map(|(name, value)| (*name, value.as_str()));
    Job::new(name, &Options::new(pairs))
}

/// A direction whose program prints rates, not counts.
fn of_rates(iops: f64, bytes_per_second: f64, elapsed: Nanos) -> Direction {
    let total = |rate: f64| (rate * elapsed.as_secs_f64()).round().max(0.0) as u64;
    let mut direction = Direction::default();
    direction.summary.ios = total(iops);
    direction.summary.bytes = total(bytes_per_second);
    direction.summary.iops = iops;
    direction.summary.mib_per_s = bytes_per_second / f64::from(1 << 20);
    direction
}

/// Sets the mean latency, if there is one.
fn set_mean(direction: &mut Direction, mean_us: f64) {
    if mean_us > 0.0 {
        let latency = &mut direction.summary.latency_ns;
        latency.mean = mean_us * 1e3;
        latency.samples = direction.summary.ios;
    }
}
