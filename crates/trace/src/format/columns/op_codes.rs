//! How a format names operations.

use assay_units::Op;

/// How a column names the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OpCodes {
    /// `R`, `Read`, `W`, `Write`, `D`, `T`, `Trim`, `F`, `Flush`, in either case.
    Letters,
    ZeroReads,
    /// Bit 0 is set of a read.
    OneReads,
    /// Operation codes of SCSI block commands, hexadecimal (SBC-4, table 33).
    Scsi,
}

impl OpCodes {
    pub(in crate::format) fn operation(self, text: &str) -> Option<Op> {
        match self {
            OpCodes::Letters => match text.to_ascii_lowercase().as_str() {
                "r" | "read" | "rs" => Some(Op::Read),
                "w" | "write" | "ws" => Some(Op::Write),
                "d" | "t" | "trim" | "discard" | "unmap" => Some(Op::Discard),
                "f" | "flush" | "sync" => Some(Op::Flush),
                _ => None,
            },
            OpCodes::ZeroReads => match text {
                "0" => Some(Op::Read),
                "1" => Some(Op::Write),
                _ => None,
            },
            OpCodes::OneReads => text.parse::<u64>().ok().map(|flags| match flags & 1 {
                1 => Op::Read,
                _ => Op::Write,
            }),
            OpCodes::Scsi => {
                let digits = text.trim_start_matches("0x");
                u16::from_str_radix(digits, 16).ok().and_then(scsi_operation)
            }
        }
    }
}

/// READ, WRITE (with and without verification), UNMAP and WRITE SAME, SYNCHRONIZE CACHE of 6 to 16
/// bytes.
pub(in crate::format) fn scsi_operation(code: u16) -> Option<Op> {
    match code {
        0x08 | 0x28 | 0xa8 | 0x88 => Some(Op::Read),
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e => Some(Op::Write),
        0x42 | 0x41 | 0x93 => Some(Op::Discard),
        0x35 | 0x91 => Some(Op::Flush),
        _ => None,
    }
}
