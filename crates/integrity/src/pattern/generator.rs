//! Pattern generator.

use super::block::{self, BLOCK_BEATS, BLOCK_BYTES, Block};
use super::{BEAT_BYTES, Pattern};

/// Generates the stream in order from any beat. 4 KiB of state without heap.
#[derive(Clone, Debug)]
pub struct PatternGenerator {
    pattern: Pattern,
    block: Block,
    first_beat: u64,
    /// Bytes of the block already used, in whole beats.
    used_bytes: usize,
}

impl PatternGenerator {
    pub(super) fn new(pattern: Pattern, first_beat: u64) -> PatternGenerator {
        PatternGenerator {
            pattern,
            block: block::from(pattern.register(first_beat)),
            first_beat,
            used_bytes: 0,
        }
    }

    /// The pattern.
    pub fn pattern(&self) -> Pattern {
        self.pattern
    }

    /// The next beat.
    pub fn position(&self) -> u64 {
        let used = self.used_bytes / BEAT_BYTES;
        self.first_beat.wrapping_add(used as u64)
    }

    /// Fill `out` with the next bytes. A partial last beat skips its rest.
    pub fn fill(&mut self, out: &mut [u8]) {
        let ready = self.ready();
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
            let made = blocks.len();
            self.continue_after(blocks.last(), made as u64);
            if !tail.is_empty() {
                self.next_block();
                tail.copy_from_slice(&self.block[..tail.len()]);
                self.used_bytes = tail.len();
            }
        }
        self.used_bytes = self.used_bytes.next_multiple_of(BEAT_BYTES);
    }

    /// Go to this beat. A short distance ahead costs less than a long one or back (about 2 µs).
    pub fn seek(&mut self, beat: u64) {
        /// Maximum distance that is stepped.
        const NEAR_BLOCKS: u64 = 16;
        let ahead = beat.wrapping_sub(self.first_beat);
        if ahead > NEAR_BLOCKS * BLOCK_BEATS {
            *self = PatternGenerator::new(self.pattern, beat);
            return;
        }
        let mut left = ahead;
        while left > BLOCK_BEATS {
            self.next_block();
            left -= BLOCK_BEATS;
        }
        self.used_bytes = left as usize * BEAT_BYTES;
    }

    /// Unused bytes of the block.
    pub(super) fn ready(&self) -> &[u8] {
        &self.block[self.used_bytes..]
    }

    /// The current block.
    pub(super) fn block(&self) -> &Block {
        &self.block
    }

    /// Use bytes of [`PatternGenerator::ready`].
    pub(super) fn take(&mut self, bytes: usize) {
        self.used_bytes = (self.used_bytes + bytes).min(BLOCK_BYTES);
    }

    /// `made` blocks after this one were passed, the last of which is this.
    pub(super) fn continue_after(&mut self, last: Option<&Block>, made: u64) {
        if let Some(last) = last {
            self.block = *last;
            self.first_beat = self.first_beat.wrapping_add(made * BLOCK_BEATS);
            self.used_bytes = BLOCK_BYTES;
        }
    }

    /// Go to the next block.
    pub(super) fn next_block(&mut self) {
        let previous = self.block;
        block::step(&previous, &mut self.block);
        self.first_beat = self.first_beat.wrapping_add(BLOCK_BEATS);
        self.used_bytes = 0;
    }
}
