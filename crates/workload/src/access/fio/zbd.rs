//! `zonemode=zbd`: where the I/Os of fio 3.33 go on a drive with zones, or on one without, on
//! which fio imagines them (`zbd.c`).
//!
//! # Architecture
//! [`ZoneTable`] is what fio's threads share of a drive, [`ZonePart`] what one of them has. An I/O
//! is drawn as on any drive and [`ZonePart::adjust`] moves it: a write to the write pointer of its
//! zone or of an open one, a read to what was written. fio's threads lock the zone of an I/O until
//! it completes. Here such an I/O waits ([`Adjusted::Wait`]) and goes on at its [`Stage`].

use std::sync::{Arc, MutexGuard, PoisonError};

use super::READ;
use super::zbd_search::Search;
use super::zbd_table::Zones;
pub use super::zbd_table::{ZoneReport, ZoneTable};

/// What a job says about zones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ZoneJob {
    pub zone_bytes: u64,
    /// `zonecapacity`, of a drive without zones.
    pub capacity_bytes: u64,
    /// Of the drive; 0: no limit.
    pub max_open: u32,
    /// Of a thread; 0: no limit.
    pub job_max_open: u32,
    pub skip_bytes: u64,
    pub read_beyond_wp: bool,
    /// Share of the area that holds data, from which on zones are reset.
    pub reset_threshold: f64,
    /// Share of the writes before which their zone is reset.
    pub reset_frequency: f64,
}

/// Where the thread is in its area; fio moves its begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) base_bytes: u64,
    pub(super) area_bytes: u64,
    pub(super) least_bytes: u64,
    pub(super) random: bool,
    pub(super) verifies: bool,
}

impl Place {
    /// `is_valid_offset`.
    pub(super) fn has(&self, offset_bytes: u64) -> bool {
        offset_bytes.wrapping_sub(self.base_bytes) < self.area_bytes
    }
}

