//! What a recorder writes of its index, and when.

use std::collections::VecDeque;

use super::format::IndexBlock;
use super::{BLOCK_BYTES, ChunkEntry, ENTRIES, IndexLayout, RecordingHeader, StreamId};

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
    header: RecordingHeader,
    /// Copy of each block that was written last.
    newest_copy: Vec<bool>,
    /// Entries from `base` on, the first chunk of the first block that is not full on the drive.
    entries: VecDeque<ChunkEntry>,
    base: u64,
    /// Entries written so far.
    written: u64,
    generation: u64,
    /// Blocks that the latest checkpoint wrote, and those of them that are durable: their other copy may be written.
    fresh: Vec<(u64, BlockWrite)>,
    once: Vec<(u64, BlockWrite)>,
}

impl IndexWriter {
    /// The index of drive `drive` of `drives`. `window_chunks` is how many chunks of this drive the recorder lets run ahead of the index.
    pub fn new(
        options: &IndexOptions,
        layout: IndexLayout,
        (drive, drives): (u32, u32),
        ring: bool,
        window_chunks: u64,
    ) -> IndexWriter {
        IndexWriter {
            header: RecordingHeader {
                stream: options.stream,
                drive,
                drives,
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
    pub(crate) fn add_entry(&mut self, entry: ChunkEntry) {
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
#[path = "../../tests/unit/index/writer.rs"]
mod tests;
