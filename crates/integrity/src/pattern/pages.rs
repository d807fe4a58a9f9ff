//! Pages of pattern streams, made again for simulated drives, which then need not keep them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use assay_units::regenerate::{Family, PAGE_BYTES, PageGenerator};

use super::block::{self, BLOCK_BEATS, BLOCK_BYTES, Block};
use super::{BEAT_BYTES, Pattern};

/// Most streams that are looked for at once; the ones announced first are given up for later ones.
pub const MAX_ANNOUNCED: usize = 64;

/// The streams on a simulated drive (`data=checksum`), which then holds four bytes for each 4 KiB page of them.
///
/// Announce each stream before it is written: its seed, and where on the drive its beat 0 lies. Announcing serves recognition only; a
/// page that was recognised is kept as seed and address, and stays what it was when others have been announced since.
///
/// Pages that lie anywhere but at their own address (misdirected, or a chunk of a ring that has come round, unless that round is announced),
/// damaged ones and the partial one at a stream's end are kept whole. So whoever puts faults into a drive sees them, and pays for them alone.
#[derive(Debug, Default)]
pub struct PatternPages {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Most recent last.
    announced: Vec<Family>,
    /// The page made last, by its first beat (at most 2^60): drives are mostly written and read in order, and the next page then costs a
    /// step instead of a beginning.
    made: Option<(Family, u64, Box<Block>)>,
}

impl PatternPages {
    /// None announced.
    pub fn new() -> PatternPages {
        PatternPages::default()
    }

    /// A stream of this seed is about to be written, its beat 0 at `first_address` (in bytes). Of a round of a ring, the address is
    /// that of the round's place minus the bytes before, modulo 2^64.
    pub fn announce(&self, seed: u64, first_address: u64) {
        let mut state = self.state();
        let family = [seed, first_address];
        state.announced.retain(|&known| known != family);
        if state.announced.len() == MAX_ANNOUNCED {
            state.announced.remove(0);
        }
        state.announced.push(family);
    }

    /// A panic of another thread leaves nothing half done here that matters: what is recognised is compared by the drive.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The page of that stream at that address; none where its beats do not begin with the page.
    fn page(&mut self, family: Family, offset: u64) -> Option<&Block> {
        let [seed, first_address] = family;
        let ahead = offset.wrapping_sub(first_address);
        if !ahead.is_multiple_of(BEAT_BYTES as u64) {
            return None;
        }
        let beat = ahead / BEAT_BYTES as u64;
        let again = match self.made.take() {
            Some((made, at, page)) if made == family && at == beat => page,
            Some((made, at, mut page)) if made == family && at + BLOCK_BEATS == beat => {
                let previous = *page;
                block::step(&previous, &mut page);
                page
            }
            _ => Box::new(block::from(Pattern::new(seed).beat(beat))),
        };
        let (_, _, page) = self.made.insert((family, beat, again));
        Some(page)
    }
}

impl PageGenerator for PatternPages {
    fn recognise(&self, offset: u64, page: &[u8; BLOCK_BYTES]) -> Option<(Family, u32)> {
        let state = &mut *self.state();
        // The stream of the page before goes on most often.
        if let Some((family, ..)) = state.made
            && state.page(family, offset).is_some_and(|made| made == page)
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
        if let Some(made) = self.state().page(family, offset) {
            *page = *made;
        }
    }
}

// A page is a block.
const _: () = assert!(BLOCK_BYTES == PAGE_BYTES);

#[cfg(test)]
#[path = "../../tests/unit/pattern/pages.rs"]
mod tests;
