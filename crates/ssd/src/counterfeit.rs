//! Counterfeit capacity: forged firmware drops upper address bits (`fault=wrap:SIZE`), so writes
//! beyond the true end overwrite other data.
//!
//! Content stays stored under the address it was *written* to ([`crate::regenerate`] needs that);
//! this table records which of the pages that share a true page is stored. Timing is that of the
//! claimed capacity.

use crate::sparse::SparseTable;

#[derive(Clone, Debug)]
pub struct AddressAliases {
    pub pages: u64,
    /// Per true page: address of the stored page divided by the capacity.
    rounds: SparseTable,
}

impl AddressAliases {
    pub fn new(pages: u64) -> AddressAliases {
        AddressAliases { pages: pages.max(1), rounds: SparseTable::default() }
    }

    pub fn find(&self, page: u64) -> u64 {
        let true_page = page % self.pages;
        true_page + u64::from(self.rounds.get(true_page)) * self.pages
    }

    /// Record a write of `page`; returns the other page it overwrites, if any.
    pub fn take(&mut self, page: u64) -> Option<u64> {
        let old = self.find(page);
        if old == page {
            return None;
        }
        let round = u32::try_from(page / self.pages).expect("page numbers fit 32 bits");
        self.rounds.set(page % self.pages, round);
        Some(old)
    }

    /// Drop true pages `first..end`; returns what was stored under other addresses there.
    pub fn drop_range(&mut self, first: u64, end: u64) -> Vec<u64> {
        let entries: Vec<(u64, u32)> = self.rounds.range(first, end).collect();
        let gone = entries.into_iter().map(|(true_page, round)| {
            self.rounds.set(true_page, 0);
            true_page + u64::from(round) * self.pages
        });
        gone.collect()
    }

    pub fn resident_bytes(&self) -> u64 {
        self.rounds.resident_bytes()
    }
}

#[cfg(test)]
#[path = "../tests/unit/counterfeit.rs"]
mod tests;
