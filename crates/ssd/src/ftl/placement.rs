//! Data placement by the host: reclaim unit handles (Flexible Data Placement, NVM Express Base
//! Specification 2.1; TP4146).
//!
//! Each handle is a write point, so data of one handle share superblocks, the reclaim units. Data
//! of one lifetime under one handle become stale together and garbage collection moves little: M.
//! Allison et al., "Towards Efficient Flash Caches with Emerging NVMe Flexible Data Placement SSDs"
//! (EuroSys 2025), measure a write amplification of about 1 for a cache with small random and large
//! sequential objects. Handles are *initially isolated*: garbage collection mixes what it moves.
//! The write point of the selected handle is that of host data; the others wait here.

use super::write_point::WritePoint;
use super::{Ftl, HOST};

#[derive(Clone, Debug, Default)]
pub(super) struct Placement {
    waiting: Vec<WritePoint>,
    selected: usize,
}

/// A reclaim unit handle, as the host sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReclaimUnit {
    /// Bytes that can still be written to its reclaim unit.
    pub left_bytes: u64,
}

impl Ftl {
    /// Give the drive so many handles, before the first write.
    pub fn set_handles(&mut self, handles: u16) {
        let group_units = self.write_points[HOST].group_units;
        self.placement.waiting = vec![WritePoint::closed(group_units); usize::from(handles)];
    }

    /// Write host data to the reclaim unit of this handle from now on.
    pub fn select_handle(&mut self, now_ns: u64, handle: u16) {
        let handle = usize::from(handle);
        if handle == self.placement.selected || handle >= self.placement.waiting.len() {
            return;
        }
        // Deferred map updates belong to the selected write point.
        self.apply_map_updates();
        if self.is_full_open {
            self.finish_group(HOST, now_ns);
        }
        let selected = std::mem::replace(&mut self.placement.selected, handle);
        let closed = WritePoint::closed(self.write_points[HOST].group_units);
        let chosen = std::mem::replace(&mut self.placement.waiting[handle], closed);
        self.placement.waiting[selected] = std::mem::replace(&mut self.write_points[HOST], chosen);
    }

    pub(super) fn with_waiting(&mut self, mut act: impl FnMut(&mut Ftl)) {
        for handle in 0..self.placement.waiting.len() {
            let swap = |ftl: &mut Ftl| {
                std::mem::swap(&mut ftl.write_points[HOST], &mut ftl.placement.waiting[handle]);
            };
            swap(self);
            act(self);
            swap(self);
        }
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = &WritePoint> {
        self.placement.waiting.iter()
    }

    /// The handles, in order.
    pub fn reclaim_units(&self) -> Vec<ReclaimUnit> {
        let with_selected = self.placement.waiting.iter().enumerate();
        let points = with_selected.map(|(handle, point)| match handle {
            _ if handle == self.placement.selected => &self.write_points[HOST],
            _ => point,
        });
        let left = |point: &WritePoint| match point.limit - point.next {
            // The next write opens a new superblock.
            0 => self.superblock_units,
            left => left,
        };
        points.map(|point| ReclaimUnit { left_bytes: self.unit.start(left(point)) }).collect()
    }

    /// The next write of a handle opens another reclaim unit: buffered data is programmed and the
    /// superblock closed. Returns the bytes left unwritten (0 if it was unused), `None` without
    /// such a handle.
    pub fn renew_reclaim_unit(&mut self, now_ns: u64, handle: u16) -> Option<u64> {
        if usize::from(handle) >= self.placement.waiting.len() {
            return None;
        }
        self.select_handle(now_ns, handle);
        self.pad_selected(now_ns);
        let write_point = &mut self.write_points[HOST];
        let left = write_point.limit - write_point.next;
        write_point.limit = write_point.next;
        Some(self.unit.start(left))
    }

    /// Size of a reclaim unit in bytes: a superblock.
    pub fn reclaim_unit_bytes(&self) -> u64 {
        self.unit.start(self.superblock_units)
    }
}
