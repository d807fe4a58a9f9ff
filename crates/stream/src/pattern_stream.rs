//! The LFSR pattern as a stream source, and its checker as a sink.

use std::io;

use crate::registers::Registers;
use crate::source::{FillResult, StreamSink, StreamSource};
use assay_integrity::pattern::{
    ExpectedLayout, Pattern, PatternRegister, StreamFindings, StreamVerifier,
};

/// A stream of the pattern, generated in the ring.
#[derive(Clone, Debug)]
pub struct PatternSource {
    generator: PatternRegister,
    left_bytes: u64,
}

impl PatternSource {
    /// The first `bytes` of the stream of this seed.
    pub fn new(pattern: Pattern, bytes: u64) -> PatternSource {
        PatternSource {
            generator: pattern.at(0),
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

/// Verifies a stream against the pattern.
#[derive(Debug)]
pub struct PatternSink {
    pattern: Pattern,
    chunk_bytes: u64,
    chunks: u64,
    verifier: StreamVerifier,
}

impl PatternSink {
    /// Against this pattern, from its first beat unless [`StreamSink::begin`] gives another position. `chunk_bytes`
    /// and `chunks` of the range or recording are for the diagnosis.
    pub fn new(pattern: Pattern, chunk_bytes: u32, chunks: u64) -> PatternSink {
        let layout = ExpectedLayout::stream(pattern.seed(), u64::MAX);
        let chunk_bytes = u64::from(chunk_bytes);
        PatternSink {
            pattern,
            chunk_bytes,
            chunks,
            verifier: StreamVerifier::new(layout, chunk_bytes, chunks),
        }
    }

    /// The findings; with an expected length in bytes, also whether the stream had it.
    pub fn findings(self, expected_bytes: Option<u64>) -> StreamFindings {
        self.verifier.finish(1, expected_bytes)
    }
}

impl StreamSink for PatternSink {
    fn name(&self) -> String {
        format!("the checker of seed {:#x}", self.pattern.seed())
    }

    fn begin(&mut self, first_byte: u64) {
        let layout = ExpectedLayout::stream(self.pattern.seed(), u64::MAX);
        let layout = layout.part(first_byte, u64::MAX - first_byte);
        self.verifier = StreamVerifier::new(layout, self.chunk_bytes, self.chunks);
    }

    fn put(&mut self, bytes: &[u8], _: &Registers) -> io::Result<()> {
        self.verifier.check(bytes);
        Ok(())
    }
}

#[cfg(test)]
#[path = "../tests/unit/pattern_stream.rs"]
mod tests;
