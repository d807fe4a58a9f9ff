//! A counterfeit's memory: less of it than the drive claims, and addresses that come round again.
//!
//! Firmware of drives with a forged capacity drops the upper bits of an address: what is written beyond the true end lands where something
//! else was written before (`fault=wrap:SIZE`). This remembers, for each true page, which of the pages that share it was written last.
//!
//! The bytes stay filed under the address they were *written* to. A page that says where it belongs can be made again from that address
//! only ([`crate::regenerate`]), so a whole counterfeit drive of self-describing blocks still takes eight bytes per true page.
//!
//! # Non-goals
//! Times are those of the drive as it claims to be: what a forged drive's map does with its last true page is nobody's specification.

use std::collections::BTreeMap;

/// Pages per table.
const TABLE: u64 = 256;

/// Which of the pages that share a true one is in it.
#[derive(Clone, Debug)]
pub struct AddressAliases {
    /// True pages there are.
    pages: u64,
    /// By true page over [`TABLE`]: how often the address of what is there goes round; 0 for what was never written beyond the end.
    rounds: BTreeMap<u64, Box<[u32; TABLE as usize]>>,
}

impl AddressAliases {
    /// A drive of so many true pages, at least one.
    pub fn new(pages: u64) -> AddressAliases {
        AddressAliases {
            pages: pages.max(1),
            rounds: BTreeMap::new(),
        }
    }

    /// The true page behind an address.
    pub fn truly(&self, page: u64) -> u64 {
        page % self.pages
    }

    /// How many true pages there are.
    pub fn count(&self) -> u64 {
        self.pages
    }

    /// Under which page the bytes are filed that a read of `page` gives.
    pub fn find(&self, page: u64) -> u64 {
        let truly = self.truly(page);
        let round = self
            .rounds
            .get(&(truly / TABLE))
            .map_or(0, |rounds| rounds[(truly % TABLE) as usize]);
        truly + u64::from(round) * self.pages
    }

    /// `page` is written: returns under which page the bytes are filed that this overwrites, when that is another.
    pub fn take(&mut self, page: u64) -> Option<u64> {
        let (old, truly) = (self.find(page), self.truly(page));
        if old == page {
            return None;
        }
        let round = u32::try_from(page / self.pages).unwrap_or(u32::MAX);
        let empty = || Box::new([0; TABLE as usize]);
        self.rounds.entry(truly / TABLE).or_insert_with(empty)[(truly % TABLE) as usize] = round;
        Some(old)
    }

    /// True pages `first..end` are forgotten: returns what was filed under other addresses there.
    pub fn forget(&mut self, first: u64, end: u64) -> Vec<u64> {
        let mut gone = Vec::new();
        for (&table, rounds) in self.rounds.range_mut(first / TABLE..end.div_ceil(TABLE)) {
            for (round, truly) in rounds.iter_mut().zip(table * TABLE..) {
                if *round > 0 && (first..end).contains(&truly) {
                    gone.push(truly + u64::from(*round) * self.pages);
                    *round = 0;
                }
            }
        }
        self.rounds
            .retain(|_, rounds| rounds.iter().any(|&round| round > 0));
        gone
    }

    /// Bytes of memory of the tables.
    pub fn resident_bytes(&self) -> u64 {
        self.rounds.len() as u64 * TABLE * 4
    }
}

#[cfg(test)]
#[path = "../tests/unit/counterfeit.rs"]
mod tests;
