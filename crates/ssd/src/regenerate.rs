//! Regenerable pages: kept data stored as the parameters of its generator.
//!
//! Payloads of verified workloads follow from a few numbers in the block header, so four bytes per
//! 4 KiB page (24 bits of serial number, 254 families at once) let a [`Generator`] recreate them;
//! also pages of one repeated byte. A page that is not equal in every byte is kept whole.

use std::sync::Arc;

pub use assay_units::regenerate::{Family, PageGenerator as Generator};

use crate::data::PAGE_BYTES;
use crate::drive::digest::take;
use crate::sparse::SparseTable;

const PAGE: usize = PAGE_BYTES as usize;
const _: () = assert!(PAGE == assay_units::regenerate::PAGE_BYTES);
const SERIAL_BITS: u32 = 24;
/// Family codes start at 1; 0 is a page of one repeated byte, with serial number byte + 1.
const MAX_FAMILIES: usize = 254;

#[derive(Clone, Debug, Default)]
pub(crate) struct Regenerated {
    generator: Option<Arc<dyn Generator>>,
    /// Families and their page counts; entries with 0 pages are free.
    families: Vec<(Family, u64)>,
    /// Family code and serial number of each page, 0 for those not kept here.
    codes: SparseTable,
}

impl Regenerated {
    /// Only the first generator counts, because stored codes depend on it.
    pub fn set_generator(&mut self, generator: Arc<dyn Generator>) {
        self.generator.get_or_insert(generator);
    }

    pub fn first_from(&self, page: u64) -> u64 {
        let kept = self.codes.range(page, u64::MAX).next();
        kept.map_or(u64::MAX, |(page, _)| page)
    }

    pub fn digest(&self) -> u64 {
        let of_family = |&([first, second], pages): &(Family, u64)| [first, second, pages];
        let families = self.families.iter().flat_map(of_family);
        let codes = self.codes.range(0, u64::MAX);
        let codes = codes.flat_map(|(page, code)| [page, u64::from(code)]);
        take(0, families.chain([u64::MAX]).chain(codes))
    }

    /// `false` if the page cannot be regenerated; its previous entry is dropped either way.
    pub fn put(&mut self, page: u64, content: &[u8; PAGE]) -> bool {
        self.remove(page);
        let Some((family, serial)) = self.code(page, content) else {
            return false;
        };
        self.codes.set(page, (family as u32) << SERIAL_BITS | serial);
        if family > 0 {
            self.families[family - 1].1 += 1;
        }
        true
    }

    pub fn get(&self, page: u64, content: &mut [u8; PAGE]) -> bool {
        let code = self.codes.get(page);
        let serial = code & ((1 << SERIAL_BITS) - 1);
        match ((code >> SERIAL_BITS) as usize, &self.generator) {
            _ if code == 0 => return false,
            (0, _) => content.fill((serial - 1) as u8),
            (family, Some(generator)) => {
                let (family, _) = self.families[family - 1];
                generator.generate(family, serial, page * PAGE_BYTES, content);
            }
            (_, None) => return false,
        }
        true
    }

    pub fn remove(&mut self, page: u64) {
        let family = (self.codes.set(page, 0) >> SERIAL_BITS) as usize;
        if let Some(family) = family.checked_sub(1) {
            self.families[family].1 -= 1;
        }
    }

    pub fn remove_range(&mut self, first: u64, end: u64) {
        let kept: Vec<u64> = self.codes.range(first, end).map(|(page, _)| page).collect();
        for page in kept {
            self.remove(page);
        }
    }

    pub fn resident_bytes(&self) -> u64 {
        self.codes.resident_bytes()
    }

    fn code(&mut self, page: u64, content: &[u8; PAGE]) -> Option<(usize, u32)> {
        if content.iter().all(|&byte| byte == content[0]) {
            return Some((0, u32::from(content[0]) + 1));
        }
        let generator = self.generator.as_ref()?;
        let offset = page * PAGE_BYTES;
        let (family, serial) = generator.recognise(offset, content)?;
        if serial >> SERIAL_BITS != 0 {
            return None;
        }
        let mut again = [0; PAGE];
        generator.generate(family, serial, offset, &mut again);
        if again != *content {
            return None;
        }
        Some((self.family(family)? + 1, serial))
    }

    fn family(&mut self, family: Family) -> Option<usize> {
        if let Some(known) = self.families.iter().position(|&(known, _)| known == family) {
            return Some(known);
        }
        if let Some(free) = self.families.iter().position(|&(_, pages)| pages == 0) {
            self.families[free].0 = family;
            return Some(free);
        }
        if self.families.len() == MAX_FAMILIES {
            return None;
        }
        self.families.push((family, 0));
        Some(self.families.len() - 1)
    }
}

#[cfg(test)]
#[path = "../tests/unit/regenerate.rs"]
mod tests;
