//! The map of a drive without DRAM: on flash, in pages, of which a cache holds some.
//!
//! # Purpose
//! A drive needs four bytes of map per 4 KiB. Without DRAM for it, the map lies on flash and the controller keeps the pages of it
//! that it used last in its SRAM, or in memory that the host lends. What is read often and near together is then as fast as
//! ever; what is read at random over more than the cache reaches pays for a second sense before its own.
//!
//! # Mechanism
//! Demand paging of the map (A. Gupta, Y. Kim, B. Urgaonkar, "DFTL: a flash translation layer employing demand-based selective
//! caching of page-level address mappings", ASPLOS 2009; NVM Express Base Specification 1.2, section 8.9, for host memory).
//! - A read whose map page is absent senses that page first, on the die where it lies, and its data after it. Commands that want a page
//!   on its way wait for it. A read that is answered from what was read ahead needs no map.
//! - A write changes its unit's entry: the page is fetched if it is absent and is dirty then. The write is acknowledged without
//!   waiting; its data is programmed when the page is there, so that a buffer full of such data holds the host back.
//! - What garbage collection and folding move changes entries too: of all units moved by one command, each page once (DFTL's batch
//!   updates).
//! - A dirty page that has to go is gathered with others; a full program group of them is written to the next die in turn and counts as
//!   flash written. Until then they are in the controller and cost nothing to fetch.
//! - A page that was never written, or all of whose units were deallocated, is known to be empty and costs nothing to fetch.
//! - In host memory a hit takes a round trip on the link and 64 bytes of it; a page fetched from flash is stored there over the link, and
//!   a dirty one comes back over it before it is programmed.
//!
//! # Non-goals
//! The model's own map is in memory all the same: only times and counters change. The flash that the map lies on is beside the user's
//! superblocks, with so much room that its blocks are empty when they are erased, and its erasing takes no time. A flush
//! does not write the map, and a restart finds it at once (from what is stored beside the data). The old content for a write of less than a
//! unit is read without waiting for the map. Pages are fetched whole; there is no second level of cache, and no table of pages that
//! would have to be fetched itself.

mod pages;

use crate::ftl::Ftl;
use crate::link::Link;
use crate::profile::{MapCacheProfile, NandProfile, pages_per_group, units_per_page, units_shift};
use pages::Pages;

/// Places of a map page that are no die: never written, and waiting for its program group to fill.
const UNWRITTEN: u16 = u16::MAX;
const GATHERED: u16 = u16::MAX - 1;
/// What of host memory is read to get one entry: a cache line.
const ENTRY_BYTES: u64 = 64;

/// What a map cache counted since power-on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapCacheCounters {
    /// Times a map page was wanted.
    pub lookups: u64,
    /// Times it was not in the cache.
    pub misses: u64,
    /// Map pages sensed.
    pub pages_read: u64,
    /// Map pages programmed.
    pub pages_programmed: u64,
}

/// Where map pages and their data come from: the flash, the link, and the model's present.
pub(crate) struct Ways<'a> {
    pub(crate) ftl: &'a mut Ftl,
    pub(crate) link: &'a mut Link,
    pub(crate) floor_ns: u64,
}

/// The map on flash and its cache. Times in nanoseconds.
#[derive(Clone, Debug)]
pub struct MapCache {
    pages: Pages,
    /// Die of each page, or one of the places above.
    places: Vec<u16>,
    user_units: u32,
    /// Units mapped by a page, as a power of two.
    shift: u32,
    page_bytes: u64,
    page_units: u32,
    read_ns: u64,
    program_ns: u64,
    /// Round trip to the cache, where it is in host memory.
    host_ns: Option<u64>,
    /// Dirty pages on their way out, and when the last of them is in the controller.
    gathered: Vec<u32>,
    gathered_ns: u64,
    group_pages: usize,
    dies: u16,
    next_die: u16,
    counters: MapCacheCounters,
}

impl MapCache {
    /// An empty cache before the map of so many units, which is on flash when the drive was `filled`: page after page on one die after
    /// the other.
    pub fn new(
        profile: &MapCacheProfile,
        nand: &NandProfile,
        user_units: u32,
        filled: bool,
    ) -> MapCache {
        let shift = units_shift(profile);
        let count = user_units.div_ceil(1 << shift);
        let dies = nand.dies.value.max(1);
        let policy = profile.replacement.as_ref().map(|policy| policy.value);
        let page_bytes = profile.page_bytes.value;
        let host_ns = profile.host_access_ns.as_ref().map(|ns| ns.value);
        MapCache {
            pages: Pages::new(
                policy.unwrap_or_default(),
                profile.capacity_bytes.value / page_bytes,
                count,
            ),
            places: (0..count)
                .map(|page| match filled {
                    true => (page % u32::from(dies)) as u16,
                    false => UNWRITTEN,
                })
                .collect(),
            user_units,
            shift,
            page_bytes,
            page_units: units_per_page(profile),
            read_ns: profile.read_ns.value,
            program_ns: profile.program_ns.value,
            host_ns: host_ns.filter(|_| profile.is_in_host_memory()),
            gathered: Vec::new(),
            gathered_ns: 0,
            group_pages: pages_per_group(profile, nand).max(1) as usize,
            dies,
            next_die: 0,
            counters: MapCacheCounters::default(),
        }
    }

