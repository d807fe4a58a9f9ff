//! Blocks of an area that a job has written: the measured share that a preconditioning covers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use assay_io::memory::prefer_huge_pages;

use crate::access::Region;
use crate::plan::Workload;

/// One bit per block, shared by the workers of a job: 32 MiB for a terabyte at 4 KiB.
#[derive(Debug)]
pub struct CoverageMap {
    /// From the first thread's region to the end of the last one's.
    span: Region,
    block_bytes: u64,
    blocks: u64,
    words: Vec<AtomicU64>,
    /// Workers on several threads write it.
    concurrent: bool,
}

impl CoverageMap {
    /// Complete when the workers have ended. `None` where a workload does not count it, and where
    /// there is no memory for it. `concurrent`: its workers run on several threads.
    pub fn for_workload(workload: &Workload, concurrent: bool) -> Option<Arc<CoverageMap>> {
        if !workload.counts_coverage || !workload.writes() || workload.trims {
            return None;
        }
        let block_bytes = u64::from(workload.access.grid_bytes());
        let (first, last) = (workload.region(0), workload.region(workload.numjobs - 1));
        let span = Region {
            size_bytes: last.offset_bytes + last.size_bytes - first.offset_bytes,
            ..first
        };
        // Threads can leave gaps between their regions.
        let own_bytes = first.size_bytes * u64::from(workload.numjobs);
        let blocks = own_bytes.min(span.size_bytes) / block_bytes;
        CoverageMap::new(span, block_bytes, blocks, concurrent).map(Arc::new)
    }

    fn new(span: Region, block_bytes: u64, blocks: u64, concurrent: bool) -> Option<CoverageMap> {
        let count = usize::try_from((span.size_bytes / block_bytes).div_ceil(64)).ok()?;
        let mut words = Vec::new();
        words.try_reserve_exact(count).ok()?;
        prefer_huge_pages(words.spare_capacity_mut());
        words.resize_with(count, AtomicU64::default);
        (blocks > 0).then_some(CoverageMap { span, block_bytes, blocks, words, concurrent })
    }

    #[inline]
    fn wrote(&self, offset_bytes: u64, len_bytes: u32) {
        debug_assert!(offset_bytes >= self.span.offset_bytes);
        let start = offset_bytes - self.span.offset_bytes;
        let first = start / self.block_bytes;
        let end = (start + u64::from(len_bytes)) / self.block_bytes;
        let end = end.min(self.words.len() as u64 * 64);
        let mut block = first;
        while block < end {
            let word_end = end.min(block / 64 * 64 + 64);
            let ones = u64::MAX >> (64 - (word_end - block));
            self.set((block / 64) as usize, ones << (block % 64));
            block = word_end;
        }
    }

    #[inline]
    fn set(&self, index: usize, bits: u64) {
        let word = &self.words[index];
        let old = word.load(Ordering::Relaxed);
        if !self.concurrent {
            word.store(old | bits, Ordering::Relaxed);
        } else if old & bits != bits {
            word.fetch_or(bits, Ordering::Relaxed);
        }
    }

    pub fn written_pct(&self) -> f64 {
        let ones = |word: &AtomicU64| u64::from(word.load(Ordering::Relaxed).count_ones());
        let written: u64 = self.words.iter().map(ones).sum();
        written as f64 * 100.0 / self.blocks as f64
    }
}

/// Writes of one worker that its job's map does not have yet. The words of a large map are in no
/// cache after random writes: in a batch their loads do not wait for each other.
#[derive(Debug)]
pub struct CoverageNotes {
    map: Arc<CoverageMap>,
    /// Offset and length in bytes.
    writes: Vec<(u64, u32)>,
}

impl CoverageNotes {
    const BATCH: usize = 64;

    pub fn new(map: Arc<CoverageMap>) -> CoverageNotes {
        CoverageNotes { map, writes: Vec::with_capacity(CoverageNotes::BATCH) }
    }

    #[inline]
    pub fn note(&mut self, offset_bytes: u64, len_bytes: u32) {
        self.writes.push((offset_bytes, len_bytes));
        if self.writes.len() == CoverageNotes::BATCH {
            self.add_to_map();
        }
    }

    #[inline(never)]
    fn add_to_map(&mut self) {
        for (offset_bytes, len_bytes) in self.writes.drain(..) {
            self.map.wrote(offset_bytes, len_bytes);
        }
    }
}

/// A worker that ends has noted all of its writes.
impl Drop for CoverageNotes {
    fn drop(&mut self) {
        self.add_to_map();
    }
}

#[cfg(test)]
#[path = "../tests/unit/coverage.rs"]
mod tests;
