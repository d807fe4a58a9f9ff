//! How the flash is divided: superblocks of data, of the SLC cache, and those that borrow.

use super::FlashError;
use crate::map::UNMAPPED;
use crate::nand::{SuperblockGeometry, address_shift, geometries};
use crate::profile::Profile;
use crate::sourced::value_or;

pub(super) struct Layout {
    pub(super) multi_geometry: SuperblockGeometry,
    pub(super) slc_geometry: SuperblockGeometry,
    /// Multi-bit superblocks; those of the cache follow, and then those that borrow, to `total`.
    pub(super) multi: u32,
    pub(super) total: u32,
    /// Multi-bit superblocks that the capacity and garbage collection need.
    pub(super) need: u32,
}

impl Layout {
    pub(super) fn new(profile: &Profile, user_units: u32) -> Result<Layout, FlashError> {
        let nand = &profile.nand;
        let (multi_geometry, slc_geometry) = geometries(nand);
        let unit = nand.map_unit();
        if slc_geometry.superblock_units == 0 {
            return Err(FlashError::NoSlcPage);
        }
        let (own, borrowing) = profile.slc.as_ref().map_or((0, 0), |slc| {
            let bytes = unit.start(slc_geometry.superblock_units);
            let own = match slc.bytes.value {
                0 => 0,
                own_bytes => own_bytes.div_ceil(bytes).max(3),
            };
            let borrowed = value_or(&slc.borrowed_bytes, 0).div_ceil(bytes);
            (own as u32, borrowed as u32)
        });
        let physical = nand.blocks_per_plane.value;
        // None are left where the SLC cache takes all, which is [`FlashError::TooSmall`].
        let multi = physical.saturating_sub(own);
        let filled = user_units.div_ceil(multi_geometry.superblock_units);
        let need = filled + profile.ftl.gc_low_superblocks.value + 4;
        let superblock_mib = unit.start(multi_geometry.superblock_units) >> 20;
        let superblocks = u64::from(physical) + u64::from(borrowing.min(multi));
        if superblocks << address_shift(nand) >= u64::from(UNMAPPED) {
            return Err(FlashError::TooLarge { superblocks, superblock_mib });
        }
        if multi < need {
            return Err(FlashError::TooSmall { have: multi, need, superblock_mib });
        }
        Ok(Layout { multi_geometry, slc_geometry, multi, total: superblocks as u32, need })
    }
}
