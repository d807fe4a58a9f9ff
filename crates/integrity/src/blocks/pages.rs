//! Regeneration of verify blocks for simulated drives, which then need not store them.

use assay_units::regenerate::{Family, PageGenerator};

use super::header::{BlockHeader, pattern_code, pattern_of};
use super::map::MAX_GENERATION;
use super::{DEFAULT_INTERVAL_BYTES, Verifier};

/// A page is recognised by the header at its start: blocks of up to a page, written together. Later
/// pages of longer blocks, and pages with blocks of several writes, are stored whole.
#[derive(Clone, Copy, Debug)]
pub struct VerifyBlocks;

impl PageGenerator for VerifyBlocks {
    fn recognise(&self, offset: u64, page: &[u8; 4096]) -> Option<(Family, u32)> {
        let header = BlockHeader::decode(page)?;
        if header.offset_bytes != offset
            || header.len_bytes > DEFAULT_INTERVAL_BYTES
            || header.generation > MAX_GENERATION
        {
            return None;
        }
        let layout = u64::from(pattern_code(header.pattern)) << 32 | u64::from(header.len_bytes);
        Some(([header.seed, layout], header.generation as u32))
    }

    fn generate(&self, family: Family, serial: u32, offset: u64, page: &mut [u8; 4096]) {
        let [seed, layout] = family;
        let made = pattern_of((layout >> 32) as u32)
            .and_then(|pattern| Verifier::new(seed, layout as u32, pattern).ok());
        if let Some(verifier) = made {
            verifier.stamp(page, offset, u64::from(serial));
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/blocks/pages.rs"]
mod tests;
