//! Sparse store for the bytes of a simulated drive. Timing never depends on it.
//!
//! Unwritten pages read as the initial state defines: zeroes on a fresh drive, a function of seed
//! and address on a filled one. Pages are kept whole or in regenerable form
//! ([`crate::regenerate`]).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use assay_units::Rng;
use assay_units::rng::mix;

use crate::counterfeit::AddressAliases;
use crate::drive::digest::take;
use crate::options::InitialState;
use crate::regenerate::{Generator, Regenerated};

/// Granule of the store in bytes: the mapping unit.
pub const PAGE_BYTES: u64 = 4096;
const PAGE: usize = PAGE_BYTES as usize;
const EXTENT_PAGES: u64 = 4096;

/// Bytes of one page.
pub type Page = Box<[u8; PAGE]>;

/// Sparse store of bytes.
#[derive(Clone, Debug)]
pub struct DataStore {
    seed: u64,
    state: InitialState,
    pages: BTreeMap<u64, Page>,
    /// Pages kept in regenerable form, if enabled; disjoint from `pages`.
    regenerated: Option<Regenerated>,
    /// Ranges (exclusive end) that read as zeroes unless in `pages`; disjoint, not touching.
    zeroed: BTreeMap<u64, u64>,
    /// Each page before its last write, kept when stale reads are planned.
    previous: Option<BTreeMap<u64, Page>>,
    aliases: Option<AddressAliases>,
}

impl DataStore {
    /// Store at power-on. `keep_previous` keeps each page's previous content (twice the memory).
    pub fn new(seed: u64, state: InitialState, keep_previous: bool) -> DataStore {
        DataStore {
            seed,
            state,
            pages: BTreeMap::new(),
            regenerated: None,
            zeroed: BTreeMap::new(),
            previous: keep_previous.then(BTreeMap::new),
            aliases: None,
        }
    }

    /// Limit the store to so many bytes (whole pages, at least one), see [`crate::counterfeit`].
    pub fn wrap(mut self, bytes: u64) -> DataStore {
        self.aliases = Some(AddressAliases::new(bytes / PAGE_BYTES));
        self
    }

    /// Keep pages in regenerable form where possible.
    pub fn regenerate(mut self) -> DataStore {
        self.regenerated = Some(Regenerated::default());
        self
    }

    /// Set the generator of regenerable pages.
    pub fn set_generator(&mut self, generator: Arc<dyn Generator>) {
        if let Some(regenerated) = &mut self.regenerated {
            regenerated.set_generator(generator);
        }
    }

