//! Recovery of a recording from its index.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use assay_io::{Nanos, Op, TargetError};

use super::format::IndexBlock;
use super::{BLOCK_BYTES, ChunkEntry, IndexLayout, RecordingHeader, StreamId};
use crate::queue::{EndedIo, StreamQueue};
use crate::range::StreamRange;
use crate::status::DeviceFailure;

const BLOCK: usize = BLOCK_BYTES as usize;
/// Unit of the search for a header at the end of a range: any drive's chunks are multiples of it.
const SECTOR: usize = 512;
/// Index blocks that are searched for the address of the second copy of a header.
const MAX_SEARCHED_BLOCKS: u64 = 64;

/// Why a recording cannot be read or placed.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error(
        "{drive}: no recording begins at address {first}, and no copy of a header is at the end of \
         the range; record with --index, and give --first and --last as for the recording"
    )]
    None {
        drive: String,
        /// Address searched.
        first: u64,
    },
    /// The range is too small.
    #[error(
        "{drive}: a range of {chunks} chunks of {chunk_bytes} bytes has no room for an index and \
         a chunk; extend it or omit --index"
    )]
    NoRoom { drive: String, chunks: u64, chunk_bytes: u32 },
    /// Chunks smaller than an index block.
    #[error(
        "chunks of {chunk_bytes} bytes are too small for an index, whose blocks have \
         {BLOCK_BYTES}; use at least {BLOCK_BYTES}, or omit --index"
    )]
    SmallChunks {
        /// As requested.
        chunk_bytes: u32,
    },
    /// The drives do not form one recording.
    #[error("{drive}: {what}; name all drives of one recording, each once")]
    Mixed {
        drive: String,
        /// The contradiction.
        what: String,
    },
    /// The recording ends beyond the drive's capacity, as in a truncated copy.
    #[error(
        "{drive}: the recording found there ends at {end}, beyond the drive's {capacity_bytes} \
         bytes: possibly a truncated copy"
    )]
    Beyond { drive: String, end: u64, capacity_bytes: u64 },
    #[error(transparent)]
    Device(#[from] DeviceFailure),
    #[error(transparent)]
    Target(#[from] TargetError),
}

/// Consecutive chunks of one drive in an index block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IndexSpan {
    first_local: u64,
    count: u64,
    address: u64,
}

impl IndexSpan {
    fn end(&self) -> u64 {
        self.first_local + self.count
    }
}

/// A copy of a recording's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HeaderCopy {
    Start,
    End,
}

/// A copy of an index block that cannot be used; the other one was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DamagedCopy {
    pub address: u64,
    /// The drive failed to read it.
    pub unreadable: bool,
}

/// One drive's part of a recording.
#[derive(Debug)]
pub struct RecordingPart {
    pub header: RecordingHeader,
    /// The copy that is gone, or of another recording.
    pub lost_header: Option<HeaderCopy>,
    /// Copies of index blocks of which the other copy is valid, by address. In a recording that
    /// was interrupted, one may have been in the middle of a write.
    pub damaged_copies: Vec<DamagedCopy>,
    /// First chunk of the indexed run, counted on this drive through all wraps of a ring.
    pub from: u64,
    /// End of that run.
    pub to: u64,
    /// First chunk that must exist if the index is intact.
    pub(super) begins: u64,
    spans: Vec<IndexSpan>,
    loaded: Option<(IndexSpan, Vec<ChunkEntry>)>,
}

