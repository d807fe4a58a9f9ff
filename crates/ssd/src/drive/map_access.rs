//! Accesses to a map on flash, see [`crate::map_cache`].

use assay_units::Nanos;

use super::{Drive, DriveError};
use crate::map_cache::{MapCache, MapCacheCounters, MapResources};
use crate::medium::Medium;
use crate::profile::{MapCacheProfile, Profile};

pub(super) fn cache_of(
    profile: &Profile,
    option_bytes: Option<u64>,
    host_bytes: Option<u64>,
    user_units: u32,
    filled: bool,
) -> Result<Option<MapCache>, DriveError> {
    let nand = &profile.nand;
    let has_map = profile.map_cache.is_some() || option_bytes.is_some();
    if host_bytes.is_some() && (!has_map || option_bytes == Some(0) || profile.link.sata.is_some())
    {
        let profile = profile.name.clone();
        return Err(DriveError::NoHostMemory { profile });
    }
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
    let mut cache = MapCache::new(&cache, nand, user_units, filled);
    if host_bytes.is_some() {
        cache.move_to(host_bytes);
    }
    Ok(Some(cache))
}

impl Drive {
    /// Map cache counters since power-on; `None` with the map in DRAM.
    pub fn map_cache(&self) -> Option<MapCacheCounters> {
        self.map_cache.as_ref().map(|cache| cache.counters)
    }

    /// Least and preferred size of a Host Memory Buffer in bytes (HMMIN, HMPRE; NVM Express Base
    /// Specification 2.0c, section 5.17.2.1), if any. At power-on the preferred size is lent, as by
    /// Linux.
    pub fn host_memory_bytes(&self) -> Option<(u64, u64)> {
        let preferred = self.host_memory_bytes?;
        let cache = self.map_cache.as_ref()?;
        Some((cache.least_bytes().min(preferred), preferred))
    }

    /// Lend host memory from `now` on, or take it back (Set Features, Host Memory Buffer, ibid.
    /// section 5.27.1.10); returns when the drive has its content.
    pub fn lend_host_memory(&mut self, now: Nanos, bytes: Option<u64>) -> Nanos {
        let Some((least, preferred)) = self.host_memory_bytes() else {
            return now;
        };
        let now_ns = self.catch_up(now);
        let bytes = bytes.map(|bytes| bytes.clamp(least, preferred));
        let end_ns = match self.map_access(now_ns, now_ns) {
            Some((cache, mut resources)) => cache.relocate(&mut resources, bytes),
            None => now_ns,
        };
        self.power.busy_until(end_ns);
        Nanos(end_ns)
    }

    #[inline]
    fn map_access(
        &mut self,
        now_ns: u64,
        issue_ns: u64,
    ) -> Option<(&mut MapCache, MapResources<'_>)> {
        let (Some(cache), Medium::Flash(ftl)) = (&mut self.map_cache, &mut self.medium) else {
            return None;
        };
        let resources = MapResources { ftl, link: &mut self.link, now_ns, issue_ns };
        Some((cache, resources))
    }

    #[inline]
    pub(super) fn lookup_map(&mut self, now_ns: u64, issue_ns: u64, first: u32, last: u32) -> u64 {
        match self.map_access(now_ns, issue_ns) {
            Some((cache, mut resources)) => cache.access(&mut resources, first, last, false),
            None => issue_ns,
        }
    }

    /// The units' data is not programmed before their map entries are known.
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
