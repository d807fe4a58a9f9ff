use std::io;
use std::sync::Arc;

use assay_device::identity::PcieLink;
use assay_units::rng::splitmix64;

use super::describe::{StreamLog, sentence};
use super::{BenchError, BenchObserver, BenchOptions, BenchReport};
use assay_integrity::pattern::{
    ExpectedLayout, Pattern, PatternPages, StreamFindings, StreamVerifier,
};
use assay_stream::range::StreamRange;
use assay_stream::record::RecordOptions;
use assay_stream::registers::{BEAT_BYTES, ControlBits, Registers, StatusBits};
use assay_stream::replay::ReplayOptions;
use assay_stream::source::{DiscardSink, FillResult, SizedSource, StreamSink, StreamSource};
use assay_stream::status::{StreamError, StreamStatus};
use assay_stream::streamer::{DriveChunk, StreamHost, Streamer};

/// Mismatched chunks that are diagnosed.
const MAX_DIAGNOSED: usize = 4;

pub(super) enum TestError {
    Failed(String),
    /// Not applicable to this drive, with the reason.
    NotApplicable(String),
    Stopped,
    BenchRun(BenchError),
}

impl From<StreamError> for TestError {
    fn from(error: StreamError) -> TestError {
        TestError::Failed(error.to_string())
    }
}

pub(super) fn fail<T>(detail: impl Into<String>) -> Result<T, TestError> {
    Err(TestError::Failed(detail.into()))
}

pub(super) struct BenchRun<'a> {
    pub host: &'a mut dyn StreamHost,
    pub context: TestContext<'a>,
}

impl BenchRun<'_> {
    /// Opens the drives for `work` and closes them again.
    pub fn open<R>(
        &mut self,
        work: impl FnOnce(&mut dyn Streamer, &mut TestContext<'_>) -> Result<R, TestError>,
    ) -> Result<R, TestError> {
        let streamer = self.host.streamer();
        let mut streamer = streamer.map_err(|error| TestError::BenchRun(error.into()))?;
        let result = work(&mut *streamer, &mut self.context);
        drop(streamer);
        let from_drive = self.host.check_reads_drive();
        self.host.close();
        from_drive.map_err(|error| TestError::BenchRun(error.into()))?;
        result
    }
}

pub(super) struct TestContext<'a> {
    pub options: &'a BenchOptions,
    pub range: StreamRange,
    /// The short tests use this part, from the start.
    pub window: StreamRange,
    pub pages: Option<Arc<PatternPages>>,
    pub min_io_bytes: u32,
    pub capacity_bytes: u64,
    pub log: StreamLog,
    pub test: &'static str,
    pub seeds: u64,
    pub progress: Progress<'a>,
    pub links: Vec<Option<PcieLink>>,
    pub report: BenchReport,
}

pub(super) struct Progress<'a> {
    pub observer: &'a mut dyn BenchObserver,
    pub done_bytes: u64,
    pub total_bytes: u64,
}

