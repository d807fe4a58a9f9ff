//! Registers of a streaming core: addresses and bits. Made from `hardware/rtl/registers.toml` by
//! `make registers`; do not edit.
//!
//! An address is that of the bank plus the register's offset. Registers are little-endian; those of
//! 64 bits are read as two 32-bit halves, low half first. [`Registers`](super::Registers) holds
//! those that act on a software stream or change while it runs. docs/hardware-core.md has all as a
//! table.

use super::{ControlBits, Register, RegisterField, StatusBits};

/// Address of the bank `write`. Stream to drives.
pub const WRITE_BANK: u32 = 0x000;
/// Address of the bank `read`. Drives to stream.
pub const READ_BANK: u32 = 0x100;
/// Address of the bank `drive`. One drive.
pub const DRIVE_BANK: u32 = 0x200;
/// Distance of the banks of two drives.
pub const DRIVE_BANK_STRIDE: u32 = 0x100;
/// Most drives of a core.
pub const DRIVE_BANKS: u32 = 4;

/// Registers of the stream banks; offsets within the bank.
pub mod stream {
    use super::{Register, RegisterField};

    /// "ASAY"; constant 0x59415341.
    pub const ID: Register = Register::new(0x00, 32);
    /// Value of `ID`.
    pub const ID_VALUE: u32 = 0x59415341;
    /// Version of this map; constant 0x2.
    pub const VERSION: Register = Register::new(0x04, 32);
    /// Value of `VERSION`.
    pub const VERSION_VALUE: u32 = 0x2;
    /// Write 1 to act; reads as 0.
    pub const CONTROL: Register = Register::new(0x08, 32);
    /// State of the stream; read only.
    pub const STATUS: Register = Register::new(0x0c, 32);
    /// Byte address of the first chunk; read and write, reset value 0.
    pub const FIRST_ADDRESS: Register = Register::new(0x10, 64);
    /// Byte address of the last chunk, inclusive; read and write, reset value 0.
    pub const LAST_ADDRESS: Register = Register::new(0x18, 64);
    /// Size of a chunk; read only.
    pub const CHUNK_BYTES: Register = Register::new(0x20, 32);
    /// Byte address of the last chunk of the contiguous run of completed chunks (read bank:
    /// delivered); valid with `LAST_VALID`; read only.
    pub const LAST_ADDRESS_WRITTEN: Register = Register::new(0x28, 64);
    /// Bytes of the stream in that run; read only.
    pub const BYTES: Register = Register::new(0x30, 64);
    /// The same in beats of 16 bytes, rounded up; read only.
    pub const BEATS: Register = Register::new(0x38, 64);
    /// Number of times the stream had to wait for the drive; a replay always waits for its first
    /// chunk; read only.
    pub const STALLS: Register = Register::new(0x40, 64);
    /// Total duration of these, nanoseconds; a core counts whole microseconds; read only.
    pub const STALL_TIME: Register = Register::new(0x48, 64);
    /// First beat of the pattern generator or checker, bytes 0 to 7; read and write, reset value
    /// 0.
    pub const PATTERN_SEED: Register = Register::new(0x50, 64);
    /// Beats per packet of the pattern, 0 for one packet of the whole stream; read and write,
    /// reset value 0.
    pub const PACKET_BEATS: Register = Register::new(0x58, 64);
    /// Bytes of the stream covered by a completed flush (read bank: 0); read only.
    pub const DURABLE_BYTES: Register = Register::new(0x60, 64);
    /// Number of the first beat that the pattern checker found wrong; valid with `PATTERN_ERROR`;
    /// read only.
    pub const ERROR_BEAT: Register = Register::new(0x68, 64);
    /// The first failed command of the stream; read only.
    pub const DEVICE_STATUS: Register = Register::new(0x70, 64);
    /// `DEVICE_STATUS`, bits 14:0: status field of its completion entry, without the phase.
    pub const DEVICE_STATUS_STATUS_FIELD: RegisterField = RegisterField::new(14, 0);
    /// `DEVICE_STATUS`, bits 17:16: drive.
    pub const DEVICE_STATUS_DRIVE: RegisterField = RegisterField::new(17, 16);
    /// `DEVICE_STATUS`, bit 31: a command failed.
    pub const DEVICE_STATUS_VALID: RegisterField = RegisterField::new(31, 31);
    /// `DEVICE_STATUS`, bits 63:32: low half of its first logical block.
    pub const DEVICE_STATUS_LBA: RegisterField = RegisterField::new(63, 32);
    /// Take beats of the stream and drop them; has nothing to do with an NVMe flush; reads as 0.
    pub const FLUSH_CONTROL: Register = Register::new(0x78, 32);
    /// `FLUSH_CONTROL`, bit 0: begin now.
    pub const FLUSH_CONTROL_START: RegisterField = RegisterField::new(0, 0);
    /// `FLUSH_CONTROL`, bit 1: end.
    pub const FLUSH_CONTROL_STOP: RegisterField = RegisterField::new(1, 1);
    /// `FLUSH_CONTROL`, bit 2: begin when the present recording has ended.
    pub const FLUSH_CONTROL_AFTER_WRITE: RegisterField = RegisterField::new(2, 2);
    /// State of `FLUSH_CONTROL`; read only.
    pub const FLUSH_STATUS: Register = Register::new(0x7c, 32);
    /// `FLUSH_STATUS`, bit 0: beats are dropped.
    pub const FLUSH_STATUS_IN_PROGRESS: RegisterField = RegisterField::new(0, 0);
    /// `FLUSH_STATUS`, bit 1: it has ended.
    pub const FLUSH_STATUS_FINISHED: RegisterField = RegisterField::new(1, 1);
    /// Beats of the stream that were taken and are on no drive: dropped by `FLUSH_CONTROL`, or of
    /// an open chunk given up by STOP; read only.
    pub const DROPPED_BEATS: Register = Register::new(0x80, 64);
    /// Clock cycles from START to the end, or until now; read only.
    pub const CYCLES: Register = Register::new(0x88, 64);
    /// First beat of the pattern, bytes 8 to 15; read and write, reset value 0.
    pub const PATTERN_SEED_HIGH: Register = Register::new(0x90, 64);
    /// Bytes to deliver, 0 for the whole range; read and write, reset value 0.
    pub const LENGTH: Register = Register::new(0x98, 64);
    /// Chunks of a ring that begin behind its trigger; 0 is 1; read and write, reset value 0.
    pub const POST_CHUNKS: Register = Register::new(0xa0, 32);
    /// Byte address of the next chunk; with `WRAPPED` the oldest one; read only.
    pub const NEXT_ADDRESS: Register = Register::new(0xa8, 64);
    /// Entries of the index since the reset, modulo 2^32; read only.
    pub const INDEX_COUNT: Register = Register::new(0xb0, 32);
    /// Number of the entry that INDEX_POSITION and INDEX_TIME show; reads as 0.
    pub const INDEX_SELECT: Register = Register::new(0xb4, 32);
    /// What the entry is, and the place of its beat in bytes; read only.
    pub const INDEX_POSITION: Register = Register::new(0xb8, 64);
    /// `INDEX_POSITION`, bit 0: the first beat of a chunk.
    pub const INDEX_POSITION_CHUNK: RegisterField = RegisterField::new(0, 0);
    /// `INDEX_POSITION`, bit 1: the last beat of a packet.
    pub const INDEX_POSITION_LAST: RegisterField = RegisterField::new(1, 1);
    /// `INDEX_POSITION`, bit 2: the trigger came with or before it.
    pub const INDEX_POSITION_TRIGGER: RegisterField = RegisterField::new(2, 2);
    /// `INDEX_POSITION`, bit 3: no beat: the recording has ended behind the beat before it.
    pub const INDEX_POSITION_END: RegisterField = RegisterField::new(3, 3);
    /// When, and how much of the beat; read only.
    pub const INDEX_TIME: Register = Register::new(0xc0, 64);
    /// `INDEX_TIME`, bits 47:0: microseconds since the reset.
    pub const INDEX_TIME_TIME: RegisterField = RegisterField::new(47, 0);
    /// `INDEX_TIME`, bits 55:48: bytes of the beat that are the stream's; 0 for no beat.
    pub const INDEX_TIME_KEPT: RegisterField = RegisterField::new(55, 48);
    /// `INDEX_TIME`, bits 57:56: with END: 0 complete, 1 STOP, 2 ABORT, 3 error.
    pub const INDEX_TIME_HOW: RegisterField = RegisterField::new(57, 56);
    /// Microseconds since the reset; 0 without an index; read only.
    pub const TIME: Register = Register::new(0xc8, 64);
}

