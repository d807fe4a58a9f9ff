use std::collections::VecDeque;

use super::format::IndexBlock;
use super::{BLOCK_BYTES, ChunkEntry, ENTRIES, IndexLayout, RecordingHeader, StreamId};

/// Identity of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexOptions {
    pub stream: StreamId,
    /// User's label, up to 256 bytes of UTF-8.
    pub label: String,
    pub began_unix_s: u64,
}

/// Address and content of a block.
pub(crate) type BlockWrite = (u64, Box<[u8; BLOCK_BYTES as usize]>);

/// Index of one drive: entries as chunks are submitted, blocks and header at each checkpoint.
#[derive(Debug, Default)]
pub struct IndexWriter {
    header: RecordingHeader,
    /// Last written copy of each block.
    newest_copy: Vec<bool>,
    /// Entries from `base` on, the first chunk of the first block that is not full on the drive.
    entries: VecDeque<ChunkEntry>,
    base: u64,
    /// Entries written so far.
    written: u64,
    generation: u64,
    /// Blocks written by the latest checkpoint, and durable blocks whose other copy may be written.
    fresh: Vec<(u64, BlockWrite)>,
    once: Vec<(u64, BlockWrite)>,
    /// Index blocks below this have their space on the drive.
    reserved: u64,
}

impl IndexWriter {
    /// `window_chunks`: maximum number of this drive's chunks ahead of the index.
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
                window_chunks,
                began_unix_s: options.began_unix_s,
                label: options.label.clone(),
                ..RecordingHeader::default()
            },
            newest_copy: vec![true; usize::try_from(layout.index_blocks).unwrap_or(0)],
            ..IndexWriter::default()
        }
    }

    /// Writes before the first chunk: both copies of the header, the erasure of an older version's
    /// second one, and the space of the first index blocks.
    pub(crate) fn begin(&mut self) -> Vec<BlockWrite> {
        let mut writes = vec![blank(self.header.layout.first + BLOCK_BYTES)];
        writes.extend([self.header_write(), self.header_write()]);
        self.reserve(0, &mut writes);
        writes
    }

    /// Zeroes to the index blocks that the checkpoint after one of `finished` chunks may need, so
    /// that storage that allocates its space as it is written has room for them.
    fn reserve(&mut self, finished: u64, writes: &mut Vec<BlockWrite>) {
        let layout = self.header.layout;
        let used = finished.div_ceil(ENTRIES);
        let end = (finished + self.header.window_chunks).div_ceil(ENTRIES);
        let end = end.min(layout.index_blocks);
        for block in self.reserved.max(used)..end {
            writes.extend([0, 1].map(|copy| blank(layout.block_address(block, copy))));
        }
        self.reserved = self.reserved.max(end);
    }

    /// The next chunk of this drive was submitted.
    pub(crate) fn add_entry(&mut self, entry: ChunkEntry) {
        self.entries.push_back(entry);
    }

    /// `ended` is the length of the ended stream. A block without new entries is written a second
    /// time over its older copy once the newer one is durable, so that one bad block loses nothing.
    pub(crate) fn checkpoint(&mut self, finished: u64, ended: Option<u64>) -> Vec<BlockWrite> {
        let layout = self.header.layout;
        let (mut writes, mut fresh) = (Vec::new(), Vec::new());
        while self.written < finished {
            let block = self.base / ENTRIES % layout.index_blocks;
            let count = ENTRIES.min(finished - self.base);
            let Some(newest) = self.newest_copy.get_mut(block as usize) else {
                // No index blocks in this layout.
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
                tail: layout.tail.unwrap_or(0),
                entries: self.entries.iter().take(count as usize).copied().collect(),
            };
            let bytes = Box::new(index.encode());
            let other = (layout.block_address(block, 1 - copy), bytes.clone());
            fresh.push((block, other));
            writes.push((layout.block_address(block, copy), bytes));
            self.written = self.base + count;
            if count == ENTRIES {
                self.entries.drain(..count as usize);
                self.base += count;
            }
        }
        writes.extend(self.once.drain(..).map(|(_, write)| write));
        self.fresh = fresh;
        self.reserve(finished, &mut writes);
        if let Some(stream_bytes) = ended {
            (self.header.ended, self.header.stream_bytes) = (true, stream_bytes);
        }
        writes.push(self.header_write());
        writes
    }

    /// A flush has completed: all chunks below this are durable.
    pub(crate) fn durable(&mut self, chunks: u64) {
        self.header.durable_chunks = self.header.durable_chunks.max(chunks);
        self.once.append(&mut self.fresh);
    }

    fn header_write(&mut self) -> BlockWrite {
        let copy = self.header.generation % 2;
        self.header.generation += 1;
        (self.header.layout.header_address(copy), Box::new(self.header.encode()))
    }
}

fn blank(address: u64) -> BlockWrite {
    (address, Box::new([0; BLOCK_BYTES as usize]))
}

#[cfg(test)]
#[path = "../../tests/unit/index/writer.rs"]
mod tests;
