//! The zones of a drive, as the threads of a job see them (`zbd_info` of fio 3.33).

use std::sync::Mutex;

use super::zbd::{Adjusted, ZoneJob, ZonePart};

/// Of a zone that the drive has reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneReport {
    pub start_bytes: u64,
    /// What can be written of it.
    pub capacity_bytes: u64,
    /// Up to where it is written.
    pub written_to: u64,
    pub is_conventional: bool,
    pub is_offline: bool,
    pub is_open: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Zone {
    pub(super) start_bytes: u64,
    pub(super) capacity_bytes: u64,
    pub(super) written_to: u64,
    pub(super) has_pointer: bool,
    pub(super) is_offline: bool,
    /// As reported.
    was_open: bool,
    pub(super) is_open: bool,
    is_to_be_reset: bool,
    /// What the drive still holds of it is not counted any more.
    pub(super) holds_old_data: bool,
    /// The thread that has I/Os in flight in it, and how many.
    owner: u32,
    locks: u32,
    pub(super) writes_in_flight: u32,
}

impl Zone {
    /// `zbd_zone_capacity_end`.
    pub(super) fn limit(&self) -> u64 {
        self.start_bytes + self.capacity_bytes
    }

    pub(super) fn data_bytes(&self) -> u64 {
        self.written_to - self.start_bytes
    }

    fn is_full(&self, least_bytes: u64) -> bool {
        self.has_pointer && self.written_to + least_bytes > self.limit()
    }
}

/// The zones of one drive, which the threads of its jobs share.
#[derive(Debug)]
pub struct ZoneTable {
    pub(super) zones: Mutex<Zones>,
}

impl ZoneTable {
    /// Of a drive without zones: all are empty, as for fio.
    pub fn imagined(job: &ZoneJob, drive_bytes: u64) -> ZoneTable {
        let zone = |index: u64| ZoneReport {
            start_bytes: index * job.zone_bytes,
            capacity_bytes: match job.capacity_bytes {
                0 => job.zone_bytes,
                bytes => bytes,
            },
            written_to: index * job.zone_bytes,
            is_conventional: false,
            is_offline: false,
            is_open: false,
        };
        let count = drive_bytes.div_ceil(job.zone_bytes.max(1));
        ZoneTable::new(job, (0..count).map(zone), false)
    }

    pub fn of_drive(job: &ZoneJob, reported: &[ZoneReport]) -> ZoneTable {
        ZoneTable::new(job, reported.iter().copied(), true)
    }

    fn new(job: &ZoneJob, reported: impl Iterator<Item = ZoneReport>, is_real: bool) -> ZoneTable {
        let zone = |zone: ZoneReport| Zone {
            start_bytes: zone.start_bytes,
            capacity_bytes: zone.capacity_bytes,
            written_to: zone.written_to,
            has_pointer: !zone.is_conventional,
            is_offline: zone.is_offline,
            was_open: zone.is_open,
            is_open: false,
            is_to_be_reset: false,
            holds_old_data: false,
            owner: 0,
            locks: 0,
            writes_in_flight: 0,
        };
        ZoneTable {
            zones: Mutex::new(Zones {
                all: reported.map(zone).collect(),
                zone_bytes: job.zone_bytes,
                is_real,
                max_open: job.max_open,
                open: vec![0; MAX_OPEN_ZONES],
                open_count: 0,
                data_bytes: 0,
                pointer_data_bytes: 0,
                writes_to_reset: u32::MAX,
                in_flight: 0,
                threads: 0,
            }),
        }
    }
}

/// `ZBD_MAX_OPEN_ZONES` of fio 3.33.
pub const MAX_OPEN_ZONES: usize = 4096;

#[derive(Debug)]
pub(super) struct Zones {
    all: Vec<Zone>,
    pub(super) zone_bytes: u64,
    /// The drive has these zones.
    pub(super) is_real: bool,
    pub(super) max_open: u32,
    /// The open zones; what is behind them is left from before, and fio reads it.
    pub(super) open: Vec<u32>,
    pub(super) open_count: u32,
    pub(super) data_bytes: u64,
    /// Of zones with write pointers.
    pub(super) pointer_data_bytes: u64,
    pub(super) writes_to_reset: u32,
    pub(super) in_flight: u32,
    threads: u32,
}

impl Zones {
    pub(super) fn new_thread(&mut self) -> u32 {
        self.threads += 1;
        self.threads
    }

    /// `zbd_offset_to_zone_idx`: one more than the last behind the end.
    pub(super) fn index(&self, offset_bytes: u64) -> u32 {
        let index = offset_bytes / self.zone_bytes.max(1);
        index.min(self.all.len() as u64) as u32
    }

    pub(super) fn get(&self, index: u32) -> Option<&Zone> {
        self.all.get(index as usize)
    }

    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut Zone> {
        self.all.get_mut(index as usize)
    }

    pub(super) fn start_of(&self, index: u32) -> u64 {
        u64::from(index) * self.zone_bytes
    }

    pub(super) fn end_of(&self, index: u32) -> u64 {
        self.start_of(index + 1)
    }

    pub(super) fn is_open_on_drive(&self, index: u32) -> bool {
        self.get(index).is_some_and(|zone| zone.was_open)
    }

