//! L2P map on flash with a cache: DRAM-less drives and Host Memory Buffer.
//!
//! DFTL, see docs/model.md (Map on flash). Gathered, unwritten and fully deallocated pages cost
//! nothing to fetch.
//!
//! # Non-goals
//! Those in docs/model.md; a restart rebuilds the map at once. While host memory is lent, the
//! controller's own memory caches nothing.

mod pages;

use crate::ftl::Ftl;
use crate::link::Link;
use crate::nand::Sense;
use crate::profile::{MAP_UNIT_BYTES, MapCacheProfile, NandProfile, Replacement};
use crate::sourced::value_or;
use pages::Pages;

/// Locations without a die: never written, and waiting for the program group to fill.
const UNWRITTEN: u16 = u16::MAX;
const GATHERED: u16 = u16::MAX - 1;
/// Host memory read per entry: a cache line.
const ENTRY_BYTES: u64 = 64;
/// Read time of an entry in host memory without `host_access_ns`: about 550 ns for 64 bytes on
/// servers (R. Neugebauer et al., "Understanding PCIe performance for end host networking", SIGCOMM
/// 2018).
const HOST_ACCESS_NS: u64 = 550;

/// Map cache counters since power-on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapCacheCounters {
    /// Map page accesses.
    pub lookups: u64,
    /// Accesses not in the cache.
    pub misses: u64,
    /// Map pages sensed.
    pub pages_read: u64,
    /// Map pages programmed.
    pub pages_programmed: u64,
}

pub(crate) struct MapResources<'a> {
    pub(crate) ftl: &'a mut Ftl,
    pub(crate) link: &'a mut Link,
    pub(crate) now_ns: u64,
    pub(crate) issue_ns: u64,
}

#[derive(Clone, Debug)]
pub struct MapCache {
    pages: Pages,
    page_locations: Vec<u16>,
    user_units: u32,
    pub shift: u32,
    page_bytes: u64,
    page_sectors: u32,
    read_ns: u64,
    program_ns: u64,
    host_ns: Option<u64>,
    lent_ns: u64,
    own_bytes: u64,
    /// Evicted dirty pages, and when the last of them is in the controller.
    gathered: Vec<u32>,
    gathered_ns: u64,
    group_pages: usize,
    dies: u16,
    next_die: u16,
    pub counters: MapCacheCounters,
}

impl MapCache {
    /// On a `filled` drive pages lie on the dies in turn.
    pub fn new(
        profile: &MapCacheProfile,
        nand: &NandProfile,
        user_units: u32,
        filled: bool,
    ) -> MapCache {
        let page_bytes = profile.page_bytes.value;
        let shift = (page_bytes / 4).trailing_zeros();
        let count = user_units.div_ceil(1 << shift);
        let dies = nand.dies.value.max(1);
        let policy = value_or(&profile.replacement, Replacement::default());
        let group_pages = nand.page_bytes.value * u64::from(nand.planes.value) / page_bytes;
        let host_ns = profile.host_access_ns.as_ref().map(|ns| ns.value);
        let in_host = profile.is_in_host_memory();
        MapCache {
            pages: Pages::new(policy, profile.capacity_bytes.value / page_bytes, count),
            page_locations: match filled {
                true => (0..dies).cycle().take(count as usize).collect(),
                false => vec![UNWRITTEN; count as usize],
            },
            user_units,
            shift,
            page_bytes,
            page_sectors: page_bytes.div_ceil(MAP_UNIT_BYTES) as u32,
            read_ns: profile.read_ns.value,
            program_ns: profile.program_ns.value,
            host_ns: host_ns.filter(|_| in_host),
            lent_ns: host_ns.unwrap_or(HOST_ACCESS_NS),
            own_bytes: if in_host { page_bytes } else { profile.capacity_bytes.value },
            gathered: Vec::new(),
            gathered_ns: 0,
            group_pages: group_pages.max(1) as usize,
            dies,
            next_die: 0,
            counters: MapCacheCounters::default(),
        }
    }

    pub fn least_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// Move the cache to host memory or the controller; it begins empty. Returns its changed pages.
    pub fn move_to(&mut self, host_bytes: Option<u64>) -> Vec<u32> {
        self.host_ns = host_bytes.map(|_| self.lent_ns);
        let bytes = host_bytes.unwrap_or(self.own_bytes);
        self.pages.resize(bytes / self.page_bytes)
    }

