//! Block traces: parsers to one record stream, what a trace holds, and its requests mapped onto a
//! drive.
//!
//! # Architecture
//! Data flow one way: a [`TraceSource`] (file, format, device) is read by a [`TraceReader`], which
//! parses line by line into [`TraceRecord`]s in one unit each: nanoseconds since the first request,
//! bytes. [`TraceSurvey`] is one pass over a trace: counts, bounds, time. [`replay::ReplayPlan`]
//! says how requests become I/Os of a drive: addresses, alignment, due times, phases;
//! [`replay::ReplayStream`] makes them, and [`replay::ReplayFeed`] makes them in a thread of its
//! own, so that a thread that does I/O reads no file.
//!
//! [`profile::TraceProfile`] is a second pass that measures what a synthetic workload needs, and
//! [`fit::FittedWorkload`] is that workload.
//!
//! Memory is bounded whatever the length of a trace: a line, the requests that wait to be put in
//! order, and a few batches.
//!
//! # Formats
//! What tools of Linux record (blktrace, blkparse, ftrace, biosnoop, fio), what is published as
//! text or records, and any lines with columns ([`TraceFormat`]); as they are, or compressed with
//! gzip or zstd. docs/traces.md describes them, docs/sources.md has the sources.
//!
//! # Non-goals
//! No drive is opened and no time is measured: [`assay_units::Nanos`] of a trace are its own.
//!
//! # Key constants
//! [`MAX_LINE_BYTES`], [`replay::MAX_PHASES`], [`profile::MOST_BLOCKS`].
#![forbid(unsafe_code)]

pub mod error;
mod files;
pub mod fit;
pub mod format;
pub mod profile;
pub mod reader;
pub mod replay;
pub mod survey;

pub use error::TraceError;
pub use format::TraceFormat;
pub use reader::{MAX_LINE_BYTES, TraceReader, TraceSource};
pub use survey::TraceSurvey;

use assay_units::{Nanos, Op};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRecord {
    /// Since the first request of the trace, never less than that of the request before.
    pub time: Nanos,
    pub op: Op,
    /// Tells the devices of a trace apart.
    pub device: u64,
    /// Offset on the traced device, bytes; 0 of a flush.
    pub offset_bytes: u64,
    /// Length, bytes; 0 of a flush only.
    pub len_bytes: u64,
    /// Time that it took when it was recorded, where the format has it.
    pub response: Option<Nanos>,
    /// A write with Force Unit Access, where the format has it.
    pub fua: bool,
}
