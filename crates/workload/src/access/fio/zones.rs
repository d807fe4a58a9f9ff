//! Where a thread is before it draws an I/O, of `zonemode=strided` and `zonemode=zbd`.

use super::FioAddresses;

impl FioAddresses {
    /// `setup_zbd_zone_mode`.
    pub(super) fn enter_drive_zone(&mut self, direction: usize) {
        let Some(zones) = &self.zones else {
            return;
        };
        let random = self.access.random;
        let position = self.file.last_end[direction];
        let (position, skips) = zones.enter(direction, position, (random, self.zone_bytes));
        self.file.last_end[direction] = position;
        let stride = zones.job.zone_bytes.saturating_add(zones.job.skip_bytes);
        if skips {
            self.stride(direction, stride);
        }
    }

    /// The area's begin moves on, from the end of the drive to where it was first.
    fn stride(&mut self, direction: usize, bytes: u64) {
        self.zone_bytes = 0;
        self.file.base_bytes = self.file.base_bytes.saturating_add(bytes);
        if self.file.base_bytes >= self.file.part.capacity_bytes {
            self.file.base_bytes = self.file.part.offset_bytes;
        }
        self.file.last_end[direction] = self.file.base_bytes;
    }

    /// `setup_strided_zone_mode`.
    pub(super) fn enter_zone(&mut self, direction: usize) {
        let Some(zones) = self.access.zones else {
            return;
        };
        if self.zone_bytes >= zones.size_bytes {
            let stride = zones.range_bytes.saturating_add(zones.skip_bytes);
            self.stride(direction, stride);
        }
        if self.file.last_end[direction] >= self.file.base_bytes.saturating_add(zones.range_bytes) {
            self.file.last_end[direction] = self.file.base_bytes;
        }
        if self.zone_bytes.is_multiple_of(zones.range_bytes) {
            self.restart();
        }
    }
}
