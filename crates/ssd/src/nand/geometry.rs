//! How units lie in a superblock.

use crate::fastdiv::FastDiv;
use crate::profile::NandProfile;

#[derive(Clone, Copy, Debug)]
pub struct SuperblockGeometry {
    pub superblock_units: u32,
    pub group_units: FastDiv,
    pub(super) sense_units: FastDiv,
    pub(super) program_pages: FastDiv,
    pub(super) row_units: FastDiv,
}

/// Superblocks of which wear is kept: multi-bit ones, and an SLC cache's own.
pub(super) fn aged_superblocks(nand: &NandProfile, first_slc: u32) -> (u32, u32) {
    let all = nand.blocks_per_plane.value;
    let multi = first_slc.min(all);
    (multi, all - multi)
}

pub(super) fn page_units(nand: &NandProfile) -> u32 {
    (nand.page_bytes.value / nand.map_unit().bytes()) as u32
}

pub(super) fn stripe_units(nand: &NandProfile) -> Option<u32> {
    let stripe = nand.stripe_bytes.as_ref()?;
    let sense_bytes = u64::from(nand.planes.value) * nand.page_bytes.value;
    (stripe.value < sense_bytes).then_some((stripe.value / nand.map_unit().bytes()) as u32)
}

/// Multi-bit and SLC superblocks; in SLC mode a word line holds one page.
pub fn geometries(nand: &NandProfile) -> (SuperblockGeometry, SuperblockGeometry) {
    let program_pages = u32::from(nand.program_pages.value);
    let sense_bytes = nand.page_bytes.value * u64::from(nand.planes.value);
    let sense = (sense_bytes / nand.map_unit().bytes()) as u32;
    let dies = u32::from(nand.dies.value);
    let multi = SuperblockGeometry {
        superblock_units: sense * dies * nand.pages_per_block.value,
        group_units: FastDiv::new(sense * program_pages),
        sense_units: FastDiv::new(sense),
        program_pages: FastDiv::new(program_pages),
        row_units: FastDiv::new(sense * program_pages * dies),
    };
    let bits = program_pages.max(nand.read_ns.value.len() as u32);
    let slc = SuperblockGeometry {
        superblock_units: sense * dies * (nand.pages_per_block.value / bits),
        group_units: FastDiv::new(sense),
        sense_units: FastDiv::new(sense),
        program_pages: FastDiv::new(1),
        row_units: FastDiv::new(sense * dies),
    };
    (multi, slc)
}

/// Bits that number the units of a superblock.
pub fn address_shift(nand: &NandProfile) -> u32 {
    let (multi, _) = geometries(nand);
    multi.superblock_units.next_power_of_two().trailing_zeros()
}
