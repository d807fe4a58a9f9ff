//! What should lie in a range, piece by piece, and the sink that compares.

use std::io;

use assay_integrity::pattern::{
    BEAT_BYTES, Diagnosis, DiagnosisContext, Pattern, PatternChecker, ReadChunk, diagnose,
};
use assay_stream::registers::Registers;
use assay_stream::source::StreamSink;

/// What a piece of a range holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpectedData {
    /// This stream, from this beat of it on.
    Stream(Pattern, u64),
    /// Zeroes.
    Zeroes,
    /// Nobody knows.
    Anything,
}

/// Pieces, one after the other, in the order of the stream.
#[derive(Clone, Debug, Default)]
pub(super) struct ExpectedLayout {
    pieces: Vec<(u64, ExpectedData)>,
}

impl ExpectedLayout {
    /// One piece more.
    pub fn then(mut self, bytes: u64, holds: ExpectedData) -> ExpectedLayout {
        if bytes > 0 {
            self.pieces.push((bytes, holds));
        }
        self
    }

    /// A stream from its first beat on.
    pub fn stream(seed: u64, bytes: u64) -> ExpectedLayout {
        ExpectedLayout::default().then(bytes, ExpectedData::Stream(Pattern::new(seed), 0))
    }

    /// Bytes of all pieces.
    pub fn bytes(&self) -> u64 {
        self.pieces.iter().map(|(bytes, _)| bytes).sum()
    }

    /// Only these bytes of it; `from` lies at whole beats of every piece.
    pub fn part(&self, from: u64, bytes: u64) -> ExpectedLayout {
        let end = from.saturating_add(bytes);
        let mut out = ExpectedLayout::default();
        let mut begin = 0;
        for &(length, holds) in &self.pieces {
            let (low, high) = (from.max(begin), end.min(begin + length));
            if low < high {
                let holds = match holds {
                    ExpectedData::Stream(pattern, beat) => {
                        ExpectedData::Stream(pattern, beat + (low - begin) / BEAT_BYTES as u64)
                    }
                    other => other,
                };
                out = out.then(high - low, holds);
            }
            begin += length;
        }
        out
    }
}

/// Something that is not what it should be.
#[derive(Clone, Debug)]
pub(super) struct MismatchedChunk {
    /// Byte of the range, in the order of the stream, at which the first wrong beat begins.
    pub at_byte: u64,
    /// Number of that beat in the stream that should be there; in bytes of 16 from the piece's beginning for zeroes.
    pub beat: u64,
    /// What should be there.
    pub holds: ExpectedData,
    /// What is wrong.
    pub diagnosis: Option<Diagnosis>,
}

/// What a comparison came to.
#[derive(Clone, Debug, Default)]
pub(super) struct Comparison {
    /// Bytes compared.
    pub bytes: u64,
    /// Beats that are wrong.
    pub wrong_beats: u64,
    /// The first wrong chunks.
    pub wrong: Vec<MismatchedChunk>,
}

/// So many wrong chunks are looked at.
const MAX_DIAGNOSED: usize = 4;

/// Wrong bytes of a chunk, kept for the diagnosis.
struct SavedChunk {
    at_byte: u64,
    mismatch_beat: u64,
    pattern: Pattern,
    first_beat: u64,
    bytes: Vec<u8>,
}

/// Compares a stream with a layout, chunk by chunk.
pub(super) struct Compare<'a> {
    layout: &'a ExpectedLayout,
    scene: (u64, u64),
    watch: &'a mut dyn FnMut(u64, &Registers),
    piece: usize,
    within: u64,
    checker: Option<PatternChecker>,
    found: Comparison,
    kept: Vec<SavedChunk>,
    /// Of the same piece, after the first that was wrong.
    after: Option<(u64, Vec<u8>)>,
    zeroes: Vec<MismatchedChunk>,
}

