//! Test bench for a drive behind a streaming core: the twelve tests with which the hardware
//! bring-up of the MLE NVMe Streamer ends, in the same order, on any drive. A core in hardware has
//! the same registers and the same pattern, and the bench tests it by the same code.
//!
//! | id | test | requirement |
//! |---|---|---|
//! | 00 | link status | the PCIe link is up |
//! | 01 | left-over beats | an interrupted stream leaves nothing for the next one |
//! | 02 | pattern checker | finds a wrong seed or length at the right beat |
//! | 03 | flush after write | flushed data are there, if possible after a power loss |
//! | 04 | early last | a stream may end inside a chunk; nothing after its end is changed |
//! | 05 | abort mid-write | up to the last address all is new and durable, after it old |
//! | 06 | stop mid-write | the same without the flush; the first wrong beat is right after it |
//! | 07 | adjacent sessions | out of order, and single chunks, they leave each other intact |
//! | 08 | chunk sweep | 1, 2, 4 ... 32768 chunks written, read and compared, with rates |
//! | 09 | error codes | invalid addresses set their bit of `STATUS`; nothing is written |
//! | 10 | full disk | the whole range as one stream, read back and compared, with rates |
//! | 11 | link status again | unchanged since 00 |
//!
//! # Architecture
//! Every stream has its own seed, so any data read identify their stream and position. Tests
//! overlap at the start of the range; each first writes the data that it must not change. `context`
//! writes and compares streams, `describe` words the mismatches. The bench knows streamer and
//! drives as a [`StreamHost`] only: software over any drives ([`software_host`]), or a core in
//! hardware. [`faulty`] injects faults of [`assay_integrity::planned_faults`] into the software
//! streamer's drives; [`fault_table`] lists which test detects which.
//!
//! # Non-goals
//! Rates have no verdict. Every test writes.
//!
//! # Key constants
//! [`MAX_SWEEP_CHUNKS`] (32768, MLE NVMe Streamer), [`MIN_CHUNKS`].
#![forbid(unsafe_code)]

mod adjacent;
mod context;
mod control;
mod describe;
mod errors;
pub mod fault_table;
pub mod faulty;
mod link;
mod rates;
mod render;
mod setup;

use serde::Serialize;

use assay_stream::range::{RangeError, RangeRequest, StreamRange};
use assay_stream::status::StreamError;
use assay_stream::streamer::StreamHost;
use assay_units::{Classified, ErrorClass};
use context::{BenchRun, Progress, TestContext, TestError};

pub use render::{line, render};
pub use setup::{FaultsInTest, software_host};

/// The longest stream of the sweep, chunks: 4 GiB in chunks of 128 KiB (MLE NVMe Streamer).
pub const MAX_SWEEP_CHUNKS: u64 = 32_768;
/// Minimum number of chunks per drive.
pub const MIN_CHUNKS: u64 = 16;
/// Maximum window of the short tests, chunks per drive.
const MAX_WINDOW_CHUNKS: u64 = 1024;
/// Minimum window of the short tests, where the range permits.
const WINDOW_CHUNKS: u64 = 64;

#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// Address of the first chunk, bytes; default 0.
    pub first: Option<u64>,
    /// Address of the last chunk, inclusive, bytes; default the drive's last.
    pub last: Option<u64>,
    pub chunk_bytes: u32,
    pub depth: u32,
    /// On a drive that keeps its data each run needs a new one: old data of the same seed would be
    /// right.
    pub seed: u64,
    /// `None`: [`MAX_SWEEP_CHUNKS`], and the whole range.
    pub span_bytes: Option<u64>,
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
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TestOutcome {
    Pass,
    Fail,
    NotApplicable,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TestResult {
    /// "00" to "11".
    pub id: &'static str,
    pub name: &'static str,
    pub result: TestOutcome,
    /// Rates, addresses, the first wrong beat and its diagnosis.
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StreamRates {
    pub chunks: u64,
    pub bytes: u64,
    pub write_bytes_per_s: f64,
    pub read_bytes_per_s: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchReport {
    pub drives: Vec<String>,
    pub simulated: bool,
    /// Whether I/O bypassed the page cache; else the data read may never have been on the drive.
    pub direct: bool,
    pub seed: u64,
    pub range: StreamRange,
    pub depth: u32,
    pub tests: Vec<TestResult>,
    pub passed: u32,
    pub failed: u32,
    pub not_applicable: u32,
    /// A stop was requested before the last test.
    pub interrupted: bool,
    /// Test 08, by size.
    pub sweep: Vec<StreamRates>,
    /// Test 10.
    pub continuous: Option<StreamRates>,
}

#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    #[error(transparent)]
    Range(#[from] RangeError),
    #[error(transparent)]
    Streamer(#[from] StreamError),
    #[error("the test bench needs a drive")]
    NoDrive,
    #[error(
        "{drive}: the range has {chunks} chunks of {chunk_bytes} bytes on each drive and the test \
         bench needs {MIN_CHUNKS}; extend it or use smaller chunks"
    )]
    TooSmall { drive: String, chunks: u64, chunk_bytes: u32 },
    #[error(
        "{drive}: keeps no data, so there is nothing to test; name a drive, a file or a simulated \
         drive"
    )]
    KeepsNothing { drive: String },
}

