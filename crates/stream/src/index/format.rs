//! Encoding of recording headers and index blocks.

use assay_units::text::hexadecimal;
use serde::Serialize;

use super::{BLOCK_BYTES, IndexLayout, index_blocks};

const BLOCK: usize = BLOCK_BYTES as usize;
const HEADER_MAGIC: &[u8; 8] = b"ASSAYREC";
const INDEX_MAGIC: &[u8; 8] = b"ASSAYIDX";
/// Version of index blocks.
const VERSION: u32 = 1;
/// Versions of headers: without and with a spare index block; with the second copy at the end of
/// the range, likewise.
const PLAIN: [u32; 2] = [1, 2];
const TAILED: [u32; 2] = [3, 4];
/// Offset of the second copy's address in a header, behind the longest label.
const TAIL_AT: usize = 512;
/// Bytes of an index block before its entries.
const HEAD: usize = 64;
const ENTRY: usize = 8;
/// Chunks per index block.
pub const ENTRIES: u64 = ((BLOCK - HEAD) / ENTRY) as u64;
/// Offset of the checksum, computed with zeroes in its place.
const CHECKSUM_AT: usize = 12;
/// Longest label, bytes.
pub(super) const LABEL_BYTES: usize = 256;

/// Unique identifier of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub [u8; 16]);

impl StreamId {
    pub fn random() -> std::io::Result<StreamId> {
        let mut id = [0; 16];
        let mut filled = 0;
        while filled < id.len() {
            let flags = rustix::rand::GetRandomFlags::empty();
            filled += rustix::rand::getrandom(&mut id[filled..], flags)?;
        }
        Ok(StreamId(id))
    }
}

impl std::fmt::Display for StreamId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hexadecimal(&self.0))
    }
}

impl Serialize for StreamId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecordingHeader {
    pub stream: StreamId,
    /// Number of this drive in the stream, from 0.
    #[serde(rename = "lane")]
    pub drive: u32,
    #[serde(rename = "lanes")]
    pub drives: u32,
    pub layout: IndexLayout,
    /// The oldest chunks are overwritten when the range is full.
    pub ring: bool,
    /// Write count of this header: the copy with the higher one is newer.
    pub generation: u64,
    /// Durable chunks of this drive when this was written.
    pub durable_chunks: u64,
    /// Most chunks on the medium without an index entry: in flight, or since the last checkpoint.
    pub window_chunks: u64,
    /// The recorder ended the recording; `stream_bytes` is its length.
    pub ended: bool,
    /// Bytes of the whole stream on all drives; valid when `ended`.
    pub stream_bytes: u64,
    /// Start time: seconds since 1970, UTC.
    pub began_unix_s: u64,
    /// User's label.
    pub label: String,
}

/// Index entry of a chunk: its length and CRC-32C (Castagnoli, RFC 3720 appendix B.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChunkEntry {
    pub crc32c: u32,
    /// Bytes from the start of the chunk.
    pub len_bytes: u32,
}

impl ChunkEntry {
    /// Whether the checksum matches this chunk.
    pub fn is_of(&self, chunk: &[u8]) -> bool {
        let bytes = chunk.get(..self.len_bytes as usize);
        bytes.is_some_and(|bytes| crc32c::crc32c(bytes) == self.crc32c)
    }
}

/// Consecutive entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexBlock {
    pub stream: StreamId,
    /// Number of the first chunk on this drive, counted through all wraps of a ring.
    pub first_local: u64,
    /// Write count of this block: the copy with the higher one is newer.
    pub generation: u64,
    /// Address of the header's second copy; 0 in layout versions 1 and 2.
    pub tail: u64,
    pub entries: Vec<ChunkEntry>,
}

struct Put<'a>(&'a mut [u8], usize);

impl Put<'_> {
    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0[self.1..self.1 + bytes.len()].copy_from_slice(bytes);
        self.1 += bytes.len();
        self
    }
    fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }
    fn u64(&mut self, value: u64) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }
}

/// Reads past the end as zeroes.
struct Get<'a>(&'a [u8], usize);

impl<'a> Get<'a> {
    fn bytes(&mut self, len: usize) -> &'a [u8] {
        let from = self.1.min(self.0.len());
        let to = (self.1 + len).min(self.0.len());
        self.1 += len;
        &self.0[from..to]
    }
    fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        let bytes = self.bytes(N);
        out[..bytes.len()].copy_from_slice(bytes);
        out
    }
    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }
    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }
}

fn checksum(block: &[u8; BLOCK]) -> u32 {
    let crc = crc32c::crc32c(&block[..CHECKSUM_AT]);
    let crc = crc32c::crc32c_append(crc, &[0; 4]);
    crc32c::crc32c_append(crc, &block[CHECKSUM_AT + 4..])
}

fn seal(block: &mut [u8; BLOCK]) {
    let sum = checksum(block);
    block[CHECKSUM_AT..CHECKSUM_AT + 4].copy_from_slice(&sum.to_le_bytes());
}

/// The version, if magic and checksum are right.
fn version(block: &[u8; BLOCK], magic: &[u8; 8]) -> Option<u32> {
    let mut head = Get(block, 0);
    let is_known = head.bytes(8) == magic;
    let version = head.u32();
    (is_known && head.u32() == checksum(block)).then_some(version)
}

impl RecordingHeader {
    /// Chunks of the whole stream, if the recorder ended it.
    pub fn ended_chunks(&self) -> Option<u64> {
        let chunk_bytes = u64::from(self.layout.chunk_bytes.max(1));
        self.ended.then(|| self.stream_bytes.div_ceil(chunk_bytes))
    }

