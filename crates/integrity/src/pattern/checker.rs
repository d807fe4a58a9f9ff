//! Is it the stream? The first beat that is not, and how many are not.

use super::block::{self, BLOCK_BYTES};
use super::{BEAT_BYTES, Pattern, PatternGenerator};

/// The first wrong beat of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("beat {beat} of the stream is {found:032x} and should be {expected:032x}")]
pub struct Mismatch {
    /// Which beat of the stream.
    pub beat: u64,
    /// Where that beat begins in the bytes that were given.
    pub offset_bytes: u64,
    /// What it should be. Of a beat that the bytes end inside of, the bytes given; the others are zero.
    pub expected: u128,
    /// What it is; the bytes not given are zero.
    pub found: u128,
}

impl Mismatch {
    /// The bits that differ.
    pub fn wrong_bits(&self) -> u128 {
        self.expected ^ self.found
    }
}

/// How wrong some bytes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrongBeats {
    /// Beats with any bit wrong.
    pub beats: u64,
    /// Bits wrong.
    pub bits: u64,
    /// The first of them.
    pub first: Option<Mismatch>,
}

/// Compares bytes with the stream, in order. 4 KiB of state, none of it on the heap; what is right is read once and written nowhere.
#[derive(Clone, Debug)]
pub struct PatternChecker {
    /// What should come next.
    expected: PatternGenerator,
}

impl PatternChecker {
    pub(super) fn new(pattern: Pattern, first_beat: u64) -> PatternChecker {
        PatternChecker {
            expected: PatternGenerator::new(pattern, first_beat),
        }
    }

    /// The pattern that is expected.
    pub fn pattern(&self) -> Pattern {
        self.expected.pattern()
    }

    /// The beat that is expected next; after a mismatch, the wrong one.
    pub fn position(&self) -> u64 {
        self.expected.position()
    }

    /// Go on at this beat, after a mismatch for example. Near ahead costs less than far or back (about 2 µs).
    pub fn skip_to(&mut self, beat: u64) {
        self.expected.seek(beat);
    }

    /// Compare the bytes with what comes next. As with [`PatternGenerator::fill`], bytes that end inside of a beat leave the rest of it out.
    ///
    /// # Errors
    /// The first wrong beat, at which the checker stays; [`PatternChecker::skip_to`] goes on.
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

    /// Compare all of the bytes, whatever is wrong with them, and count. Where nothing is wrong it is as fast as [`PatternChecker::check`].
    /// The checker has then passed all of them.
    pub fn count_wrong(&mut self, bytes: &[u8]) -> WrongBeats {
        let begin = self.position();
        let mut counted = WrongBeats::default();
        let mut done = 0;
        while let Err(mut mismatch) = self.check(&bytes[done..]) {
            mismatch.offset_bytes += done as u64;
            counted.first.get_or_insert(mismatch);
            done = mismatch.offset_bytes as usize;
            // Beats one by one to the end of this block: where one is wrong, others are.
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

    /// Compare bytes within the block; `offset` is where they begin in what the caller was given.
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

/// The first `len` bytes (at most a beat) as a beat, zeroes above.
pub(super) fn word(bytes: &[u8], len: usize) -> u128 {
    let mut beat = [0; BEAT_BYTES];
    beat[..len].copy_from_slice(&bytes[..len]);
    u128::from_le_bytes(beat)
}
