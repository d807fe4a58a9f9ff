//! Verification of a stream, chunk by chunk, against the data that each extent of it should hold.

use super::{
    BEAT_BYTES, Diagnosis, DiagnosisContext, Mismatch, Pattern, PatternRegister, ReadChunk,
    diagnose,
};

/// Mismatched chunks that are saved for the diagnosis.
const MAX_DIAGNOSED: usize = 4;

/// Data that an extent should hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedData {
    /// This stream, from this beat on.
    Stream(Pattern, u64),
    Zeroes,
    /// Not checked.
    Anything,
}

#[derive(Clone, Debug, Default)]
pub struct ExpectedLayout {
    extents: Vec<(u64, ExpectedData)>,
}

impl ExpectedLayout {
    #[must_use]
    pub fn then(mut self, bytes: u64, expected: ExpectedData) -> ExpectedLayout {
        if bytes > 0 {
            self.extents.push((bytes, expected));
        }
        self
    }

    pub fn stream(seed: u64, bytes: u64) -> ExpectedLayout {
        ExpectedLayout::default().then(bytes, ExpectedData::Stream(Pattern::new(seed), 0))
    }

    /// This layout with other data from this byte on, as long as theirs; within it.
    #[must_use]
    pub fn overwritten(&self, from: u64, by: ExpectedLayout) -> ExpectedLayout {
        let end = from + by.bytes();
        let rest = self.part(end, self.bytes() - end);
        let mut out = self.part(0, from);
        out.extents.extend(by.extents);
        out.extents.extend(rest.extents);
        out
    }

    pub fn bytes(&self) -> u64 {
        self.extents.iter().map(|(bytes, _)| bytes).sum()
    }

    /// The layout of these bytes; `from` must be at a whole beat of its extent.
    #[must_use]
    pub fn part(&self, from: u64, bytes: u64) -> ExpectedLayout {
        let end = from + bytes;
        let mut out = ExpectedLayout::default();
        let mut begin = 0;
        for &(length, expected) in &self.extents {
            let (low, high) = (from.max(begin), end.min(begin + length));
            if low < high {
                let expected = match expected {
                    ExpectedData::Stream(pattern, beat) => {
                        ExpectedData::Stream(pattern, beat + (low - begin) / BEAT_BYTES as u64)
                    }
                    other => other,
                };
                out = out.then(high - low, expected);
            }
            begin += length;
        }
        out
    }
}

/// A chunk that does not hold the expected data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MismatchedChunk {
    /// Byte of the layout at which the first wrong beat begins.
    pub at_byte: u64,
    /// In the expected stream; for zeroes, counted from the start of the extent.
    pub beat: u64,
    pub expected: ExpectedData,
    /// What is wrong; `None` for bytes that should be zero.
    pub diagnosis: Option<Diagnosis>,
}

/// Result of a verified stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamFindings {
    pub bytes: u64,
    /// Beats compared, a partial one counted.
    pub beats: u64,
    /// Beats that differ.
    pub wrong_beats: u64,
    pub wrong_chunks: u64,
    /// The first wrong beat of a stream.
    pub first: Option<Mismatch>,
    pub chunks: Vec<MismatchedChunk>,
    /// [`Diagnosis::Short`], [`Diagnosis::Long`] or [`Diagnosis::Partial`].
    pub length: Option<Diagnosis>,
}

impl StreamFindings {
    pub fn is_clean(&self) -> bool {
        self.wrong_beats == 0 && self.length.is_none()
    }

    /// Diagnosis of the first mismatched chunk, or of the length.
    pub fn diagnosis(&self) -> Option<&Diagnosis> {
        let first = self.chunks.first();
        first.and_then(|chunk| chunk.diagnosis.as_ref()).or(self.length.as_ref())
    }
}

#[derive(Clone, Debug)]
struct SavedChunk {
    at_byte: u64,
    beat: u64,
    pattern: Pattern,
    first_beat: u64,
    bytes: Vec<u8>,
}

/// Compares a stream with a layout.
#[derive(Clone, Debug, Default)]
pub struct StreamVerifier {
    layout: ExpectedLayout,
    chunk_bytes: u64,
    chunks: u64,
    extent: usize,
    /// Bytes of the extent that were compared.
    within: u64,
    checker: Option<PatternRegister>,
    findings: StreamFindings,
    saved: Vec<SavedChunk>,
    /// It distinguishes a wrong seed from a lost first write.
    next: Option<(u64, Vec<u8>)>,
}

