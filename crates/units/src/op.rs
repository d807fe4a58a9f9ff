//! I/O operations and data classes.

use serde::{Deserialize, Serialize};

/// An I/O operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Read (NVM opcode 02h).
    Read,
    /// Write (NVM opcode 01h).
    Write,
    /// Flush: makes acknowledged writes durable (NVM opcode 00h).
    Flush,
    /// Deallocate (Dataset Management; ATA TRIM).
    Discard,
    /// Write Zeroes (NVM opcode 08h).
    WriteZeroes,
}

impl Op {
    /// Counts in rates of I/Os: all but a flush, as in fio.
    pub fn counts_in_iops(self) -> bool {
        self != Op::Flush
    }

    /// Name in output and run folders.
    pub fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Flush => "flush",
            Op::Discard => "discard",
            Op::WriteZeroes => "write_zeroes",
        }
    }
}

/// Compressibility of written data; a drive that stores no data uses the class instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataClass {
    /// Incompressible.
    #[default]
    Incompressible,
    /// All bytes zero.
    Zero,
    /// Compresses to `permille`/1000 of its size.
    Compressible {
        /// Compressed size in thousandths of the original.
        permille: u16,
    },
}
