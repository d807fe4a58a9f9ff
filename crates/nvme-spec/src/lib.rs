//! NVMe data structures for host and controller.
//!
//! # Purpose
//! Queue entries, Identify data, log pages, features, registers and data pointers. One definition
//! serves the host side (probing a drive, health, passthrough) and the simulated controller, so
//! that each tests the other.
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
//! | [`fdp`] | Flexible Data Placement | Base 2.1 |
//! | [`fabrics`] | commands of fabrics, discovery, PDUs of NVMe/TCP | Base 6, TCP transport 3.6 |
//!
//! *Base* is the NVM Express Base Specification 2.0c (2.1 where stated), *NVM* the NVM Command Set
//! Specification 1.0c; with their names.
//!
//! Every structure is its bytes ([`wire`]): any bytes are valid, fields are read by accessors. The
//! macro here, unlike the crate `zerocopy`, also declares bit fields and each field's layout, which
//! the tests check.
//!
//! # Non-goals
//! No I/O, queues or state. No structures of RDMA, authentication, zoned namespaces, key-value or
//! vendor commands, except the log page of the Open Compute Project and published vendor log pages.
//! No validation of values. Only fields that the host or the controller uses are declared; status
//! codes are complete, because drives report them.
//!
//! # Key constants
//! [`entry::SubmissionEntry::SIZE`] (64), [`entry::CompletionEntry::SIZE`] (16),
//! [`identify::DATA_BYTES`] (4096).
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod admin;
pub mod data_pointer;
pub mod entry;
pub mod fabrics;
pub mod fdp;
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
