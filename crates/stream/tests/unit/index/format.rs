use super::*;
use proptest::prelude::*;

fn header() -> RecordingHeader {
    RecordingHeader {
        stream: StreamId([7; 16]),
        drive: 1,
        drives: 3,
        layout: IndexLayout::new(131_072, 100, 131_072, true).unwrap(),
        ring: true,
        generation: 9,
        durable_chunks: 5,
        window_chunks: 70,
        ended: false,
        stream_bytes: 12,
        began_unix_s: 1_700_000_000,
        label: "camera 3".to_owned(),
    }
}

#[test]
fn headers_round_trip() {
    assert_eq!(RecordingHeader::decode(&header().encode()), Some(header()));
    let long = RecordingHeader { label: "ü".repeat(500), ..header() };
    let read = RecordingHeader::decode(&long.encode()).unwrap();
    assert_eq!(read.label, "ü".repeat(LABEL_BYTES / 2));
}

#[test]
fn versions_tell_spare_blocks_and_the_place_of_the_second_copy() {
    let header = |spare, tail: bool| {
        let mut layout = IndexLayout::new(0, 1000, 4096, spare).unwrap();
        layout.tail = layout.tail.filter(|_| tail);
        RecordingHeader { layout, ..header() }
    };
    for (spare, tail, version, blocks) in
        [(false, false, 1, 2), (true, false, 2, 3), (false, true, 3, 2), (true, true, 4, 3)]
    {
        let block = header(spare, tail).encode();
        assert_eq!(super::version(&block, HEADER_MAGIC), Some(version));
        let read = RecordingHeader::decode(&block).unwrap();
        assert_eq!((read.layout.index_blocks, read.ring), (blocks, true));
        let second = if tail { 999 * 4096 } else { 4096 };
        assert_eq!(read.layout.header_address(1), second);
    }
    let mut later = header(true, true).encode();
    later[8] = 5;
    seal(&mut later);
    assert_eq!(RecordingHeader::decode(&later), None);
}

#[test]
fn inconsistent_headers_are_rejected() {
    for wrong in [
        RecordingHeader { drive: 3, ..header() },
        RecordingHeader { layout: IndexLayout { chunk_bytes: 0, ..header().layout }, ..header() },
        RecordingHeader { layout: IndexLayout { chunks: u64::MAX, ..header().layout }, ..header() },
        RecordingHeader { layout: IndexLayout { data_first: 0, ..header().layout }, ..header() },
        RecordingHeader {
            layout: IndexLayout { tail: Some(header().layout.data_first), ..header().layout },
            ..header()
        },
    ] {
        assert_eq!(RecordingHeader::decode(&wrong.encode()), None, "{wrong:?}");
    }
}

proptest! {
    #[test]
    fn blocks_round_trip(entries in prop::collection::vec(any::<(u32, u32)>(), 0..=ENTRIES as usize), first in 0_u64..1 << 48, generation in any::<u64>(), tail in any::<u64>()) {
        let block = IndexBlock {
            stream: StreamId([3; 16]),
            first_local: first,
            generation,
            tail,
            entries: entries.into_iter().map(|(crc32c, len_bytes)| ChunkEntry { crc32c, len_bytes }).collect(),
        };
        prop_assert_eq!(IndexBlock::decode(&block.encode(), StreamId([3; 16])), Some(block.clone()));
        prop_assert_eq!(IndexBlock::decode(&block.encode(), StreamId([4; 16])), None);
    }

    /// Any changed bit is detected.
    #[test]
    fn flipped_bits_invalidate_a_block(bit in 0..BLOCK * 8) {
        let mut block = header().encode();
        block[bit / 8] ^= 1 << (bit % 8);
        prop_assert_eq!(RecordingHeader::decode(&block), None);
        let index = IndexBlock { stream: StreamId([3; 16]), first_local: 0, generation: 1, tail: 0, entries: vec![ChunkEntry::default(); 5] };
        let mut block = index.encode();
        block[bit / 8] ^= 1 << (bit % 8);
        prop_assert_eq!(IndexBlock::decode(&block, StreamId([3; 16])), None);
    }

    /// Foreign bytes, even with a valid checksum, cause no panic.
    #[test]
    fn foreign_bytes_are_not_a_recording(bytes in prop::collection::vec(any::<u8>(), BLOCK - 16), header: bool) {
        let mut block = [0; BLOCK];
        block[..8].copy_from_slice(if header { HEADER_MAGIC } else { INDEX_MAGIC });
        block[8..12].copy_from_slice(&VERSION.to_le_bytes());
        block[16..].copy_from_slice(&bytes);
        let _ = (RecordingHeader::decode(&block), IndexBlock::decode(&block, StreamId::default()));
        seal(&mut block);
        let _ = (RecordingHeader::decode(&block), IndexBlock::decode(&block, StreamId::default()));
    }
}
