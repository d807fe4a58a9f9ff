//! What goes into the drive and what comes out.

use assay_units::{DataClass, Nanos, Op};

/// One I/O command as the host queues it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// The caller's name for it, returned in the completion. The drive does not look at it.
    pub tag: u32,
    /// The submission queue; taken modulo the queue pairs the drive grants.
    pub queue: u16,
    /// What to do.
    pub op: Op,
    /// First byte, a multiple of the logical block size. Ignored for a flush.
    pub offset_bytes: u64,
    /// Length, a multiple of the logical block size, not 0 (except for a flush). Longer than the drive's largest transfer
    /// is allowed for reads and writes: it is split as a host's driver would split it, and completes once, when all parts have.
    pub len_bytes: u32,
    /// What the bytes of a write are like.
    pub data: DataClass,
}

/// How a command ended. Names and codes: NVM Express Base Specification 1.4, section 4.6.1 (status code types and values).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Status {
    /// Successful Completion (0h/00h).
    #[default]
    Ok,
    /// Invalid Field in Command (0h/02h): zero length or not a multiple of the logical block size.
    InvalidField,
    /// Command Aborted due to Power Loss Notification (0h/05h): the drive lost power, see [`crate::Drive::power_loss`].
    PowerLoss,
    /// LBA Out of Range (0h/80h).
    LbaOutOfRange,
    /// Write Fault (2h/80h): the medium did not take the data.
    WriteFault,
    /// Unrecovered Read Error (2h/81h): the medium did not give the data back.
    UnrecoveredReadError,
    /// Command Aborted By Host (3h/71h): what the host's driver says when the drive has vanished, see [`crate::Drive::surprise_removal`].
    Removed,
}

impl Status {
    /// Did it work?
    pub fn is_ok(self) -> bool {
        self == Status::Ok
    }

    /// NVMe status code type and status code.
    pub fn code(self) -> (u8, u8) {
        match self {
            Status::Ok => (0, 0x00),
            Status::InvalidField => (0, 0x02),
            Status::PowerLoss => (0, 0x05),
            Status::LbaOutOfRange => (0, 0x80),
            Status::WriteFault => (2, 0x80),
            Status::UnrecoveredReadError => (2, 0x81),
            Status::Removed => (3, 0x71),
        }
    }

    /// The specification's words.
    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "Successful Completion",
            Status::InvalidField => "Invalid Field in Command",
            Status::PowerLoss => "Command Aborted due to Power Loss Notification",
            Status::LbaOutOfRange => "LBA Out of Range",
            Status::WriteFault => "Write Fault",
            Status::UnrecoveredReadError => "Unrecovered Read Error",
            Status::Removed => "Command Aborted By Host",
        }
    }
}

/// A command that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The command's tag.
    pub tag: u32,
    /// When the host could see it.
    pub at: Nanos,
    /// How it ended.
    pub status: Status,
    /// For reads and writes: which read or write this was since power-on, from 1, counted at submission. 0 for others.
    /// [`crate::Drive::read_data`] wants it.
    pub ordinal: u64,
}
