//! What a recorder writes of its index, and when.

use std::collections::VecDeque;

use super::format::IndexBlock;
use super::{BLOCK_BYTES, ENTRIES, Entry, Header, IndexLayout, StreamId};

/// How a recording is to describe itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexOptions {
    /// Whose.
    pub stream: StreamId,
    /// What its maker calls it, up to 256 bytes of UTF-8.
    pub label: String,
    /// When it began: seconds since 1970, UTC.
    pub began_unix_s: u64,
}

/// A block to be written.
pub(crate) type BlockWrite = (u64, Box<[u8; BLOCK_BYTES as usize]>);

/// The index of one drive of a recording: entries as chunks are taken, blocks and header at each checkpoint.
#[derive(Debug)]
pub struct IndexWriter {
    header: Header,
    /// Copy of each block that was written last.
    newest_copy: Vec<bool>,
    /// Entries from `base` on, the first chunk of the first block that is not full on the drive.
    entries: VecDeque<Entry>,
    base: u64,
    /// Entries written so far.
    written: u64,
    generation: u64,
    /// Blocks that the latest checkpoint wrote, and those of them that are durable: their other copy may be written.
    fresh: Vec<(u64, BlockWrite)>,
    once: Vec<(u64, BlockWrite)>,
}

impl IndexWriter {
    /// The index of drive `lane` of `lanes`. `window_chunks` is how many chunks of this drive the recorder lets run ahead of the index.
    pub fn new(
        options: &IndexOptions,
        layout: IndexLayout,
        (lane, lanes): (u32, u32),
        ring: bool,
        window_chunks: u64,
    ) -> IndexWriter {
        IndexWriter {
            header: Header {
                stream: options.stream,
                lane,
                lanes,
                layout,
                ring,
                generation: 0,
                durable_chunks: 0,
                window_chunks,
                ended: false,
                stream_bytes: 0,
                began_unix_s: options.began_unix_s,
                label: options.label.clone(),
            },
            newest_copy: vec![true; usize::try_from(layout.index_blocks).unwrap_or(0)],
            entries: VecDeque::new(),
            base: 0,
            written: 0,
            generation: 0,
            fresh: Vec::new(),
            once: Vec::new(),
        }
    }

    /// What must be on the drive before the first chunk: this header, and no trace of another recording's.
    pub(crate) fn begin(&mut self) -> Vec<BlockWrite> {
        let layout = self.header.layout;
        let blank = Box::new([0; BLOCK_BYTES as usize]);
        vec![(layout.header_address(1), blank), self.header_write()]
    }

    /// The next chunk of this drive was taken.
    pub(crate) fn note(&mut self, entry: Entry) {
        self.entries.push_back(entry);
    }

    /// All of this drive's chunks below `finished` are on it: what tells so. `ended` is the length of the whole stream once it is known.
    ///
    /// A block that says nothing new is written a second time, over its older copy, once the newer is durable: then no one bad block of the
    /// drive costs what it told of. The two are the same to the byte, so whichever of them a torn write leaves says all.
    pub(crate) fn checkpoint(&mut self, finished: u64, ended: Option<u64>) -> Vec<BlockWrite> {
        let layout = self.header.layout;
        let (mut writes, mut fresh) = (Vec::new(), Vec::new());
        while self.written < finished {
            // `written` is inside the block that begins at `base`, or at its beginning.
            let block = self.base / ENTRIES % layout.index_blocks;
            let told = ENTRIES.min(finished - self.base);
            let Some(newest) = self.newest_copy.get_mut(block as usize) else {
                // A layout without an index: there is none.
                break;
            };
            *newest = !*newest;
            let copy = u64::from(*newest);
            self.once.retain(|&(once, _)| once != block);
            self.generation += 1;
            let index = IndexBlock {
                stream: self.header.stream,
                first_local: self.base,
                generation: self.generation,
                entries: self.entries.iter().take(told as usize).copied().collect(),
            };
            let bytes = Box::new(index.encode());
            let other = (layout.block_address(block, 1 - copy), bytes.clone());
            fresh.push((block, other));
            writes.push((layout.block_address(block, copy), bytes));
            self.written = self.base + told;
            if told == ENTRIES {
                self.entries.drain(..told as usize);
                self.base += told;
            }
        }
        writes.extend(self.once.drain(..).map(|(_, write)| write));
        self.fresh = fresh;
        if let Some(stream_bytes) = ended {
            (self.header.ended, self.header.stream_bytes) = (true, stream_bytes);
        }
        writes.push(self.header_write());
        writes
    }

    /// A flush has ended after which all chunks below this are durable.
    pub(crate) fn durable(&mut self, chunks: u64) {
        self.header.durable_chunks = self.header.durable_chunks.max(chunks);
        self.once.append(&mut self.fresh);
    }

