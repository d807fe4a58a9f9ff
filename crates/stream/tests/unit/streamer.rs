//! Streamer: options, refusals, chunks of one drive.

use assay_io::null::NullTarget;

use super::*;
use crate::index::{IndexOptions, StreamId};
use crate::range::DEFAULT_CHUNK_BYTES;
use crate::record::SourceRate;
use crate::source::DiscardSink;

const CHUNK: u64 = DEFAULT_CHUNK_BYTES as u64;

fn extent(drive: &str) -> DriveExtent {
    DriveExtent {
        drive: drive.to_owned(),
        capacity_bytes: 64 * CHUNK,
        min_io_bytes: 512,
    }
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
        source_rate: Some(SourceRate {
            rate_bytes_per_s: 1,
            deadline: None,
        }),
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
    RecordOptions::default()
        .check_supported("core", &[])
        .unwrap();
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

#[test]
fn a_chunk_is_read_from_its_drive() {
    let mut streamer = streamer();
    assert_eq!(streamer.name(), "a, b");
    assert!(!streamer.moves_bytes());
    let chunk = DriveChunk {
        drive: 1,
        address: 7 * CHUNK,
        chunk_bytes: DEFAULT_CHUNK_BYTES,
    };
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
