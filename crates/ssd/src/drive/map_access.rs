//! Accesses to a map on flash, see [`crate::map_cache`].

use super::{Drive, DriveError};
use crate::map_cache::{MapCache, MapCacheCounters, MapResources};
use crate::medium::Medium;
use crate::profile::{MapCacheProfile, Profile};

pub(super) fn cache_of(
    profile: &Profile,
    option_bytes: Option<u64>,
    user_units: u32,
    filled: bool,
) -> Result<Option<MapCache>, DriveError> {
    let nand = &profile.nand;
    let mut cache = match (option_bytes, &profile.map_cache) {
        (Some(0), _) | (None, None) => return Ok(None),
        (_, Some(cache)) => cache.clone(),
        (Some(_), None) if profile.in_place.is_some() => {
            let profile = profile.name.clone();
            return Err(DriveError::NoMap { profile });
        }
        (Some(bytes), None) => MapCacheProfile::of_size(bytes, nand),
    };
    if let Some(bytes) = option_bytes {
        cache.capacity_bytes.value = bytes;
    }
    Ok(Some(MapCache::new(&cache, nand, user_units, filled)))
}

impl Drive {
    /// Map cache counters since power-on; `None` with the map in DRAM.
    pub fn map_cache(&self) -> Option<MapCacheCounters> {
        self.map_cache.as_ref().map(|cache| cache.counters())
    }

    /// Look up the entries of units `first..=last`; returns when they are known.
    #[inline]
    pub(super) fn lookup_map(&mut self, now_ns: u64, issue_ns: u64, first: u32, last: u32) -> u64 {
        if self.map_cache.is_none() {
            return issue_ns;
        }
        self.with_map_cache(now_ns, issue_ns, |cache, resources| {
            cache.access(resources, issue_ns, first, last, false)
        })
    }

    /// Change the entries of units `first..=last`; their data is not programmed before they are known.
    #[inline]
    pub(super) fn update_map_pages(&mut self, now_ns: u64, issue_ns: u64, first: u32, last: u32) {
        if self.map_cache.is_some() {
            self.with_map_cache(now_ns, issue_ns, |cache, resources| {
                let known_ns = cache.access(resources, issue_ns, first, last, true);
                resources.ftl.hold_programs_until(known_ns);
                known_ns
            });
        }
    }

    #[inline]
    pub(super) fn unmap_map_pages(&mut self, now_ns: u64, issue_ns: u64, first: u32, end: u32) {
        if self.map_cache.is_some() {
            self.with_map_cache(now_ns, issue_ns, |cache, resources| {
                cache.unmap(resources, issue_ns, first, end);
                issue_ns
            });
        }
    }

    /// Update the map pages of units relocated since the last command.
    #[inline]
    pub(super) fn update_moved_pages(&mut self, now_ns: u64) {
        if self.map_cache.is_some() {
            self.with_map_cache(now_ns, now_ns, |cache, resources| {
                let mut pages = resources.ftl.take_moved_pages(Vec::new());
                if !pages.is_empty() {
                    cache.update_pages(resources, now_ns, &mut pages);
                }
                resources.ftl.take_moved_pages(pages);
                now_ns
            });
        }
    }

    pub(super) fn track_map_pages(&mut self) {
        if let (Some(cache), Medium::Flash(ftl)) = (&self.map_cache, &mut self.medium) {
            ftl.track_map_pages(cache.units_shift());
        }
    }

    pub(super) fn restart_map(&mut self) {
        if let Some(cache) = &mut self.map_cache {
            cache.restart();
        }
    }

    fn with_map_cache(
        &mut self,
        now_ns: u64,
        otherwise_ns: u64,
        work: impl FnOnce(&mut MapCache, &mut MapResources<'_>) -> u64,
    ) -> u64 {
        match (&mut self.map_cache, &mut self.medium) {
            (Some(cache), Medium::Flash(ftl)) => {
                let link = &mut self.link;
                let mut resources = MapResources { ftl, link, now_ns };
                work(cache, &mut resources)
            }
            _ => otherwise_ns,
        }
    }
}