    /// `zbd_process_swd`.
    pub(super) fn count_data(&mut self, first: u32, end: u32) {
        let all = self.all.get(first as usize..end as usize).unwrap_or(&[]);
        self.data_bytes = all.iter().map(Zone::data_bytes).sum();
        let pointed = all.iter().filter(|zone| zone.has_pointer);
        self.pointer_data_bytes = pointed.map(Zone::data_bytes).sum();
    }

    /// Whether another thread has an I/O in flight in it.
    pub(super) fn is_locked(&self, part: &ZonePart, index: u32) -> bool {
        (self.get(index)).is_some_and(|zone| zone.locks > 0 && zone.owner != part.thread)
    }

    pub(super) fn lock_zone(&mut self, part: &ZonePart, index: u32) {
        if let Some(zone) = self.get_mut(index) {
            zone.owner = part.thread;
            zone.locks += 1;
        }
    }

    pub(super) fn chosen(&mut self, part: &ZonePart, index: u32) -> u32 {
        self.lock_zone(part, index);
        index
    }

    /// Ends the job, as in fio.
    pub(super) fn refused(&mut self, index: u32) -> Adjusted {
        if let Some(zone) = self.get_mut(index) {
            zone.locks = zone.locks.saturating_sub(1);
        }
        Adjusted::End
    }

    /// `zbd_open_zone`.
    pub(super) fn open(
        &mut self,
        part: &mut ZonePart,
        index: u32,
        verifies: bool,
        least_bytes: u64,
    ) -> bool {
        let Some(zone) = self.get(index) else {
            return false;
        };
        // A reset would lose what is to be verified.
        if zone.is_offline || verifies && zone.is_full(least_bytes) {
            return false;
        }
        if self.max_open == 0 {
            return true;
        }
        if zone.is_open {
            return zone.written_to < zone.limit();
        }
        let job_limit = part.job.job_max_open;
        if job_limit > 0 && part.opened >= job_limit || self.open_count >= self.max_open {
            return false;
        }
        self.open[self.open_count as usize] = index;
        self.open_count += 1;
        part.opened += 1;
        if let Some(zone) = self.get_mut(index) {
            zone.is_open = true;
        }
        true
    }

    /// `zbd_close_zone`.
    pub(super) fn close(&mut self, part: &mut ZonePart, index: u32) {
        if !self.get(index).is_some_and(|zone| zone.is_open) {
            return;
        }
        let open = &self.open[..self.open_count as usize];
        let Some(place) = open.iter().position(|&open| open == index) else {
            return;
        };
        self.open.remove(place);
        self.open.push(0);
        self.open_count -= 1;
        part.opened = part.opened.saturating_sub(1);
        if let Some(zone) = self.get_mut(index) {
            zone.is_open = false;
        }
    }

    pub(super) fn mark_for_reset(&mut self, index: u32) {
        if let Some(zone) = self.get_mut(index) {
            zone.is_to_be_reset = true;
        }
    }

    pub(super) fn needs_reset(&self, index: u32, least_bytes: u64) -> bool {
        let zone = self.get(index);
        zone.is_some_and(|zone| zone.is_to_be_reset || zone.is_full(least_bytes))
    }

    /// `zbd_reset_zone`.
    pub(super) fn empty(&mut self, index: u32) {
        let Some(zone) = self.get_mut(index).filter(|zone| zone.has_pointer) else {
            return;
        };
        zone.is_to_be_reset = false;
        let data_bytes = zone.data_bytes();
        zone.written_to = zone.start_bytes;
        zone.holds_old_data |= data_bytes > 0;
        self.data_bytes = self.data_bytes.saturating_sub(data_bytes);
        self.pointer_data_bytes = self.pointer_data_bytes.saturating_sub(data_bytes);
    }

    pub(super) fn issued(
        &mut self,
        part: &mut ZonePart,
        write: bool,
        offset_bytes: u64,
        len_bytes: u64,
    ) {
        self.in_flight += 1;
        part.in_flight += 1;
        let index = self.index(offset_bytes);
        let Some(zone) = self.get_mut(index).filter(|zone| zone.has_pointer && write) else {
            return;
        };
        zone.writes_in_flight += 1;
        let end = (offset_bytes + len_bytes).min(zone.limit());
        let new_bytes = end.saturating_sub(zone.written_to);
        zone.written_to = end;
        self.data_bytes += new_bytes;
        self.pointer_data_bytes += new_bytes;
    }

    pub(super) fn completed(
        &mut self,
        part: &mut ZonePart,
        write: bool,
        offset_bytes: u64,
        len_bytes: u64,
    ) {
        self.in_flight = self.in_flight.saturating_sub(1);
        part.in_flight = part.in_flight.saturating_sub(1);
        let locks = part.locks(write);
        let index = self.index(offset_bytes);
        let Some(zone) = self.get_mut(index).filter(|zone| zone.has_pointer && locks) else {
            return;
        };
        zone.locks = zone.locks.saturating_sub(1);
        if write {
            zone.writes_in_flight = zone.writes_in_flight.saturating_sub(1);
            if offset_bytes + len_bytes >= zone.limit() {
                self.close(part, index);
            }
        }
    }
}