/// Registers of the bank `drive`; offsets within the bank.
pub mod drive {
    use super::{Register, RegisterField};

    /// PCIe link; read only.
    pub const LINK: Register = Register::new(0x00, 32);
    /// `LINK`, bit 0: link is up.
    pub const LINK_UP: RegisterField = RegisterField::new(0, 0);
    /// `LINK`, bits 7:4: 1: 2.5 GT/s, 2: 5, 3: 8, 4: 16, 5: 32.
    pub const LINK_SPEED: RegisterField = RegisterField::new(7, 4);
    /// `LINK`, bits 15:8: lanes.
    pub const LINK_WIDTH: RegisterField = RegisterField::new(15, 8);
    /// Bring-up and shutdown; read only.
    pub const SEQUENCER: Register = Register::new(0x04, 32);
    /// `SEQUENCER`, bits 7:0: step under way, or in which it failed.
    pub const SEQUENCER_STEP: RegisterField = RegisterField::new(7, 0);
    /// `SEQUENCER`, bits 15:8: why it failed, 0 for no failure.
    pub const SEQUENCER_REASON: RegisterField = RegisterField::new(15, 8);
    /// `SEQUENCER`, bit 16: I/O may run.
    pub const SEQUENCER_READY: RegisterField = RegisterField::new(16, 16);
    /// `SEQUENCER`, bit 17: stopped in a step.
    pub const SEQUENCER_FAILED: RegisterField = RegisterField::new(17, 17);
    /// `SEQUENCER`, bit 18: endpoint found.
    pub const SEQUENCER_FOUND: RegisterField = RegisterField::new(18, 18);
    /// `SEQUENCER`, bit 19: endpoint configured.
    pub const SEQUENCER_ENUMERATED: RegisterField = RegisterField::new(19, 19);
    /// `SEQUENCER`, bit 20: shutdown is complete.
    pub const SEQUENCER_DOWN: RegisterField = RegisterField::new(20, 20);
    /// Size of the namespace; read only.
    pub const MEDIA_BYTES: Register = Register::new(0x08, 64);
    /// Size of a logical block; read only.
    pub const BLOCK_BYTES: Register = Register::new(0x10, 32);
    /// Bytes per command by the drive's MDTS, 0 for no limit; read only.
    pub const MAX_TRANSFER: Register = Register::new(0x14, 32);
    /// The controller's capabilities (NVMe register CAP); read only.
    pub const CAP: Register = Register::new(0x18, 64);
    /// Microseconds after which a command of this drive without completion is an error; 0 for no
    /// limit; read and write, reset value 10000000.
    pub const COMMAND_TIMEOUT: Register = Register::new(0x20, 32);
    /// Age of the oldest outstanding command, microseconds; read only.
    pub const OLDEST_COMMAND: Register = Register::new(0x24, 32);
    /// I/O commands of the streams, modulo 2^32; retries are not counted; read only.
    pub const COMMANDS: Register = Register::new(0x28, 32);
    /// Doorbells written, modulo 2^32; read only.
    pub const DOORBELLS: Register = Register::new(0x2c, 32);
    /// Events of PROTOCOL_ERROR at this drive, modulo 2^32; completions while it is brought up are
    /// none; read only.
    pub const PROTOCOL_ERRORS: Register = Register::new(0x30, 32);
    /// Write 1 to act; reads as 0.
    pub const CONTROL: Register = Register::new(0x34, 32);
    /// `CONTROL`, bit 0: reset the drive by PERST# and hot reset, and begin bring-up again.
    pub const CONTROL_RESTART: RegisterField = RegisterField::new(0, 0);
    /// `CONTROL`, bit 1: orderly shutdown.
    pub const CONTROL_SHUTDOWN: RegisterField = RegisterField::new(1, 1);
    /// `CONTROL`, bit 2: clear LOST, and with it the interrupt.
    pub const CONTROL_ACKNOWLEDGE: RegisterField = RegisterField::new(2, 2);
    /// `CONTROL`, bit 3: send the command in PASS_DW*, unless one is under way.
    pub const CONTROL_PASS: RegisterField = RegisterField::new(3, 3);
    /// Why the drive was lost while ready, until ACKNOWLEDGE; not 0: interrupt; read only.
    pub const LOST: Register = Register::new(0x38, 32);
    /// `LOST`, bit 0: the link went down, without RESTART.
    pub const LOST_LINK: RegisterField = RegisterField::new(0, 0);
    /// `LOST`, bit 1: a command was late: COMMAND_TIMEOUT, 10 s for admin commands.
    pub const LOST_LATE: RegisterField = RegisterField::new(1, 1);
    /// `LOST`, bit 2: controller fatal status (CSTS.CFS).
    pub const LOST_FATAL: RegisterField = RegisterField::new(2, 2);
    /// `LOST`, bit 3: CSTS reads as ones.
    pub const LOST_ONES: RegisterField = RegisterField::new(3, 3);
    /// `LOST`, bit 4: an access to its registers failed, or an admin completion was wrong.
    pub const LOST_ACCESS: RegisterField = RegisterField::new(4, 4);
    /// Opcode and queue of a command of the software; reads as 0.
    pub const PASS_DW0: Register = Register::new(0x40, 32);
    /// `PASS_DW0`, bits 7:0: opcode; its bits 1:0: data 01b to the drive, 10b from it.
    pub const PASS_DW0_OPCODE: RegisterField = RegisterField::new(7, 0);
    /// `PASS_DW0`, bit 31: I/O queue 1 instead of the admin queue.
    pub const PASS_DW0_IO: RegisterField = RegisterField::new(31, 31);
    /// Its namespace (NSID); reads as 0.
    pub const PASS_DW1: Register = Register::new(0x44, 32);
    /// Its command dword 10; reads as 0.
    pub const PASS_DW10: Register = Register::new(0x68, 32);
    /// Its command dword 11; reads as 0.
    pub const PASS_DW11: Register = Register::new(0x6c, 32);
    /// Its command dword 12; reads as 0.
    pub const PASS_DW12: Register = Register::new(0x70, 32);
    /// Its command dword 13; reads as 0.
    pub const PASS_DW13: Register = Register::new(0x74, 32);
    /// Its command dword 14; reads as 0.
    pub const PASS_DW14: Register = Register::new(0x78, 32);
    /// Its command dword 15; reads as 0.
    pub const PASS_DW15: Register = Register::new(0x7c, 32);
    /// State of the command of the software; read only.
    pub const PASS_STATUS: Register = Register::new(0x80, 32);
    /// `PASS_STATUS`, bit 0: It is under way; a session is refused meanwhile..
    pub const PASS_STATUS_BUSY: RegisterField = RegisterField::new(0, 0);
    /// `PASS_STATUS`, bit 1: The drive has completed it..
    pub const PASS_STATUS_DONE: RegisterField = RegisterField::new(1, 1);
    /// `PASS_STATUS`, bit 2: It was not sent: session, drive not ready, or data both ways..
    pub const PASS_STATUS_REFUSED: RegisterField = RegisterField::new(2, 2);
    /// `PASS_STATUS`, bit 3: The drive was lost before it completed it..
    pub const PASS_STATUS_LOST: RegisterField = RegisterField::new(3, 3);
    /// `PASS_STATUS`, bits 30:16: With DONE: status without the phase, 0 for success..
    pub const PASS_STATUS_STATUS_FIELD: RegisterField = RegisterField::new(30, 16);
    /// With DONE: dword 0 of its completion entry; read only.
    pub const PASS_RESULT: Register = Register::new(0x84, 32);
}