    /// Chunks of this drive that were written, as far as this header shows.
    pub(super) fn known_chunks(&self) -> u64 {
        let all = self.ended_chunks().unwrap_or(0);
        let drives = u64::from(self.drives.max(1));
        // Chunk s of the stream is on drive s % drives.
        let own = all / drives + u64::from(all % drives > u64::from(self.drive));
        self.durable_chunks.max(own)
    }

    pub fn encode(&self) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        let versions = match self.layout.tail {
            Some(_) => TAILED,
            None => PLAIN,
        };
        let mut label_len = self.label.len().min(LABEL_BYTES);
        while !self.label.is_char_boundary(label_len) {
            label_len -= 1;
        }
        let label = &self.label[..label_len];
        Put(&mut block, 0)
            .bytes(HEADER_MAGIC)
            .u32(versions[usize::from(self.layout.has_spare())])
            .u32(0)
            .bytes(&self.stream.0)
            .u32(self.drive)
            .u32(self.drives)
            .u64(self.layout.first)
            .u64(self.layout.chunks)
            .u64(self.layout.data_first)
            .u32(self.layout.chunk_bytes)
            .u32(u32::from(self.ring) | u32::from(self.ended) << 1)
            .u64(self.generation)
            .u64(self.durable_chunks)
            .u64(self.window_chunks)
            .u64(self.stream_bytes)
            .u64(self.began_unix_s)
            .u32(label.len() as u32)
            .bytes(label.as_bytes());
        Put(&mut block, TAIL_AT).u64(self.layout.tail.unwrap_or(0));
        seal(&mut block);
        block
    }

    /// Decode a block, if it is a valid header.
    pub fn decode(block: &[u8; BLOCK]) -> Option<RecordingHeader> {
        let version = version(block, HEADER_MAGIC)?;
        let is_tailed = TAILED.contains(&version);
        if !is_tailed && !PLAIN.contains(&version) {
            return None;
        }
        let spare = version == PLAIN[1] || version == TAILED[1];
        let mut get = Get(block, 16);
        let stream = StreamId(get.array());
        let (drive, drives) = (get.u32(), get.u32());
        let (first, chunks, data_first) = (get.u64(), get.u64(), get.u64());
        let chunk_bytes = get.u32();
        let flags = get.u32();
        let (generation, durable_chunks, window_chunks) = (get.u64(), get.u64(), get.u64());
        let (stream_bytes, began_unix_s) = (get.u64(), get.u64());
        let label_len = (get.u32() as usize).min(LABEL_BYTES);
        let label = String::from_utf8_lossy(get.bytes(label_len)).into_owned();
        let layout = IndexLayout {
            first,
            chunks,
            data_first,
            chunk_bytes,
            index_blocks: index_blocks(chunks, spare),
            tail: is_tailed.then(|| Get(block, TAIL_AT).u64()),
        };
        // The checksum does not exclude values written by a faulty program.
        let span = chunks.checked_mul(u64::from(chunk_bytes));
        let data_end = span.and_then(|span| data_first.checked_add(span));
        let index_end = super::index_bytes(layout.index_blocks).checked_add(first);
        let sound = (1..=super::MAX_DRIVES).contains(&drives)
            && drive < drives
            && (1..=assay_io::MAX_IO_BYTES).contains(&chunk_bytes)
            && chunks > 0
            && data_end.is_some_and(|end| layout.tail.is_none_or(|tail| end <= tail))
            && layout.tail.is_none_or(|tail| tail <= u64::MAX - super::BLOCK_BYTES)
            && index_end.is_some_and(|end| end <= data_first);
        sound.then_some(RecordingHeader {
            stream,
            drive,
            drives,
            layout,
            ring: flags & 1 != 0,
            ended: flags & 2 != 0,
            generation,
            durable_chunks,
            window_chunks,
            stream_bytes,
            began_unix_s,
            label,
        })
    }
}

impl IndexBlock {
    pub fn encode(&self) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        let entries = &self.entries[..self.entries.len().min(ENTRIES as usize)];
        Put(&mut block, 0)
            .bytes(INDEX_MAGIC)
            .u32(VERSION)
            .u32(0)
            .bytes(&self.stream.0)
            .u64(self.first_local)
            .u64(self.generation)
            .u32(entries.len() as u32)
            .u64(self.tail);
        let mut put = Put(&mut block, HEAD);
        for entry in entries {
            put.u32(entry.crc32c).u32(entry.len_bytes);
        }
        seal(&mut block);
        block
    }

    /// Decode a block, if it is a valid index block of any stream.
    pub(super) fn decode_any(block: &[u8; BLOCK]) -> Option<IndexBlock> {
        IndexBlock::decode(block, StreamId(Get(block, 16).array()))
    }

    /// Decode a block, if it is a valid index block of this stream.
    pub fn decode(block: &[u8; BLOCK], stream: StreamId) -> Option<IndexBlock> {
        if version(block, INDEX_MAGIC) != Some(VERSION) {
            return None;
        }
        let mut get = Get(block, 16);
        if StreamId(get.array()) != stream {
            return None;
        }
        let (first_local, generation) = (get.u64(), get.u64());
        let count = u64::from(get.u32());
        let tail = get.u64();
        // The second condition: beyond any possible number of chunks.
        if count > ENTRIES || first_local >> 48 > 0 {
            return None;
        }
        let mut get = Get(block, HEAD);
        let entries =
            (0..count).map(|_| ChunkEntry { crc32c: get.u32(), len_bytes: get.u32() }).collect();
        Some(IndexBlock { stream, first_local, generation, tail, entries })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/index/format.rs"]
mod tests;
