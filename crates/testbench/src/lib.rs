//! The test bench: twelve tests that find out whether a drive behind a streamer keeps what it says.
//!
//! # Purpose
//! Report C (MLE's brief on an NVMe streamer) ends its hardware bring-up with twelve tests and a PASS/FAIL summary. These are the same twelve in
//! the same order, on any drive: real, file, simulated. A core in hardware is driven by the same registers and judged by the same pattern, so the
//! bench that proves the software is the one that will prove the core.
//!
//! | id | test | what must hold |
//! |---|---|---|
//! | 00 | link status | the PCIe link is up; which it is |
//! | 01 | left-over beats | a stream that was cut short leaves nothing behind in the ring for the next one |
//! | 02 | pattern checker | told a wrong seed or length it fails, and where; told the right ones it passes |
//! | 03 | flush after write | what a flush made durable is there, after a loss of power where that can be had |
//! | 04 | early last | a stream that ends inside a chunk is told so, and nothing behind its end is touched |
//! | 05 | abort mid-write | the last address is captured, everything up to it is new and durable, everything behind it is old |
//! | 06 | stop mid-write | the same without the flush; the checker fails at exactly the first beat behind the captured chunk |
//! | 07 | adjacent sessions | sessions side by side, written out of order: none overwrites another |
//! | 08 | chunk sweep | 1, 2, 4 ... 32768 chunks written, read and compared, with rates |
//! | 09 | error codes | bad addresses are refused with their bit of `STATUS`, and nothing is written |
//! | 10 | full disk | the whole range as one stream, read back and compared, with rates |
//! | 11 | link status again | unchanged against 00 |
//!
//! # Architecture
//! Every stream has a seed of its own, so whatever is read says which stream it is of and which place of that. Tests lie one over another at the
//! beginning of the range; what a test must not touch was laid down before by the test itself. `layout` compares, `words` says what happened, `context` is
//! what tests work with. [`TestSetup`] is what lies between bench and drives; [`FaultInjection`] puts faults there (`tests/testbench.rs` has the table
//! of which test finds which).
//!
//! # Non-goals
//! No performance verdict: rates are told, not judged. No test without writing.
//!
//! # Key constants
//! [`MAX_SWEEP_CHUNKS`] (32768, MLE NVMe Streamer), [`MIN_CHUNKS`].
#![forbid(unsafe_code)]

mod compare;
mod context;
mod control;
mod describe;
mod errors;
pub mod faulty;
mod link;
mod rates;
mod render;
mod setup;

use std::sync::Arc;

use assay_device::identity::PcieLink;
use assay_device::session::{DriveSession, SessionError};
use serde::Serialize;

use assay_integrity::pattern::PatternPages;
use assay_stream::drives::{IoCalls, PassThrough, QueueOptions, media};
use assay_stream::range::{RangeError, RangeRequest, StreamRange};
use context::{BenchRun, TestContext, TestError};

pub use render::{line, render};
pub use setup::{FaultInjection, TestSetup};

/// The longest stream of the sweep, chunks: report C's 4 GiB in chunks of 128 KiB.
pub const MAX_SWEEP_CHUNKS: u64 = 32_768;
/// A drive must have room for so many chunks.
pub const MIN_CHUNKS: u64 = 16;
/// What the short tests use at most, chunks per drive.
const MAX_WINDOW_CHUNKS: u64 = 1024;
/// What they use at least, where there is room.
const WINDOW_CHUNKS: u64 = 64;

/// How to test.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// Address of the first chunk, bytes; 0 if not said.
    pub first: Option<u64>,
    /// Address of the last chunk, inclusive, bytes; the drive's last if not said.
    pub last: Option<u64>,
    /// Bytes per chunk.
    pub chunk_bytes: u32,
    /// Chunks in flight.
    pub depth: u32,
    /// What all seeds come from. On a drive that keeps its data a new one for each run: data of the same seed are right wherever they come from.
    pub seed: u64,
    /// Most bytes that test 08 and test 10 write at once; none: the sweep goes to [`MAX_SWEEP_CHUNKS`], test 10 over the whole range.
    pub span_bytes: Option<u64>,
    /// Which calls move the bytes of a real drive.
    pub calls: IoCalls,
    /// Where simulated drives learn which pages they can make again instead of keeping them: what their sessions were opened with.
    pub pages: Option<Arc<PatternPages>>,
}

impl Default for BenchOptions {
    fn default() -> BenchOptions {
        BenchOptions {
            first: None,
            last: None,
            chunk_bytes: assay_stream::range::DEFAULT_CHUNK_BYTES,
            depth: 32,
            seed: 1,
            span_bytes: None,
            calls: IoCalls::default(),
            pages: None,
        }
    }
}

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TestOutcome {
    /// What must hold holds.
    Pass,
    /// It does not.
    Fail,
    /// Nothing to test here.
    NotApplicable,
}

