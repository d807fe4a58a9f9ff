//! fio's random map (`lib/axmap.c`): which blocks a pass has accessed.

const BITS: u64 = 64;
const SHIFT: u32 = 6;

/// A bit of a level is set when the word below it is full, so that a free block is found in as many
/// steps as there are levels.
#[derive(Clone, Debug)]
pub(super) struct RandomMap {
    blocks: u64,
    levels: Vec<Vec<u64>>,
}

impl RandomMap {
    pub(super) fn new(blocks: u64) -> RandomMap {
        let mut levels = Vec::new();
        let mut words = blocks.div_ceil(BITS);
        loop {
            levels.push(vec![0; words as usize]);
            if words <= 1 {
                return RandomMap { blocks, levels };
            }
            words = words.div_ceil(BITS);
        }
    }

    pub(super) fn clear(&mut self) {
        self.levels.iter_mut().for_each(|level| level.fill(0));
    }

    fn word(&self, level: usize, at: u64) -> Option<u64> {
        self.levels[level].get(at as usize).copied()
    }

    /// A block behind the last one is free.
    pub(super) fn is_free(&self, block: u64) -> bool {
        let word = self.word(0, block >> SHIFT).unwrap_or(0);
        word >> (block & (BITS - 1)) & 1 == 0
    }

    /// The first free block behind this one, from the first on after the last.
    pub(super) fn next_free(&self, block: u64) -> Option<u64> {
        if block >= self.blocks {
            return None;
        }
        let next = if block + 1 == self.blocks { 0 } else { block + 1 };
        self.first_free(next).or_else(|| self.first_free(0).filter(|_| next != 0))
    }

    fn first_free(&self, from: u64) -> Option<u64> {
        let mut index = 0;
        for level in (0..self.levels.len()).rev() {
            index = (index << SHIFT).max(from >> (SHIFT * level as u32));
            let at = index >> SHIFT;
            let before = (1 << (index & (BITS - 1))) - 1;
            let first = !(self.word(level, at)? | before);
            let words = self.levels[level].iter().enumerate().skip(at as usize + 1);
            let (at, free) = match first {
                0 => words.map(|(at, word)| (at as u64, !word)).find(|(_, free)| *free != 0)?,
                _ => (at, first),
            };
            index = (at << SHIFT) + u64::from(free.trailing_zeros());
        }
        (index < self.blocks).then_some(index)
    }

    /// Marks so many blocks from this one on, up to one that is marked; returns how many.
    pub(super) fn mark(&mut self, block: u64, count: u64) -> u64 {
        let (mut next, mut left) = (block, count);
        while left > 0 && next <= self.blocks {
            let bit = next & (BITS - 1);
            let wanted = left.min(BITS - bit);
            let Some(word) = self.levels[0].get_mut((next >> SHIFT) as usize) else {
                break;
            };
            let free = (u64::from((*word >> bit).trailing_zeros())).min(wanted);
            if free == 0 {
                break;
            }
            let bits = if free == BITS { u64::MAX } else { (1 << free) - 1 };
            *word |= bits << bit;
            if *word == u64::MAX {
                self.fill_above(next >> SHIFT);
            }
            next += free;
            left -= free;
            if free < wanted {
                break;
            }
        }
        next - block
    }

    fn fill_above(&mut self, mut full: u64) {
        for level in &mut self.levels[1..] {
            let word = &mut level[(full >> SHIFT) as usize];
            *word |= 1 << (full & (BITS - 1));
            if *word != u64::MAX {
                return;
            }
            full >>= SHIFT;
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/access/fio/map.rs"]
mod tests;
