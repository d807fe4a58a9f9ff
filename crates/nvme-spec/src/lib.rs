//! NVMe on the wire, for both ends of it.
//!
//! # Purpose
//! The structures that a host and an NVMe controller exchange: submission and completion queue entries, Identify data, log pages,
//! features, registers, data pointers. One definition serves the *host* side (probing a real drive, its health, passing commands
//! through) and the *controller* side (the simulated drive as an NVMe controller), so that each tests the other.
//!
//! # Architecture
//! | module | what | source |
//! |---|---|---|
//! | [`entry`] | submission and completion queue entries | Base 3.3.3 |
//! | [`status`] | status codes and their names | Base 3.3.3.2.1, NVM 3.1.2 |
//! | [`opcode`] | opcodes of admin and NVM commands | Base 5, 7; NVM 3 |
//! | [`admin`], [`nvm`] | one view of an entry per command | Base 5, NVM 3.2 |
//! | [`identify`] | Identify data structures | Base 5.17, NVM 4.1.5 |
//! | [`log`] | log pages | Base 5.16 |
//! | [`feature`] | features | Base 5.27 |
//! | [`register`] | controller registers and doorbells | Base 3.1.3, PCIe transport 3.1.2 |
//! | [`data_pointer`] | PRP entries and SGL descriptors | Base 4.1 |
//!
//! *Base* is the NVM Express Base Specification 2.0c, *NVM* the NVM Command Set Specification 1.0c; names are theirs. Fields
//! added by 2.1 are marked so.
//!
//! Every structure is its bytes ([`wire`]): made from any bytes without failing, read by accessors. That was chosen over the crate
//! `zerocopy`, whose structures are fields at aligned places: most of NVMe's fields are bits of words, which need accessors
//! anyway, and a macro of our own gives each field its footprint, which the tests check, without a dependency or a derive.
//!
//! # Non-goals
//! No I/O, no queues, no state; nothing of fabrics, zoned namespaces, key-value or vendor commands but the log page of the Open
//! Compute Project. No judgement of values: a structure holds what was sent.
//!
//! # Key constants
//! [`entry::SubmissionEntry::SIZE`] (64), [`entry::CompletionEntry::SIZE`] (16), [`identify::DATA_BYTES`] (4096).
#![forbid(unsafe_code)]

pub mod admin;
pub mod data_pointer;
pub mod entry;
pub mod feature;
pub mod identify;
pub mod log;
pub mod nvm;
pub mod opcode;
pub mod register;
pub mod status;
pub mod wire;

pub use entry::{CompletionEntry, SubmissionEntry};
pub use status::StatusCode;

/// "All namespaces" where a command takes a namespace identifier (Base 3.2.1.2).
pub const NSID_ALL: u32 = 0xffff_ffff;

#[cfg(test)]
#[path = "../tests/unit/lib.rs"]
mod tests;
