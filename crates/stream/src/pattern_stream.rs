//! The pattern as a source and as a sink: streams that prove themselves.

use std::io;

use crate::registers::Registers;
use crate::source::{FillResult, StreamSink, StreamSource};
use assay_integrity::pattern::{
    BEAT_BYTES, Diagnosis, DiagnosisContext, Mismatch, Pattern, PatternGenerator, ReadChunk,
    StreamLength, WrongBeats, diagnose,
};

/// A stream of the pattern, made in the ring itself.
#[derive(Clone, Debug)]
pub struct PatternSource {
    generator: PatternGenerator,
    left_bytes: u64,
}

impl PatternSource {
    /// The first `bytes` of the stream of this seed.
    pub fn new(pattern: Pattern, bytes: u64) -> PatternSource {
        PatternSource {
            generator: pattern.generator(0),
            left_bytes: bytes,
        }
    }
}

impl StreamSource for PatternSource {
    fn name(&self) -> String {
        format!("the pattern of seed {:#x}", self.generator.pattern().seed())
    }

    fn fill(&mut self, chunk: &mut [u8], _: &Registers) -> io::Result<FillResult> {
        let bytes =
            usize::try_from(self.left_bytes).map_or(chunk.len(), |left| left.min(chunk.len()));
        self.generator.fill(&mut chunk[..bytes]);
        self.left_bytes -= bytes as u64;
        Ok(FillResult {
            bytes,
            last: self.left_bytes == 0,
        })
    }

    fn has_more(&mut self, _: bool, _: &Registers) -> io::Result<Option<bool>> {
        Ok(Some(self.left_bytes > 0))
    }
}

/// What a checked stream was found to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamFinding {
    /// Beats checked, a begun one counted.
    pub beats: u64,
    /// Beats that are wrong.
    pub wrong_beats: u64,
    /// Chunks with any wrong beat.
    pub wrong_chunks: u64,
    /// The first wrong beat.
    pub first: Option<Mismatch>,
    /// What is wrong there, or with the length.
    pub diagnosis: Option<Diagnosis>,
}

impl StreamFinding {
    /// Is everything as it should be?
    pub fn is_right(&self) -> bool {
        self.wrong_beats == 0 && self.diagnosis.is_none()
    }
}

/// Checks a stream against the pattern, chunk by chunk, and remembers the first chunk that is wrong.
#[derive(Debug)]
pub struct PatternSink {
    checker: assay_integrity::pattern::PatternChecker,
    scene: DiagnosisContext,
    position_beats: u64,
    bytes: u64,
    found: StreamFinding,
    /// The first wrong chunk, whole, and one right or wrong after it: what a diagnosis needs.
    suspects: Vec<(u64, Vec<u8>)>,
}

impl PatternSink {
    /// Check against this pattern, from its beginning unless [`StreamSink::begin`] says otherwise; `chunk_bytes` and `chunks` are those of the range or
    /// the recording, for the diagnosis.
    pub fn new(pattern: Pattern, chunk_bytes: u32, chunks: u64) -> PatternSink {
        PatternSink {
            checker: pattern.checker(0),
            scene: DiagnosisContext {
                pattern,
                chunk_bytes: u64::from(chunk_bytes),
                chunks,
            },
            position_beats: 0,
            bytes: 0,
            found: StreamFinding::default(),
            suspects: Vec::new(),
        }
    }

    /// What was found; with a shape, also whether the stream had the length it should have.
    pub fn finding(self, shape: Option<StreamLength>) -> StreamFinding {
        let mut found = self.found;
        if let [(first_beat, bytes), rest @ ..] = &self.suspects[..] {
            let wrong = ReadChunk {
                first_beat: *first_beat,
                bytes,
            };
            let other = rest.first().map(|(first_beat, bytes)| ReadChunk {
                first_beat: *first_beat,
                bytes,
            });
            found.diagnosis = diagnose(&self.scene, &wrong, other.as_ref());
        }
        if let (None, Some(shape)) = (&found.diagnosis, shape) {
            found.diagnosis = shape.check_end(self.bytes).err();
        }
        found
    }
}

impl StreamSink for PatternSink {
    fn name(&self) -> String {
        format!("the checker of seed {:#x}", self.scene.pattern.seed())
    }

    fn begin(&mut self, first_byte: u64) {
        self.position_beats = first_byte / BEAT_BYTES as u64;
        self.checker.skip_to(self.position_beats);
    }

    fn put(&mut self, bytes: &[u8], _: &Registers) -> io::Result<()> {
        let WrongBeats { beats, first, .. } = self.checker.count_wrong(bytes);
        if beats > 0 {
            self.found.wrong_beats += beats;
            self.found.wrong_chunks += 1;
        }
        if beats > 0 && self.found.first.is_none() {
            self.found.first = first;
            self.suspects.push((self.position_beats, bytes.to_vec()));
        } else if self.suspects.len() == 1 {
            self.suspects.push((self.position_beats, bytes.to_vec()));
        }
        self.bytes += bytes.len() as u64;
        let now = bytes.len().div_ceil(BEAT_BYTES) as u64;
        self.found.beats += now;
        self.position_beats += now;
        Ok(())
    }
}

#[cfg(test)]
#[path = "../tests/unit/pattern_stream.rs"]
mod tests;
