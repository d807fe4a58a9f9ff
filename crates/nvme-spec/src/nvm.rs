//! I/O commands of the NVM command set (NVM 3.2, Flush: Base 7.1): views of a submission entry.

use crate::opcode::NvmOpcode;
use crate::wire::{commands, wire};
use assay_units::constants;

constants! {
    /// Bits of PRINFO (NVM 5.2.3).
    pub mod prinfo: u8 {
        CHECK_REFERENCE = 1 << 0, "The controller checks the reference tag (PRCHK).";
        CHECK_GUARD = 1 << 2, "The controller checks the guard (PRCHK).";
        ACTION = 1 << 3, "The controller inserts it into writes and strips it from reads (PRACT).";
    }
}

/// Declares commands on a range of logical blocks, which share these fields.
macro_rules! range_commands {
    ($( $(#[$meta:meta])* pub struct $name:ident = $opcode:expr; )*) => {
        commands! {$(
            $(#[$meta])*
            pub struct $name = $opcode => {
                slba / set_slba: u64 = 40, "Starting LBA (SLBA).";
                nlb / set_nlb: u16 = 48, "Number of Logical Blocks (NLB), less one.";
                deallocate / set_deallocate: bool = 48, u32[25..=25],
                    "Deallocate (DEAC), of Write Zeroes only.";
                protection / set_protection: u8 = 48, u32[26..=29],
                    "Protection Information Field (PRINFO).";
                fua / set_fua: bool = 48, u32[30..=30], "Force Unit Access (FUA).";
                /// Initial Logical Block Reference Tag (ILBRT, of Read EILBRT).
                initial_reference / set_initial_reference: u32 = 56;
                directive / set_directive: u8 = 48, u32[20..=23],
                    "Directive Type (DTYPE), of Write only; see [`crate::fdp::DATA_PLACEMENT`].";
                hints / set_hints: u8 = 52, "Dataset Management hints (DSM).";
                directive_specific / set_directive_specific: u16 = 54,
                    "Directive Specific (DSPEC), of Write only.";
            }
        )*}
        $(
            impl $name {
                /// Command on `blocks` (1 to 65,536) logical blocks of a namespace from `slba` on.
                pub fn for_blocks(nsid: u32, slba: u64, blocks: u32) -> $name {
                    assert!(matches!(blocks, 1..=65_536), "{blocks} logical blocks in one command");
                    let mut command = $name::new();
                    command
                        .set_nsid(nsid)
                        .set_slba(slba)
                        .set_nlb((blocks - 1) as u16);
                    command
                }

                /// Number of logical blocks.
                pub fn blocks(&self) -> u32 {
                    u32::from(self.nlb()) + 1
                }
            }
        )*
    };
}

range_commands! {
    /// Read (NVM 3.2.4).
    pub struct Read = NvmOpcode::READ;
    /// Write (NVM 3.2.6).
    pub struct Write = NvmOpcode::WRITE;
    /// Compare (NVM 3.2.1).
    pub struct Compare = NvmOpcode::COMPARE;
    /// Verify (NVM 3.2.5).
    pub struct Verify = NvmOpcode::VERIFY;
    /// Write Zeroes (NVM 3.2.8).
    pub struct WriteZeroes = NvmOpcode::WRITE_ZEROES;
}

commands! {
    /// Flush (Base 7.1).
    pub struct Flush = NvmOpcode::FLUSH => {}

    /// Dataset Management (NVM 3.2.3); its data are [`DatasetRange`]s.
    pub struct DatasetManagement = NvmOpcode::DATASET_MANAGEMENT => {
        ranges / set_ranges: u8 = 40, "Number of Ranges (NR), less one.";
        deallocate / set_deallocate: bool = 44, u32[2..=2], "Attribute, Deallocate (AD).";
    }
}

wire! {
    /// One range of Dataset Management (NVM 3.2.3).
    pub struct DatasetRange[16] {
        attributes / set_attributes: u32 = 0, "Context Attributes.";
        blocks / set_blocks: u32 = 4, "Length in logical blocks.";
        slba / set_slba: u64 = 8, "Starting LBA.";
    }
}