/// A test that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TestResult {
    /// "00" to "11".
    pub id: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// How it ended.
    pub result: TestOutcome,
    /// What was seen: rates, addresses, the first wrong beat and what happened there.
    pub detail: String,
}

/// Rates of one stream and of reading it back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StreamRates {
    /// Chunks of the stream.
    pub chunks: u64,
    /// Bytes of it.
    pub bytes: u64,
    /// Bytes per second, written.
    pub write_bytes_per_s: f64,
    /// Bytes per second, read.
    pub read_bytes_per_s: f64,
}

/// What came of the bench.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchReport {
    /// The drives, as named.
    pub drives: Vec<String>,
    /// Is any of them simulated?
    pub simulated: bool,
    /// Did I/O bypass the page cache? If not, what was read may never have been on the drive.
    pub direct: bool,
    /// The seed that all seeds came from.
    pub seed: u64,
    /// The range.
    pub range: StreamRange,
    /// Chunks in flight.
    pub depth: u32,
    /// The tests that ended, in order.
    pub tests: Vec<TestResult>,
    /// How many passed.
    pub passed: u32,
    /// How many failed.
    pub failed: u32,
    /// How many had nothing to test.
    pub not_applicable: u32,
    /// Ended by the user before the last test.
    pub interrupted: bool,
    /// Test 08, by size.
    pub sweep: Vec<StreamRates>,
    /// Test 10.
    pub continuous: Option<StreamRates>,
}

/// Why there is nothing to report.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The range is no range.
    #[error(transparent)]
    Range(#[from] RangeError),
    /// A drive cannot be opened.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Nothing named.
    #[error("the test bench needs a drive; name one")]
    NoDrive,
    /// Not enough room.
    #[error(
        "{drive}: the range has {chunks} chunks of {chunk_bytes} bytes on each drive and the test bench needs {MIN_CHUNKS}; widen it or take smaller chunks"
    )]
    TooSmall {
        /// Which drive, the first of several.
        drive: String,
        /// Chunks there are.
        chunks: u64,
        /// Bytes of each.
        chunk_bytes: u32,
    },
    /// It keeps nothing.
    #[error(
        "{drive}: keeps nothing of what is written to it, so there is nothing to test; name a drive, a file or a simulated drive"
    )]
    KeepsNothing {
        /// Which drive.
        drive: String,
    },
}

/// Who watches.
pub trait BenchObserver {
    /// A test begins.
    fn began(&mut self, _id: &'static str, _name: &'static str) {}
    /// So much of everything has been written and read, bytes; the whole is an estimate.
    fn progress(&mut self, _done_bytes: u64, _total_bytes: u64) {}
    /// A test has ended.
    fn ended(&mut self, _result: &TestResult) {}
    /// Is it enough? Asked at every chunk.
    fn stop_requested(&self) -> bool {
        false
    }
}

impl BenchObserver for () {}

/// What a test came to when nothing went wrong.
enum TestDetail {
    Pass(String),
    NotApplicable(String),
}