    /// [`MapCache::move_to`] of a working drive: changed pages are programmed, or wait in the
    /// controller. Returns when they are there.
    pub(crate) fn relocate(
        &mut self,
        resources: &mut MapResources<'_>,
        host_bytes: Option<u64>,
    ) -> u64 {
        let before_ns = self.host_ns;
        let changed = self.move_to(host_bytes);
        let after_ns = std::mem::replace(&mut self.host_ns, before_ns);
        for page in changed {
            self.write_out(resources, page);
        }
        self.host_ns = after_ns;
        self.gathered_ns.max(resources.issue_ns)
    }

    pub fn resident_bytes(&self) -> u64 {
        self.page_locations.len() as u64 * 2 + self.pages.resident_bytes()
    }

    #[inline(never)]
    pub(crate) fn access(
        &mut self,
        resources: &mut MapResources<'_>,
        first: u32,
        last: u32,
        change: bool,
    ) -> u64 {
        let pages = first >> self.shift..=last >> self.shift;
        let issue_ns = resources.issue_ns;
        let known_ns = pages.map(|page| self.access_page(resources, page, change));
        known_ns.fold(issue_ns, u64::max)
    }

    pub(crate) fn update_pages(&mut self, resources: &mut MapResources<'_>, pages: &mut Vec<u32>) {
        pages.sort_unstable();
        pages.dedup();
        for page in pages.drain(..) {
            self.access_page(resources, page, true);
        }
    }

    pub(crate) fn unmap(&mut self, resources: &mut MapResources<'_>, first: u32, end: u32) {
        let mut unit = first;
        while unit < end {
            let page = unit >> self.shift;
            let page_end = ((u64::from(page) + 1) << self.shift).min(u64::from(self.user_units));
            let next = page_end.min(u64::from(end)) as u32;
            if unit == page << self.shift && u64::from(next) == page_end {
                self.pages.clean(page);
                self.page_locations[page as usize] = UNWRITTEN;
            } else {
                self.access_page(resources, page, true);
            }
            unit = next;
        }
    }

    /// Power loss empties the cache; gathered pages are rebuilt on the next dies in turn.
    pub(crate) fn restart(&mut self) {
        self.pages.clear();
        self.gathered.clear();
        for place in &mut self.page_locations {
            if *place == GATHERED {
                *place = self.next_die;
                self.next_die = (self.next_die + 1) % self.dies;
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.pages.clear();
        self.gathered.clear();
        self.page_locations.fill(UNWRITTEN);
    }

    fn access_page(&mut self, resources: &mut MapResources<'_>, page: u32, change: bool) -> u64 {
        let (now_ns, issue_ns) = (resources.now_ns, resources.issue_ns);
        self.counters.lookups += 1;
        if let Some(there_ns) = self.pages.touch(page, change) {
            let there_ns = there_ns.max(issue_ns);
            return self.host_ns.map_or(there_ns, |host_ns| {
                let link = &mut resources.link;
                link.send_to_drive(now_ns, there_ns + host_ns, ENTRY_BYTES)
            });
        }
        self.counters.misses += 1;
        let known_ns = match self.page_locations[page as usize] {
            UNWRITTEN | GATHERED => issue_ns,
            die => {
                self.counters.pages_read += 1;
                let sense = Sense::of_map(die, self.read_ns);
                let ftl = &mut resources.ftl;
                ftl.read_map_page(now_ns, issue_ns, sense, self.page_sectors)
            }
        };
        let there_ns = match self.host_ns {
            None => known_ns,
            Some(_) => (resources.link).send_to_host(now_ns, known_ns, self.page_bytes),
        };
        if let Some(evicted) = self.pages.insert(page, there_ns, change)
            && evicted.dirty
        {
            self.write_out(resources, evicted.page);
        }
        known_ns
    }

    fn write_out(&mut self, resources: &mut MapResources<'_>, page: u32) {
        let now_ns = resources.now_ns;
        let here_ns = self.host_ns.map_or(resources.issue_ns, |host_ns| {
            let (link, ready_ns) = (&mut resources.link, resources.issue_ns + host_ns);
            link.send_to_drive(now_ns, ready_ns, self.page_bytes)
        });
        self.page_locations[page as usize] = GATHERED;
        self.gathered.push(page);
        self.gathered_ns = self.gathered_ns.max(here_ns);
        if self.gathered.len() < self.group_pages {
            return;
        }
        let die = self.next_die;
        self.next_die = (die + 1) % self.dies;
        let ftl = &mut resources.ftl;
        ftl.program_map_pages(now_ns, self.gathered_ns, die, self.program_ns);
        self.counters.pages_programmed += self.gathered.len() as u64;
        for page in self.gathered.drain(..) {
            let place = &mut self.page_locations[page as usize];
            if *place == GATHERED {
                *place = die;
            }
        }
    }
}