    /// Counters since power-on.
    pub fn counters(&self) -> MapCacheCounters {
        self.counters
    }

    /// Units mapped by a page, as a power of two.
    pub(crate) fn units_shift(&self) -> u32 {
        self.shift
    }

    /// Bytes of memory that the model takes for it.
    pub fn resident_bytes(&self) -> u64 {
        self.places.len() as u64 * 2 + self.pages.resident_bytes()
    }

    /// The entries of units `first..=last` are wanted at `issue_ns`, to be changed or not: when they are known.
    pub(crate) fn access(
        &mut self,
        ways: &mut Ways<'_>,
        issue_ns: u64,
        first: u32,
        last: u32,
        change: bool,
    ) -> u64 {
        let mut known_ns = issue_ns;
        for page in first >> self.shift..=last >> self.shift {
            known_ns = known_ns.max(self.access_page(ways, issue_ns, page, change));
        }
        known_ns
    }

    /// Change the entries of these pages, each once.
    pub(crate) fn change_pages(
        &mut self,
        ways: &mut Ways<'_>,
        issue_ns: u64,
        pages: &mut Vec<u32>,
    ) {
        pages.sort_unstable();
        pages.dedup();
        for page in pages.drain(..) {
            self.access_page(ways, issue_ns, page, true);
        }
    }

    /// Units `first..end` are mapped to nothing from `issue_ns` on.
    pub(crate) fn forget(&mut self, ways: &mut Ways<'_>, issue_ns: u64, first: u32, end: u32) {
        let mut unit = first;
        while unit < end {
            let page = unit >> self.shift;
            let page_end = ((u64::from(page) + 1) << self.shift).min(u64::from(self.user_units));
            let next = page_end.min(u64::from(end)) as u32;
            if unit == page << self.shift && u64::from(next) == page_end {
                self.pages.clean(page);
                self.places[page as usize] = UNWRITTEN;
            } else {
                self.access_page(ways, issue_ns, page, true);
            }
            unit = next;
        }
    }

    /// Power is lost: what was cached is gone, and pages on their way out are where they were rebuilt, on the next dies in turn.
    pub(crate) fn restart(&mut self) {
        self.pages.clear();
        self.gathered.clear();
        for place in &mut self.places {
            if *place == GATHERED {
                *place = self.next_die;
                self.next_die = (self.next_die + 1) % self.dies;
            }
        }
    }

    /// The drive was formatted: no map page is anywhere.
    pub(crate) fn empty(&mut self) {
        self.pages.clear();
        self.gathered.clear();
        self.places.fill(UNWRITTEN);
    }

    fn access_page(&mut self, ways: &mut Ways<'_>, issue_ns: u64, page: u32, change: bool) -> u64 {
        self.counters.lookups += 1;
        if let Some(there_ns) = self.pages.touch(page, change) {
            let there_ns = there_ns.max(issue_ns);
            return match self.host_ns {
                None => there_ns,
                Some(host_ns) => ways
                    .link
                    .to_drive(ways.floor_ns, there_ns + host_ns, ENTRY_BYTES),
            };
        }
        self.counters.misses += 1;
        let known_ns = match self.places[page as usize] {
            UNWRITTEN | GATHERED => issue_ns,
            die => {
                self.counters.pages_read += 1;
                ways.ftl
                    .read_map_page(ways.floor_ns, issue_ns, die, self.read_ns, self.page_units)
            }
        };
        let there_ns = match self.host_ns {
            None => known_ns,
            Some(_) => ways.link.to_host(ways.floor_ns, known_ns, self.page_bytes),
        };
        if let Some(evicted) = self.pages.insert(page, there_ns, change)
            && evicted.dirty
        {
            self.write_out(ways, issue_ns, evicted.page);
        }
        known_ns
    }

    /// A dirty page goes: with others, when they fill a program group.
    fn write_out(&mut self, ways: &mut Ways<'_>, issue_ns: u64, page: u32) {
        let here_ns = match self.host_ns {
            None => issue_ns,
            Some(host_ns) => ways
                .link
                .to_drive(ways.floor_ns, issue_ns + host_ns, self.page_bytes),
        };
        self.places[page as usize] = GATHERED;
        self.gathered.push(page);
        self.gathered_ns = self.gathered_ns.max(here_ns);
        if self.gathered.len() < self.group_pages {
            return;
        }
        let die = self.next_die;
        self.next_die = (die + 1) % self.dies;
        ways.ftl
            .program_map_pages(ways.floor_ns, self.gathered_ns, die, self.program_ns);
        self.counters.pages_programmed += self.gathered.len() as u64;
        for page in self.gathered.drain(..) {
            let place = &mut self.places[page as usize];
            if *place == GATHERED {
                *place = die;
            }
        }
    }
}