impl StreamVerifier {
    /// Misplaced data are searched for among the `chunks` of the medium.
    pub fn new(layout: ExpectedLayout, chunk_bytes: u64, chunks: u64) -> StreamVerifier {
        StreamVerifier { layout, chunk_bytes, chunks, ..StreamVerifier::default() }
    }

    pub fn check(&mut self, chunk: &[u8]) {
        let before = self.findings.wrong_beats;
        self.findings.beats += chunk.len().div_ceil(BEAT_BYTES) as u64;
        let mut rest = chunk;
        while let Some(&(length, expected)) = self.layout.extents.get(self.extent)
            && !rest.is_empty()
        {
            let left = length - self.within;
            let now = usize::try_from(left).map_or(rest.len(), |left| left.min(rest.len()));
            match expected {
                ExpectedData::Anything => {}
                ExpectedData::Zeroes => self.compare_zeroes(&rest[..now]),
                ExpectedData::Stream(pattern, first) => {
                    self.compare_pattern(pattern, first, &rest[..now]);
                }
            }
            self.within += now as u64;
            self.findings.bytes += now as u64;
            if self.within == length {
                (self.extent, self.within, self.checker) = (self.extent + 1, 0, None);
            }
            rest = &rest[now..];
        }
        self.findings.wrong_chunks += u64::from(self.findings.wrong_beats > before);
    }

    fn compare_zeroes(&mut self, bytes: &[u8]) {
        let Some(wrong) = bytes.iter().position(|&byte| byte != 0) else {
            return;
        };
        let beats = bytes.chunks(BEAT_BYTES);
        let beats = beats.filter(|beat| beat.iter().any(|&b| b != 0)).count();
        self.findings.wrong_beats += beats as u64;
        if self.findings.chunks.is_empty() {
            self.findings.chunks.push(MismatchedChunk {
                at_byte: self.findings.bytes + wrong as u64,
                beat: (self.within + wrong as u64) / BEAT_BYTES as u64,
                expected: ExpectedData::Zeroes,
                diagnosis: None,
            });
        }
    }

    fn compare_pattern(&mut self, pattern: Pattern, first: u64, bytes: &[u8]) {
        let first_beat = first + self.within / BEAT_BYTES as u64;
        let checker = self.checker.get_or_insert_with(|| pattern.at(first_beat));
        let counted = checker.count_wrong(bytes);
        self.findings.wrong_beats += counted.beats;
        self.findings.first = self.findings.first.or(counted.first);
        if self.next.is_none() && self.saved.first().is_some_and(|c| c.pattern == pattern) {
            self.next = Some((first_beat, bytes.to_vec()));
        }
        if let Some(mismatch) = counted.first
            && self.saved.len() < MAX_DIAGNOSED
        {
            self.saved.push(SavedChunk {
                at_byte: self.findings.bytes + mismatch.offset_bytes,
                beat: mismatch.beat,
                pattern,
                first_beat,
                bytes: bytes.to_vec(),
            });
        }
    }

    /// The diagnosis of each of the first `diagnosed` mismatched chunks may take seconds.
    pub fn finish(mut self, diagnosed: usize, expected_bytes: Option<u64>) -> StreamFindings {
        let mut findings = self.findings;
        for saved in self.saved.iter().take(diagnosed) {
            let context = DiagnosisContext {
                pattern: saved.pattern,
                chunk_bytes: self.chunk_bytes,
                chunks: self.chunks,
            };
            // Of the first mismatched chunk only.
            let next = self.next.take();
            let other = next.as_ref().map(|(beat, bytes)| ReadChunk::new(*beat, bytes));
            let chunk = ReadChunk::new(saved.first_beat, &saved.bytes);
            findings.chunks.push(MismatchedChunk {
                at_byte: saved.at_byte,
                beat: saved.beat,
                expected: ExpectedData::Stream(saved.pattern, saved.first_beat),
                diagnosis: diagnose(&context, &chunk, other.as_ref()),
            });
        }
        findings.chunks.sort_by_key(|chunk| chunk.at_byte);
        if findings.wrong_beats == 0 {
            let check = |expected| Diagnosis::check_length(findings.bytes, expected).err();
            findings.length = expected_bytes.and_then(check);
        }
        findings
    }
}

#[cfg(test)]
#[path = "../../tests/unit/pattern/verifier.rs"]
mod tests;
