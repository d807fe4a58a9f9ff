//! Verification as one worker does it: stamps what it writes, checks what it reads, and reads back what it wrote at the end.

use std::sync::{Arc, OnceLock};

use crate::blocks::{BlockHeader, GenerationMap, Verifier, VerifyError};
use crate::data::DataPattern;
use crate::finding::{Expected, Finding, Findings};

/// What verification found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Blocks checked, and what was wrong with them.
    pub findings: Findings,
    /// Blocks that could not be read back at all.
    pub unreadable_blocks: u64,
    /// The seed the blocks carry: needed to verify them again later.
    pub seed: Option<u64>,
}

impl VerifyReport {
    /// Add another worker's of the same job, whose workers all have the same seed if they have any.
    pub fn merge(&mut self, other: &VerifyReport) {
        self.findings.merge(&other.findings);
        self.unreadable_blocks += other.unreadable_blocks;
        self.seed = self.seed.or(other.seed);
    }

    /// Nothing wrong, and everything was readable?
    pub fn is_clean(&self) -> bool {
        self.findings.is_clean() && self.unreadable_blocks == 0
    }
}

/// Seed and pattern of the first intact block that a job which only reads has found, for all its workers: blocks of any other seed
/// are findings, whoever reads them. Cloned handles are of one job.
#[derive(Clone, Debug, Default)]
pub struct LearnedSeed(Arc<OnceLock<(u64, DataPattern)>>);

impl LearnedSeed {
    /// What was found first: by any worker until now, or else in these blocks.
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

/// What one worker of a job verifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckerOptions {
    /// Seed of the blocks; `None`: that of the first intact block that is read.
    pub seed: Option<u64>,
    /// Payload of the blocks.
    pub pattern: DataPattern,
    /// Length of a block, bytes.
    pub interval_bytes: u32,
    /// The worker's area: first byte and length.
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

/// One worker's checking.
#[derive(Debug)]
pub struct JobChecker {
    interval_bytes: u32,
    pattern: DataPattern,
    /// `None` until a read-only job has seen the first intact block and taken its seed and pattern.
    verifier: Option<Verifier>,
    learned: LearnedSeed,
    /// What a job that writes expects where.
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

    /// Does the job read back what it wrote when it is done?
    pub fn reads_back(&self) -> bool {
        self.reads_back
    }

    /// May this I/O start? False while it overlaps one in flight in a way that leaves its outcome undefined.
    #[inline]
    pub fn begin(&mut self, write: bool, offset_bytes: u64, len_bytes: u32) -> bool {
        match &mut self.map {
            None => true,
            Some(map) if write => map.begin_write(offset_bytes, len_bytes),
            Some(map) => map.begin_read(offset_bytes, len_bytes),
        }
    }

    /// Fill the buffer of a write that was begun.
    pub fn stamp(&mut self, buffer: &mut [u8], offset_bytes: u64) {
        if let (Some(verifier), Some(map)) = (&self.verifier, &self.map) {
            verifier.stamp_write(buffer, offset_bytes, map);
        }
    }

    /// A write that was begun has ended.
    pub fn finish_write(&mut self, offset_bytes: u64, len_bytes: u32, ok: bool) {
        if let Some(map) = &mut self.map {
            map.finish_write(offset_bytes, len_bytes, ok);
        }
    }

    /// A read that was begun has ended; `buffer` is what it brought, `None` when it failed.
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
            // Not one intact block seen so far: no seed can be right.
            (None, _) => {
                if let Ok(nobody) = Verifier::new(0, self.interval_bytes, self.pattern) {
                    nobody.check_all(buffer, offset_bytes, |_| Expected::AnyOfSeed, findings);
                }
            }
        }
    }

    /// Take seed and pattern from the first block with an intact header that any worker of the job has seen.
    fn learn(&mut self, buffer: &[u8]) {
        let Some((seed, pattern)) = self.learned.or_of(buffer, self.interval_bytes) else {
            return;
        };
        self.pattern = pattern;
        self.report.seed = Some(seed);
        self.verifier = Verifier::new(seed, self.interval_bytes, pattern).ok();
    }

    /// The next piece to read back: blocks that were written, in order of address. `None` when all have been.
    pub fn next_read_back(&mut self) -> Option<(u64, u32)> {
        let map = self.map.as_mut()?;
        let step = u64::from(self.interval_bytes);
        let end = self.options.offset_bytes + self.options.size_bytes / step * step;
        let written = |at: u64| map.expected(at) != Expected::Unwritten;
        let mut start = self.read_back_at;
        while start < end && !written(start) {
            start += step;
        }
        let mut stop = start;
        while stop < end
            && written(stop)
            && stop - start + step <= u64::from(self.options.max_io_bytes)
        {
            stop += step;
        }
        self.read_back_at = stop;
        let len_bytes = (stop - start) as u32;
        // Nothing else is in flight there: writes have settled, and the cursor reads every block once.
        (len_bytes > 0 && map.begin_read(start, len_bytes)).then_some((start, len_bytes))
    }

    /// What was found so far.
    pub fn report(&self) -> VerifyReport {
        self.report.clone()
    }
}

/// The first findings in words, for people.
pub fn examples(findings: &[Finding], at_most: usize) -> Vec<String> {
    findings
        .iter()
        .take(at_most)
        .map(ToString::to_string)
        .collect()
}
