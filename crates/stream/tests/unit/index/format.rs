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
    let long = RecordingHeader {
        label: "ü".repeat(500),
        ..header()
    };
    let read = RecordingHeader::decode(&long.encode()).unwrap();
    assert_eq!(read.label, "ü".repeat(LABEL_BYTES / 2));
}

#[test]
fn version_1_rings_have_no_spare_block() {
    let header = |spare| RecordingHeader {
        layout: IndexLayout::new(0, 1000, 4096, spare).unwrap(),
        ..header()
    };
    for (spare, version, blocks) in [(false, VERSION, 2), (true, RING_VERSION, 3)] {
        let block = header(spare).encode();
        assert_eq!(super::version(&block, HEADER_MAGIC), Some(version));
        let read = RecordingHeader::decode(&block).unwrap();
        assert_eq!((read.layout.index_blocks, read.ring), (blocks, true));
    }
    let mut later = header(true).encode();
    later[8] = 3;
    seal(&mut later);
    assert_eq!(RecordingHeader::decode(&later), None);
}

#[test]
fn inconsistent_headers_are_rejected() {
    for wrong in [
        RecordingHeader {
            drive: 3,
            ..header()
        },
        RecordingHeader {
            layout: IndexLayout {
                chunk_bytes: 0,
                ..header().layout
            },
            ..header()
        },
        RecordingHeader {
            layout: IndexLayout {
                chunks: u64::MAX,
                ..header().layout
            },
            ..header()
        },
        RecordingHeader {
            layout: IndexLayout {
                data_first: 0,
                ..header().layout
            },
            ..header()
        },
    ] {
        assert_eq!(RecordingHeader::decode(&wrong.encode()), None, "{wrong:?}");
    }
}

proptest! {
    #[test]
    fn blocks_round_trip(entries in prop::collection::vec(any::<(u32, u32)>(), 0..=ENTRIES as usize), first in 0_u64..1 << 48, generation in any::<u64>()) {
        let block = IndexBlock {
            stream: StreamId([3; 16]),
            first_local: first,
            generation,
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
        let index = IndexBlock { stream: StreamId([3; 16]), first_local: 0, generation: 1, entries: vec![ChunkEntry::default(); 5] };
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
