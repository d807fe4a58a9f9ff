//! Statistics of I/O measurements: latency histograms, intervals, summaries, steady state, confidence intervals, change
//! points.
//!
//! # Architecture
//! - [`histogram`]: [`Histogram`], log-linear buckets with three significant digits, exact count, sum, minimum and
//!   maximum, mergeable, with a compact text encoding for run folders.
//! - [`recorder`]: [`Recorder`] records completed I/Os (one array increment each) and hands over an [`Interval`] per
//!   second.
//! - [`summary`]: [`LatencySummary`] and [`OpSummary`]; [`causes`]: [`ErrorCauses`] of failed I/Os; [`host`]:
//!   [`HostLoad`].
//! - [`totals`]: [`JobTotals`], the sum of intervals: a job's result.
//! - [`steady`]: [`SteadyRule`], steady state of a value measured in rounds (SNIA, fio).
//! - [`confidence`]: [`Estimate`], a mean with its interval for autocorrelated series (batch means); [`student`] for
//!   quantiles.
//! - [`compare`]: faster, slower, same or can't tell, of repeated runs.
//! - [`knee`]: the lowest depth that reaches 95 % of the best rate, and the highest sustainable load.
//! - [`consistency`]: mean over standard deviation, minimum and outliers of the last part of a series.
//! - [`change`]: change points, and series that alternate between two levels.
//!
//! Data flow: `Recorder -> Interval -> JobTotals -> OpSummary`. Every result can be computed again from the intervals
//! in a run folder.
//!
//! # Non-goals
//! I/O, clocks, threads; run folders, drives and suites: the input is numbers.
//!
//! # Key constants
//! [`histogram::SUB_BUCKET_BITS`] (11: a bucket is at most 1/1024 of its value wide), [`histogram::MAX_TRACKABLE_NS`]
//! (73 minutes; longer latencies are counted as overflow, and are exact in count, sum and maximum).
#![forbid(unsafe_code)]

pub mod causes;
pub mod change;
pub mod compare;
pub mod confidence;
pub mod consistency;
pub mod histogram;
pub mod host;
pub mod knee;
mod moments;
pub mod recorder;
pub mod steady;
pub mod student;
pub mod summary;
pub mod totals;

pub use causes::ErrorCauses;
pub use confidence::Estimate;
pub use histogram::Histogram;
pub use host::HostLoad;
pub use recorder::{Interval, OpInterval, Recorder};
pub use steady::{SteadyEvaluation, SteadyRule};
pub use summary::{LatencySummary, OpSummary};
pub use totals::JobTotals;