impl StreamQueue<'_> {
    /// Other completions go to `others`; the inner error is a failed command.
    pub(crate) fn read_now(
        &mut self,
        address: u64,
        bytes: &mut [u8],
        others: &mut Vec<EndedIo>,
    ) -> Result<Result<(), DeviceFailure>, TargetError> {
        let mut done = 0;
        while done < bytes.len() {
            let Some(slot) = self.take_slot() else {
                // A streaming caller reserves one slot for the index.
                return Ok(Err(DeviceFailure {
                    drive: self.name().to_owned(),
                    op: Op::Read.name(),
                    address,
                    result: 0,
                }));
            };
            let room = self.buffer(slot).len();
            let len = room.min(bytes.len() - done);
            let at = address + done as u64;
            self.submit(slot, None, Op::Read, at, len as u32)?;
            let own = loop {
                self.reap(1, Nanos::MAX, others)?;
                if let Some(own) = others.iter().position(|ended| ended.slot == slot) {
                    break others.swap_remove(own);
                }
            };
            bytes[done..done + len].copy_from_slice(&self.buffer(slot)[..len]);
            self.give_slot(slot);
            if let Some(failure) = own.failure {
                return Ok(Err(failure));
            }
            done += len;
        }
        Ok(Ok(()))
    }

    /// Read index blocks, in one piece or else one by one; unreadable ones are left zero, which is
    /// no valid block, and returned with their addresses.
    fn read_blocks(
        &mut self,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<Vec<(u64, DeviceFailure)>, TargetError> {
        let mut others = Vec::new();
        if self.read_now(address, bytes, &mut others)?.is_ok() {
            return Ok(Vec::new());
        }
        let mut failed = Vec::new();
        for (at, block) in (address..).step_by(BLOCK).zip(bytes.chunks_exact_mut(BLOCK)) {
            if let Err(failure) = self.read_now(at, block, &mut others)? {
                failed.push((at, failure));
                block.fill(0);
            }
        }
        Ok(failed)
    }
}

/// Find one drive's part of a recording at the start of this range. An unreadable copy of a header
/// or index block is treated as absent.
pub fn find(
    queue: &mut StreamQueue<'_>,
    range: &StreamRange,
    capacity_bytes: u64,
) -> Result<RecordingPart, IndexError> {
    let first = range.first;
    let none = |drive: &str| IndexError::None { drive: drive.to_owned(), first };
    let enough = first.checked_add(2 * BLOCK_BYTES).is_some_and(|end| end <= capacity_bytes);
    if !queue.moves_bytes() || !enough || !first.is_multiple_of(SECTOR as u64) {
        return Err(none(queue.name()));
    }
    let Headers { newest: header, lost, ended_twice } =
        match read_headers(queue, first, 2 * BLOCK, first)? {
            (Some(header), _) => with_tail(queue, header, capacity_bytes)?,
            (None, failed) => match search_tail(queue, range, capacity_bytes)? {
                Some(header) => Headers::one(header, Some(HeaderCopy::Start)),
                None => return Err(failed.map_or_else(|| none(queue.name()), IndexError::from)),
            },
        };
    let layout = header.layout;
    let end = layout.data_first + layout.chunks * u64::from(layout.chunk_bytes);
    if end > capacity_bytes {
        return Err(IndexError::Beyond { drive: queue.name().to_owned(), end, capacity_bytes });
    }
    let (spans, damaged_copies) = read_spans(queue, layout, header.stream, ended_twice)?;
    let (from, to) = run_of(&spans, &header);
    Ok(RecordingPart {
        begins: oldest(&header, from, to),
        header,
        lost_header: lost,
        damaged_copies,
        from,
        to,
        spans,
        loaded: None,
    })
}

/// The newest header of a recording from `first` on among the blocks at each sector of this area.
fn read_headers(
    queue: &mut StreamQueue<'_>,
    address: u64,
    len: usize,
    first: u64,
) -> Result<(Option<RecordingHeader>, Option<DeviceFailure>), TargetError> {
    let mut bytes = vec![0; len];
    let failed = queue.read_blocks(address, &mut bytes)?.into_iter().next();
    let at = |at: usize| {
        let header = RecordingHeader::decode(bytes[at..].first_chunk()?)?;
        let own = match header.layout.tail {
            // A header at another place is part of a stream, such as the image of a drive.
            Some(tail) => [first, tail].contains(&(address + at as u64)),
            None => address == first && at.is_multiple_of(BLOCK),
        };
        (own && header.layout.first == first).then_some(header)
    };
    let newest = (0..len).step_by(SECTOR).filter_map(at).max_by_key(age);
    Ok((newest, failed.map(|(_, failure)| failure)))
}

/// Of two headers for the same place, the greater is the newer one.
fn age(header: &RecordingHeader) -> (u64, u64) {
    (header.began_unix_s, header.generation)
}

/// The copies of a header.
struct Headers {
    newest: RecordingHeader,
    lost: Option<HeaderCopy>,
    /// Both are marked as ended, so that every block of the index was written twice.
    ended_twice: bool,
}

impl Headers {
    fn one(newest: RecordingHeader, lost: Option<HeaderCopy>) -> Headers {
        Headers { newest, lost, ended_twice: false }
    }
}