impl Progress<'_> {
    fn add(&mut self, bytes: usize, registers: &Registers) {
        self.done_bytes += bytes as u64;
        let done = self.done_bytes.min(self.total_bytes);
        self.observer.progress(done, self.total_bytes);
        if self.observer.stop_requested() {
            registers.command(ControlBits::ABORT);
        }
    }

    pub fn check(&self, status: &StreamStatus) -> Result<(), TestError> {
        if self.observer.stop_requested() {
            return Err(TestError::Stopped);
        }
        let failure = status.failure.as_ref();
        failure.map_or(Ok(()), |failure| fail(format!("device error: {failure}")))
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WriteMode {
    pub flush_after: bool,
    /// Register commands, each after a number of chunks.
    pub orders: [Option<(u64, ControlBits)>; 2],
}

impl WriteMode {
    pub const FLUSH: WriteMode = WriteMode { flush_after: true, orders: [None, None] };

    pub fn order(chunks: u64, control: ControlBits) -> WriteMode {
        WriteMode { flush_after: false, orders: [Some((chunks, control)), None] }
    }
}

impl TestContext<'_> {
    pub fn seed(&mut self) -> u64 {
        self.seeds += 1;
        let mut state = self.options.seed ^ self.seeds.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        splitmix64(&mut state)
    }

    pub fn chunk_beats(&self) -> u64 {
        u64::from(self.range.chunk_bytes) / BEAT_BYTES
    }

    pub fn chunks(&self, chunks: u64) -> u64 {
        chunks * u64::from(self.range.chunk_bytes)
    }

    /// Chunks of the window, counted on each drive.
    pub fn part(&self, from: u64, count: u64) -> StreamRange {
        let first = self.window.first + self.chunks(from);
        StreamRange { first, last: first + self.chunks(count - 1), ..self.window }
    }

    /// Writes a new stream over the range and flushes, so that its content is known.
    pub fn write_known(
        &mut self,
        streamer: &mut dyn Streamer,
        range: &StreamRange,
        name: &str,
    ) -> Result<u64, TestError> {
        let seed = self.seed();
        let status = self.write(streamer, range, (seed, name), range.bytes(), WriteMode::FLUSH)?;
        self.ended(&status, range.bytes(), range.last)?;
        Ok(seed)
    }

    pub fn write(
        &mut self,
        streamer: &mut dyn Streamer,
        range: &StreamRange,
        (seed, name): (u64, &str),
        bytes: u64,
        mode: WriteMode,
    ) -> Result<StreamStatus, TestError> {
        self.log.add(seed, format!("{name} (test {})", self.test));
        if let Some(pages) = self.pages.as_ref().filter(|_| range.drives == 1) {
            pages.announce(seed, range.first);
        }
        let options = RecordOptions {
            flush_after: mode.flush_after,
            min_io_bytes: self.min_io_bytes,
            ..RecordOptions::default()
        };
        let mut source = CommandedSource {
            stream: SizedSource::pattern(Pattern::new(seed), bytes),
            orders: mode.orders,
            taken: 0,
            progress: &mut self.progress,
        };
        let registers = Registers::default();
        let recorded = streamer.record(range, &mut source, &options, &registers)?;
        self.progress.check(&recorded.status)?;
        Ok(recorded.status)
    }

    /// Checks that the stream ended normally, at this address.
    pub fn ended(&self, status: &StreamStatus, bytes: u64, last: u64) -> Result<(), TestError> {
        let early = !bytes.is_multiple_of(self.chunks(1));
        let ended = StatusBits::FINISHED
            .with(StatusBits::LAST_VALID)
            .with_if(early, StatusBits::EARLY_LAST);
        if status.status != ended
            || status.bytes != bytes
            || status.last_address_written != Some(last)
        {
            return fail(format!(
                "wrong status: a stream of {bytes} bytes up to address {last} ended as {:?}, {} \
                 bytes, last address {:?}",
                status.status, status.bytes, status.last_address_written
            ));
        }
        Ok(())
    }

    pub fn read_back(
        &mut self,
        streamer: &mut dyn Streamer,
        range: &StreamRange,
        layout: &ExpectedLayout,
    ) -> Result<(StreamFindings, StreamStatus), TestError> {
        let min_io_bytes = self.min_io_bytes;
        self.read_back_with(range.chunks(), layout, |sink| {
            self::read(streamer, range, layout.bytes(), min_io_bytes, sink)
        })
    }

    fn read_back_with(
        &mut self,
        chunks: u64,
        layout: &ExpectedLayout,
        read: impl FnOnce(&mut dyn StreamSink) -> Result<StreamStatus, StreamError>,
    ) -> Result<(StreamFindings, StreamStatus), TestError> {
        // Misplaced data may come from the whole window, or from a longer range.
        let chunks = chunks.max(self.window.chunks());
        let mut sink = CompareSink {
            verifier: StreamVerifier::new(layout.clone(), self.chunks(1), chunks),
            progress: &mut self.progress,
        };
        let status = read(&mut sink)?;
        let found = sink.verifier.finish(MAX_DIAGNOSED, None);
        self.progress.check(&status)?;
        if found.bytes != layout.bytes() {
            return fail(format!(
                "short read: {} of {} bytes were read",
                found.bytes,
                layout.bytes()
            ));
        }
        Ok((found, status))
    }

    pub fn compare(
        &mut self,
        streamer: &mut dyn Streamer,
        range: &StreamRange,
        layout: &ExpectedLayout,
        what: &str,
    ) -> Result<StreamStatus, TestError> {
        let (found, status) = self.read_back(streamer, range, layout)?;
        if found.chunks.is_empty() {
            return Ok(status);
        }
        let text = self.explain(streamer, range, layout, &found)?;
        fail(format!("{what}: {text}"))
    }

    pub fn explain(
        &mut self,
        streamer: &mut dyn Streamer,
        range: &StreamRange,
        layout: &ExpectedLayout,
        found: &StreamFindings,
    ) -> Result<String, TestError> {
        let first = found.chunks.first().expect("a mismatch is explained");
        let chunk = first.at_byte / u64::from(range.chunk_bytes);
        let (drive, address) = range.locate(chunk);
        let part = layout.part(self.chunks(chunk), self.chunks(1));
        let (bytes, min_io_bytes) = (part.bytes(), self.min_io_bytes);
        let one = DriveChunk { drive, address, chunk_bytes: range.chunk_bytes };
        let again = match self
            .read_back_with(1, &part, |sink| read_chunk(streamer, one, bytes, min_io_bytes, sink))
        {
            Ok((found, _)) => Some(found.chunks.is_empty()),
            Err(TestError::Failed(_)) => None,
            Err(other) => return Err(other),
        };
        Ok(sentence(&self.log, first, found, range, again))
    }
}