    fn header_write(&mut self) -> BlockWrite {
        let copy = self.header.generation % 2;
        self.header.generation += 1;
        (
            self.header.layout.header_address(copy),
            Box::new(self.header.encode()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer(chunks: u64) -> IndexWriter {
        let options = IndexOptions {
            stream: StreamId([1; 16]),
            label: String::new(),
            began_unix_s: 0,
        };
        let layout = IndexLayout {
            first: 0,
            chunks,
            data_first: 1 << 30,
            chunk_bytes: 4096,
            index_blocks: super::super::index_blocks(chunks, true),
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
            index.note(Entry {
                crc32c: n,
                len_bytes: 4096,
            });
            let writes = index.checkpoint(u64::from(n) + 1, None);
            assert_eq!(writes.len(), 2);
            assert_eq!(block(&writes[0]).entries.len(), n as usize + 1);
            addresses.push((writes[0].0, writes[1].0));
        }
        assert!(
            addresses
                .windows(2)
                .all(|pair| pair[0].0 != pair[1].0 && pair[0].1 != pair[1].1)
        );
        assert!(addresses.windows(3).all(|three| three[0] == three[2]));
    }

    #[test]
    fn a_checkpoint_tells_of_finished_chunks_only_and_memory_stays_small() {
        let mut index = writer(3 * ENTRIES);
        for _ in 0..ENTRIES * 2 + 7 {
            index.note(Entry::default());
        }
        let writes = index.checkpoint(ENTRIES + 3, None);
        assert_eq!(writes.len(), 3);
        assert_eq!(block(&writes[0]).entries.len() as u64, ENTRIES);
        assert_eq!(
            (
                block(&writes[1]).first_local,
                block(&writes[1]).entries.len()
            ),
            (ENTRIES, 3)
        );
        assert_eq!(index.entries.len() as u64, ENTRIES + 7);
        // Nothing new: the header alone.
        assert_eq!(index.checkpoint(ENTRIES + 3, None).len(), 1);
    }

    #[test]
    fn what_says_nothing_new_is_written_a_second_time_once_it_is_durable() {
        let mut index = writer(3 * ENTRIES);
        (0..ENTRIES + 3).for_each(|_| index.note(Entry::default()));
        let first = index.checkpoint(ENTRIES + 2, None);
        // Nobody said that it is durable: its older copy stays as it is.
        assert_eq!(index.checkpoint(ENTRIES + 2, None).len(), 1);
        let second = index.checkpoint(ENTRIES + 3, None);
        assert_eq!(block(&second[0]).first_local, ENTRIES);
        index.durable(ENTRIES + 3);
        let third = index.checkpoint(ENTRIES + 3, None);
        let other = |address: u64| address ^ BLOCK_BYTES;
        assert_eq!(
            third[..third.len() - 1],
            [(other(second[0].0), second[0].1.clone())]
        );
        assert_eq!(index.checkpoint(ENTRIES + 3, None).len(), 1, "only twice");
        assert_eq!(block(&first[0]).entries.len() as u64, ENTRIES);
    }

    #[test]
    fn a_full_block_is_in_both_copies_a_checkpoint_later_and_one_that_grows_is_not() {
        let mut index = writer(3 * ENTRIES);
        (0..ENTRIES + 9).for_each(|_| index.note(Entry::default()));
        let first = index.checkpoint(ENTRIES + 3, None);
        index.durable(ENTRIES + 3);
        let writes = index.checkpoint(ENTRIES + 9, None);
        // The block that grew goes over its older copy, with what is new; the full one, as it was, over its own.
        let blocks: Vec<_> = writes[..writes.len() - 1].iter().map(block).collect();
        let told: Vec<_> = blocks
            .iter()
            .map(|b| (b.first_local, b.entries.len() as u64))
            .collect();
        assert_eq!(told, [(ENTRIES, 9), (0, ENTRIES)]);
        assert_eq!(writes[1].1, first[0].1);
        assert!(first.iter().all(|(address, _)| *address != writes[1].0));
    }

    #[test]
    fn a_ring_uses_its_blocks_again_in_turn_and_has_one_to_spare() {
        let chunks = ENTRIES + 5;
        let mut index = writer(chunks);
        let mut told: std::collections::BTreeMap<u64, (u64, u64)> =
            std::collections::BTreeMap::new();
        for finished in (0..5 * chunks).step_by(7) {
            (0..7).for_each(|_| index.note(Entry::default()));
            let writes = index.checkpoint(finished + 7, None);
            for write in &writes[..writes.len() - 1] {
                let block = block(write);
                let span = (block.first_local, block.entries.len() as u64);
                assert_eq!(span.0 % ENTRIES, 0);
                told.insert(write.0 / (2 * BLOCK_BYTES), span);
            }
            // Whatever turn it is, the blocks together tell of all that has a place.
            let newest: u64 = told.values().map(|(_, count)| count).sum();
            assert!(newest >= (finished + 7).min(chunks), "{finished}: {told:?}");
        }
        assert_eq!(told.len(), 3);
    }

    #[test]
    fn what_is_durable_is_told_by_the_header_after() {
        let mut index = writer(100);
        let before = index.begin();
        assert_eq!(before[0].0, BLOCK_BYTES);
        assert!(before[0].1.iter().all(|&b| b == 0));
        index.note(Entry::default());
        index.checkpoint(1, None);
        index.durable(1);
        let writes = index.checkpoint(1, Some(77));
        let header = Header::decode(&writes.last().unwrap().1).unwrap();
        assert_eq!(
            (header.durable_chunks, header.ended, header.stream_bytes),
            (1, true, 77)
        );
    }
}