impl ControlBits {
    /// Start. A software stream starts with its call; a core with this bit.
    pub const START: ControlBits = ControlBits(1 << 0);
    /// Accept no more of the stream; I/Os in flight complete, no flush.
    pub const STOP: ControlBits = ControlBits(1 << 1);
    /// As `STOP`, or behind it, followed by a flush.
    pub const ABORT: ControlBits = ControlBits(1 << 2);
    /// Flush completed chunks now, while the stream continues.
    pub const FLUSH_NOW: ControlBits = ControlBits(1 << 3);
    /// Flush when the stream has ended.
    pub const FLUSH_AFTER_WRITE: ControlBits = ControlBits(1 << 4);
    /// A core's recording ends with the beats that were taken; the open chunk is kept.
    pub const CLOSE: ControlBits = ControlBits(1 << 5);
    /// With `START`: a core's pattern generator or checker instead of the stream.
    pub const PATTERN: ControlBits = ControlBits(1 << 6);
    /// With `START`: a packet's last beat does not end a core's recording.
    pub const PACKETS: ControlBits = ControlBits(1 << 7);
    /// With `START`: a core's recording goes round its range until `TRIGGER`.
    pub const RING: ControlBits = ControlBits(1 << 8);
    /// A ring recording ends when `POST_CHUNKS` further chunks have begun.
    pub const TRIGGER: ControlBits = ControlBits(1 << 9);
}

