//! Counterfeit capacity: fewer bytes than claimed, with addresses that wrap around.
//!
//! Forged firmware drops the upper address bits, so writes beyond the true end overwrite other data
//! (`fault=wrap:SIZE`). This module records which of the pages sharing a true page was written last.
//!
//! Content stays stored under the address it was *written* to, because self-describing pages can be regenerated
//! only from that ([`crate::regenerate`]).
//!
//! # Non-goals
//! Timing of a forged drive: it is that of the claimed capacity.

use std::collections::BTreeMap;

/// Pages per table.
const TABLE: u64 = 256;

/// Which of the pages that share a true page is stored.
#[derive(Clone, Debug)]
pub struct AddressAliases {
    pages: u64,
    /// By true page / [`TABLE`]: address of the stored page divided by the capacity (0 if none beyond the end).
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

    pub fn true_page(&self, page: u64) -> u64 {
        page % self.pages
    }

    pub fn count(&self) -> u64 {
        self.pages
    }

    /// Page under which the content read at `page` is stored.
    pub fn find(&self, page: u64) -> u64 {
        let true_page = self.true_page(page);
        let round = self
            .rounds
            .get(&(true_page / TABLE))
            .map_or(0, |rounds| rounds[(true_page % TABLE) as usize]);
        true_page + u64::from(round) * self.pages
    }

    /// Record a write of `page`; returns the other page it overwrites, if any.
    pub fn take(&mut self, page: u64) -> Option<u64> {
        let (old, true_page) = (self.find(page), self.true_page(page));
        if old == page {
            return None;
        }
        let round = u32::try_from(page / self.pages).expect("page numbers fit 32 bits");
        let empty = || Box::new([0; TABLE as usize]);
        self.rounds.entry(true_page / TABLE).or_insert_with(empty)[(true_page % TABLE) as usize] =
            round;
        Some(old)
    }

    /// Drop true pages `first..end`; returns what was stored under other addresses there.
    pub fn drop_range(&mut self, first: u64, end: u64) -> Vec<u64> {
        let mut gone = Vec::new();
        for (&table, rounds) in self.rounds.range_mut(first / TABLE..end.div_ceil(TABLE)) {
            for (round, true_page) in rounds.iter_mut().zip(table * TABLE..) {
                if *round > 0 && (first..end).contains(&true_page) {
                    gone.push(true_page + u64::from(*round) * self.pages);
                    *round = 0;
                }
            }
        }
        self.rounds
            .retain(|_, rounds| rounds.iter().any(|&round| round > 0));
        gone
    }

    pub fn resident_bytes(&self) -> u64 {
        self.rounds.len() as u64 * TABLE * 4
    }
}

#[cfg(test)]
#[path = "../tests/unit/counterfeit.rs"]
mod tests;
