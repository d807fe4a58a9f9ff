//! Results that other programs measured, as run folders.
//!
//! # Architecture
//! [`collect()`] walks files and folders and reads each file on its own, on all processors:
//! [`format`] recognises what it is by its content, and the module of that program makes [`Job`]s
//! of it, one per workload that ran, in the units of the run folder. [`judge`] says of each what it
//! cannot tell. [`run_folder`] writes the jobs of a collection as a run folder, which reports,
//! comparisons, verdicts and exports read like one that assay measured.
//!
//! Units, sums and percentiles are those of fio 3.33's `stat.c` and HOWTO.rst ("Interpreting the
//! output"), and for files of earlier versions those of the version that wrote them.
//!
//! # Non-goals
//! Nothing is estimated: what a file does not have is absent, with the reason. Traces of single
//! I/Os are read by `assay-trace`.
//!
//! # Key constants
//! [`MAX_FILE_BYTES`], a longer file is not read; [`judge::SMALL_AREA_BYTES`],
//! [`judge::SHORT_RUN`].
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use assay_stats::OpSummary;
use assay_store::model::WorkloadRecord;
use assay_units::Nanos;

mod collect;
mod error;
pub mod fio;
pub mod format;
pub mod judge;
pub mod other;
pub mod run_folder;

pub use collect::{Collection, Imported, Rejected, collect};
pub use error::ImportError;

use crate::fio::logs::Rates;
use crate::fio::options::Options;

/// A longer file is not read: the largest of 7,252 public result files had 4 MB.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// The program that wrote it, with its version where the file has it: `fio 3.33`.
    pub tool: String,
    /// The workloads, in the order in which the file has them.
    pub jobs: Vec<Job>,
}

/// Operations of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Direction {
    /// Counts, rates and latencies; without latency, its `samples` are 0.
    pub summary: OpSummary,
    /// The distribution of latencies, as nanoseconds and number, ascending, while the threads of a
    /// job are joined.
    pub bins: Vec<(u64, u64)>,
    /// The distribution of a whole job, encoded ([`assay_stats::Histogram::encode`]), which takes a
    /// hundredth of the memory. Empty where the file has none.
    pub distribution: String,
}

/// One workload that ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// As its program named it.
    pub name: String,
    /// The block device, or the file's name; empty where the file does not say.
    pub device: String,
    /// The workload. An `rw` of `unknown`, and a block size and depth of 0, are not in the file.
    pub workload: WorkloadRecord,
    /// Whether the file says if the I/O went through the page cache.
    pub knows_direct: bool,
    /// When it ended.
    pub ended: Option<jiff::Timestamp>,
    /// Measured span.
    pub elapsed: Nanos,
    /// Reads.
    pub read: Direction,
    /// Writes.
    pub write: Direction,
    /// Deallocations.
    pub discard: Direction,
    /// Flushes, which are in no sum.
    pub flush: Direction,
    /// Processor time of its busiest thread, percent, where it is that of one thread.
    pub busiest_thread_pct: Option<f64>,
    /// Further values, named with their unit.
    pub values: BTreeMap<String, f64>,
    /// Rates over time, where there are logs.
    pub logs: Option<Rates>,
    /// Name of its logs without kind and number, in the folder of its file.
    pub log_prefix: Option<String>,
    /// What the figures cannot tell.
    pub notes: Vec<Note>,
    /// Why they are not compared with those of other drives.
    pub unfit: Vec<String>,
}

impl Job {
    /// A job of this name with the workload of these options.
    pub fn new(name: &str, options: &Options) -> Job {
        Job {
            name: name.to_owned(),
            device: options.device(),
            workload: options.workload(),
            knows_direct: options.direct().is_some(),
            ..Job::default()
        }
    }

    /// The reads stand for reads and writes.
    fn one_sum(&mut self) {
        self.note(Note::OneSum);
        self.unfit.push("reads and writes are in one sum".to_owned());
    }