impl StatusBits {
    /// A stream is under way.
    pub const RUNNING: StatusBits = StatusBits(1 << 0);
    /// The stream or the range ended.
    pub const FINISHED: StatusBits = StatusBits(1 << 1);
    /// The stream ended inside a chunk.
    pub const EARLY_LAST: StatusBits = StatusBits(1 << 2);
    /// It was stopped.
    pub const STOPPED: StatusBits = StatusBits(1 << 3);
    /// It was aborted.
    pub const ABORTED: StatusBits = StatusBits(1 << 4);
    /// Refused: the first address lies after the last.
    pub const FIRST_AFTER_LAST: StatusBits = StatusBits(1 << 5);
    /// Refused: an address is not a multiple of the chunk size.
    pub const UNALIGNED: StatusBits = StatusBits(1 << 6);
    /// Refused: the range does not lie on the media, LENGTH exceeds it, or a ring is short.
    pub const OUT_OF_RANGE: StatusBits = StatusBits(1 << 7);
    /// The drive failed a command.
    pub const DEVICE_ERROR: StatusBits = StatusBits(1 << 8);
    /// `LAST_ADDRESS_WRITTEN` holds an address: at least one chunk is done.
    pub const LAST_VALID: StatusBits = StatusBits(1 << 9);
    /// The pattern checker found a wrong beat; `ERROR_BEAT` is the first.
    pub const PATTERN_ERROR: StatusBits = StatusBits(1 << 10);
    /// The pattern checker found a packet of a length other than `PACKET_BEATS`.
    pub const LENGTH_ERROR: StatusBits = StatusBits(1 << 11);
    /// A rule was broken. By the drive: wrong phase, unknown command, an access outside the core's
    /// addresses, a burst that is refused. By the memory: an error. By the stream: a partial beat
    /// inside a packet, a hole in the bytes kept.
    pub const PROTOCOL_ERROR: StatusBits = StatusBits(1 << 12);
    /// A ring recording has been round its range: its oldest chunk is at `NEXT_ADDRESS`.
    pub const WRAPPED: StatusBits = StatusBits(1 << 13);
    /// The trigger of a ring recording has come.
    pub const TRIGGERED: StatusBits = StatusBits(1 << 14);
    /// A ring recording has ended with chunks that were begun and are not recorded: those from
    /// behind `LAST_ADDRESS_WRITTEN` to before `NEXT_ADDRESS` have unknown content.
    pub const UNRECORDED: StatusBits = StatusBits(1 << 15);
}

/// Names of the bits of `STATUS`: number, name.
pub(super) const STATUS_NAMES: [(u32, &str); 16] = [
    (0, "running"),
    (1, "finished"),
    (2, "early_last"),
    (3, "stopped"),
    (4, "aborted"),
    (5, "first_after_last"),
    (6, "unaligned"),
    (7, "out_of_range"),
    (8, "device_error"),
    (9, "last_valid"),
    (10, "pattern_error"),
    (11, "length_error"),
    (12, "protocol_error"),
    (13, "wrapped"),
    (14, "triggered"),
    (15, "unrecorded"),
];