/// With the copy of a header that was found at the start.
fn with_tail(
    queue: &mut StreamQueue<'_>,
    header: RecordingHeader,
    capacity_bytes: u64,
) -> Result<Headers, TargetError> {
    let Some(tail) = header.layout.tail else {
        return Ok(Headers::one(header, None));
    };
    // It may be beyond the end of a copy of the drive.
    let other = match tail + BLOCK_BYTES <= capacity_bytes {
        true => read_headers(queue, tail, BLOCK, header.layout.first)?.0,
        false => None,
    };
    Ok(match other {
        Some(other) if other.stream == header.stream => {
            let ended_twice = header.ended && other.ended;
            Headers { newest: std::cmp::max_by_key(header, other, age), lost: None, ended_twice }
        }
        // One of the two was not written, or written over by another recording.
        Some(other) if age(&other) > age(&header) => Headers::one(other, Some(HeaderCopy::Start)),
        _ => Headers::one(header, Some(HeaderCopy::End)),
    })
}

/// The newest second copy of a header: where index blocks say that it is, or at the end of this
/// range, in any block that a chunk of any size could end with.
fn search_tail(
    queue: &mut StreamQueue<'_>,
    range: &StreamRange,
    capacity_bytes: u64,
) -> Result<Option<RecordingHeader>, TargetError> {
    let first = range.first;
    let longest = u64::from(assay_io::MAX_IO_BYTES);
    let last = range.last.saturating_sub(longest);
    let from = (last / BLOCK_BYTES * BLOCK_BYTES).max(first);
    let to = range.last.saturating_add(2 * longest).min(capacity_bytes);
    let len = to.saturating_sub(from) as usize / SECTOR * SECTOR;
    let mut newest = read_headers(queue, from, len, first)?.0;
    for tail in named_tails(queue, first, capacity_bytes)? {
        let header = read_headers(queue, tail, BLOCK, first)?.0;
        newest = newest.into_iter().chain(header).max_by_key(age);
    }
    Ok(newest)
}

/// Addresses of second copies in the first index blocks.
fn named_tails(
    queue: &mut StreamQueue<'_>,
    first: u64,
    capacity_bytes: u64,
) -> Result<BTreeSet<u64>, TargetError> {
    let from = first + 2 * BLOCK_BYTES;
    let blocks = (capacity_bytes.saturating_sub(from) / BLOCK_BYTES).min(MAX_SEARCHED_BLOCKS);
    let mut bytes = vec![0; blocks as usize * BLOCK];
    queue.read_blocks(from, &mut bytes)?;
    let index = |block: &[u8]| IndexBlock::decode_any(block.first_chunk()?);
    let tails = bytes.chunks_exact(BLOCK).filter_map(index);
    let within = |tail: &u64| {
        let end = tail.checked_add(BLOCK_BYTES);
        end.is_some_and(|end| end <= capacity_bytes) && tail.is_multiple_of(SECTOR as u64)
    };
    Ok(tails.map(|index| index.tail).filter(within).collect())
}

/// The indexed chunks, from the newer copy of each block, and the copies that are damaged. Before
/// its first use a block is zeroed, so a copy that is neither zero nor valid is; with
/// `ended_twice` so is one that is not like the other.
fn read_spans(
    queue: &mut StreamQueue<'_>,
    layout: IndexLayout,
    stream: StreamId,
    ended_twice: bool,
) -> Result<(Vec<IndexSpan>, Vec<DamagedCopy>), IndexError> {
    let mut found: Vec<(u64, IndexSpan)> = Vec::new();
    let mut damaged = Vec::new();
    let mut bytes = vec![0; (256 * BLOCK).min(2 * BLOCK * layout.index_blocks as usize)];
    let mut address = layout.block_address(0, 0);
    let end = layout.block_address(layout.index_blocks, 0);
    while address < end {
        let len = (bytes.len() as u64).min(end - address) as usize;
        let failed = queue.read_blocks(address, &mut bytes[..len])?;
        for pair in bytes[..len].chunks_exact(2 * BLOCK) {
            let copies = [(address, &pair[..BLOCK]), (address + BLOCK_BYTES, &pair[BLOCK..])];
            let spans = copies.map(|(at, block)| span_of(at, block, stream));
            found.extend(spans.iter().flatten());
            let newest = spans.iter().flatten().map(|(generation, _)| *generation).max();
            for ((at, block), span) in copies.into_iter().zip(spans) {
                let generation = span.map(|(generation, _)| generation);
                let unreadable = failed.iter().any(|(failed, _)| *failed == at);
                let is_damaged = unreadable
                    || layout.tail.is_some()
                        && match ended_twice {
                            true => generation != newest,
                            false => span.is_none() && block.iter().any(|byte| *byte != 0),
                        };
                if newest.is_some() && is_damaged {
                    damaged.push(DamagedCopy { address: at, unreadable });
                }
            }
            address += 2 * BLOCK_BYTES;
        }
    }
    // The newest first, of which `dedup` keeps one.
    found.sort_unstable_by_key(|&(generation, span)| (span.first_local, Reverse(generation)));
    let mut spans: Vec<IndexSpan> = found.into_iter().map(|(_, span)| span).collect();
    spans.dedup_by_key(|span| span.first_local);
    Ok((spans, damaged))
}

