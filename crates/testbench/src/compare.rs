//! Stream sink that compares with expected data.

use std::io;

use assay_integrity::pattern::StreamVerifier;
use assay_stream::registers::Registers;
use assay_stream::source::StreamSink;

/// Compares, and reports the bytes of each chunk to `progress`.
pub(super) struct CompareSink<'a> {
    pub verifier: StreamVerifier,
    pub progress: &'a mut dyn FnMut(u64, &Registers),
}

impl StreamSink for CompareSink<'_> {
    fn name(&self) -> String {
        "the checker".to_owned()
    }

    fn put(&mut self, bytes: &[u8], registers: &Registers) -> io::Result<()> {
        self.verifier.check(bytes);
        (self.progress)(bytes.len() as u64, registers);
        Ok(())
    }
}
