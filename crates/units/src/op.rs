//! The operations and data classes a workload, a target and a simulated drive agree on.

use serde::{Deserialize, Serialize};

/// What one I/O does. NVMe Base/NVM Command Set names in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Read (NVM opcode 02h).
    Read,
    /// Write (NVM opcode 01h).
    Write,
    /// Make everything acknowledged so far durable (NVM opcode 00h).
    Flush,
    /// Tell the drive a range is no longer needed (Dataset Management, Deallocate; ATA TRIM).
    Discard,
    /// Make a range read as zeroes (NVM opcode 08h).
    WriteZeroes,
}

impl Op {
    /// The word shown to people and stored in files.
    pub fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Flush => "flush",
            Op::Discard => "discard",
            Op::WriteZeroes => "write_zeroes",
        }
    }

    /// Does this operation change what the medium holds?
    pub fn is_destructive(self) -> bool {
        !matches!(self, Op::Read | Op::Flush)
    }
}

/// What the bytes of a write are like, as far as a drive could notice.
///
/// A real drive sees the bytes themselves; a simulated one that keeps no data is told their class instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataClass {
    /// No compressor gets anything out of it.
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
