use super::*;
use crate::index::IndexOptions;
use crate::index::writer::IndexWriter;

fn span(first_local: u64, count: u64) -> IndexSpan {
    IndexSpan { first_local, count, address: 0 }
}

/// The run of a header with this durable count over these spans (first, count), in a ring of this
/// capacity or no ring.
fn run(spans: &[(u64, u64)], durable: u64, ring: Option<u64>) -> (u64, u64) {
    let spans: Vec<IndexSpan> = spans.iter().map(|&(first, count)| span(first, count)).collect();
    let (_, found) = part(0, 1, (0, 0), durable, 1);
    let mut header = found.header;
    header.ring = ring.is_some();
    header.layout.chunks = ring.unwrap_or(99);
    run_of(&spans, &header)
}

#[test]
fn runs_end_at_gaps() {
    for ring in [None, Some(99)] {
        assert_eq!(run(&[], 0, ring), (0, 0));
        assert_eq!(run(&[(0, 5), (5, 3), (9, 1)], 0, ring), (0, 8));
        assert_eq!(run(&[(0, 5), (5, 3), (9, 1)], 8, ring), (0, 8));
    }
    // A block lost before the durable end: without a ring the start counts, in a ring the newest
    // run.
    assert_eq!(run(&[(0, 5), (8, 3)], 10, None), (0, 5));
    assert_eq!(run(&[(0, 5), (8, 3)], 10, Some(99)), (8, 11));
    assert_eq!(run(&[(5, 3)], 0, None), (0, 0));
    // A torn block leaves a gap after the durable end; a ring's capacity limits the run.
    assert_eq!(run(&[(0, 30), (30, 10), (60, 5)], 40, Some(50)), (0, 40));
    assert_eq!(run(&[(30, 30), (60, 11)], 65, Some(30)), (41, 71));
    // No block contains the durable end: the newest run.
    assert_eq!(run(&[(300, 30), (330, 11)], 65, Some(50)), (300, 341));
}

pub(in crate::index) fn part(
    drive: u32,
    drives: u32,
    run: (u64, u64),
    durable: u64,
    stream: u8,
) -> (String, RecordingPart) {
    let options =
        IndexOptions { stream: StreamId([stream; 16]), label: String::new(), began_unix_s: 0 };
    let layout = IndexLayout::new(0, 1000, 4096, true).unwrap();
    let mut writer = IndexWriter::new(&options, layout, (drive, drives), true, 10);
    writer.durable(durable);
    let header = RecordingHeader::decode(&writer.checkpoint(0, None).last().unwrap().1).unwrap();
    let found = RecordingPart {
        begins: run.0,
        header,
        lost_header: None,
        damaged_copies: Vec::new(),
        from: run.0,
        to: run.1,
        spans: Vec::new(),
        loaded: None,
    };
    (format!("drive{drive}"), found)
}