/// Generation and chunks of a valid block of this stream.
fn span_of(address: u64, block: &[u8], stream: StreamId) -> Option<(u64, IndexSpan)> {
    let index = IndexBlock::decode(block.first_chunk()?, stream)?;
    let count = index.entries.len() as u64;
    Some((index.generation, IndexSpan { first_local: index.first_local, count, address }))
}

/// The run of chunks without a gap: from 0, or in a ring the one that contains the durable end, at
/// most one wrap long.
fn run_of(spans: &[IndexSpan], header: &RecordingHeader) -> (u64, u64) {
    // The last durable chunk, or 0 if none is.
    let durable = header.durable_chunks.saturating_sub(1);
    let anchor = if header.ring {
        let holds = |span: &IndexSpan| span.first_local <= durable && durable < span.end();
        // A ring of version 1 may have wrapped since its header was written: the newest run is
        // used.
        let newest = spans.len().checked_sub(1);
        spans.iter().position(holds).or(newest)
    } else {
        spans.first().filter(|span| span.first_local == 0).map(|_| 0)
    };
    let Some(anchor) = anchor else {
        return (0, 0);
    };
    let meet = |pair: &&[IndexSpan]| pair[0].end() == pair[1].first_local;
    let after = spans[anchor..].windows(2).take_while(meet).count();
    let before = spans[..=anchor].windows(2).rev().take_while(meet).count();
    let (first, last) = (spans[anchor - before], spans[anchor + after]);
    let (from, to) = (first.first_local, last.end());
    // Older blocks of a ring describe chunks that newer ones have overwritten.
    (from.max(overwritten(header, to)).min(to), to)
}

fn overwritten(header: &RecordingHeader, to: u64) -> u64 {
    let known = header.known_chunks().max(to);
    // 0: nothing has been overwritten.
    known.saturating_sub(header.layout.chunks)
}

/// The first chunk that an intact index with the run `from..to` must contain.
fn oldest(header: &RecordingHeader, from: u64, to: u64) -> u64 {
    match (header.ring, header.layout.has_spare()) {
        (false, _) => 0,
        (true, true) => overwritten(header, to),
        // The index of a version 1 ring covered less than a wrap.
        (true, false) => from,
    }
}

impl RecordingPart {
    pub(crate) fn entry(
        &mut self,
        queue: &mut StreamQueue<'_>,
        local: u64,
        others: &mut Vec<EndedIo>,
    ) -> Result<Option<ChunkEntry>, IndexError> {
        let holds = |span: &IndexSpan| local >= span.first_local && local < span.end();
        if !self.loaded.as_ref().is_some_and(|(span, _)| holds(span)) {
            let after = self.spans.partition_point(|span| span.first_local <= local);
            let Some(span) = after.checked_sub(1).map(|at| self.spans[at]).filter(holds) else {
                return Ok(None);
            };
            let mut bytes = [0; BLOCK];
            let read = queue.read_now(span.address, &mut bytes, others)?;
            // If it has failed or changed since, its entries are dropped and not requested again.
            let block = IndexBlock::decode(&bytes, self.header.stream)
                .filter(|block| read.is_ok() && block.first_local == span.first_local);
            let entries = block.map(|block| block.entries).unwrap_or_default();
            self.loaded = Some((span, entries));
        }
        Ok(self
            .loaded
            .as_ref()
            .and_then(|(span, entries)| entries.get((local - span.first_local) as usize).copied()))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/index/reader.rs"]
pub(super) mod tests;