    /// Write bytes at an offset.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) {
        let mut rest = bytes;
        let mut at = offset;
        while !rest.is_empty() {
            let (page, start, len) = split(at, rest.len());
            let (now, later) = rest.split_at(len);
            match <&[u8; PAGE]>::try_from(now) {
                Ok(whole) if self.previous.is_none() => self.restore(page, whole),
                _ => {
                    let mut content = self.content(page);
                    if let Some(previous) = &mut self.previous {
                        previous.insert(page, content.clone());
                    }
                    content[start..start + len].copy_from_slice(now);
                    self.restore(page, &content);
                }
            }
            rest = later;
            at += len as u64;
        }
    }

    /// Read bytes at an offset.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) {
        self.read_with(offset, bytes, |page, content| self.fill_page(page, content));
    }

    /// Read each page as it was before its last write (current content where there was none).
    pub fn read_stale(&self, offset: u64, bytes: &mut [u8]) {
        let previous = |page| self.previous.as_ref()?.get(&page);
        self.read_with(offset, bytes, |page, content| match previous(page) {
            Some(stale) => content.copy_from_slice(&stale[..]),
            None => self.fill_page(page, content),
        });
    }

    fn read_with(&self, offset: u64, bytes: &mut [u8], fill: impl Fn(u64, &mut [u8; PAGE])) {
        let mut rest = bytes;
        let mut at = offset;
        while !rest.is_empty() {
            let (page, start, len) = split(at, rest.len());
            let (now, later) = rest.split_at_mut(len);
            match <&mut [u8; PAGE]>::try_from(&mut *now) {
                Ok(whole) => fill(page, whole),
                Err(_) => {
                    let mut content = [0; PAGE];
                    fill(page, &mut content);
                    now.copy_from_slice(&content[start..start + len]);
                }
            }
            rest = later;
            at += len as u64;
        }
    }

    /// Set a page's content without recording a previous one.
    pub fn restore(&mut self, page: u64, content: &[u8; PAGE]) {
        if let Some(other) = self.aliases.as_mut().and_then(|aliases| aliases.take(page)) {
            self.drop_page(other);
        }
        if let Some(regenerated) = &mut self.regenerated
            && regenerated.put(page, content)
        {
            self.pages.remove(&page);
            return;
        }
        match self.pages.entry(page) {
            Entry::Occupied(mut kept) => kept.get_mut().copy_from_slice(content),
            Entry::Vacant(entry) => {
                entry.insert(Box::new(*content));
            }
        }
    }

    /// Deallocate a range: it reads as zeroes.
    pub fn discard(&mut self, offset: u64, len: u64) {
        let end = offset + len;
        if let Some(aliases) = &self.aliases {
            let bytes = aliases.pages * PAGE_BYTES;
            let start = offset % bytes;
            if len >= bytes {
                self.discard_pages(0, bytes);
            } else if start + len > bytes {
                self.discard_pages(start, bytes);
                self.discard_pages(0, end % bytes);
            } else {
                self.discard_pages(start, start + len);
            }
        } else {
            self.discard_pages(offset, end);
        }
    }

    fn discard_pages(&mut self, offset: u64, end: u64) {
        let first_whole = offset.div_ceil(PAGE_BYTES);
        let end_whole = end / PAGE_BYTES;
        if first_whole >= end_whole {
            self.zero_bytes(offset, end);
            return;
        }
        self.zero_bytes(offset, first_whole * PAGE_BYTES);
        self.zero_bytes(end_whole * PAGE_BYTES, end);
        if let Some(aliases) = &mut self.aliases {
            for page in aliases.drop_range(first_whole, end_whole) {
                self.drop_page(page);
            }
        }
        remove_range(&mut self.pages, first_whole, end_whole);
        if let Some(regenerated) = &mut self.regenerated {
            regenerated.remove_range(first_whole, end_whole);
        }
        if let Some(previous) = &mut self.previous {
            remove_range(previous, first_whole, end_whole);
        }
        self.add_zeroed(first_whole, end_whole);
    }

    /// Bytes of memory of stored pages, without the maps' own.
    pub fn resident_bytes(&self) -> u64 {
        let previous = self.previous.as_ref().map_or(0, BTreeMap::len);
        let (tables, aliases) = (self.regenerated.as_ref(), self.aliases.as_ref());
        (self.pages.len() + previous) as u64 * PAGE_BYTES
            + tables.map_or(0, Regenerated::resident_bytes)
            + aliases.map_or(0, AddressAliases::resident_bytes)
    }

    /// End of the extent at `page` (or an earlier one), at most `end`, and whether it is a hole.
    pub fn extent(&self, page: u64, end: u64) -> (u64, bool) {
        let hole_end = self.hole_end(page, end);
        if hole_end > page {
            return (hole_end, true);
        }
        let far = end.min(page + EXTENT_PAGES);
        let kept = (page + 1..far).find(|&next| self.hole_end(next, next + 1) > next);
        (kept.unwrap_or(far.max(page + 1)), false)
    }

    /// End of the hole at `page`, at most `end`; `page` where there is none.
    fn hole_end(&self, page: u64, end: u64) -> u64 {
        let mut until = end;
        if self.state == InitialState::Filled {
            let before = self.zeroed.range(..=page).next_back();
            until = before.map_or(page, |(_, &stop)| stop.clamp(page, end));
        }
        if let Some((&kept, _)) = self.pages.range(page..).next() {
            until = until.min(kept);
        }
        if let Some(regenerated) = &self.regenerated {
            until = until.min(regenerated.first_from(page));
        }
        if self.aliases.is_some() { page } else { until }
    }

    /// Digest of what is stored and deallocated.
    pub fn digest(&self) -> u64 {
        let words = |bytes: &[u8; PAGE]| {
            let (chunks, _) = bytes.as_chunks::<8>();
            take(0, chunks.iter().map(|&chunk| u64::from_le_bytes(chunk)))
        };
        let pages = self.pages.iter();
        let pages = pages.flat_map(|(&page, bytes)| [page, words(bytes)]);
        let zeroed = self.zeroed.iter().flat_map(|(&start, &end)| [start, end]);
        let numbers = self.regenerated.as_ref().map_or(0, Regenerated::digest);
        take(numbers, pages.chain([u64::MAX]).chain(zeroed))
    }

    fn zero_bytes(&mut self, start: u64, end: u64) {
        let zeroes = [0_u8; PAGE];
        let mut at = start;
        while at < end {
            let (_, _, len) = split(at, (end - at).min(PAGE_BYTES) as usize);
            self.write(at, &zeroes[..len]);
            at += len as u64;
        }
    }

    fn drop_page(&mut self, page: u64) {
        self.pages.remove(&page);
        if let Some(regenerated) = &mut self.regenerated {
            regenerated.remove(page);
        }
    }

    /// The bytes of a page.
    pub fn content(&self, page: u64) -> Page {
        let mut content = Box::new([0_u8; PAGE]);
        self.fill_page(page, &mut content);
        content
    }

    fn fill_page(&self, page: u64, content: &mut [u8; PAGE]) {
        let aliases = self.aliases.as_ref();
        let page = aliases.map_or(page, |aliases| aliases.find(page));
        if let Some(kept) = self.pages.get(&page) {
            content.copy_from_slice(&kept[..]);
            return;
        }
        if let Some(regenerated) = &self.regenerated
            && regenerated.get(page, content)
        {
            return;
        }
        if self.state == InitialState::Filled && !self.is_zeroed(page) {
            Rng::new(mix(self.seed, page)).fill(&mut content[..]);
        } else {
            content.fill(0);
        }
    }

    fn is_zeroed(&self, page: u64) -> bool {
        let before = self.zeroed.range(..=page).next_back();
        before.is_some_and(|(_, &end)| page < end)
    }

    fn add_zeroed(&mut self, start: u64, end: u64) {
        if self.state == InitialState::Fresh {
            return;
        }
        let (mut start, mut end) = (start, end);
        while let Some((&other_start, &other_end)) = self.zeroed.range(..=end).next_back() {
            if other_end < start {
                break;
            }
            start = start.min(other_start);
            end = end.max(other_end);
            self.zeroed.remove(&other_start);
        }
        self.zeroed.insert(start, end);
    }
}

fn split(at: u64, left: usize) -> (u64, usize, usize) {
    let start = (at % PAGE_BYTES) as usize;
    (at / PAGE_BYTES, start, left.min(PAGE - start))
}

pub(crate) fn remove_range<T>(
    pages: &mut BTreeMap<u64, T>,
    start: u64,
    end: u64,
) -> BTreeMap<u64, T> {
    let mut removed = pages.split_off(&start);
    let mut beyond = removed.split_off(&end);
    pages.append(&mut beyond);
    removed
}

#[cfg(test)]
#[path = "../tests/unit/data.rs"]
mod tests;