pub trait BenchObserver {
    fn began(&mut self, _id: &'static str, _name: &'static str) {}
    /// Bytes written and read so far, and the estimated total.
    fn progress(&mut self, _done_bytes: u64, _total_bytes: u64) {}
    fn ended(&mut self, _result: &TestResult) {}
    /// Called for every chunk.
    fn stop_requested(&self) -> bool {
        false
    }
}

impl BenchObserver for () {}

type Test = (&'static str, &'static str, fn(&mut BenchRun<'_>) -> Result<String, TestError>);

const TESTS: [Test; 12] = [
    ("00", "link status", link::status),
    ("01", "left-over beats", control::left_over),
    ("02", "pattern checker", control::checker),
    ("03", "flush after write", control::flush),
    ("04", "early last", control::early_last),
    ("05", "abort mid-write", control::abort),
    ("06", "stop mid-write", control::stop),
    ("07", "adjacent sessions", adjacent::adjacent),
    ("08", "chunk sweep", rates::sweep),
    ("09", "error codes", errors::codes),
    ("10", "full disk", rates::full),
    ("11", "link status again", link::again),
];

/// All data on the range are lost. A simulated drive must keep data (`SessionOptions::keep_data`);
/// a single one with [`StreamHost::pattern_pages`] as its generator needs four bytes per page. The
/// host's rings have [`BenchOptions::depth`] chunks of [`BenchOptions::chunk_bytes`].
pub fn run(
    host: &mut dyn StreamHost,
    options: &BenchOptions,
    observer: &mut dyn BenchObserver,
) -> Result<BenchReport, BenchError> {
    let drives = host.drives();
    let name = drives.first().ok_or(BenchError::NoDrive)?;
    let name = name.extent.drive.clone();
    let request =
        RangeRequest { first: options.first, last: options.last, chunk_bytes: options.chunk_bytes };
    let range = StreamRange::new(&request, &host.extents())?;
    if range.chunks_per_drive() < MIN_CHUNKS {
        return Err(BenchError::TooSmall {
            drive: name,
            chunks: range.chunks_per_drive(),
            chunk_bytes: range.chunk_bytes,
        });
    }
    let wanted = u64::from(options.depth) * 4;
    let window_chunks =
        wanted.clamp(WINDOW_CHUNKS, MAX_WINDOW_CHUNKS).min(range.chunks_per_drive());
    // Divisible by four for test 07.
    let window_chunks = window_chunks / 4 * 4;
    let window = StreamRange {
        last: range.first + (window_chunks - 1) * u64::from(range.chunk_bytes),
        ..range
    };
    let extents = || drives.iter().map(|drive| &drive.extent);
    let bench = BenchRun {
        context: TestContext {
            options,
            range,
            window,
            pages: host.pattern_pages(),
            min_io_bytes: extents().map(|e| e.min_io_bytes).max().unwrap_or(1),
            capacity_bytes: extents().map(|e| e.capacity_bytes).max().unwrap_or(0),
            log: describe::StreamLog::default(),
            test: "",
            seeds: 0,
            progress: Progress {
                observer,
                done_bytes: 0,
                total_bytes: rates::planned_bytes(&range, &window, options.span_bytes),
            },
            links: Vec::new(),
            report: BenchReport {
                drives: extents().map(|e| e.drive.clone()).collect(),
                simulated: drives.iter().any(|drive| drive.simulated),
                direct: drives.iter().all(|drive| drive.direct),
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
            },
        },
        host,
    };
    bench.run_tests(name)
}

impl BenchRun<'_> {
    fn run_tests(mut self, first_drive: String) -> Result<BenchReport, BenchError> {
        match self.open(|streamer, _| Ok(streamer.moves_bytes())) {
            Ok(true) => {}
            Err(TestError::BenchRun(error)) => return Err(error),
            _ => return Err(BenchError::KeepsNothing { drive: first_drive }),
        }
        for (id, name, test) in TESTS {
            if self.context.progress.observer.stop_requested() {
                self.context.report.interrupted = true;
                break;
            }
            self.context.test = id;
            self.context.progress.observer.began(id, name);
            let outcome = test(&mut self);
            let report = &mut self.context.report;
            let (counter, result, detail) = match outcome {
                Ok(detail) => (&mut report.passed, TestOutcome::Pass, detail),
                Err(TestError::NotApplicable(detail)) => {
                    (&mut report.not_applicable, TestOutcome::NotApplicable, detail)
                }
                Err(TestError::Failed(detail)) => (&mut report.failed, TestOutcome::Fail, detail),
                Err(TestError::BenchRun(error)) => return Err(error),
                Err(TestError::Stopped) => {
                    report.interrupted = true;
                    break;
                }
            };
            *counter += 1;
            let result = TestResult { id, name, result, detail };
            self.context.progress.observer.ended(&result);
            report.tests.push(result);
        }
        Ok(self.context.report)
    }
}

impl Classified for BenchError {
    fn class(&self) -> ErrorClass {
        match self {
            BenchError::Streamer(error) => error.class(),
            BenchError::Range(_)
            | BenchError::NoDrive
            | BenchError::TooSmall { .. }
            | BenchError::KeepsNothing { .. } => ErrorClass::Usage,
        }
    }
}
