use crate::blocks::{Begin, BlockReader, GenerationMap, Verifier, VerifyError};
use crate::data::DataPattern;
use crate::finding::{Expected, Unjudged, VerifyReport};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckerOptions {
    /// Of the blocks that it writes. For a job that only reads: of those that it judges, `None` for
    /// all.
    pub seed: Option<u64>,
    pub pattern: DataPattern,
    pub interval_bytes: u32,
    pub offset_bytes: u64,
    pub size_bytes: u64,
    pub writes: bool,
    pub reads_back: bool,
    pub max_io_bytes: u32,
    /// A write that failed must be there as a whole or not at all.
    pub atomic: bool,
}

#[derive(Debug)]
enum Checks {
    /// What this worker wrote.
    Own { verifier: Verifier, map: GenerationMap },
    /// What others wrote.
    Others(BlockReader),
}

#[derive(Debug)]
pub struct JobChecker {
    options: CheckerOptions,
    checks: Checks,
    read_back_at: u64,
    report: VerifyReport,
}

impl JobChecker {
    /// For one worker.
    pub fn new(options: CheckerOptions) -> Result<JobChecker, VerifyError> {
        let (seed, interval_bytes) = (options.seed, options.interval_bytes);
        let mut report = VerifyReport::default();
        let checks = if options.writes {
            let seed = seed.unwrap_or(0);
            report.add_seed(seed);
            Checks::Own {
                verifier: Verifier::new(seed, interval_bytes, options.pattern)?,
                map: GenerationMap::new(options.offset_bytes, options.size_bytes, interval_bytes)?,
            }
        } else {
            Checks::Others(BlockReader::new(seed, interval_bytes))
        };
        Ok(JobChecker { checks, read_back_at: options.offset_bytes, report, options })
    }

    fn map(&mut self) -> Option<&mut GenerationMap> {
        match &mut self.checks {
            Checks::Own { map, .. } => Some(map),
            Checks::Others(_) => None,
        }
    }

    pub fn reads_back(&self) -> bool {
        self.options.writes && self.options.reads_back
    }

    /// Start an I/O; busy while it overlaps one in flight such that its result is undefined.
    #[inline]
    pub fn begin(&mut self, write: bool, offset_bytes: u64, len_bytes: u32) -> Begin {
        match self.map() {
            None => Begin::Begun,
            Some(map) if write => map.begin_write(offset_bytes, len_bytes),
            Some(map) => map.begin_read(offset_bytes, len_bytes),
        }
    }

    pub fn stamp(&mut self, buffer: &mut [u8], offset_bytes: u64) {
        if let Checks::Own { verifier, map } = &self.checks {
            verifier.stamp_write(buffer, offset_bytes, map);
        }
    }

    pub fn finish_write(&mut self, offset_bytes: u64, len_bytes: u32, ok: bool) {
        if let Some(map) = self.map() {
            map.finish_write(offset_bytes, len_bytes, ok);
        }
    }

    /// A read completed; `None` when it failed. Without `is_proof` the host's page cache may have
    /// supplied the bytes: what is intact there says nothing about the drive, what is wrong is
    /// wrong all the same.
    pub fn finish_read(
        &mut self,
        offset_bytes: u64,
        len_bytes: u32,
        buffer: Option<&[u8]>,
        is_proof: bool,
    ) {
        match buffer {
            Some(buffer) => self.check(buffer, offset_bytes, is_proof),
            None => {
                let blocks = u64::from(len_bytes / self.options.interval_bytes);
                self.report.unreadable_blocks += blocks;
            }
        }
        if let Some(map) = self.map() {
            map.finish_read(offset_bytes, len_bytes);
        }
    }

    fn check(&mut self, buffer: &[u8], offset_bytes: u64, is_proof: bool) {
        let intact_before = self.report.intact_blocks;
        let atomic = self.options.atomic;
        match &mut self.checks {
            Checks::Own { verifier, map } => {
                let expected = |offset| match map.expected(offset) {
                    Expected::Uncertain { newest } if atomic => Expected::WholeOrAbsent { newest },
                    expected => expected,
                };
                verifier.check(buffer, offset_bytes, expected, &mut self.report);
            }
            Checks::Others(reader) => reader.check(buffer, offset_bytes, &mut self.report),
        }
        if !is_proof {
            let intact = self.report.intact_blocks - intact_before;
            self.report.intact_blocks = intact_before;
            self.report.add_unjudged(Unjudged::HostMemory, intact);
        }
    }

    /// Reading back starts from the first block.
    pub fn begin_read_backs(&mut self) {
        self.read_back_at = self.options.offset_bytes;
    }

    /// The next extent that was written, by address.
    pub fn next_written(&mut self) -> Option<(u64, u32)> {
        let (from, most) = (self.read_back_at, self.options.max_io_bytes);
        let (start, len_bytes) = self.map()?.next_written(from, most)?;
        self.read_back_at = start + u64::from(len_bytes);
        Some((start, len_bytes))
    }

    /// A write has begun there.
    pub fn has_begun(&mut self, offset_bytes: u64) -> bool {
        self.map().is_some_and(|map| map.generation(offset_bytes) > 0)
    }

    /// False where a write never completed: its blocks have no defined content.
    pub fn begin_read_back(&mut self, offset_bytes: u64, len_bytes: u32) -> bool {
        let is_written = self.begin(false, offset_bytes, len_bytes) == Begin::Begun;
        if !is_written {
            let blocks = u64::from(len_bytes / self.options.interval_bytes);
            self.report.add_unjudged(Unjudged::WriteFailed, blocks);
        }
        is_written
    }

    /// With the seed that the caller asked for, or of this worker's blocks.
    pub fn report(&self) -> VerifyReport {
        self.report.clone()
    }
}

#[cfg(test)]
#[path = "../tests/unit/checker.rs"]
mod tests;
