//! The verilated core under its registers: ends, flushes, refusals, failed commands.

use crate::common;

use std::io;

use assay_cosim::pcie_drive::{PcieDrive, unlimited_profile};
use assay_cosim::streamer::CoreStreamer;
use assay_integrity::pattern::Pattern;
use assay_stream::range::RangeRequest;
use assay_stream::record::{RecordOptions, RecordOutcome};
use assay_stream::registers::{ControlBits, Registers, StatusBits};
use assay_stream::replay::ReplayOptions;
use assay_stream::source::{FillResult, StreamSink, StreamSource};
use assay_stream::streamer::{DriveChunk, Streamer};
use common::{core, range};

const CHUNK: u64 = 16 << 10;

/// A pattern without an end that gives a command behind some bytes.
struct Commanding {
    pattern: Vec<u8>,
    bytes: u64,
    at: u64,
    command: ControlBits,
    /// Bytes per fill.
    step: usize,
}

impl Commanding {
    fn new(at: u64, command: ControlBits) -> Commanding {
        Commanding { pattern: pattern(65 * CHUNK), bytes: 0, at, command, step: usize::MAX }
    }
}

impl StreamSource for Commanding {
    fn name(&self) -> String {
        "the test".to_owned()
    }

    fn fill(&mut self, chunk: &mut [u8], registers: &Registers) -> io::Result<FillResult> {
        let bytes = chunk.len().min(self.step);
        let before = self.bytes;
        let from = &self.pattern[before as usize..];
        chunk[..bytes].copy_from_slice(&from[..bytes]);
        self.bytes += bytes as u64;
        if before < self.at && self.bytes >= self.at {
            registers.command(self.command);
        }
        Ok(FillResult { bytes, last: false })
    }

    fn has_more(&mut self, _: bool, _: &Registers) -> io::Result<Option<bool>> {
        Ok(Some(true))
    }
}

fn record(
    core: &mut CoreStreamer<PcieDrive>,
    chunks: u64,
    source: &mut dyn StreamSource,
    options: &RecordOptions,
) -> RecordOutcome {
    let range = range(core, chunks);
    let registers = Registers::default();
    core.record(&range, source, options, &registers).expect("the simulation runs")
}

/// Bytes of the recording, from the drive.
fn replayed(core: &mut CoreStreamer<PcieDrive>, bytes: u64) -> Vec<u8> {
    let chunks = bytes.div_ceil(CHUNK).max(1);
    let (range, registers) = (range(core, chunks), Registers::default());
    let mut sink = Vec::new();
    let options = ReplayOptions::default();
    core.replay(&range, Some(bytes), &mut sink, options, &registers).expect("the simulation runs");
    sink
}

fn pattern(bytes: u64) -> Vec<u8> {
    let mut expected = vec![0; bytes as usize];
    Pattern::new(3).at(0).fill(&mut expected);
    expected
}

#[test]
fn a_stop_ends_the_stream_behind_its_chunk() {
    let Some(mut core) = core("w128c16", unlimited_profile()) else {
        return;
    };
    for (chunks, command, end) in [
        (1, ControlBits::STOP, StatusBits::STOPPED),
        (5, ControlBits::STOP, StatusBits::STOPPED),
        (20, ControlBits::ABORT, StatusBits::ABORTED),
    ] {
        let mut source = Commanding::new(chunks * CHUNK, command);
        let recorded = record(&mut core, 64, &mut source, &RecordOptions::default());
        let status = &recorded.status;
        assert!(status.status.has(end), "{status:?}");
        assert_eq!(status.chunks, chunks, "{status:?}");
        let durable = if end == StatusBits::ABORTED { status.bytes } else { 0 };
        assert_eq!(status.durable_bytes, durable);
        assert!(replayed(&mut core, status.bytes) == pattern(status.bytes));
    }
    // Nothing of an interrupted stream remains.
    let mut source = Commanding::new(u64::MAX, ControlBits::STOP);
    let recorded = record(&mut core, 12, &mut source, &RecordOptions::default());
    assert_eq!(recorded.status.bytes, 12 * CHUNK);
    assert_eq!(recorded.status.source_had_more, Some(true));
    assert!(replayed(&mut core, 12 * CHUNK) == pattern(12 * CHUNK));
}

#[test]
fn a_stop_inside_a_chunk_gives_the_chunk_up() {
    let Some(mut core) = core("w128c16", unlimited_profile()) else {
        return;
    };
    for at in [100, CHUNK + 4096, 3 * CHUNK + 5000, 9 * CHUNK - 16] {
        let mut source = Commanding::new(at, ControlBits::STOP);
        source.step = 100;
        let recorded = record(&mut core, 64, &mut source, &RecordOptions::default());
        let status = &recorded.status;
        assert!(status.status.has(StatusBits::STOPPED), "{status:?}");
        let whole = source.bytes / CHUNK * CHUNK;
        assert_eq!(status.bytes, whole, "stopped after {}", source.bytes);
        assert!(replayed(&mut core, whole) == pattern(whole));
    }
}

