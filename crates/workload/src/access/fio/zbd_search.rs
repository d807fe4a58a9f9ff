//! How fio 3.33 finds a zone that can be written or read (`zbd_convert_to_open_zone`,
//! `zbd_find_zone`).

use super::zbd::{Adjusted, Place, Stage, ZonePart};
use super::zbd_table::Zones;

/// A search for a zone to open, between two tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Search {
    /// Goes on behind this zone. fio counts it in two ways, which part where open zones are those
    /// of other threads.
    zone: u32,
    number: u32,
    tries_again: bool,
}

impl Zones {
    /// `pick_random_zone_idx`.
    fn pick(&self, offset_bytes: u64, place: &Place) -> u32 {
        let within = u128::from(offset_bytes.wrapping_sub(place.base_bytes));
        let share = within * u128::from(self.open_count) / u128::from(place.area_bytes.max(1));
        share as u32
    }

    /// The open zone of this I/O, or one that is opened for it.
    pub(super) fn convert(
        &mut self,
        part: &mut ZonePart,
        offset_bytes: u64,
        place: &Place,
    ) -> Result<u32, Adjusted> {
        let picked = self.pick(offset_bytes, place);
        let limited = self.max_open > 0 || part.job.job_max_open > 0;
        let start = match limited {
            true => self.open.get(picked as usize).copied().unwrap_or(0),
            false => self.index(offset_bytes),
        };
        let mut zone = start.clamp(part.first, part.end.saturating_sub(1).max(part.first));
        let is_sequential = self.get(zone).is_some_and(|zone| zone.has_pointer);
        let is_offline = self.get(zone).is_some_and(|zone| zone.is_offline);
        let is_own = is_sequential && !is_offline && !limited;
        if is_own || !is_sequential || self.open_count > 0 {
            if !is_own {
                zone = self.candidate(part, picked).ok_or(Adjusted::End)?;
            }
            if self.is_locked(part, zone) {
                return Err(Adjusted::Wait(Stage::New));
            }
            if self.has_room(zone, place.least_bytes) {
                return Ok(zone);
            }
        }
        let search = Search { zone, number: zone, tries_again: true };
        let job_limit = part.job.job_max_open;
        let waits = self.open_count == part.end.saturating_sub(part.first)
            || self.max_open > 0 && self.open_count == self.max_open
            || job_limit > 0 && part.opened == job_limit;
        match waits && part.in_flight > 0 {
            true => Err(Adjusted::Wait(Stage::Search(search))),
            false => self.search(part, search, place),
        }
    }

    /// The first open zone of the thread's area from this place of the list on.
    fn candidate(&self, part: &ZonePart, from: u32) -> Option<u32> {
        let count = self.open_count as usize;
        let places = (0..count).map(|step| (from as usize + step) % count.max(1));
        places.map(|place| self.open[place]).find(|zone| (part.first..part.end).contains(zone))
    }

    fn has_room(&self, zone: u32, least_bytes: u64) -> bool {
        let zone = self.get(zone);
        zone.is_some_and(|zone| zone.written_to + least_bytes <= zone.limit())
    }

    pub(super) fn search(
        &mut self,
        part: &mut ZonePart,
        mut search: Search,
        place: &Place,
    ) -> Result<u32, Adjusted> {
        loop {
            if let Some(zone) = self.open_another(part, &mut search, place)? {
                return Ok(zone);
            }
            // fio waits for its own I/Os here, and asks whether any thread has others.
            let busy = self.in_flight > 0;
            if !busy && !search.tries_again {
                return Err(Adjusted::End);
            }
            search.tries_again = busy;
            if busy {
                return Err(Adjusted::Wait(Stage::Search(search)));
            }
        }
    }

    fn open_another(
        &mut self,
        part: &mut ZonePart,
        search: &mut Search,
        place: &Place,
    ) -> Result<Option<u32>, Adjusted> {
        for _ in 0..place.area_bytes / self.zone_bytes.max(1) {
            let before = *search;
            search.number += 1;
            search.zone += 1;
            if !place.has(self.start_of(search.zone)) {
                (search.zone, search.number) = (part.first, part.first);
            }
            let zone = search.zone;
            let Some(state) = self.get(zone).filter(|zone| zone.has_pointer) else {
                continue;
            };
            let is_open = state.is_open;
            if self.is_locked(part, zone) {
                *search = before;
                return Err(Adjusted::Wait(Stage::Search(before)));
            }
            if !is_open && self.open(part, zone, place.verifies, place.least_bytes) {
                return Ok(Some(zone));
            }
        }
        for place_of in 0..self.open_count as usize {
            search.number = self.open[place_of];
            if !(part.first..part.end).contains(&search.number) {
                continue;
            }
            search.zone = search.number;
            let is_locked = self.is_locked(part, search.zone);
            if !is_locked && self.has_room(search.zone, place.least_bytes) {
                return Ok(Some(search.zone));
            }
        }
        Ok(None)
    }

    /// Another zone with so much data: the next one, or the nearest for a random job.
    pub(super) fn find_readable(
        &self,
        part: &ZonePart,
        from: u32,
        least_bytes: u64,
        random: bool,
    ) -> Option<u32> {
        let is_readable = |index: u32| {
            let zone = self.get(index).filter(|zone| !zone.is_offline)?;
            Some(zone.data_bytes() >= least_bytes)
        };
        let steps = 1..=(part.end.saturating_sub(from)).max(from.saturating_sub(part.first) + 1);
        for step in steps {
            let above = from + step;
            match (above < part.end).then(|| is_readable(above)).flatten() {
                Some(true) => return Some(above),
                None if !random => return None,
                _ => {}
            }
            let below = (from.checked_sub(step)).filter(|&below| random && below >= part.first);
            if let Some(below) = below
                && is_readable(below) == Some(true)
            {
                return Some(below);
            }
        }
        None
    }
}