/// How far an I/O has come that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    New,
    /// Looks for a zone that it can open, from this one on.
    Search(Search),
    /// Its zone is locked.
    Chosen(u32),
    /// Its zone is locked, and is reset first.
    Reset(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Adjusted {
    Io {
        offset_bytes: u64,
        len_bytes: u64,
        /// The zone is emptied first.
        resets: bool,
    },
    Wait(Stage),
    End,
}

/// What one thread has of the zones of its drive.
#[derive(Clone, Debug)]
pub(super) struct ZonePart {
    table: Arc<ZoneTable>,
    pub(super) job: ZoneJob,
    /// Distinguishes the threads that lock zones.
    pub(super) thread: u32,
    pub(super) first: u32,
    pub(super) end: u32,
    /// Zones that it has opened.
    pub(super) opened: u32,
    pub(super) in_flight: u32,
}

impl ZonePart {
    pub(super) fn new(
        table: Arc<ZoneTable>,
        job: ZoneJob,
        (offset_bytes, area_bytes): (u64, u64),
    ) -> ZonePart {
        let mut part = ZonePart {
            job,
            thread: 0,
            first: 0,
            end: 0,
            opened: 0,
            in_flight: 0,
            table: Arc::clone(&table),
        };
        let mut zones = table.lock();
        part.thread = zones.new_thread();
        part.first = zones.index(offset_bytes);
        part.end = zones.index(offset_bytes.saturating_add(area_bytes));
        for zone in part.first..part.end {
            if zones.is_open_on_drive(zone) {
                zones.open(&mut part, zone, false, 0);
            }
        }
        drop(zones);
        part
    }

    /// `zbd_file_reset`, of a job that writes.
    pub(super) fn begin_pass(&mut self, verifies: bool) {
        let table = Arc::clone(&self.table);
        let mut zones = table.lock();
        zones.count_data(self.first, self.end);
        if verifies {
            for zone in self.first..self.end {
                zones.close(self, zone);
                zones.empty(zone);
            }
        }
        zones.writes_to_reset = self.writes_per_reset();
    }

    pub(super) fn writes_per_reset(&self) -> u32 {
        match self.job.reset_frequency {
            share if share > 0.0 => (1.0 / share).min(u32::MAX.into()) as u32,
            _ => u32::MAX,
        }
    }

    /// `zbd_adjust_ddir`: whether a read of a mix becomes a write.
    pub(super) fn has_nothing_to_read(&self) -> bool {
        !self.job.read_beyond_wp && self.table.lock().data_bytes == 0
    }

    /// `setup_zbd_zone_mode`: the position of the stream after zones that are done, and how far the
    /// area's begin moves.
    pub(super) fn enter(
        &self,
        direction: usize,
        position_bytes: u64,
        (random, moved_bytes): (bool, u64),
    ) -> (u64, bool) {
        let zones = self.table.lock();
        let zone = zones.index(position_bytes);
        let mut position = position_bytes;
        let end = zones.end_of(zone);
        // Behind the last zone fio has one without capacity.
        let (limit, written) = match zones.get(zone) {
            Some(zone) => (zone.limit(), zone.written_to),
            None => (zones.start_of(zone), 0),
        };
        let is_short = limit < end;
        if is_short && !random && direction == super::WRITE && position >= limit {
            position = end;
        }
        let is_over = moved_bytes >= zones.zone_bytes
            || position >= end
            || direction == READ && !self.job.read_beyond_wp && position >= written;
        (position, !random && self.job.skip_bytes > 0 && is_over)
    }

    /// `zbd_adjust_block`.
    pub(super) fn adjust(
        &mut self,
        write: bool,
        (offset_bytes, len_bytes): (u64, u64),
        stage: Stage,
        place: &Place,
    ) -> Adjusted {
        let table = Arc::clone(&self.table);
        let mut zones = table.lock();
        let first = zones.index(offset_bytes);
        let Some(zone) = zones.get(first) else {
            return Adjusted::End;
        };
        let io = |offset_bytes, len_bytes| Adjusted::Io { offset_bytes, len_bytes, resets: false };
        if !zone.has_pointer {
            return match write {
                true => zones.in_conventional(first, (offset_bytes, len_bytes), place),
                false => io(offset_bytes, len_bytes),
            };
        }
        if !write && self.job.read_beyond_wp && !zone.is_offline {
            return io(offset_bytes, len_bytes);
        }
        match write {
            true => zones.place_write(self, (offset_bytes, len_bytes), stage, place),
            false => zones.place_read(self, (offset_bytes, len_bytes), place),
        }
    }

    /// `zbd_queue_io`: the write pointer moves at once.
    pub(super) fn issued(&mut self, write: bool, offset_bytes: u64, len_bytes: u64) {
        let table = Arc::clone(&self.table);
        table.lock().issued(self, write, offset_bytes, len_bytes);
    }

    /// `zbd_put_io`.
    pub(super) fn completed(&mut self, write: bool, offset_bytes: u64, len_bytes: u64) {
        let table = Arc::clone(&self.table);
        table.lock().completed(self, write, offset_bytes, len_bytes);
    }

    /// Whether a read or write at this place locks its zone.
    pub(super) fn locks(&self, write: bool) -> bool {
        write || !self.job.read_beyond_wp
    }
}

impl ZoneTable {
    pub(super) fn lock(&self) -> MutexGuard<'_, Zones> {
        self.zones.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Zones {
    /// A write that would reach a sequential zone stays in front of it.
    fn in_conventional(
        &self,
        zone: u32,
        (offset_bytes, len_bytes): (u64, u64),
        place: &Place,
    ) -> Adjusted {
        let next = self.end_of(zone);
        let is_last = self.get(zone + 1).is_none_or(|next| !next.has_pointer);
        let least = place.least_bytes.max(1);
        let mut offset = offset_bytes;
        let mut len = len_bytes;
        if !is_last && offset + len > next {
            if offset + least > next {
                offset = self.start_of(zone) + (next - offset);
                len = len.min(next - offset);
            } else {
                len = next - offset;
            }
            len = len / least * least;
        }
        Adjusted::Io { offset_bytes: offset, len_bytes: len, resets: false }
    }

    fn place_write(
        &mut self,
        part: &mut ZonePart,
        (offset_bytes, len_bytes): (u64, u64),
        stage: Stage,
        place: &Place,
    ) -> Adjusted {
        let zone = match stage {
            Stage::New => {
                let zone = self.index(offset_bytes);
                if len_bytes > self.zone_bytes {
                    return Adjusted::End;
                }
                if self.is_locked(part, zone) {
                    return Adjusted::Wait(Stage::New);
                }
                if self.open(part, zone, place.verifies, place.least_bytes) {
                    self.chosen(part, zone)
                } else {
                    match self.convert(part, offset_bytes, place) {
                        Ok(zone) => self.chosen(part, zone),
                        Err(other) => return other,
                    }
                }
            }
            Stage::Search(search) => match self.search(part, search, place) {
                Ok(zone) => self.chosen(part, zone),
                Err(other) => return other,
            },
            Stage::Chosen(zone) => return self.at_pointer(zone, len_bytes, place),
            Stage::Reset(zone) => return self.after_reset(part, zone, len_bytes, place),
        };
        if part.job.reset_frequency > 0.0 {
            let full = place.area_bytes as f64 * part.job.reset_threshold;
            if self.pointer_data_bytes as f64 >= full {
                self.writes_to_reset = self.writes_to_reset.saturating_sub(1);
                if self.writes_to_reset == 0 {
                    self.writes_to_reset = part.writes_per_reset();
                    self.mark_for_reset(zone);
                }
            }
        }
        if self.needs_reset(zone, place.least_bytes) {
            return self.after_reset(part, zone, len_bytes, place);
        }
        self.at_pointer(zone, len_bytes, place)
    }

    /// The thread's own I/Os complete before its zone is emptied.
    fn after_reset(
        &mut self,
        part: &ZonePart,
        zone: u32,
        len_bytes: u64,
        place: &Place,
    ) -> Adjusted {
        if part.in_flight > 0 {
            return Adjusted::Wait(Stage::Reset(zone));
        }
        self.empty(zone);
        match self.get(zone) {
            Some(emptied) if emptied.capacity_bytes >= place.least_bytes => {
                self.at_pointer(zone, len_bytes, place)
            }
            _ => self.refused(zone),
        }
    }

    fn at_pointer(&mut self, index: u32, len_bytes: u64, place: &Place) -> Adjusted {
        let is_real = self.is_real;
        let Some(zone) = self.get_mut(index) else {
            return Adjusted::End;
        };
        // A drive takes writes in order, which two in flight may not keep.
        if is_real && zone.writes_in_flight > 0 {
            return Adjusted::Wait(Stage::Chosen(index));
        }
        let offset_bytes = zone.written_to;
        let left = zone.limit().saturating_sub(offset_bytes);
        let least = place.least_bytes.max(1);
        let len_bytes = len_bytes.min(left) / least * least;
        let resets = std::mem::take(&mut zone.holds_old_data);
        match len_bytes >= least && place.has(offset_bytes) {
            true => Adjusted::Io { offset_bytes, len_bytes, resets: resets && is_real },
            false => self.refused(index),
        }
    }

    fn place_read(
        &mut self,
        part: &mut ZonePart,
        (offset_bytes, len_bytes): (u64, u64),
        place: &Place,
    ) -> Adjusted {
        let first = self.index(offset_bytes);
        if self.is_locked(part, first) {
            return Adjusted::Wait(Stage::New);
        }
        let least = place.least_bytes.max(1);
        let Some(own) = self.get(first) else {
            return Adjusted::End;
        };
        let origin = own.start_bytes;
        let (mut index, mut offset) = (first, offset_bytes);
        let own_range = if own.is_offline { 0 } else { own.data_bytes() };
        if own_range < least || !place.random && offset + least > own.written_to {
            let Some(found) = self.find_readable(part, first, least, place.random) else {
                return Adjusted::End;
            };
            if self.is_locked(part, found) {
                return Adjusted::Wait(Stage::New);
            }
            index = found;
            if !place.random {
                offset = self.start_of(index);
            }
        }
        let Some(zone) = self.get(index) else {
            return Adjusted::End;
        };
        let range = zone.data_bytes();
        if range <= len_bytes {
            offset = zone.start_bytes;
        } else if place.random {
            let within = (offset - origin) % (range - len_bytes);
            offset = zone.start_bytes + within / least * least;
        }
        let mut len = len_bytes;
        if zone.has_pointer {
            len = len.min(zone.written_to.saturating_sub(offset)) / least * least;
            if part.locks(false) {
                self.lock_zone(part, index);
            }
        }
        Adjusted::Io { offset_bytes: offset, len_bytes: len, resets: false }
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/access/zbd.rs"]
mod tests;
