//! Energy of flash operations.
//!
//! A page that garbage collection or folding moves is sensed, transferred, decoded, transferred
//! back and programmed; host data are transferred once and programmed. So energy follows write
//! amplification. Array operations heat the flash, transfers and decoding the controller.

use crate::profile::{MAP_UNIT_BYTES, NandProfile, PowerProfile};
use crate::sourced::value_or;
use crate::thermal::{Energy, core_energy_nj};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlashEnergy {
    sense_nj: u64,
    read_page_nj: u64,
    program_page_nj: u64,
    erase_superblock_nj: u64,
    transfer_sector_nj: u64,
    decode_sector_nj: u64,
    core_mw: u64,
    page_sectors: u64,
    pub(super) read_sectors: u64,
    spent: Energy,
}

impl FlashEnergy {
    pub(super) fn new(power: &PowerProfile, nand: &NandProfile) -> FlashEnergy {
        let blocks = u64::from(nand.dies.value) * u64::from(nand.planes.value);
        let sector_nj = |kib_nj| value_or(kib_nj, 0) * (MAP_UNIT_BYTES >> 10);
        FlashEnergy {
            sense_nj: value_or(&power.sense_nj, 0),
            read_page_nj: power.read_page_nj.value,
            program_page_nj: power.program_page_nj.value,
            erase_superblock_nj: blocks * value_or(&power.erase_block_nj, 0)
                / u64::from(nand.slices.unwrap_or(1).max(1)),
            transfer_sector_nj: sector_nj(&power.flash_transfer_kib_nj),
            decode_sector_nj: sector_nj(&power.decode_kib_nj),
            core_mw: value_or(&power.core_mw, 0).into(),
            page_sectors: nand.page_bytes.value / MAP_UNIT_BYTES,
            read_sectors: 0,
            spent: Energy::default(),
        }
    }

    #[inline]
    pub(super) fn read(&mut self, senses: u32, pages: u32, sectors: u32) {
        self.read_sectors += u64::from(sectors);
        self.spent.flash_nj += self.sense_nj * u64::from(senses);
        self.spent.flash_nj += self.read_page_nj * u64::from(pages);
        self.spent.controller_nj +=
            (self.transfer_sector_nj + self.decode_sector_nj) * u64::from(sectors);
    }

    #[inline]
    pub(super) fn program(&mut self, sectors: u64) {
        self.spent.flash_nj += self.program_page_nj * (sectors / self.page_sectors);
        self.spent.controller_nj += self.transfer_sector_nj * sectors;
    }

    pub(super) fn erase_superblock(&mut self) {
        self.spent.flash_nj += self.erase_superblock_nj;
    }

    pub(super) fn firmware(&mut self, core_ns: u64) {
        self.spent.controller_nj += core_energy_nj(core_ns, self.core_mw);
    }

    #[inline]
    pub(super) fn take(&mut self) -> Energy {
        std::mem::take(&mut self.spent)
    }
}
