//! Sequential read-ahead. A read that starts where an earlier one ended continues its stream; after
//! enough of those, the drive reads ahead into its buffer, where data needs neither per-page
//! firmware time nor flash.

use std::collections::VecDeque;

#[derive(Clone, Debug, Default)]
struct Stream {
    run: u32,
    ahead_bytes: u64,
    /// Segments read ahead: end in bytes, and when they are in the buffer.
    segments: VecDeque<(u64, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefetchHit {
    /// Leading bytes of the command that were read ahead.
    pub bytes: u64,
    pub ready_ns: u64,
    /// Range to read ahead now: start and end in bytes (empty when equal).
    pub ahead: (u64, u64),
    pub stream: usize,
}

/// Hash table size: 16 times the usual number of streams.
const HASHES: usize = 256;

#[inline]
fn hash(offset: u64) -> u8 {
    ((offset >> 9).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

#[derive(Clone, Debug)]
pub struct Prefetcher {
    next: Vec<u64>,
    next_hash: Vec<u8>,
    streams: Vec<Stream>,
    /// Streams per hash value: rejects most reads with one load.
    hashed: Box<[u8; HASHES]>,
    reading: usize,
    victim: usize,
    window_bytes: u64,
    trigger: u32,
}

impl Prefetcher {
    /// A window of 0 switches read-ahead off.
    pub fn new(window_bytes: u64, streams: u8, trigger: u32) -> Prefetcher {
        let streams = usize::from(if window_bytes == 0 { 0 } else { streams });
        Prefetcher {
            next: vec![u64::MAX; streams],
            next_hash: vec![0; streams],
            streams: vec![Stream::default(); streams],
            hashed: Box::new([0; HASHES]),
            reading: 0,
            victim: 0,
            window_bytes,
            trigger,
        }
    }

    /// Record a read; `Some` when its stream is read ahead.
    #[inline(always)]
    pub fn lookup(&mut self, offset: u64, len: u64) -> Option<PrefetchHit> {
        if self.next.is_empty() {
            return None;
        }
        let known = self.hashed[usize::from(hash(offset))] > 0;
        let found = known.then(|| self.next.iter().position(|&next| next == offset));
        match found.flatten() {
            Some(index) => self.follow(index, offset, len),
            None => {
                self.start(offset + len);
                None
            }
        }
    }

    #[inline]
    fn start(&mut self, next: u64) {
        let index = self.victim;
        self.victim = if index + 1 == self.next.len() { 0 } else { index + 1 };
        self.set_next(index, next);
        let stream = &mut self.streams[index];
        stream.run = 0;
        stream.ahead_bytes = 0;
        if !stream.segments.is_empty() {
            stream.segments.clear();
            self.reading -= 1;
        }
    }

    #[inline]
    fn set_next(&mut self, index: usize, next: u64) {
        let hash = hash(next);
        let old = std::mem::replace(&mut self.next[index], next);
        let old_hash = std::mem::replace(&mut self.next_hash[index], hash);
        self.hashed[usize::from(old_hash)] -= u8::from(old != u64::MAX);
        self.hashed[usize::from(hash)] += 1;
    }

    #[inline(never)]
    fn follow(&mut self, index: usize, offset: u64, len: u64) -> Option<PrefetchHit> {
        let end = offset + len;
        self.set_next(index, end);
        let stream = &mut self.streams[index];
        stream.run += 1;
        if stream.run < self.trigger {
            return None;
        }
        let mut covered = offset;
        let mut ready_ns = 0;
        while let Some(&(segment_end, ready)) = stream.segments.front() {
            if covered >= end {
                break;
            }
            covered = segment_end.min(end);
            ready_ns = ready_ns.max(ready);
            if segment_end <= end {
                stream.segments.pop_front();
                self.reading -= usize::from(stream.segments.is_empty());
            }
        }
        let from = stream.ahead_bytes.max(end);
        let to = end + self.window_bytes;
        stream.ahead_bytes = to;
        Some(PrefetchHit { bytes: covered - offset, ready_ns, ahead: (from, to), stream: index })
    }

    pub fn add(&mut self, stream: usize, end_bytes: u64, ready_ns: u64) {
        let segments = &mut self.streams[stream].segments;
        self.reading += usize::from(segments.is_empty());
        segments.push_back((end_bytes, ready_ns));
    }

    #[inline]
    pub fn invalidate(&mut self, offset: u64, len: u64) {
        if self.reading > 0 {
            self.invalidate_streams(offset, len);
        }
    }

    fn invalidate_streams(&mut self, offset: u64, len: u64) {
        for (next, stream) in self.next.iter_mut().zip(&mut self.streams) {
            if offset < stream.ahead_bytes && offset + len > *next && !stream.segments.is_empty() {
                stream.segments.clear();
                self.reading -= 1;
                stream.ahead_bytes = 0;
                stream.run = 0;
            }
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/prefetch.rs"]
mod tests;
