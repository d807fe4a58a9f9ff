use std::io;

use crate::registers::Registers;
use crate::source::StreamSink;
use assay_integrity::pattern::{ExpectedLayout, Pattern, StreamFindings, StreamVerifier};

#[derive(Debug)]
pub struct PatternSink {
    pattern: Pattern,
    chunk_bytes: u64,
    chunks: u64,
    verifier: StreamVerifier,
}

impl PatternSink {
    /// `chunk_bytes` and `chunks` of the range or recording are for the diagnosis.
    pub fn new(pattern: Pattern, chunk_bytes: u32, chunks: u64) -> PatternSink {
        let chunk_bytes = u64::from(chunk_bytes);
        PatternSink {
            pattern,
            chunk_bytes,
            chunks,
            verifier: verifier(pattern, 0, chunk_bytes, chunks),
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
        self.verifier = verifier(self.pattern, first_byte, self.chunk_bytes, self.chunks);
    }

    fn put(&mut self, bytes: &[u8], _: &Registers) -> io::Result<()> {
        self.verifier.check(bytes);
        Ok(())
    }
}

fn verifier(pattern: Pattern, first_byte: u64, chunk_bytes: u64, chunks: u64) -> StreamVerifier {
    let layout = ExpectedLayout::stream(pattern.seed(), u64::MAX);
    let layout = layout.part(first_byte, u64::MAX - first_byte);
    StreamVerifier::new(layout, chunk_bytes, chunks)
}

#[cfg(test)]
#[path = "../tests/unit/pattern_stream.rs"]
mod tests;
