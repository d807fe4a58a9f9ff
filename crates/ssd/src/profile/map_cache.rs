//! Section `[map_cache]`, see [`crate::map_cache`].

use serde::Deserialize;

use super::validate::{Validity, rules};
use super::{NandProfile, Profile};
use crate::sourced::{Provenance, Sourced, value_or};

/// Map page size of [`MapCacheProfile::of_size`]; Host Memory Buffers are lent in 4 KiB pages too.
const DEFAULT_PAGE_BYTES: u64 = 4096;

/// Replacement policy of the map cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    /// Least recently used (DFTL: segmented LRU).
    #[default]
    Lru,
    /// CLOCK (F. J. Corbató, "A paging experiment with the Multics system", 1968).
    Clock,
}

/// Location of the cached map pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MapLocation {
    /// Controller SRAM: a hit costs nothing.
    #[default]
    Controller,
    /// Host Memory Buffer (NVM Express Base Specification 1.2, section 8.9), across the link.
    HostMemory,
}

/// Map on flash with a cache. Absent: map in DRAM.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapCacheProfile {
    /// Cache size in bytes of map pages.
    pub capacity_bytes: Sourced<u64>,
    /// Map page size in bytes, a power of two; four bytes map 4 KiB.
    pub page_bytes: Sourced<u64>,
    /// Replacement policy. Absent: LRU.
    pub replacement: Option<Sourced<Replacement>>,
    /// Location of the cache. Absent: controller.
    pub place: Option<Sourced<MapLocation>>,
    /// PCIe round trip to an entry in host memory, in nanoseconds.
    pub host_access_ns: Option<Sourced<u64>>,
    /// Time to sense a map page (often SLC), in nanoseconds.
    pub read_ns: Sourced<u64>,
    /// Time to program a group of map pages (a page of every plane of a die), in nanoseconds.
    pub program_ns: Sourced<u64>,
}

impl MapCacheProfile {
    /// A controller cache of that many bytes for a map on the data flash (`map_cache=BYTES`).
    pub fn of_size(capacity_bytes: u64, nand: &NandProfile) -> MapCacheProfile {
        fn assumed<T>(value: T, source: &str) -> Sourced<T> {
            Sourced { value, provenance: Provenance::Assumed, source: source.to_owned() }
        }
        let first = |times: &[u64]| times.first().copied().unwrap_or_default();
        MapCacheProfile {
            capacity_bytes: assumed(capacity_bytes, "option map_cache"),
            page_bytes: assumed(DEFAULT_PAGE_BYTES, "option map_cache"),
            replacement: None,
            place: None,
            host_access_ns: None,
            read_ns: assumed(first(&nand.read_ns.value), "as the quickest page"),
            program_ns: assumed(first(&nand.program_ns.value), "as the quickest page"),
        }
    }

    /// Whether the cache is in host memory.
    pub fn is_in_host_memory(&self) -> bool {
        value_or(&self.place, MapLocation::Controller) == MapLocation::HostMemory
    }
}

impl Profile {
    pub(super) fn validate_map_cache(&self) -> Validity {
        let Some(cache) = &self.map_cache else {
            return Ok(());
        };
        let (page, in_host) = (cache.page_bytes.value, cache.is_in_host_memory());
        rules! {
            self.in_place.is_none() => "[map_cache] needs a map: media written in place have none";
            page.is_power_of_two() && (512..=self.nand.page_bytes.value).contains(&page)
                => "map_cache.page_bytes must be a power of two from 512 to nand.page_bytes";
            (page..=1 << 34).contains(&cache.capacity_bytes.value)
                => "map_cache.capacity_bytes must hold at least one \
                    map_cache.page_bytes, at most 16 GiB";
            in_host == cache.host_access_ns.is_some()
                => "map_cache.host_access_ns is required with place = \"host-memory\" and only \
                    allowed with it";
            !in_host || self.link.sata.is_none()
                => "map_cache.place cannot be host-memory on SATA: the Host Memory \
                    Buffer is an NVMe feature";
            cache.read_ns.value > self.nand.partial_read_saving_ns.value
                => "map_cache.read_ns must be above nand.partial_read_saving_ns";
        }
        Ok(())
    }
}
