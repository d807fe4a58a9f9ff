//! Bytes that can be made again instead of being kept.
//!
//! Verified workloads write blocks that say what they are and hold nothing else: the payload follows from a few numbers in the
//! block's header. Whoever made them can make them again ([`Generator`]), so a drive that keeps data for verification need not keep
//! their bytes, only those numbers: four bytes per 4 KiB. Pages of one byte repeated (zeroes) are kept the same way.
//!
//! # Honesty
//! A page is only kept as a number after it was made again from it and every byte compared; anything else (corrupted on the way,
//! misplaced, torn, of another program) is kept whole. So what is read back is always what was written, and whatever is wrong with it
//! is found. A checksum alone could not do that: it tells that a page is wrong, and not what a verifier makes of it.
//!
//! # Non-goals
//! No compression of bytes nobody can make again: verified payloads are incompressible by design, and others are not verified.
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
/// Pages per table.
const TABLE: u64 = 256;
const SERIAL_BITS: u32 = 24;
/// Codes of families begin at 1: 0 is a page of one byte repeated, its serial number that byte and one.
const MAX_FAMILIES: usize = 254;

/// Pages kept as numbers.
#[derive(Clone, Debug, Default)]
pub struct Regenerated {
    generator: Option<Arc<dyn Generator>>,
    /// Families in use and how many pages are of each; a place of 0 pages is free.
    families: Vec<(Family, u64)>,
    /// By page number over [`TABLE`]: codes, 0 for pages that are not here, and how many are.
    tables: BTreeMap<u64, (Box<[u32; TABLE as usize]>, u32)>,
}

impl Regenerated {
    /// Let these pages be made again, too; the ones kept so far keep their meaning only if no other generator was there before.
    pub fn set_generator(&mut self, generator: Arc<dyn Generator>) {
        if self.generator.is_none() {
            self.generator = Some(generator);
        }
    }

    /// The first page that is here, from this one on; the largest number where there is none.
    pub fn first_from(&self, page: u64) -> u64 {
        self.tables
            .range(page / TABLE..)
            .find_map(|(&table, (codes, _))| {
                let first = table * TABLE;
                let skipped = page.saturating_sub(first) as usize;
                let place = codes.get(skipped..)?.iter().position(|&code| code != 0)?;
                Some(first + (skipped + place) as u64)
            })
            .unwrap_or(u64::MAX)
    }

    /// A number that is equal where the pages kept are.
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

    /// Keep a page, if it can be made again; what was kept of it before is forgotten.
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

    /// The page, if it is kept here.
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

    /// Forget a page.
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

    /// Forget pages `first..end`.
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

    /// Family (0: one byte repeated) and serial number from which this very page can be made.
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

    /// The place of a family, a free one if it has none yet.
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
