//! Addresses and bits of the core's registers, `rtl/registers.toml`, as far as this crate uses them.

/// Bank of recordings.
pub const WRITE_BANK: u32 = 0x000;
/// Bank of replays.
pub const READ_BANK: u32 = 0x100;
/// First register of a drive.
pub const fn drive_bank(drive: usize) -> u32 {
    0x200 + 0x100 * drive as u32
}

/// "ASAY".
pub const ID: u32 = 0x00;
/// Value of `ID`.
pub const ID_VALUE: u32 = 0x5941_5341;
/// Version of the register map.
pub const VERSION: u32 = 0x04;
/// Value of `VERSION`.
pub const VERSION_VALUE: u32 = 2;
/// Write 1 to act.
pub const CONTROL: u32 = 0x08;
/// Status bits.
pub const STATUS: u32 = 0x0c;
/// Byte address of the first chunk.
pub const FIRST_ADDRESS: u32 = 0x10;
/// Byte address of the last chunk, inclusive.
pub const LAST_ADDRESS: u32 = 0x18;
/// Size of a chunk.
pub const CHUNK_BYTES: u32 = 0x20;
/// Last chunk of the unbroken run.
pub const LAST_ADDRESS_WRITTEN: u32 = 0x28;
/// Bytes of that run.
pub const BYTES: u32 = 0x30;
/// Times the stream waited.
pub const STALLS: u32 = 0x40;
/// Nanoseconds per unit of `STALL_TIME`.
pub const STALL_TIME_UNIT_NS: u64 = 1;
/// Total of these.
pub const STALL_TIME: u32 = 0x48;
/// Bytes covered by a flush.
pub const DURABLE_BYTES: u32 = 0x60;
/// The first failed command.
pub const DEVICE_STATUS: u32 = 0x70;
/// Discard beats of the stream.
pub const FLUSH_CONTROL: u32 = 0x78;
/// Clock cycles of the session.
pub const CYCLES: u32 = 0x88;
/// Bytes to deliver.
pub const LENGTH: u32 = 0x98;

/// State of the bring-up.
pub const SEQUENCER: u32 = 0x04;
/// Size of the namespace.
pub const MEDIA_BYTES: u32 = 0x08;
/// Size of a logical block.
pub const BLOCK_BYTES: u32 = 0x10;

/// I/O may run.
pub const SEQUENCER_READY: u32 = 1 << 16;
/// Stopped in a step.
pub const SEQUENCER_FAILED: u32 = 1 << 17;
