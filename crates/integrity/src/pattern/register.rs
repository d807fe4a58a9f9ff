use super::block::{self, BLOCK_BEATS, BLOCK_BYTES, Block};
use super::{BEAT_BYTES, Pattern};

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("beat {beat} of the stream is {found:032x} and should be {expected:032x}")]
pub struct Mismatch {
    pub beat: u64,
    /// Its offset in the bytes checked.
    pub offset_bytes: u64,
    /// Expected value; of a partial beat the bytes given, the others zero.
    pub expected: u128,
    /// Value found; bytes not given are zero.
    pub found: u128,
}

/// Mismatch counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrongBeats {
    pub beats: u64,
    pub first: Option<Mismatch>,
}

#[derive(Clone, Debug)]
pub struct PatternRegister {
    pattern: Pattern,
    block: Block,
    first_beat: u64,
    /// Bytes of the block already used, in whole beats.
    used_bytes: usize,
}

impl PatternRegister {
    pub(super) fn new(pattern: Pattern, first_beat: u64) -> PatternRegister {
        PatternRegister {
            pattern,
            block: block::from(pattern.beat(first_beat)),
            first_beat,
            used_bytes: 0,
        }
    }

    pub fn pattern(&self) -> Pattern {
        self.pattern
    }

    pub fn position(&self) -> u64 {
        let used = self.used_bytes / BEAT_BYTES;
        self.first_beat.wrapping_add(used as u64)
    }

    /// Go to this beat. A short distance ahead costs less than a long one or back (about 2 µs).
    pub fn seek(&mut self, beat: u64) {
        /// Maximum distance that is stepped.
        const NEAR_BLOCKS: u64 = 16;
        let mut left = beat.wrapping_sub(self.first_beat);
        if left > NEAR_BLOCKS * BLOCK_BEATS {
            *self = PatternRegister::new(self.pattern, beat);
            return;
        }
        while left > BLOCK_BEATS {
            self.next_block();
            left -= BLOCK_BEATS;
        }
        self.used_bytes = left as usize * BEAT_BYTES;
    }

    /// Fill `out` with the next bytes. A partial last beat skips its rest.
    pub fn fill(&mut self, out: &mut [u8]) {
        let ready = &self.block[self.used_bytes..];
        let (head, rest) = out.split_at_mut(out.len().min(ready.len()));
        head.copy_from_slice(&ready[..head.len()]);
        self.used_bytes += head.len();
        if !rest.is_empty() {
            let (blocks, tail) = rest.as_chunks_mut::<BLOCK_BYTES>();
            let mut previous = &self.block;
            for next in blocks.iter_mut() {
                block::step(previous, next);
                previous = next;
            }
            self.continue_after(blocks);
            if !tail.is_empty() {
                self.next_block();
                tail.copy_from_slice(&self.block[..tail.len()]);
                self.used_bytes = tail.len();
            }
        }
        self.used_bytes = self.used_bytes.next_multiple_of(BEAT_BYTES);
    }

    /// Compare with the next bytes. As with [`PatternRegister::fill`], a partial last beat skips
    /// its rest.
    ///
    /// # Errors
    /// The first wrong beat, at which the register stays; [`PatternRegister::seek`] continues.
    pub fn check(&mut self, bytes: &[u8]) -> Result<(), Mismatch> {
        let (head, rest) = bytes.split_at(bytes.len().min(BLOCK_BYTES - self.used_bytes));
        self.compare(head, 0)?;
        if rest.is_empty() {
            return Ok(());
        }
        let (blocks, tail) = rest.as_chunks::<BLOCK_BYTES>();
        let mut previous = &self.block;
        let mut right = 0_usize;
        for next in blocks {
            if !block::follows(previous, next) {
                break;
            }
            previous = next;
            right += 1;
        }
        self.continue_after(&blocks[..right]);
        let wrong = blocks.get(right).map(<[u8; BLOCK_BYTES]>::as_slice);
        match wrong.unwrap_or(tail) {
            [] => Ok(()),
            rest => {
                self.next_block();
                self.compare(rest, head.len() + right * BLOCK_BYTES)
            }
        }
    }

    pub fn count_wrong(&mut self, bytes: &[u8]) -> WrongBeats {
        let begin = self.position();
        let mut counted = WrongBeats::default();
        let mut done = 0;
        while let Err(mut mismatch) = self.check(&bytes[done..]) {
            mismatch.offset_bytes += done as u64;
            counted.first.get_or_insert(mismatch);
            done = mismatch.offset_bytes as usize;
            // Beat by beat to the end of this block: wrong beats are clustered.
            let expected = &self.block[self.used_bytes..];
            let compared = expected.len().min(bytes.len() - done);
            let found = bytes[done..][..compared].chunks(BEAT_BYTES);
            let pairs = expected.chunks(BEAT_BYTES).zip(found);
            let wrong = pairs.filter(|(expected, found)| expected[..found.len()] != **found);
            counted.beats += wrong.count() as u64;
            done += compared;
            let beats = done.div_ceil(BEAT_BYTES) as u64;
            self.seek(begin.wrapping_add(beats));
        }
        counted
    }

    fn compare(&mut self, bytes: &[u8], offset: usize) -> Result<(), Mismatch> {
        let expected = &self.block[self.used_bytes..][..bytes.len()];
        if expected == bytes {
            self.used_bytes += bytes.len().next_multiple_of(BEAT_BYTES);
            return Ok(());
        }
        let wrong = expected.iter().zip(bytes).take_while(|(a, b)| a == b);
        let at = wrong.count() / BEAT_BYTES * BEAT_BYTES;
        let given = BEAT_BYTES.min(bytes.len() - at);
        let (expected, found) = (word(&expected[at..], given), word(&bytes[at..], given));
        self.used_bytes += at;
        Err(Mismatch { beat: self.position(), offset_bytes: (offset + at) as u64, expected, found })
    }

    /// These blocks after the current one were passed.
    fn continue_after(&mut self, blocks: &[Block]) {
        if let Some(last) = blocks.last() {
            self.block = *last;
            let beats = blocks.len() as u64 * BLOCK_BEATS;
            self.first_beat = self.first_beat.wrapping_add(beats);
            self.used_bytes = BLOCK_BYTES;
        }
    }

    fn next_block(&mut self) {
        let previous = self.block;
        block::step(&previous, &mut self.block);
        self.first_beat = self.first_beat.wrapping_add(BLOCK_BEATS);
        self.used_bytes = 0;
    }
}

/// The first `len` bytes (at most a beat) as a beat, zero-extended.
pub(super) fn word(bytes: &[u8], len: usize) -> u128 {
    let mut beat = [0; BEAT_BYTES];
    beat[..len].copy_from_slice(&bytes[..len]);
    u128::from_le_bytes(beat)
}
