//! Regeneration of pattern pages for simulated drives, which then need not store them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use assay_units::regenerate::{Family, PAGE_BYTES, PageGenerator};

use super::block::{self, BLOCK_BEATS, BLOCK_BYTES, Block};
use super::{BEAT_BYTES, Pattern};

/// Maximum number of streams recognised at once; the oldest are dropped.
pub const MAX_ANNOUNCED: usize = 64;

/// Streams on a simulated drive (`data=checksum`), which stores four bytes per 4 KiB page of them.
///
/// Announce each stream before it is written: its seed, and the address of its beat 0. Announcing
/// serves recognition only; a recognised page is stored as seed and address.
///
/// Pages elsewhere than at their own address (misdirected, or a later wrap of a ring that was not
/// announced), damaged ones and the partial one at a stream's end are stored whole. So injected
/// faults are visible, and only they cost memory.
#[derive(Debug, Default)]
pub struct PatternPages {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Most recent last.
    announced: Vec<Family>,
    /// The last page generated, by its first beat (at most 2^60): drives are mostly accessed in
    /// order, and the next page then costs one step.
    generated: Option<(Family, u64, Box<Block>)>,
}

impl PatternPages {
    /// No streams.
    pub fn new() -> PatternPages {
        PatternPages::default()
    }

    /// A stream of this seed will be written with its beat 0 at `first_address` (bytes). For a wrap
    /// of a ring: the address of the wrap's start minus the bytes before, modulo 2^64.
    pub fn announce(&self, seed: u64, first_address: u64) {
        let mut state = self.state();
        let family = [seed, first_address];
        state.announced.retain(|&known| known != family);
        if state.announced.len() == MAX_ANNOUNCED {
            state.announced.remove(0);
        }
        state.announced.push(family);
    }

    /// A panic elsewhere leaves no inconsistent state: the drive compares what is recognised.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The page of that stream at that address; `None` where its beats are not aligned to the page.
    fn page(&mut self, family: Family, offset: u64) -> Option<&Block> {
        let [seed, first_address] = family;
        let ahead = offset.wrapping_sub(first_address);
        if !ahead.is_multiple_of(BEAT_BYTES as u64) {
            return None;
        }
        let beat = ahead / BEAT_BYTES as u64;
        let again = match self.generated.take() {
            Some((generated, at, page)) if generated == family && at == beat => page,
            Some((generated, at, mut page)) if generated == family && at + BLOCK_BEATS == beat => {
                let previous = *page;
                block::step(&previous, &mut page);
                page
            }
            _ => Box::new(block::from(Pattern::new(seed).beat(beat))),
        };
        let (_, _, page) = self.generated.insert((family, beat, again));
        Some(page)
    }
}

impl PageGenerator for PatternPages {
    fn recognise(&self, offset: u64, page: &[u8; BLOCK_BYTES]) -> Option<(Family, u32)> {
        let state = &mut *self.state();
        // The stream of the previous page continues most often.
        if let Some((family, ..)) = state.generated
            && state.page(family, offset).is_some_and(|generated| generated == page)
        {
            return Some((family, 0));
        }
        let (first, _) = page.split_first_chunk::<BEAT_BYTES>()?;
        let first = u128::from_le_bytes(*first);
        let is_of = |&&[seed, first_address]: &&Family| {
            let ahead = offset.wrapping_sub(first_address);
            ahead.is_multiple_of(BEAT_BYTES as u64)
                && Pattern::new(seed).beat(ahead / BEAT_BYTES as u64) == first
        };
        let family = state.announced.iter().rev().find(is_of)?;
        Some((*family, 0))
    }

    fn generate(&self, family: Family, _: u32, offset: u64, page: &mut [u8; BLOCK_BYTES]) {
        if let Some(generated) = self.state().page(family, offset) {
            *page = *generated;
        }
    }
}

// A page is a block.
const _: () = assert!(BLOCK_BYTES == PAGE_BYTES);

#[cfg(test)]
#[path = "../../tests/unit/pattern/pages.rs"]
mod tests;
