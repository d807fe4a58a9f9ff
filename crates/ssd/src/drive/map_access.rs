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
        self.map_cache.as_ref().map(|cache| cache.counters)
    }

    /// The map cache and what accesses issued at `issue_ns` use; `None` with the map in DRAM.
    #[inline]
    fn map_access(
        &mut self,
        now_ns: u64,
        issue_ns: u64,
    ) -> Option<(&mut MapCache, MapResources<'_>)> {
        let (Some(cache), Medium::Flash(ftl)) = (&mut self.map_cache, &mut self.medium) else {
            return None;
        };
        let resources = MapResources {
            ftl,
            link: &mut self.link,
            now_ns,
            issue_ns,
        };
        Some((cache, resources))
    }

    #[inline]
    pub(super) fn lookup_map(&mut self, now_ns: u64, issue_ns: u64, first: u32, last: u32) -> u64 {
        match self.map_access(now_ns, issue_ns) {
            Some((cache, mut resources)) => cache.access(&mut resources, first, last, false),
            None => issue_ns,
        }
    }

    /// Change the entries of units `first..=last`; their data is not programmed before they are known.
    #[inline]
    pub(super) fn update_map_pages(&mut self, now_ns: u64, issue_ns: u64, first: u32, last: u32) {
        if let Some((cache, mut resources)) = self.map_access(now_ns, issue_ns) {
            let known_ns = cache.access(&mut resources, first, last, true);
            resources.ftl.hold_programs_until(known_ns);
        }
    }

    #[inline]
    pub(super) fn unmap_map_pages(&mut self, now_ns: u64, issue_ns: u64, first: u32, end: u32) {
        if let Some((cache, mut resources)) = self.map_access(now_ns, issue_ns) {
            cache.unmap(&mut resources, first, end);
        }
    }

    #[inline]
    pub(super) fn update_moved_pages(&mut self, now_ns: u64) {
        if let Some((cache, mut resources)) = self.map_access(now_ns, now_ns) {
            let mut pages = resources.ftl.take_moved_pages(Vec::new());
            cache.update_pages(&mut resources, &mut pages);
            resources.ftl.take_moved_pages(pages);
        }
    }
}
