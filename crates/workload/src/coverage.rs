//! Blocks of an area that a job has written: the measured share that a preconditioning covers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
}

impl CoverageMap {
    /// `None` where a workload does not count it, and where there is no memory for it.
    pub fn of(workload: &Workload) -> Option<Arc<CoverageMap>> {
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
        CoverageMap::new(span, block_bytes, blocks).map(Arc::new)
    }

    fn new(span: Region, block_bytes: u64, blocks: u64) -> Option<CoverageMap> {
        let count = usize::try_from((span.size_bytes / block_bytes).div_ceil(64)).ok()?;
        let mut words = Vec::new();
        words.try_reserve_exact(count).ok()?;
        words.resize_with(count, AtomicU64::default);
        (blocks > 0).then_some(CoverageMap {
            span,
            block_bytes,
            blocks,
            words,
        })
    }

    #[inline]
    pub fn wrote(&self, offset_bytes: u64, len_bytes: u32) {
        debug_assert!(offset_bytes >= self.span.offset_bytes);
        let start = offset_bytes - self.span.offset_bytes;
        let first = start / self.block_bytes;
        let end = (start + u64::from(len_bytes)) / self.block_bytes;
        for block in first..end.min(self.words.len() as u64 * 64) {
            self.words[(block / 64) as usize].fetch_or(1 << (block % 64), Ordering::Relaxed);
        }
    }

    pub fn written_pct(&self) -> f64 {
        let ones = |word: &AtomicU64| u64::from(word.load(Ordering::Relaxed).count_ones());
        let written: u64 = self.words.iter().map(ones).sum();
        written as f64 * 100.0 / self.blocks as f64
    }
}

#[cfg(test)]
#[path = "../tests/unit/coverage.rs"]
mod tests;
