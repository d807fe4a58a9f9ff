//! Fast memory for the data of reads in flight.
//!
//! Each read has a buffer in DRAM behind a fast memory. While the buffers fit, data passes at the
//! full rate of the data path; beyond, it goes to DRAM and back. As buffers are used in turn, hits
//! end all at once, so long reads of many threads are slower than those of few. Source: US
//! 12,596,501 B2 (a controller that holds reads back so that their buffers do not exceed the faster
//! of two memories); that the modelled drives have it is inferred from their rates with 16 and 64
//! threads.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::profile::ReadCacheProfile;

#[derive(Clone, Debug)]
pub struct ReadCache {
    bytes: u64,
    used_bytes: u64,
    ends: BinaryHeap<Reverse<(u64, u64)>>,
}

impl ReadCache {
    pub fn new(profile: &ReadCacheProfile) -> ReadCache {
        ReadCache { bytes: profile.bytes.value, used_bytes: 0, ends: BinaryHeap::new() }
    }

    /// Returns whether all buffers then exceed the memory. Calls come in order of time.
    pub fn begin(&mut self, now_ns: u64, bytes: u64) -> bool {
        while let Some(&Reverse((end_ns, held))) = self.ends.peek()
            && end_ns <= now_ns
        {
            self.used_bytes -= held;
            self.ends.pop();
        }
        self.used_bytes += bytes;
        self.used_bytes > self.bytes
    }

    pub fn end(&mut self, end_ns: u64, bytes: u64) {
        self.ends.push(Reverse((end_ns, bytes)));
    }
}

#[cfg(test)]
#[path = "../tests/unit/read_cache.rs"]
mod tests;