impl<'a> Compare<'a> {
    /// Against this layout of chunks of `chunk_bytes`, of which there are `chunks`. `watch` is told of every so many bytes.
    pub fn new(
        layout: &'a ExpectedLayout,
        chunk_bytes: u64,
        chunks: u64,
        watch: &'a mut dyn FnMut(u64, &Registers),
    ) -> Compare<'a> {
        Compare {
            layout,
            scene: (chunk_bytes, chunks),
            watch,
            piece: 0,
            within: 0,
            checker: None,
            found: Comparison::default(),
            kept: Vec::new(),
            after: None,
            zeroes: Vec::new(),
        }
    }

    /// What was found.
    pub fn found(self) -> Comparison {
        let mut found = self.found;
        let (chunk_bytes, chunks) = self.scene;
        let after = self.after.as_ref();
        for (n, kept) in self.kept.iter().enumerate() {
            let scene = DiagnosisContext {
                pattern: kept.pattern,
                chunk_bytes,
                chunks,
            };
            let suspect = ReadChunk {
                first_beat: kept.first_beat,
                bytes: &kept.bytes,
            };
            let other = after
                .filter(|_| n == 0)
                .map(|(first_beat, bytes)| ReadChunk {
                    first_beat: *first_beat,
                    bytes,
                });
            found.wrong.push(MismatchedChunk {
                at_byte: kept.at_byte,
                beat: kept.mismatch_beat,
                holds: ExpectedData::Stream(kept.pattern, kept.first_beat),
                diagnosis: diagnose(&scene, &suspect, other.as_ref()),
            });
        }
        found.wrong.extend(self.zeroes);
        found.wrong.sort_by_key(|wrong| wrong.at_byte);
        found
    }

    fn compare(&mut self, holds: ExpectedData, bytes: &[u8]) {
        let at = self.found.bytes;
        match holds {
            ExpectedData::Anything => {}
            ExpectedData::Zeroes => {
                let Some(wrong) = bytes.iter().position(|&byte| byte != 0) else {
                    return;
                };
                let beats = bytes.chunks(BEAT_BYTES);
                let beats = beats.filter(|beat| beat.iter().any(|&b| b != 0)).count();
                self.found.wrong_beats += beats as u64;
                if self.zeroes.is_empty() {
                    self.zeroes.push(MismatchedChunk {
                        at_byte: at + wrong as u64,
                        beat: (self.within + wrong as u64) / BEAT_BYTES as u64,
                        holds,
                        diagnosis: None,
                    });
                }
            }
            ExpectedData::Stream(pattern, first) => {
                let first_beat = first + self.within / BEAT_BYTES as u64;
                let checker = self
                    .checker
                    .get_or_insert_with(|| pattern.checker(first_beat));
                let counted = checker.count_wrong(bytes);
                self.found.wrong_beats += counted.beats;
                let same = |kept: &SavedChunk| kept.pattern == pattern;
                if let Some(mismatch) = counted.first
                    && self.kept.len() < MAX_DIAGNOSED
                {
                    self.kept.push(SavedChunk {
                        at_byte: at + mismatch.offset_bytes,
                        mismatch_beat: mismatch.beat,
                        pattern,
                        first_beat,
                        bytes: bytes.to_vec(),
                    });
                    if self.kept.len() == 2 && self.after.is_none() && same(&self.kept[0]) {
                        self.after = Some((first_beat, bytes.to_vec()));
                    }
                } else if self.kept.len() == 1 && self.after.is_none() && same(&self.kept[0]) {
                    self.after = Some((first_beat, bytes.to_vec()));
                }
            }
        }
    }
}

impl StreamSink for Compare<'_> {
    fn name(&self) -> String {
        "the checker".to_owned()
    }

    fn put(&mut self, bytes: &[u8], registers: &Registers) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let Some(&(length, holds)) = self.layout.pieces.get(self.piece) else {
                break;
            };
            let left = length - self.within;
            let now = usize::try_from(left).map_or(rest.len(), |left| left.min(rest.len()));
            self.compare(holds, &rest[..now]);
            self.within += now as u64;
            self.found.bytes += now as u64;
            if self.within == length {
                (self.piece, self.within, self.checker) = (self.piece + 1, 0, None);
            }
            rest = &rest[now..];
        }
        (self.watch)(bytes.len() as u64, registers);
        Ok(())
    }
}

#[cfg(test)]
#[path = "../tests/unit/layout.rs"]
mod tests;
