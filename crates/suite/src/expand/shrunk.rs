//! Suites on a small copy of a drive (`sim:NAME,shrink=N`; `Profile::shrunk`).
//!
//! Procedures write and wait in proportion to the capacity, and the copy fills, wears, warms up and
//! folds in an Nth of the time. So every parameter that is a duration or a size in bytes, and every
//! recording interval, is divided by N: the same plan in an Nth of the time. Cells that would
//! measure something else than on the whole drive are skipped.

use assay_device::identity::Shrunk;
use assay_device::session::DriveSession;
use assay_units::text::format_size;
use assay_units::{Nanos, parse_duration, parse_size};
use assay_workload::options::JobOptions;

use super::matrix::StepOnDrive;
use crate::SuiteError;
use crate::schema::{Suite, SuiteStep};

/// Shorter cells have too few I/Os for their figures.
const LEAST_RUNTIME: Nanos = Nanos(10_000_000);
/// Recording intervals are no shorter, for fewer of them, but where a cell would have fewer than
/// [`LEAST_INTERVALS`].
const LEAST_INTERVAL: Nanos = Nanos(100_000_000);
const LEAST_INTERVALS: u64 = 100;
/// A burst of fewer times what the write buffer holds is one into the buffer.
const BUFFERS: u64 = 4;

/// Durations of a run have one factor, and drives of different sizes are not compared. Some suites
/// measure nothing else than what differs.
pub(super) fn check(suite: &Suite, drives: &[DriveSession]) -> Result<(), SuiteError> {
    let times = |drive: &DriveSession| drive.info().shrunk.map_or(1, |shrunk| shrunk.times);
    match drives.iter().find(|drive| times(drive) != times(&drives[0])) {
        None => {}
        Some(other) => {
            return Err(SuiteError::ShrunkApart {
                drives: [&drives[0], other].map(|drive| drive.info().spec.clone()),
            });
        }
    }
    let why = if suite.steps.iter().any(SuiteStep::settles) {
        "heat, which spreads faster in a drive with shrink="
    } else if suite.steps.iter().any(|step| step.job.contains_key("bursts")) {
        "bursts of writes, of which the write buffer takes more in a drive with shrink="
    } else {
        return Ok(());
    };
    match drives.first().and_then(|drive| drive.info().shrunk) {
        Some(_) => Err(SuiteError::Shrunk { suite: suite.name.clone(), why }),
        None => Ok(()),
    }
}

/// A duration, or the recording interval where the suite gives none.
pub(super) fn divided(duration: Nanos, shrunk: Shrunk) -> Nanos {
    Nanos((duration.0 / u64::from(shrunk.times)).max(u64::from(duration.0 > 0)))
}

impl StepOnDrive<'_> {
    /// The recording interval of a job; one that a parameter gives is divided already.
    pub(super) fn divide_interval(&self, options: &mut JobOptions) -> Result<(), String> {
        let Some(shrunk) = self.drive.info().shrunk else {
            return Ok(());
        };
        let from_parameter = |value: &toml::Value| value.as_str().is_some_and(|s| s.contains('{'));
        let given = options.interval.as_deref().map(parse_duration);
        let given = given.transpose().map_err(|error| error.to_string())?;
        let is_divided = self.step.values_of("interval").any(from_parameter);
        let (interval, whole) = match given {
            Some(short) if is_divided => (short, Nanos(short.0 * u64::from(shrunk.times))),
            given => {
                let whole = given.unwrap_or(Nanos::SECOND);
                (divided(whole, shrunk), whole)
            }
        };
        let runtime = options.runtime.as_ref().and_then(|text| parse_duration(text).ok());
        let longest = runtime.map_or(LEAST_INTERVAL, |runtime| {
            Nanos(runtime.0 / LEAST_INTERVALS).min(LEAST_INTERVAL)
        });
        let interval = interval.max(longest.min(whole));
        let interval = interval.max(Nanos::MILLISECOND);
        options.interval = Some(format!("{}us", interval.0 / 1000));
        Ok(())
    }

    /// Why the cell would measure something else than on the whole drive, if it would.
    pub(super) fn differs_when_shrunk(
        &self,
        options: &JobOptions,
        is_stream: bool,
    ) -> Option<String> {
        let shrunk = self.drive.info().shrunk?;
        let times = shrunk.times;
        let whole = "measure it on the whole drive (without shrink=)";
        if is_stream {
            return Some(format!(
                "a stream is as long as its chunks say, and cache and capacity are those of \
                 shrink={times}: {whole}"
            ));
        }
        if options.thinktime.is_some() {
            return Some(format!(
                "the write buffer of shrink={times} is not smaller, and has less of the idle time \
                 between bursts: {whole}"
            ));
        }
        let burst = options.io_size.as_ref().filter(|_| options.runtime.is_none());
        if let Some(bytes) = burst.and_then(|text| parse_size(text).ok())
            && bytes < BUFFERS * shrunk.write_buffer_bytes
        {
            return Some(format!(
                "shrink={times} leaves a burst of {}, which the write buffer of {} takes: {whole}",
                format_size(bytes),
                format_size(shrunk.write_buffer_bytes)
            ));
        }
        let runtime = options.runtime.as_ref().and_then(|text| parse_duration(text).ok());
        let runtime = runtime.filter(|&runtime| runtime < LEAST_RUNTIME)?;
        Some(format!(
            "shrink={times} leaves {:.1} ms of its runtime: use a smaller shrink=, or --scale",
            runtime.0 as f64 / 1e6
        ))
    }
}
