//! Statistics of I/O measurements. Input is numbers: no I/O, clocks, threads, run folders, drives
//! or suites.
//!
//! # Architecture
//! [`Recorder`] records completed I/Os (one array increment each) in [`Histogram`]s and hands over
//! an [`Interval`] per second; [`JobTotals`] are their sum, [`OpSummary`] is a job's result. Every
//! result can be computed again from the intervals in a run folder. The other modules are rules on
//! plain numbers, described in docs/statistics.md.
//!
//! # Non-goals
//! Causes of what is found (crate `analysis`) and limits for it (policies).
//!
//! # Key constants
//! [`histogram::SUB_BUCKET_BITS`] (11: a bucket is at most 1/1024 of its value wide),
//! [`histogram::MAX_TRACKABLE_NS`] (73 minutes; longer latencies are counted as overflow, and are
//! exact in count, sum and maximum).
#![forbid(unsafe_code)]

pub mod causes;
pub mod change;
pub mod cohort;
pub mod compare;
pub mod confidence;
pub mod consistency;
pub mod histogram;
pub mod host;
pub mod knee;
pub mod modes;
mod moments;
mod quantile;
pub mod recorder;
pub mod steady;
pub mod student;
pub mod summary;
pub mod totals;

pub use causes::ErrorCauses;
pub use confidence::Estimate;
pub use histogram::Histogram;
pub use host::{HostAudit, HostLoad, HostLoadSum, ProcessLoad};
pub use moments::mean;
pub use quantile::{median, quantile};
pub use recorder::{Interval, OpInterval, Recorder, SubmittedIo};
pub use steady::{SteadyEvaluation, SteadyRule};
pub use summary::{LatencySummary, OpSummary};
pub use totals::JobTotals;
