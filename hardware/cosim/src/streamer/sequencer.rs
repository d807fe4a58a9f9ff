//! Reasons of a failed bring-up, as `hardware/rtl/nvs_init.sv` numbers them.

/// Text for the reason in the register `SEQUENCER`.
pub fn reason_text(reason: u8) -> &'static str {
    match reason {
        0 => "none",
        1 => "a register access was answered with an error, or not at all",
        2 => "a register reads as ones: the drive is gone",
        3 => "the step was not finished in time",
        4 => "no endpoint answers",
        5 => "the class code is not that of an NVMe controller",
        6 => "no PCI Express capability",
        7 => "BAR 0 cannot be used",
        8 => "the queues are too small (CAP.MQES)",
        9 => "no NVM command set (CAP.CSS)",
        10 => "no pages of 4 KiB (CAP.MPSMIN)",
        11 => "CSTS.RDY stays 1 after CC.EN = 0",
        12 => "CSTS.RDY stays 0 after CC.EN = 1",
        13 => "controller fatal status (CSTS.CFS)",
        14 => "no completion of an admin command",
        15 => "an admin command failed",
        16 => "an admin completion entry at a wrong place, with a wrong phase or identifier",
        17 => "the Identify data did not come",
        18 => "the block size is neither 512 nor 4096 bytes, or there is no namespace 1",
        19 => "blocks have metadata",
        20 => "fewer than two queue pairs",
        21 => "the shutdown was not completed in time",
        _ => "unknown",
    }
}