    /// Reads, writes and deallocations.
    pub fn directions(&self) -> [&Direction; 3] {
        [&self.read, &self.write, &self.discard]
    }

    /// For changes of all of them.
    pub fn directions_mut(&mut self) -> [&mut Direction; 3] {
        [&mut self.read, &mut self.write, &mut self.discard]
    }

    /// Reads, writes, deallocations and flushes.
    pub fn operations(&self) -> [&Direction; 4] {
        [&self.read, &self.write, &self.discard, &self.flush]
    }

    /// For changes of all of them.
    pub fn operations_mut(&mut self) -> [&mut Direction; 4] {
        [&mut self.read, &mut self.write, &mut self.discard, &mut self.flush]
    }

    /// Reads, writes and deallocations that completed.
    pub fn ios(&self) -> u64 {
        let ios = self.directions().map(|direction| direction.summary.ios);
        ios.into_iter().fold(0, u64::saturating_add)
    }

    /// Notes once.
    pub fn note(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// What a figure cannot tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Note {
    /// Percentiles of several threads, without the distributions they come from.
    PercentilesOfThreads,
    /// Threads of one job that ran for different times.
    ThreadsOfOtherTimes,
    /// Latencies that cannot be true beside the rate.
    ImplausibleLatency,
    /// Percentiles that are the largest bucket of their program.
    BeyondHistogram,
    /// Percentiles of completion where the submission took longer.
    SubmissionBlocked,
    /// Reads and writes in one sum.
    OneSum,
    /// Printed with three to five digits.
    Rounded,
    /// The best of several measurements.
    BestOfSeveral,
    /// A document that its file holds more than once.
    RepeatedDocument,
}

impl Note {
    /// What was found.
    pub fn message(self) -> &'static str {
        match self {
            Note::PercentilesOfThreads => {
                "The file has percentiles of each thread, which cannot be merged, so there are \
                 none. Rates are the sum of the threads, the mean latency is that of all I/Os."
            }
            Note::ThreadsOfOtherTimes => {
                "Threads of the job ran for different times, so the sum of their rates was never \
                 reached. The rate is all their I/Os by the time of the longest."
            }
            Note::ImplausibleLatency => {
                "Latency times rate is more than twice the I/Os in flight (Little's law), so the \
                 latencies are left out."
            }
            Note::BeyondHistogram => {
                "Percentiles in the program's largest bucket are left out: it stands for any \
                 longer time."
            }
            Note::SubmissionBlocked => {
                "The submission took longer than the completion, of which the percentiles in the \
                 file are, so they are left out."
            }
            Note::OneSum => "The file has one sum of reads and writes, which is shown as reads.",
            Note::Rounded => "Latencies are rounded by the program that printed them.",
            Note::BestOfSeveral => {
                "The program printed the best of several short measurements, not their mean."
            }
            Note::RepeatedDocument => {
                "The file holds the same document more than once, which is one measurement and \
                 counts once."
            }
        }
    }

    /// What to do about it.
    pub fn advice(self) -> &'static str {
        match self {
            Note::PercentilesOfThreads => "Measure with group_reporting, or with json+ output.",
            Note::ThreadsOfOtherTimes => {
                "Measure with time_based and one runtime, and with steadystate only where \
                 group_reporting is set."
            }
            Note::ImplausibleLatency => {
                "Measure with the default clocksource, without disable_clat or gtod_reduce."
            }
            Note::BeyondHistogram => "Use the maximum, and json+ output.",
            Note::SubmissionBlocked => "Measure with lat_percentiles.",
            Note::OneSum => "Measure without a common sum (of fio, without unified_rw_reporting).",
            Note::BestOfSeveral => "Measure once for a minute or longer.",
            Note::RepeatedDocument => "Give every run a file of its own (--output).",
            Note::Rounded => "Use JSON output (--output-format=json+).",
        }
    }
}