#[test]
fn flushes_make_the_stream_durable() {
    let Some(mut core) = core("w128c16", unlimited_profile()) else {
        return;
    };
    let mut source = &pattern(5 * CHUNK)[..];
    let options = RecordOptions { flush_after: true, ..RecordOptions::default() };
    let recorded = record(&mut core, 5, &mut source, &options);
    assert_eq!(recorded.status.durable_bytes, 5 * CHUNK);
    let mut source = Commanding::new(5 * CHUNK, ControlBits::FLUSH_NOW);
    let recorded = record(&mut core, 64, &mut source, &RecordOptions::default());
    let durable = recorded.status.durable_bytes;
    assert!(durable > 0 && durable < 64 * CHUNK, "{durable}");
    assert_eq!(recorded.status.bytes, 64 * CHUNK);
}

#[test]
fn ranges_are_refused_as_the_software_refuses_them() {
    let Some(mut core) = core("w128c16", unlimited_profile()) else {
        return;
    };
    let extents = core.extents().expect("bring-up ends");
    let end = extents[0].capacity_bytes / CHUNK * CHUNK;
    for (first, last) in [
        (0, CHUNK),
        (CHUNK, CHUNK),
        (2 * CHUNK, CHUNK),
        (1, CHUNK),
        (0, CHUNK + 512),
        (0, end - CHUNK),
        (0, end),
        (end, end),
        (end - CHUNK, end - CHUNK),
        (1 << 60, 1 << 61),
        (1 << 61, 1 << 60),
        (CHUNK + 1, 0),
    ] {
        let request =
            RangeRequest { first: Some(first), last: Some(last), chunk_bytes: CHUNK as u32 };
        let software = assay_stream::range::StreamRange::new(&request, &extents);
        let expected = software.err().map(|error| error.status());
        assert_eq!(core.refusal(&request), expected, "{first} to {last}");
    }
}

/// Stops behind some bytes.
struct StoppingSink {
    bytes: Vec<u8>,
    at: usize,
}

impl StreamSink for StoppingSink {
    fn name(&self) -> String {
        "the test".to_owned()
    }

    fn put(&mut self, bytes: &[u8], registers: &Registers) -> io::Result<()> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= self.at {
            registers.command(ControlBits::STOP);
        }
        Ok(())
    }
}

#[test]
fn a_replay_is_stopped_behind_a_chunk() {
    let Some(mut core) = core("w128c16", unlimited_profile()) else {
        return;
    };
    let mut source = &pattern(40 * CHUNK)[..];
    record(&mut core, 40, &mut source, &RecordOptions::default());
    for chunks in [1, 7, 33] {
        let mut sink = StoppingSink { bytes: Vec::new(), at: chunks * CHUNK as usize };
        let (range, registers) = (range(&core, 40), Registers::default());
        let options = ReplayOptions::default();
        let outcome =
            core.replay(&range, None, &mut sink, options, &registers).expect("the simulation runs");
        let status = outcome.status;
        assert!(status.status.has(StatusBits::STOPPED), "{status:?}");
        assert_eq!(status.bytes, chunks as u64 * CHUNK, "{status:?}");
        assert!(sink.bytes == pattern(status.bytes));
    }
    assert!(replayed(&mut core, 40 * CHUNK) == pattern(40 * CHUNK));
}

#[test]
fn one_chunk_is_read() {
    let Some(mut core) = core("w128c16", unlimited_profile()) else {
        return;
    };
    let mut source = &pattern(4 * CHUNK)[..];
    record(&mut core, 4, &mut source, &RecordOptions::default());
    let address = range(&core, 4).first + 2 * CHUNK;
    let chunk = DriveChunk { drive: 0, address, chunk_bytes: CHUNK as u32 };
    for bytes in [None, Some(5000)] {
        let (mut sink, registers) = (Vec::new(), Registers::default());
        core.read_chunk(chunk, bytes, &mut sink, ReplayOptions::default(), &registers)
            .expect("the simulation runs");
        let count = bytes.unwrap_or(CHUNK) as usize;
        assert!(sink == pattern(3 * CHUNK)[2 * CHUNK as usize..][..count]);
    }
}

/// A command that the drive fails ends the stream before it, with its address and reason.
#[test]
fn a_failed_command_ends_the_stream() {
    for (fault, is_write) in [("write-error@20", true), ("read-error@20", false)] {
        let Some(mut core) = common::faulty_core("w128c16", fault) else {
            return;
        };
        let range = range(&core, 64);
        let registers = Registers::default();
        let mut source = &pattern(64 * CHUNK)[..];
        let options = RecordOptions::default();
        let recorded =
            core.record(&range, &mut source, &options, &registers).expect("the simulation runs");
        let mut status = recorded.status;
        if !is_write {
            assert_eq!(status.bytes, 64 * CHUNK, "{status:?}");
            let (mut sink, registers) = (Vec::new(), Registers::default());
            let options = ReplayOptions::default();
            let replayed = core
                .replay(&range, None, &mut sink, options, &registers)
                .expect("the simulation runs");
            status = replayed.status;
            assert!(sink == pattern(status.bytes));
        }
        assert!(status.status.has(StatusBits::DEVICE_ERROR), "{status:?}");
        assert!(!status.status.has(StatusBits::FINISHED), "{status:?}");
        let failure = status.failure.expect("a failed command");
        assert_eq!(failure.address, range.first + status.bytes);
        assert_eq!(failure.result, -61);
        // The core goes on.
        let mut sink = Vec::new();
        let registers = Registers::default();
        let options = ReplayOptions::default();
        core.replay(&range, Some(CHUNK), &mut sink, options, &registers)
            .expect("the simulation runs");
        assert!(sink == pattern(CHUNK));
    }
}
