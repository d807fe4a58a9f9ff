use super::*;

fn writer(chunks: u64) -> IndexWriter {
    let options = IndexOptions { stream: StreamId([1; 16]), label: String::new(), began_unix_s: 0 };
    let layout = IndexLayout {
        first: 0,
        chunks,
        data_first: 1 << 30,
        chunk_bytes: 4096,
        index_blocks: super::super::index_blocks(chunks, true),
        tail: Some((1 << 30) + chunks * 4096),
    };
    IndexWriter::new(&options, layout, (0, 1), true, 10)
}

fn block(write: &BlockWrite) -> IndexBlock {
    IndexBlock::decode(&write.1, StreamId([1; 16])).unwrap()
}

#[test]
fn the_newest_copy_of_a_block_is_never_written_over() {
    let mut index = writer(2 * ENTRIES);
    let mut addresses = Vec::new();
    for n in 0..10 {
        index.add_entry(ChunkEntry { crc32c: n, len_bytes: 4096 });
        let writes = index.checkpoint(u64::from(n) + 1, None);
        assert_eq!(writes.len(), 2);
        assert_eq!(block(&writes[0]).entries.len(), n as usize + 1);
        addresses.push((writes[0].0, writes[1].0));
    }
    assert!(addresses.windows(2).all(|pair| pair[0].0 != pair[1].0 && pair[0].1 != pair[1].1));
    assert!(addresses.windows(3).all(|three| three[0] == three[2]));
}

#[test]
fn a_checkpoint_indexes_completed_chunks_only_in_bounded_memory() {
    let mut index = writer(3 * ENTRIES);
    for _ in 0..ENTRIES * 2 + 7 {
        index.add_entry(ChunkEntry::default());
    }
    let writes = index.checkpoint(ENTRIES + 3, None);
    assert_eq!(writes.len(), 3);
    assert_eq!(block(&writes[0]).entries.len() as u64, ENTRIES);
    assert_eq!((block(&writes[1]).first_local, block(&writes[1]).entries.len()), (ENTRIES, 3));
    assert_eq!(index.entries.len() as u64, ENTRIES + 7);
    // Nothing new: only the header.
    assert_eq!(index.checkpoint(ENTRIES + 3, None).len(), 1);
}

#[test]
fn unchanged_durable_blocks_get_their_second_copy() {
    let mut index = writer(3 * ENTRIES);
    (0..ENTRIES + 3).for_each(|_| index.add_entry(ChunkEntry::default()));
    let first = index.checkpoint(ENTRIES + 2, None);
    // Not reported durable: the older copy is kept.
    assert_eq!(index.checkpoint(ENTRIES + 2, None).len(), 1);
    let second = index.checkpoint(ENTRIES + 3, None);
    assert_eq!(block(&second[0]).first_local, ENTRIES);
    index.durable(ENTRIES + 3);
    let third = index.checkpoint(ENTRIES + 3, None);
    let other = |address: u64| address ^ BLOCK_BYTES;
    assert_eq!(third[..third.len() - 1], [(other(second[0].0), second[0].1.clone())]);
    assert_eq!(index.checkpoint(ENTRIES + 3, None).len(), 1, "only twice");
    assert_eq!(block(&first[0]).entries.len() as u64, ENTRIES);
}

#[test]
fn full_blocks_have_two_copies_one_checkpoint_later() {
    let mut index = writer(3 * ENTRIES);
    (0..ENTRIES + 9).for_each(|_| index.add_entry(ChunkEntry::default()));
    let first = index.checkpoint(ENTRIES + 3, None);
    index.durable(ENTRIES + 3);
    let writes = index.checkpoint(ENTRIES + 9, None);
    // The block that grew replaces its older copy; the full one is repeated over its own.
    let blocks: Vec<_> = writes[..writes.len() - 1].iter().map(block).collect();
    let reports: Vec<_> = blocks.iter().map(|b| (b.first_local, b.entries.len() as u64)).collect();
    assert_eq!(reports, [(ENTRIES, 9), (0, ENTRIES)]);
    assert_eq!(writes[1].1, first[0].1);
    assert!(first.iter().all(|(address, _)| *address != writes[1].0));
}

#[test]
fn rings_reuse_index_blocks_and_have_a_spare() {
    let chunks = ENTRIES + 5;
    let mut index = writer(chunks);
    let mut reports: std::collections::BTreeMap<u64, (u64, u64)> =
        std::collections::BTreeMap::new();
    for finished in (0..5 * chunks).step_by(7) {
        (0..7).for_each(|_| index.add_entry(ChunkEntry::default()));
        let writes = index.checkpoint(finished + 7, None);
        let blocks = writes[..writes.len() - 1].iter();
        // The others are zeroes, for the space of blocks to come.
        for write in blocks.filter(|(_, bytes)| bytes[0] != 0) {
            let block = block(write);
            let span = (block.first_local, block.entries.len() as u64);
            assert_eq!(span.0 % ENTRIES, 0);
            reports.insert(write.0 / (2 * BLOCK_BYTES), span);
        }
        // At any wrap, the blocks together describe all chunks on the drive.
        let newest: u64 = reports.values().map(|(_, count)| count).sum();
        assert!(newest >= (finished + 7).min(chunks), "{finished}: {reports:?}");
    }
    assert_eq!(reports.len(), 3);
}

/// On storage that allocates as it is written, a checkpoint needs no new space.
#[test]
fn blocks_have_their_space_before_they_are_needed() {
    for chunks in [40, ENTRIES - 1, 5 * ENTRIES] {
        let mut index = writer(chunks);
        let spaces = |writes: Vec<BlockWrite>| writes.into_iter().map(|(address, _)| address);
        let mut allocated: std::collections::BTreeSet<u64> = spaces(index.begin()).collect();
        let blocks = index.header.layout.index_blocks;
        for finished in (7..(blocks + 1) * ENTRIES).step_by(7) {
            (0..7).for_each(|_| index.add_entry(ChunkEntry::default()));
            let writes = index.checkpoint(finished, None);
            let of_index = |(_, bytes): &&BlockWrite| bytes[0] != 0;
            for (address, _) in writes.iter().filter(of_index) {
                assert!(allocated.contains(address), "{finished} of {chunks}");
            }
            index.durable(finished);
            allocated.extend(spaces(writes));
        }
        let tail = index.header.layout.tail.unwrap();
        assert!(allocated.remove(&tail));
        assert_eq!(allocated.len() as u64, 2 + 2 * blocks);
    }
}

#[test]
fn the_next_header_holds_the_durable_count() {
    let mut index = writer(100);
    let before = index.begin();
    assert_eq!(before[0].0, BLOCK_BYTES);
    assert!(before[0].1.iter().all(|&b| b == 0));
    // Both copies of the header: at the start, and at the end of the range.
    assert_eq!([before[1].0, before[2].0], [0, (1 << 30) + 100 * 4096]);
    assert!(before[1..3].iter().all(|(_, bytes)| RecordingHeader::decode(bytes).is_some()));
    index.add_entry(ChunkEntry::default());
    index.checkpoint(1, None);
    index.durable(1);
    let writes = index.checkpoint(1, Some(77));
    let header = RecordingHeader::decode(&writes.last().unwrap().1).unwrap();
    assert_eq!((header.durable_chunks, header.ended, header.stream_bytes), (1, true, 77));
}
