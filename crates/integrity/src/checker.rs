//! Verification by one worker of a job: stamps writes, checks reads, and reads back what was written.

use std::sync::{Arc, OnceLock};

use crate::blocks::{BlockHeader, GenerationMap, Verifier, VerifyError};
use crate::data::DataPattern;
use crate::finding::{Expected, Finding, Findings};

/// Result of verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Blocks checked, and what was wrong with them.
    pub findings: Findings,
    /// Blocks that could not be read.
    pub unreadable_blocks: u64,
    /// Seed of the blocks, needed to verify them again later.
    pub seed: Option<u64>,
}

impl VerifyReport {
    /// Add another worker's report of the same job.
    pub fn merge(&mut self, other: &VerifyReport) {
        self.findings.merge(&other.findings);
        self.unreadable_blocks += other.unreadable_blocks;
        self.seed = self.seed.or(other.seed);
    }

    /// No finding and no unreadable block.
    pub fn is_clean(&self) -> bool {
        self.findings.is_clean() && self.unreadable_blocks == 0
    }
}

/// Seed and pattern of the first intact block found by any worker of a read-only job; blocks of other seeds are
/// findings. Clones are shared.
#[derive(Clone, Debug, Default)]
pub struct LearnedSeed(Arc<OnceLock<(u64, DataPattern)>>);

impl LearnedSeed {
    /// The learned seed, or that of the first intact block in the buffer.
    fn or_of(&self, buffer: &[u8], interval_bytes: u32) -> Option<(u64, DataPattern)> {
        if let Some(known) = self.0.get() {
            return Some(*known);
        }
        let blocks = buffer.chunks_exact(interval_bytes as usize);
        let header = blocks
            .filter_map(|block| BlockHeader::decode(block).ok())
            .next()?;
        Some(*self.0.get_or_init(|| (header.seed, header.pattern)))
    }
}

/// Options of one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckerOptions {
    /// Seed of the blocks; `None`: that of the first intact block that is read.
    pub seed: Option<u64>,
    /// Payload of the blocks.
    pub pattern: DataPattern,
    /// Length of a block, bytes.
    pub interval_bytes: u32,
    /// First byte of the worker's area.
    pub offset_bytes: u64,
    /// Length of the area, bytes.
    pub size_bytes: u64,
    /// The job writes: what each block must hold is tracked.
    pub writes: bool,
    /// Read back at the end what was written.
    pub reads_back: bool,
    /// Longest I/O of the job, bytes.
    pub max_io_bytes: u32,
}

/// Verification state of one worker.
#[derive(Debug)]
pub struct JobChecker {
    interval_bytes: u32,
    pattern: DataPattern,
    /// `None` until a read-only job has learned its seed.
    verifier: Option<Verifier>,
    learned: LearnedSeed,
    /// Expected blocks of a job that writes.
    map: Option<GenerationMap>,
    reads_back: bool,
    options: CheckerOptions,
    read_back_at: u64,
    report: VerifyReport,
}

impl JobChecker {
    /// For one worker; `learned` is shared by all workers of the job.
    ///
    /// # Errors
    /// When the interval is bad or the memory for the map cannot be had.
    pub fn new(options: CheckerOptions, learned: &LearnedSeed) -> Result<JobChecker, VerifyError> {
        let interval_bytes = options.interval_bytes;
        let verifier = options
            .seed
            .map(|seed| Verifier::new(seed, interval_bytes, options.pattern))
            .transpose()?;
        let map = options
            .writes
            .then(|| GenerationMap::new(options.offset_bytes, options.size_bytes, interval_bytes))
            .transpose()?;
        Ok(JobChecker {
            interval_bytes,
            pattern: options.pattern,
            verifier,
            learned: learned.clone(),
            reads_back: map.is_some() && options.reads_back,
            map,
            options,
            read_back_at: options.offset_bytes,
            report: VerifyReport {
                seed: options.seed,
                ..VerifyReport::default()
            },
        })
    }

    /// Whether the job reads back what it wrote.
    pub fn reads_back(&self) -> bool {
        self.reads_back
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

    /// Fill the buffer of a write that was started.
    pub fn stamp(&mut self, buffer: &mut [u8], offset_bytes: u64) {
        if let (Some(verifier), Some(map)) = (&self.verifier, &self.map) {
            verifier.stamp_write(buffer, offset_bytes, map);
        }
    }

    /// A write completed.
    pub fn finish_write(&mut self, offset_bytes: u64, len_bytes: u32, ok: bool) {
        if let Some(map) = &mut self.map {
            map.finish_write(offset_bytes, len_bytes, ok);
        }
    }

    /// A read completed; `None` when it failed.
    pub fn finish_read(&mut self, offset_bytes: u64, len_bytes: u32, buffer: Option<&[u8]>) {
        match buffer {
            Some(buffer) => self.check(buffer, offset_bytes),
            None => self.report.unreadable_blocks += u64::from(len_bytes / self.interval_bytes),
        }
        if let Some(map) = &mut self.map {
            map.finish_read(offset_bytes, len_bytes);
        }
    }

    fn check(&mut self, buffer: &[u8], offset_bytes: u64) {
        if self.verifier.is_none() {
            self.learn(buffer);
        }
        let findings = &mut self.report.findings;
        match (&self.verifier, &self.map) {
            (Some(verifier), Some(map)) => {
                verifier.check_read(buffer, offset_bytes, map, findings);
            }
            (Some(verifier), None) => {
                verifier.check_all(buffer, offset_bytes, |_| Expected::AnyOfSeed, findings);
            }
            // No intact block so far: every block is a finding.
            (None, _) => {
                if let Ok(no_seed) = Verifier::new(0, self.interval_bytes, self.pattern) {
                    no_seed.check_all(buffer, offset_bytes, |_| Expected::AnyOfSeed, findings);
                }
            }
        }
    }

    fn learn(&mut self, buffer: &[u8]) {
        let Some((seed, pattern)) = self.learned.or_of(buffer, self.interval_bytes) else {
            return;
        };
        self.pattern = pattern;
        self.report.seed = Some(seed);
        self.verifier = Verifier::new(seed, self.interval_bytes, pattern).ok();
    }

    /// The next extent to read back, in address order. `None` at the end.
    pub fn next_read_back(&mut self) -> Option<(u64, u32)> {
        let map = self.map.as_mut()?;
        let (start, len_bytes) = map.next_written(self.read_back_at, self.options.max_io_bytes)?;
        self.read_back_at = start + u64::from(len_bytes);
        // Nothing else is in flight: writes have completed, and each block is read once.
        map.begin_read(start, len_bytes)
            .then_some((start, len_bytes))
    }

    /// The result so far.
    pub fn report(&self) -> VerifyReport {
        self.report.clone()
    }
}

/// The first findings as text.
pub fn examples(findings: &[Finding], at_most: usize) -> Vec<String> {
    findings
        .iter()
        .take(at_most)
        .map(ToString::to_string)
        .collect()
}
