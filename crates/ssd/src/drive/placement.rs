//! Flexible Data Placement: reclaim unit handles of the drive, see [`crate::ftl`].

use assay_units::Nanos;

use super::{Drive, DriveError};
use crate::ftl::ReclaimUnit;
use crate::medium::Medium;
use crate::sourced::value_or;

/// Most handles: open superblocks must not use up the spare flash.
const MOST_HANDLES: u16 = 128;

impl Drive {
    /// Call before the first command. Data of several handles leave the write buffer out of order,
    /// so power loss is modelled only with power-loss protection.
    pub(super) fn enable_placement(&mut self, handles: u16) -> Result<(), DriveError> {
        let protected = value_or(&self.profile.buffer.power_loss_protected, false);
        let spare = match &self.medium {
            Medium::Flash(ftl) if protected && self.profile.slc.is_none() => {
                ftl.spare_superblocks()
            }
            _ => 0,
        };
        // Half of the spare superblocks stay for garbage collection.
        let most = (spare / 2).min(u32::from(MOST_HANDLES)) as u16;
        if !(1..=most).contains(&handles) {
            let profile = self.profile.name.clone();
            return Err(DriveError::NoPlacement { profile, most });
        }
        if let Medium::Flash(ftl) = &mut self.medium {
            ftl.set_handles(handles);
        }
        self.handles = handles;
        Ok(())
    }

    /// Reclaim unit handles; 0 where the host cannot place data.
    pub fn placement_handles(&self) -> u16 {
        self.handles
    }

    /// Handle of writes submitted from now on; 0 if it does not exist.
    pub fn select_placement(&mut self, handle: u16) {
        self.handle = if handle < self.handles { handle } else { 0 };
    }

    /// Give the handle an empty reclaim unit (I/O Management Send, Reclaim Unit Handle Update);
    /// returns the unwritten bytes of the old one, or `None` without such a handle.
    pub fn renew_reclaim_unit(&mut self, now: Nanos, handle: u16) -> Option<u64> {
        let now_ns = self.catch_up(now);
        match &mut self.medium {
            Medium::Flash(ftl) => ftl.renew_reclaim_unit(now_ns, handle),
            Medium::InPlace(_) => None,
        }
    }

    /// The reclaim units of the handles, in order.
    pub fn reclaim_units(&self) -> Vec<ReclaimUnit> {
        self.medium.reclaim_units()
    }

    /// Size of a reclaim unit in bytes.
    pub fn reclaim_unit_bytes(&self) -> u64 {
        self.medium.reclaim_unit_bytes()
    }
}
