//! Register addresses of the core: offsets of [`assay_stream::registers::map`], which is made from
//! `hardware/rtl/registers.toml`.

use assay_stream::registers::map::{self, drive, stream};

pub use assay_stream::registers::map::drive::{
    LINK_SPEED, LINK_UP, LINK_WIDTH, SEQUENCER_FAILED, SEQUENCER_READY, SEQUENCER_REASON,
    SEQUENCER_STEP,
};
pub use assay_stream::registers::map::stream::{
    DEVICE_STATUS_DRIVE, DEVICE_STATUS_LBA, DEVICE_STATUS_STATUS_FIELD, DEVICE_STATUS_VALID,
    FLUSH_CONTROL_START, FLUSH_CONTROL_STOP, ID_VALUE, VERSION_VALUE,
};
pub use assay_stream::registers::map::{READ_BANK, WRITE_BANK};

/// Address of the bank of a drive.
pub const fn drive_bank(drive: usize) -> u32 {
    map::DRIVE_BANK + map::DRIVE_BANK_STRIDE * drive as u32
}

macro_rules! offsets {
    ($bank:ident: $($name:ident)*) => {
        $(
            #[doc = concat!("Offset of `", stringify!($name), "` in the bank.")]
            pub const $name: u32 = $bank::$name.offset();
        )*
    };
}

offsets!(stream: ID VERSION CONTROL STATUS FIRST_ADDRESS LAST_ADDRESS CHUNK_BYTES
    LAST_ADDRESS_WRITTEN BYTES STALLS STALL_TIME DURABLE_BYTES DEVICE_STATUS FLUSH_CONTROL
    CYCLES LENGTH);
offsets!(drive: LINK SEQUENCER MEDIA_BYTES BLOCK_BYTES);
