//! Regenerable pages: kept data stored as the parameters of its generator.
//!
//! Payloads of verified workloads follow from a few numbers in the block header, so a [`Generator`] can
//! recreate them: four bytes per 4 KiB instead of the content. Pages of one repeated byte are kept the same
//! way.
//!
//! # Correctness
//! A page is kept as parameters only after regenerating it and comparing every byte; anything else (corrupted,
//! misplaced, torn, foreign) is kept whole. So reads return exactly what was written.
//!
//! # Non-goals
//! Compression of other data.
//!
//! # Key constants
//! 24 bits of serial number, 254 families at once, tables of 256 pages (1 KiB each).

use std::collections::BTreeMap;
use std::sync::Arc;

pub use assay_units::regenerate::{Family, PageGenerator as Generator};

use crate::data::PAGE_BYTES;
use crate::drive::digest::take;

const PAGE: usize = PAGE_BYTES as usize;
const _: () = assert!(PAGE == assay_units::regenerate::PAGE_BYTES);
const TABLE: u64 = 256;
const SERIAL_BITS: u32 = 24;
/// Family codes start at 1; 0 is a page of one repeated byte, with serial number byte + 1.
const MAX_FAMILIES: usize = 254;

/// Pages kept as parameters.
#[derive(Clone, Debug, Default)]
pub struct Regenerated {
    generator: Option<Arc<dyn Generator>>,
    /// Families and their page counts; entries with 0 pages are free.
    families: Vec<(Family, u64)>,
    /// By page / [`TABLE`]: codes (0: not kept here) and their count.
    tables: BTreeMap<u64, (Box<[u32; TABLE as usize]>, u32)>,
}

impl Regenerated {
    /// Set the generator; only the first one counts, stored codes depend on it.
    pub fn set_generator(&mut self, generator: Arc<dyn Generator>) {
        if self.generator.is_none() {
            self.generator = Some(generator);
        }
    }

    /// First kept page from this one on, `u64::MAX` if none.
    pub fn first_from(&self, page: u64) -> u64 {
        self.tables
            .range(page / TABLE..)
            .find_map(|(&table, (codes, _))| {
                let first = table * TABLE;
                // 0 in tables after the one that holds `page`.
                let skipped = page.saturating_sub(first) as usize;
                let place = codes.get(skipped..)?.iter().position(|&code| code != 0)?;
                Some(first + (skipped + place) as u64)
            })
            .unwrap_or(u64::MAX)
    }

    /// Digest of the pages kept.
    pub fn digest(&self) -> u64 {
        let families = self
            .families
            .iter()
            .flat_map(|&([first, second], pages)| [first, second, pages]);
        let codes = self.tables.iter().flat_map(|(&table, (codes, _))| {
            std::iter::once(table).chain(codes.iter().map(|&code| u64::from(code)))
        });
        take(0, families.chain([u64::MAX]).chain(codes))
    }

    /// Keep a page if it can be regenerated; its previous entry is dropped.
    pub fn put(&mut self, page: u64, content: &[u8; PAGE]) -> bool {
        self.remove(page);
        let Some((family, serial)) = self.code(page, content) else {
            return false;
        };
        let empty = || (Box::new([0; TABLE as usize]), 0);
        let (codes, used) = self.tables.entry(page / TABLE).or_insert_with(empty);
        codes[(page % TABLE) as usize] = (family as u32) << SERIAL_BITS | serial;
        *used += 1;
        if family > 0 {
            self.families[family - 1].1 += 1;
        }
        true
    }

    /// Regenerate a page; `false` if it is not kept here.
    pub fn get(&self, page: u64, content: &mut [u8; PAGE]) -> bool {
        let Some((codes, _)) = self.tables.get(&(page / TABLE)) else {
            return false;
        };
        let code = codes[(page % TABLE) as usize];
        let serial = code & ((1 << SERIAL_BITS) - 1);
        let family = (code >> SERIAL_BITS) as usize;
        match (family, &self.generator) {
            _ if code == 0 => return false,
            (0, _) => content.fill((serial - 1) as u8),
            (_, Some(generator)) => {
                generator.generate(
                    self.families[family - 1].0,
                    serial,
                    page * PAGE_BYTES,
                    content,
                );
            }
            (_, None) => return false,
        }
        true
    }

    /// Drop a page.
    pub fn remove(&mut self, page: u64) {
        let Some((codes, used)) = self.tables.get_mut(&(page / TABLE)) else {
            return;
        };
        let code = std::mem::take(&mut codes[(page % TABLE) as usize]);
        if code == 0 {
            return;
        }
        *used -= 1;
        if *used == 0 {
            self.tables.remove(&(page / TABLE));
        }
        if let Some(family) = ((code >> SERIAL_BITS) as usize).checked_sub(1) {
            self.families[family].1 -= 1;
        }
    }

    /// Drop pages `first..end`.
    pub fn remove_range(&mut self, first: u64, end: u64) {
        let tables = self.tables.range(first / TABLE..end.div_ceil(TABLE));
        let numbers: Vec<u64> = tables.map(|(&number, _)| number).collect();
        for number in numbers {
            for page in (number * TABLE).max(first)..((number + 1) * TABLE).min(end) {
                self.remove(page);
            }
        }
    }

    /// Bytes of memory of the tables.
    pub fn resident_bytes(&self) -> u64 {
        self.tables.len() as u64 * TABLE * 4
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
