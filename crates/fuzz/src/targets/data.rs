//! Bytes of drives: test data, recordings, partition tables.

use std::io::Write;

use assay_device::signature::{Window, detect};
use assay_integrity::blocks::{BlockHeader, BlockReader, Verifier};
use assay_integrity::data::DataPattern;
use assay_integrity::finding::{Expected, VerifyReport};
use assay_integrity::pattern::Pattern;
use assay_integrity::pattern::{DiagnosisContext, ReadChunk, diagnose};
use assay_stream::index::{BLOCK_BYTES, IndexBlock, RecordingHeader, StreamId};

use crate::input::Input;

const BLOCK: usize = BLOCK_BYTES as usize;
const BLOCKS_BYTES: usize = 8192;
/// Begin of the checksum in a block of the index.
const CHECKSUM_AT: usize = 12;

/// Header and index block of a recording, with right and with wrong checksums. What is decoded is
/// encoded to what decodes to the same.
pub fn recording_index(data: &[u8]) {
    let mut input = Input::new(data);
    let has_checksum = !input.u8().is_multiple_of(4);
    let mut block = [0; BLOCK];
    let bytes = input.bytes(BLOCK);
    block[..bytes.len()].copy_from_slice(bytes);
    if has_checksum {
        block[CHECKSUM_AT..CHECKSUM_AT + 4].fill(0);
        let sum = crc32c::crc32c(&block);
        block[CHECKSUM_AT..CHECKSUM_AT + 4].copy_from_slice(&sum.to_le_bytes());
    }
    if let Some(header) = RecordingHeader::decode(&block) {
        let _ = header.ended_chunks();
        // Version 1 of a ring is read and no longer written.
        if let Some(again) = RecordingHeader::decode(&header.encode()) {
            assert_eq!((again.stream, again.drive), (header.stream, header.drive));
            assert_eq!(again.generation, header.generation);
        }
    }
    let stream = StreamId(*block[16..].first_chunk().expect("a block has an id"));
    if let Some(index) = IndexBlock::decode(&block, stream) {
        let again = IndexBlock::decode(&index.encode(), stream);
        assert_eq!(again.as_ref(), Some(&index));
    }
}

/// Self-describing blocks, read from any offset with any expectation. A stamped block is right.
pub fn verify_blocks(data: &[u8]) {
    let mut input = Input::new(data);
    let (seed, offset_bytes, generation) = (input.u64(), input.u64() >> 20 << 9, input.u64());
    let choice = input.u8();
    let interval_bytes = 512 << (choice % 3);
    let verifier = Verifier::new(seed, interval_bytes, DataPattern::default());
    let verifier = verifier.expect("an interval that is a power of two");
    let expected = |_| match choice / 3 % 3 {
        0 => Expected::Generation(generation),
        1 => Expected::Uncertain { newest: generation },
        _ => Expected::Unwritten,
    };
    // Blocks as written, and changes of single bytes: noise has no header that is right.
    let mut bytes = vec![0; BLOCKS_BYTES];
    verifier.stamp(&mut bytes, offset_bytes, generation);
    let mut report = VerifyReport::default();
    verifier.check(&bytes, offset_bytes, |_| Expected::Generation(generation), &mut report);
    assert!(report.is_clean(), "what was stamped is right: {report:?}");
    let mut changes = 0;
    while !input.is_empty() {
        let at = usize::from(input.u16()) % BLOCKS_BYTES;
        bytes[at] = input.u8();
        changes += 1;
    }
    let _ = BlockHeader::decode(&bytes);
    let mut report = VerifyReport::default();
    verifier.check(&bytes, offset_bytes, expected, &mut report);
    assert_eq!(
        report.judged_blocks() + report.not_judged().values().sum::<u64>(),
        (BLOCKS_BYTES / interval_bytes as usize) as u64
    );
    let wrong = report.findings();
    assert!(changes > 0 || choice / 3 % 3 == 2 || wrong == 0, "{report:?}");
    // By their headers alone: whole blocks that are as written are never a finding.
    let mut reader = BlockReader::new((choice & 0x80 != 0).then_some(seed), interval_bytes);
    let mut report = VerifyReport::default();
    reader.check(&bytes, offset_bytes, &mut report);
    assert!(changes > 0 || report.is_clean(), "{report:?}");
}

/// The right chunk of a stream has no diagnosis.
pub fn pattern(data: &[u8]) {
    /// With more bytes a search takes seconds.
    const MAX_CHUNK_BYTES: usize = 4096;
    let mut input = Input::new(data);
    let context = DiagnosisContext {
        pattern: Pattern::new(input.u64()),
        chunk_bytes: MAX_CHUNK_BYTES as u64,
        chunks: u64::from(input.u8()),
    };
    let first_beat = u64::from(input.u16());
    let flips = input.u8();
    let rest = input.rest();
    let mut bytes = vec![0; rest.len().min(MAX_CHUNK_BYTES)];
    context.pattern.at(first_beat).fill(&mut bytes);
    let right = ReadChunk::new(first_beat, &bytes);
    assert_eq!(diagnose(&context, &right, None), None);
    let mut wrong = bytes.clone();
    for (at, byte) in rest.iter().take(wrong.len()).enumerate() {
        // Few flips are told apart from data of elsewhere.
        if flips < 128 || at % 256 == usize::from(flips) {
            wrong[at] ^= byte;
        }
    }
    let chunk = ReadChunk::new(first_beat, &wrong);
    assert_eq!(diagnose(&context, &chunk, None).is_some(), wrong != bytes);
}

/// Finds signatures at the begin and the end of a drive.
pub fn signature(data: &[u8]) {
    let mut input = Input::new(data);
    let tail_bytes = usize::from(input.u16());
    let size_bytes = 1 << 20;
    let bytes = input.rest();
    let (tail, head) = bytes.split_at(tail_bytes.min(bytes.len()));
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.set_len(size_bytes).expect("a temporary file");
    file.write_all(head).expect("a temporary file");
    std::os::unix::fs::FileExt::write_all_at(&file, tail, size_bytes - tail.len() as u64)
        .expect("a temporary file");
    let window = Window::read(&file, 0, size_bytes).expect("a window of the file");
    let _ = detect(&window);
}
