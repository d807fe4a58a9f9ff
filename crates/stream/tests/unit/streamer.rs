//! Streamer: options, refusals, chunks of one drive.

use std::io;

use assay_io::null::NullTarget;
use assay_io::{Completion, Io, Nanos, Target, TargetError};

use super::*;
use crate::index::{IndexOptions, StreamId};
use crate::range::DEFAULT_CHUNK_BYTES;
use crate::record::SourceRate;
use crate::registers::ControlBits;
use crate::source::{DiscardSink, FillResult};

const CHUNK: u64 = DEFAULT_CHUNK_BYTES as u64;

fn extent(drive: &str) -> DriveExtent {
    DriveExtent { drive: drive.to_owned(), capacity_bytes: 64 * CHUNK, min_io_bytes: 512 }
}

fn streamer() -> SoftwareStreamer<'static> {
    let queue = |name| StreamQueue::new(name, NullTarget::new(4), 4, DEFAULT_CHUNK_BYTES);
    SoftwareStreamer::new(vec![queue("a"), queue("b")], vec![extent("a"), extent("b")])
}

#[test]
fn the_first_option_that_is_not_supported_is_named() {
    let all = RecordOptions {
        ring: true,
        index: Some(IndexOptions {
            stream: StreamId([1; 16]),
            label: String::new(),
            began_unix_s: 0,
        }),
        checkpoint_bytes: Some(1),
        source_rate: Some(SourceRate { rate_bytes_per_s: 1, deadline: None }),
        buffer_table: true,
        ..RecordOptions::default()
    };
    let expected = [
        (StreamOption::Index, "--index"),
        (StreamOption::Ring, "--ring"),
        (StreamOption::DurableEvery, "--durable-every"),
        (StreamOption::Rate, "--rate"),
        (StreamOption::Plan, "--plan"),
    ];
    let mut supported = Vec::new();
    for (option, name) in expected {
        let error = all.check_supported("core", &supported).unwrap_err();
        assert!(matches!(error, StreamError::Unsupported { option: found, .. } if found == option));
        let text = error.to_string();
        assert!(text.starts_with("core: ") && text.contains(name), "{text}");
        supported.push(option);
    }
    all.check_supported("core", &supported).unwrap();
    RecordOptions::default().check_supported("core", &[]).unwrap();
}

#[test]
fn a_refusal_is_that_of_the_range() {
    let mut streamer = streamer();
    let mut refusal = |first, last| {
        streamer.refusal(&RangeRequest {
            first: Some(first),
            last: Some(last),
            chunk_bytes: DEFAULT_CHUNK_BYTES,
        })
    };
    assert_eq!(refusal(0, 63 * CHUNK), None);
    assert_eq!(refusal(16, CHUNK), Some(StatusBits::UNALIGNED));
    assert_eq!(refusal(CHUNK, 0), Some(StatusBits::FIRST_AFTER_LAST));
    assert_eq!(refusal(0, 64 * CHUNK), Some(StatusBits::OUT_OF_RANGE));
}

/// Completes only what is waited for, and commands ABORT when that are a STOP's last commands.
struct AbortsBehindStop<'r> {
    inner: NullTarget,
    registers: &'r Registers,
}

impl Target for AbortsBehindStop<'_> {
    fn now(&mut self) -> Nanos {
        self.inner.now()
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
        self.inner.submit(batch)
    }

    fn reap(
        &mut self,
        min: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        if min == 0 {
            return Ok(());
        }
        if self.registers.commanded(ControlBits::STOP) {
            self.registers.command(ControlBits::ABORT);
        }
        self.inner.reap(min, until, out)
    }

    fn buffer(&mut self, slot: u32) -> Option<&mut [u8]> {
        self.inner.buffer(slot)
    }
}

/// Commands STOP with its second chunk.
struct Stopping(u32);

impl StreamSource for Stopping {
    fn name(&self) -> String {
        "the test".to_owned()
    }

    fn fill(&mut self, chunk: &mut [u8], registers: &Registers) -> io::Result<FillResult> {
        self.0 += 1;
        if self.0 == 2 {
            registers.command(ControlBits::STOP);
        }
        Ok(FillResult { bytes: chunk.len(), last: false })
    }

    fn has_more(&mut self, _: bool, _: &Registers) -> io::Result<Option<bool>> {
        Ok(Some(true))
    }
}

#[test]
fn an_abort_behind_a_stop_flushes() {
    let registers = Registers::default();
    let inner = NullTarget::new(4);
    let target = AbortsBehindStop { inner, registers: &registers };
    let queue = StreamQueue::new("a", target, 4, DEFAULT_CHUNK_BYTES);
    let mut streamer = SoftwareStreamer::new(vec![queue], vec![extent("a")]);
    let range =
        StreamRange { first: 0, last: 9 * CHUNK, chunk_bytes: DEFAULT_CHUNK_BYTES, drives: 1 };
    let options = RecordOptions::default();
    let recorded = streamer.record(&range, &mut Stopping(0), &options, &registers);
    let status = recorded.unwrap().status;
    let expected = StatusBits::ABORTED.with(StatusBits::LAST_VALID);
    assert_eq!(status.status, expected);
    assert_eq!((status.bytes, status.durable_bytes), (2 * CHUNK, 2 * CHUNK));
}

#[test]
fn a_chunk_is_read_from_its_drive() {
    let mut streamer = streamer();
    assert_eq!(streamer.name(), "a, b");
    assert!(!streamer.moves_bytes());
    let chunk = DriveChunk { drive: 1, address: 7 * CHUNK, chunk_bytes: DEFAULT_CHUNK_BYTES };
    let mut read = |bytes| {
        let options = ReplayOptions::default();
        let registers = Registers::default();
        let read = streamer.read_chunk(chunk, bytes, &mut DiscardSink, options, &registers);
        read.unwrap().status
    };
    let status = read(None);
    assert_eq!((status.bytes, status.chunks, status.drives), (CHUNK, 1, 1));
    assert_eq!(status.last_address_written, Some(7 * CHUNK));
    assert_eq!(read(Some(100)).bytes, 100);
}
