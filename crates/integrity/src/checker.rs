use std::sync::{Arc, OnceLock};

use crate::blocks::{BlockHeader, GenerationMap, Verifier, VerifyError};
use crate::data::DataPattern;
use crate::finding::{Expected, VerifyReport};

/// Seed and pattern of the first intact block found; blocks of other seeds are findings.
#[derive(Clone, Debug, Default)]
pub struct LearnedSeed(Arc<OnceLock<(u64, DataPattern)>>);

impl LearnedSeed {
    /// The learned seed, or that of the first intact block in the buffer.
    fn or_of(&self, buffer: &[u8], interval_bytes: u32) -> Option<(u64, DataPattern)> {
        if let Some(known) = self.0.get() {
            return Some(*known);
        }
        let mut blocks = buffer.chunks_exact(interval_bytes as usize);
        let header = blocks.find_map(BlockHeader::decode)?;
        Some(*self.0.get_or_init(|| (header.seed, header.pattern)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckerOptions {
    /// `None`, for a job that only reads: that of the first intact block that is read.
    pub seed: Option<u64>,
    pub pattern: DataPattern,
    pub interval_bytes: u32,
    pub offset_bytes: u64,
    pub size_bytes: u64,
    pub writes: bool,
    pub reads_back: bool,
    pub max_io_bytes: u32,
}

#[derive(Debug)]
pub struct JobChecker {
    options: CheckerOptions,
    /// Until a read-only job has learned its seed, every block is a finding.
    verifier: Verifier,
    learned: LearnedSeed,
    map: Option<GenerationMap>,
    read_back_at: u64,
    report: VerifyReport,
}

impl JobChecker {
    /// For one worker; `learned` is shared by all workers of the job.
    pub fn new(options: CheckerOptions, learned: &LearnedSeed) -> Result<JobChecker, VerifyError> {
        let interval_bytes = options.interval_bytes;
        let map = options
            .writes
            .then(|| GenerationMap::new(options.offset_bytes, options.size_bytes, interval_bytes));
        Ok(JobChecker {
            verifier: Verifier::new(options.seed.unwrap_or(0), interval_bytes, options.pattern)?,
            learned: learned.clone(),
            map: map.transpose()?,
            read_back_at: options.offset_bytes,
            report: VerifyReport {
                seed: options.seed,
                ..VerifyReport::default()
            },
            options,
        })
    }

    pub fn reads_back(&self) -> bool {
        self.map.is_some() && self.options.reads_back
    }

    /// Start an I/O; false while it overlaps one in flight such that its result is undefined.
    #[inline]
    pub fn begin(&mut self, write: bool, offset_bytes: u64, len_bytes: u32) -> bool {
        match &mut self.map {
            None => true,
            Some(map) if write => map.begin_write(offset_bytes, len_bytes),
            Some(map) => map.begin_read(offset_bytes, len_bytes),
        }
    }

    pub fn stamp(&mut self, buffer: &mut [u8], offset_bytes: u64) {
        if let Some(map) = &self.map {
            self.verifier.stamp_write(buffer, offset_bytes, map);
        }
    }

    pub fn finish_write(&mut self, offset_bytes: u64, len_bytes: u32, ok: bool) {
        if let Some(map) = &mut self.map {
            map.finish_write(offset_bytes, len_bytes, ok);
        }
    }

    /// A read completed; `None` when it failed.
    pub fn finish_read(&mut self, offset_bytes: u64, len_bytes: u32, buffer: Option<&[u8]>) {
        match buffer {
            Some(buffer) => self.check(buffer, offset_bytes),
            None => self.add_unreadable(len_bytes),
        }
        if let Some(map) = &mut self.map {
            map.finish_read(offset_bytes, len_bytes);
        }
    }

    fn add_unreadable(&mut self, len_bytes: u32) {
        self.report.unreadable_blocks += u64::from(len_bytes / self.options.interval_bytes);
    }

    fn check(&mut self, buffer: &[u8], offset_bytes: u64) {
        if self.report.seed.is_none()
            && let Some((seed, pattern)) = self.learned.or_of(buffer, self.options.interval_bytes)
        {
            self.verifier.learn(seed, pattern);
            self.report.seed = Some(seed);
        }
        let map = self.map.as_ref();
        let expected = |offset| map.map_or(Expected::AnyOfSeed, |map| map.expected(offset));
        self.verifier
            .check(buffer, offset_bytes, expected, &mut self.report);
    }

    /// Blocks whose write never completed have no defined content: they count as unreadable.
    pub fn next_read_back(&mut self) -> Option<(u64, u32)> {
        loop {
            let map = self.map.as_mut()?;
            let (start, len_bytes) =
                map.next_written(self.read_back_at, self.options.max_io_bytes)?;
            self.read_back_at = start + u64::from(len_bytes);
            if self.begin_read_back(start, len_bytes) {
                return Some((start, len_bytes));
            }
        }
    }

    /// False where its write never completed, which counts as unreadable.
    pub fn begin_read_back(&mut self, offset_bytes: u64, len_bytes: u32) -> bool {
        let is_written = self.begin(false, offset_bytes, len_bytes);
        if !is_written {
            self.add_unreadable(len_bytes);
        }
        is_written
    }

    pub fn report(&self) -> VerifyReport {
        self.report.clone()
    }
}

#[cfg(test)]
#[path = "../tests/unit/checker.rs"]
mod tests;
