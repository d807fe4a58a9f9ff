//! Turning single I/Os into numbers that can be trusted: latency histograms, per-second intervals, summaries, host load.
//!
//! # Architecture
//! - [`histogram`]: [`Histogram`], log-linear buckets with three significant digits, exact count, sum, minimum and
//!   maximum, mergeable, with a compact text encoding for run folders.
//! - [`recorder`]: [`Recorder`], what a worker records into (one array increment per I/O) and [`Interval`], what it hands
//!   over every second.
//! - [`summary`]: [`LatencySummary`] and [`OpSummary`], the figures reports print, computed from histograms only.
//! - [`causes`]: [`ErrorCauses`], for which reasons I/Os failed.
//! - [`totals`]: [`JobTotals`], the sum of intervals, the one path from raw intervals to a job's result.
//! - [`steady`]: [`SteadyRule`], whether a figure that is measured in rounds has come to rest (SNIA, fio).
//! - [`confidence`]: [`Estimate`], a mean with its interval, where neighbours are alike (batch means); [`student`] for its quantiles.
//! - [`compare`]: faster, slower, same or can't tell, of repeated runs.
//! - [`knee`]: the lowest depth that reaches 95 % of the best rate, and the highest load that is borne.
//! - [`consistency`]: mean over standard deviation, minimum and outliers of the last part of a series.
//! - [`change`]: change points of a series, and series that alternate between two levels.
//! - [`host`]: [`HostLoad`], CPU split of a span of time, and the rule for "the host was the limit".
//!
//! Data flows one way: `Recorder -> Interval -> JobTotals -> OpSummary`. Every figure can be computed again from the
//! intervals in a run folder, because totals are nothing but their sum.
//!
//! # Non-goals
//! No I/O, no clock, no threads; no knowledge of run folders, drives or suites: plain numbers in, plain numbers out.
//!
//! # Key constants
//! [`histogram::SUB_BUCKET_BITS`] (11: a bucket is at most 1/1024 of its value wide), [`histogram::MAX_TRACKABLE_NS`]
//! (73 minutes; longer latencies are counted as overflow, and still enter count, sum and maximum exactly).
#![forbid(unsafe_code)]

pub mod causes;
pub mod change;
pub mod compare;
pub mod confidence;
pub mod consistency;
pub mod histogram;
pub mod host;
pub mod knee;
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
pub use steady::{Judgement, SteadyRule};
pub use summary::{LatencySummary, OpSummary};
pub use totals::JobTotals;