/// A test: its id, name, and what it does.
type Test = (
    &'static str,
    &'static str,
    fn(&mut BenchRun<'_>, &mut Links) -> Result<TestDetail, TestError>,
);

/// The links of all drives, as test 00 found them.
type Links = Option<Vec<Option<PcieLink>>>;

const TESTS: [Test; 12] = [
    ("00", "link status", |bench, links| {
        link::status(bench, links)
    }),
    ("01", "left-over beats", |bench, _| {
        control::left_over(bench)
    }),
    ("02", "pattern checker", |bench, _| control::checker(bench)),
    ("03", "flush after write", |bench, _| control::flush(bench)),
    ("04", "early last", |bench, _| control::early_last(bench)),
    ("05", "abort mid-write", |bench, _| control::abort(bench)),
    ("06", "stop mid-write", |bench, _| control::stop(bench)),
    ("07", "adjacent sessions", |bench, _| {
        control::adjacent(bench)
    }),
    ("08", "chunk sweep", |bench, _| rates::sweep(bench)),
    ("09", "error codes", |bench, _| errors::codes(bench)),
    ("10", "full disk", |bench, _| rates::full(bench)),
    ("11", "link status again", |bench, links| {
        link::again(bench, links)
    }),
];

/// Run the tests on drives that may be written; one stream over all of them where there are several.
///
/// What is on the range is lost. A simulated drive must keep data (`SessionOptions::keep_data`); opened with [`BenchOptions::pages`] as its
/// generator, and alone, it keeps four bytes per page.
///
/// # Errors
/// When the range is bad, a drive cannot be opened or keeps nothing. What a drive fails is a failed test.
pub fn run(
    drives: &mut [DriveSession],
    options: &BenchOptions,
    observer: &mut dyn BenchObserver,
) -> Result<BenchReport, BenchError> {
    run_through(drives, &mut PassThrough, options, observer)
}

/// [`run`], with something between the bench and the drives.
///
/// # Errors
/// As [`run`].
pub fn run_through(
    drives: &mut [DriveSession],
    setup: &mut dyn TestSetup,
    options: &BenchOptions,
    observer: &mut dyn BenchObserver,
) -> Result<BenchReport, BenchError> {
    let first = drives.first().ok_or(BenchError::NoDrive)?;
    let name = first.info().spec.clone();
    let infos = || drives.iter().map(DriveSession::info);
    let media: Vec<_> = infos().map(media).collect();
    let request = RangeRequest {
        first: options.first,
        last: options.last,
        chunk_bytes: options.chunk_bytes,
    };
    let range = StreamRange::new(&request, &media)?;
    if range.chunks_per_drive() < MIN_CHUNKS {
        return Err(BenchError::TooSmall {
            drive: name,
            chunks: range.chunks_per_drive(),
            chunk_bytes: range.chunk_bytes,
        });
    }
    let direct = infos().all(|info| info.direct_io);
    let report = BenchReport {
        drives: infos().map(|info| info.spec.clone()).collect(),
        simulated: infos().any(|info| info.simulated),
        direct,
        seed: options.seed,
        range,
        depth: options.depth,
        tests: Vec::new(),
        passed: 0,
        failed: 0,
        not_applicable: 0,
        interrupted: false,
        sweep: Vec::new(),
        continuous: None,
    };
    let wanted = u64::from(options.depth).saturating_mul(4);
    let window_chunks = wanted
        .clamp(WINDOW_CHUNKS, MAX_WINDOW_CHUNKS)
        .min(range.chunks_per_drive());
    // Four equal parts (test 07).
    let window_chunks = window_chunks / 4 * 4;
    let window = StreamRange {
        last: range.first + (window_chunks - 1) * u64::from(range.chunk_bytes),
        ..range
    };
    let mut bench = BenchRun {
        context: TestContext {
            options,
            observer,
            range,
            window,
            queue_options: QueueOptions {
                writes: true,
                depth: options.depth,
                chunk_bytes: range.chunk_bytes,
                direct,
                calls: options.calls,
            },
            min_io_bytes: infos().map(|info| info.min_io_bytes).max().unwrap_or(1),
            capacity_bytes: infos().map(|info| info.capacity_bytes).max().unwrap_or(0),
            log: describe::StreamLog::default(),
            test: "",
            seeds: 0,
            done_bytes: 0,
            total_bytes: rates::planned_bytes(&range, &window, options.span_bytes),
            sweep: Vec::new(),
            continuous: None,
        },
        drives,
        setup,
    };
    let keeps = bench.open(|queues, _| Ok(queues.iter().all(|queue| queue.moves_bytes())));
    match keeps {
        Ok(true) => {}
        Ok(false) | Err(TestError::Failed(_) | TestError::Stopped) => {
            return Err(BenchError::KeepsNothing { drive: name });
        }
        Err(TestError::BenchRun(error)) => return Err(error),
    }
    all(bench, report)
}

fn all(mut bench: BenchRun<'_>, mut report: BenchReport) -> Result<BenchReport, BenchError> {
    let mut links = None;
    for (id, name, test) in TESTS {
        if bench.context.observer.stop_requested() {
            report.interrupted = true;
            break;
        }
        bench.context.test = id;
        bench.context.observer.began(id, name);
        bench.setup.begin(id);
        let (result, detail) = match test(&mut bench, &mut links) {
            Ok(TestDetail::Pass(detail)) => (TestOutcome::Pass, detail),
            Ok(TestDetail::NotApplicable(detail)) => (TestOutcome::NotApplicable, detail),
            Err(TestError::Failed(detail)) => (TestOutcome::Fail, detail),
            Err(TestError::BenchRun(error)) => return Err(error),
            Err(TestError::Stopped) => {
                report.interrupted = true;
                break;
            }
        };
        match result {
            TestOutcome::Pass => report.passed += 1,
            TestOutcome::Fail => report.failed += 1,
            TestOutcome::NotApplicable => report.not_applicable += 1,
        }
        let result = TestResult {
            id,
            name,
            result,
            detail,
        };
        bench.context.observer.ended(&result);
        report.tests.push(result);
    }
    report.sweep = std::mem::take(&mut bench.context.sweep);
    report.continuous = bench.context.continuous;
    Ok(report)
}