pub(super) fn read(
    streamer: &mut dyn Streamer,
    range: &StreamRange,
    bytes: u64,
    min_io_bytes: u32,
    sink: &mut dyn StreamSink,
) -> Result<StreamStatus, StreamError> {
    let registers = Registers::default();
    let options = replay_options(min_io_bytes);
    let replayed = streamer.replay(range, Some(bytes), sink, options, &registers)?;
    Ok(replayed.status)
}

pub(super) fn read_chunk(
    streamer: &mut dyn Streamer,
    chunk: DriveChunk,
    bytes: u64,
    min_io_bytes: u32,
    sink: &mut dyn StreamSink,
) -> Result<StreamStatus, StreamError> {
    let registers = Registers::default();
    let options = replay_options(min_io_bytes);
    let replayed = streamer.read_chunk(chunk, Some(bytes), sink, options, &registers)?;
    Ok(replayed.status)
}

fn replay_options(min_io_bytes: u32) -> ReplayOptions {
    ReplayOptions { min_io_bytes, ..ReplayOptions::default() }
}

struct CompareSink<'a, 'o> {
    verifier: StreamVerifier,
    progress: &'a mut Progress<'o>,
}

impl StreamSink for CompareSink<'_, '_> {
    fn name(&self) -> String {
        "the checker".to_owned()
    }

    fn put(&mut self, bytes: &[u8], registers: &Registers) -> io::Result<()> {
        self.verifier.check(bytes);
        self.progress.add(bytes.len(), registers);
        Ok(())
    }
}

struct CommandedSource<'a, 'o> {
    stream: SizedSource,
    orders: [Option<(u64, ControlBits)>; 2],
    taken: u64,
    progress: &'a mut Progress<'o>,
}

impl StreamSource for CommandedSource<'_, '_> {
    fn name(&self) -> String {
        self.stream.name()
    }

    fn fill(&mut self, chunk: &mut [u8], registers: &Registers) -> io::Result<FillResult> {
        let filled = self.stream.fill(chunk, registers)?;
        self.taken += 1;
        let due = self.orders.iter().flatten();
        for &(_, control) in due.filter(|(at, _)| *at == self.taken) {
            registers.command(control);
        }
        self.progress.add(filled.bytes, registers);
        Ok(filled)
    }

    fn has_more(&mut self, wait: bool, registers: &Registers) -> io::Result<Option<bool>> {
        self.stream.has_more(wait, registers)
    }
}

/// Discards the stream, and issues a register command after a number of chunks.
pub(super) struct CommandAfter {
    pub left: u64,
    pub control: ControlBits,
}

impl StreamSink for CommandAfter {
    fn name(&self) -> String {
        DiscardSink.name()
    }

    fn put(&mut self, _: &[u8], registers: &Registers) -> io::Result<()> {
        // Stays 0, so that the command is repeated until the stream ends.
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            registers.command(self.control);
        }
        Ok(())
    }
}
