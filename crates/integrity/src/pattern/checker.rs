//! Pattern checker: the first wrong beat, and the number of wrong beats.

use super::block::{self, BLOCK_BYTES};
use super::{BEAT_BYTES, Pattern, PatternGenerator};

/// A wrong beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("beat {beat} of the stream is {found:032x} and should be {expected:032x}")]
pub struct Mismatch {
    /// Its number in the stream.
    pub beat: u64,
    /// Its offset in the bytes checked.
    pub offset_bytes: u64,
    /// Expected value; of a partial beat the bytes given, the others zero.
    pub expected: u128,
    /// Value found; bytes not given are zero.
    pub found: u128,
}

impl Mismatch {
    /// The wrong bits.
    pub fn wrong_bits(&self) -> u128 {
        self.expected ^ self.found
    }
}

/// Mismatch counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrongBeats {
    /// Beats with any wrong bit.
    pub beats: u64,
    /// Wrong bits.
    pub bits: u64,
    /// The first wrong beat.
    pub first: Option<Mismatch>,
}

/// Compares bytes with the stream, in order. 4 KiB of state without heap; right data are read once and written
/// nowhere.
#[derive(Clone, Debug)]
pub struct PatternChecker {
    expected: PatternGenerator,
}

impl PatternChecker {
    pub(super) fn new(pattern: Pattern, first_beat: u64) -> PatternChecker {
        PatternChecker {
            expected: PatternGenerator::new(pattern, first_beat),
        }
    }

    /// The expected pattern.
    pub fn pattern(&self) -> Pattern {
        self.expected.pattern()
    }

    /// The next expected beat; after a mismatch, the wrong one.
    pub fn position(&self) -> u64 {
        self.expected.position()
    }

    /// Continue at this beat. A short distance ahead costs less than a long one or back (about 2 µs).
    pub fn skip_to(&mut self, beat: u64) {
        self.expected.seek(beat);
    }

    /// Compare with the next bytes. As with [`PatternGenerator::fill`], a partial last beat skips its rest.
    ///
    /// # Errors
    /// The first wrong beat, at which the checker stays; [`PatternChecker::skip_to`] continues.
    pub fn check(&mut self, bytes: &[u8]) -> Result<(), Mismatch> {
        let (head, rest) = bytes.split_at(bytes.len().min(self.expected.ready().len()));
        self.compare(head, 0)?;
        if rest.is_empty() {
            return Ok(());
        }
        let (blocks, tail) = rest.as_chunks::<BLOCK_BYTES>();
        let mut previous = self.expected.block();
        let mut right = 0_usize;
        for next in blocks {
            if !block::follows(previous, next) {
                break;
            }
            previous = next;
            right += 1;
        }
        let last = right.checked_sub(1).map(|last| &blocks[last]);
        self.expected.continue_after(last, right as u64);
        let wrong = blocks.get(right).map(<[u8; BLOCK_BYTES]>::as_slice);
        match wrong.unwrap_or(tail) {
            [] => Ok(()),
            rest => {
                self.expected.next_block();
                self.compare(rest, head.len() + right * BLOCK_BYTES)
            }
        }
    }

    /// Compare all of the bytes and count mismatches. As fast as [`PatternChecker::check`] where nothing is wrong.
    pub fn count_wrong(&mut self, bytes: &[u8]) -> WrongBeats {
        let begin = self.position();
        let mut counted = WrongBeats::default();
        let mut done = 0;
        while let Err(mut mismatch) = self.check(&bytes[done..]) {
            mismatch.offset_bytes += done as u64;
            counted.first.get_or_insert(mismatch);
            done = mismatch.offset_bytes as usize;
            // Beat by beat to the end of this block: wrong beats are clustered.
            let expected = self.expected.ready();
            let compared = expected.len().min(bytes.len() - done);
            let found = bytes[done..][..compared].chunks(BEAT_BYTES);
            for (expected, found) in expected.chunks(BEAT_BYTES).zip(found) {
                let bits = (word(expected, found.len()) ^ word(found, found.len())).count_ones();
                counted.bits += u64::from(bits);
                counted.beats += u64::from(bits > 0);
            }
            done += compared;
            let beats = done.div_ceil(BEAT_BYTES) as u64;
            self.skip_to(begin.wrapping_add(beats));
        }
        counted
    }

    /// Compare bytes within the block; `offset` is their offset in the caller's bytes.
    fn compare(&mut self, bytes: &[u8], offset: usize) -> Result<(), Mismatch> {
        let expected = &self.expected.ready()[..bytes.len()];
        if expected == bytes {
            self.expected.take(bytes.len().next_multiple_of(BEAT_BYTES));
            return Ok(());
        }
        let wrong = expected.iter().zip(bytes).take_while(|(a, b)| a == b);
        let at = wrong.count() / BEAT_BYTES * BEAT_BYTES;
        let given = BEAT_BYTES.min(bytes.len() - at);
        let (expected, found) = (word(&expected[at..], given), word(&bytes[at..], given));
        self.expected.take(at);
        Err(Mismatch {
            beat: self.position(),
            offset_bytes: (offset + at) as u64,
            expected,
            found,
        })
    }
}

/// The first `len` bytes (at most a beat) as a beat, zero-extended.
pub(super) fn word(bytes: &[u8], len: usize) -> u128 {
    let mut beat = [0; BEAT_BYTES];
    beat[..len].copy_from_slice(&bytes[..len]);
    u128::from_le_bytes(beat)
}
