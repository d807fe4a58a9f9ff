//! Commands and completions.

use std::ops::Range;

use assay_units::{DataClass, Nanos, Op};

/// An I/O command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Returned in the completion.
    pub tag: u32,
    /// Submission queue, modulo the queue pairs granted.
    pub queue: u16,
    /// The operation.
    pub op: Op,
    /// First byte, a multiple of the logical block size. Ignored for a flush.
    pub offset_bytes: u64,
    /// Length, a multiple of the logical block size, 0 only for a flush. Reads and writes longer
    /// than the largest transfer are split as by a host driver, and complete once.
    pub len_bytes: u32,
    /// Compressibility of a write's bytes.
    pub data: DataClass,
    /// Force Unit Access of a write or write zeroes (NVM Command Set Specification 1.0, section
    /// 3.2.6): completes when its data is on the medium. Ignored by other operations.
    pub fua: bool,
}

impl Command {
    pub(crate) fn range(&self) -> Range<u64> {
        self.offset_bytes..self.offset_bytes + u64::from(self.len_bytes)
    }
}

/// Completion status (NVM Express Base Specification 1.4, section 4.6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Status {
    /// Successful Completion (0h/00h).
    #[default]
    Ok,
    /// Invalid Field in Command (0h/02h): zero length or not a multiple of the logical block size.
    InvalidField,
    /// Command Aborted due to Power Loss Notification (0h/05h), see [`crate::Drive::power_loss`].
    PowerLoss,
    /// LBA Out of Range (0h/80h).
    LbaOutOfRange,
    /// Write Fault (2h/80h): the data was not stored.
    WriteFault,
    /// Unrecovered Read Error (2h/81h): the data could not be read.
    UnrecoveredReadError,
    /// Command Aborted By Host (3h/71h), reported after [`crate::Drive::surprise_removal`].
    Removed,
}

impl Status {
    /// Whether the command succeeded.
    pub fn is_ok(self) -> bool {
        self == Status::Ok
    }

    fn entry(self) -> (u8, u8, &'static str) {
        match self {
            Status::Ok => (0, 0x00, "Successful Completion"),
            Status::InvalidField => (0, 0x02, "Invalid Field in Command"),
            Status::PowerLoss => (0, 0x05, "Command Aborted due to Power Loss Notification"),
            Status::LbaOutOfRange => (0, 0x80, "LBA Out of Range"),
            Status::WriteFault => (2, 0x80, "Write Fault"),
            Status::UnrecoveredReadError => (2, 0x81, "Unrecovered Read Error"),
            Status::Removed => (3, 0x71, "Command Aborted By Host"),
        }
    }

    /// NVMe status code type and status code.
    pub fn code(self) -> (u8, u8) {
        let (kind, code, _) = self.entry();
        (kind, code)
    }

    /// Name in the specification.
    pub fn name(self) -> &'static str {
        self.entry().2
    }
}

/// A completed command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The command's tag.
    pub tag: u32,
    /// When it is visible to the host.
    pub at: Nanos,
    /// Completion status.
    pub status: Status,
    /// Ordinal among reads or writes from 1, else 0; see [`crate::Drive::read_data`].
    pub ordinal: u64,
}
