//! Where the map is asked when it lies on flash, see [`crate::map_cache`].

use super::{Drive, DriveError};
use crate::map_cache::{MapCache, MapCacheCounters, Ways};
use crate::medium::Medium;
use crate::profile::{MapCacheProfile, Profile};

/// The cache that profile and option ask for.
pub(super) fn cache_of(
    profile: &Profile,
    option_bytes: Option<u64>,
    user_units: u32,
    filled: bool,
) -> Result<Option<MapCache>, DriveError> {
    let nand = &profile.nand;
    let cache = match (option_bytes, &profile.map_cache) {
        (Some(0), _) => return Ok(None),
        (None, None) => return Ok(None),
        (None, Some(cache)) => cache.clone(),
        (Some(bytes), cache) => {
            if profile.in_place.is_some() {
                return Err(DriveError::NoMap {
                    profile: profile.name.clone(),
                });
            }
            let mut cache = match cache {
                Some(cache) => cache.clone(),
                None => MapCacheProfile::of_size(bytes, nand),
            };
            cache.capacity_bytes.value = bytes;
            cache
        }
    };
    Ok(Some(MapCache::new(&cache, nand, user_units, filled)))
}

impl Drive {
    /// What the cache of a map on flash counted since power-on; `None` where the map is in DRAM.
    pub fn map_cache(&self) -> Option<MapCacheCounters> {
        self.map_cache.as_ref().map(|cache| cache.counters())
    }

    /// The entries of units `first..=last` are wanted: when they are known.
    #[inline]
    pub(super) fn look_up(&mut self, now_ns: u64, issue_ns: u64, first: u32, last: u32) -> u64 {
        if self.map_cache.is_none() {
            return issue_ns;
        }
        self.with_map_cache(now_ns, issue_ns, |cache, ways| {
            cache.access(ways, issue_ns, first, last, false)
        })
    }

    /// The entries of units `first..=last` change; what is written there is not programmed before they are known.
    #[inline]
    pub(super) fn change_map(&mut self, now_ns: u64, issue_ns: u64, first: u32, last: u32) {
        if self.map_cache.is_some() {
            self.with_map_cache(now_ns, issue_ns, |cache, ways| {
                let known_ns = cache.access(ways, issue_ns, first, last, true);
                ways.ftl.hold_until(known_ns);
                known_ns
            });
        }
    }

    /// Units `first..end` are deallocated.
    #[inline]
    pub(super) fn forget_map(&mut self, now_ns: u64, issue_ns: u64, first: u32, end: u32) {
        if self.map_cache.is_some() {
            self.with_map_cache(now_ns, issue_ns, |cache, ways| {
                cache.forget(ways, issue_ns, first, end);
                issue_ns
            });
        }
    }

    /// What was moved since the last command is somewhere else: its map pages change.
    #[inline]
    pub(super) fn change_moved(&mut self, now_ns: u64) {
        if self.map_cache.is_some() {
            self.with_map_cache(now_ns, now_ns, |cache, ways| {
                let mut pages = ways.ftl.take_moved_pages(Vec::new());
                if !pages.is_empty() {
                    cache.change_pages(ways, now_ns, &mut pages);
                }
                ways.ftl.take_moved_pages(pages);
                now_ns
            });
        }
    }

    /// From power-on.
    pub(super) fn follow_map_pages(&mut self) {
        if let (Some(cache), Medium::Flash(ftl)) = (&self.map_cache, &mut self.medium) {
            ftl.follow_map_pages(cache.units_shift());
        }
    }

    /// After a loss of power.
    pub(super) fn restart_map(&mut self) {
        if let Some(cache) = &mut self.map_cache {
            cache.restart();
        }
    }

    fn with_map_cache(
        &mut self,
        floor_ns: u64,
        otherwise_ns: u64,
        work: impl FnOnce(&mut MapCache, &mut Ways<'_>) -> u64,
    ) -> u64 {
        match (&mut self.map_cache, &mut self.medium) {
            (Some(cache), Medium::Flash(ftl)) => {
                let link = &mut self.link;
                let mut ways = Ways {
                    ftl,
                    link,
                    floor_ns,
                };
                work(cache, &mut ways)
            }
            _ => otherwise_ns,
        }
    }
}
