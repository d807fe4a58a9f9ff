//! Simulated drives for other programs.
//!
//! # Purpose
//! A simulated drive as a block device that fio, qemu-img, a file system or a virtual machine can use, with the model's latencies on the
//! wall clock, and its faults.
//!
//! # Architecture
//! - [`pacer`]: where the model's time and the wall clock meet; shared by all fronts.
//! - [`nbd`]: the NBD protocol, sans-IO: a [`nbd::Session`] per connection turns bytes into requests and answers into bytes.
//! - [`work`]: requests become commands of the drive, and completions answers: durable writes are followed by a flush, zeroes that must
//!   stay allocated are written in pieces.
//! - [`server`]: one thread with one epoll owns the drive and all connections. There is nothing to hand over and nobody to wake: on the way
//!   from a request to its command lie one read and one decoder.
//! - [`listen`]: addresses, who may connect, socket files.
//! - [`vfio`]: the drive as a PCI function of a virtual machine, over vfio-user, with the controller of `assay_nvme_ctrl`.
//! - [`floor`]: what the way to the drive and back costs on this machine, measured through the whole server.
//!
//! # Bounds
//! Whatever clients send: at most [`server::MAX_CONNECTIONS`] connections; of each at most one message in memory beside what is under way;
//! of that at most [`server::MAX_UNDER_WAY_BYTES`] in all (a connection with nothing under way may always have one request). A client
//! that does not take its answers is not read from. The drive's own memory is 8 bytes per 4 KiB of its flash and what is written to it,
//! 4 bytes for a page of one byte repeated.
//!
//! # Non-goals
//! No TLS and no passwords: Unix sockets and loopback, unless told otherwise. One drive per server. No file behind it: what was written is
//! gone when the server ends. The controller that a virtual machine sees is another room's (`assay_nvme_ctrl`).
//!
//! # Key constants
//! [`nbd::protocol::MAX_PAYLOAD_BYTES`] (32 MiB), [`server::MAX_CONNECTIONS`], [`server::MAX_UNDER_WAY_BYTES`], [`server::SPIN`].
#![forbid(unsafe_code)]

mod connection;
pub mod floor;
pub mod listen;
pub mod nbd;
pub mod pacer;
pub mod server;
pub mod vfio;
pub mod work;

pub use listen::{Address, ListenError, Listener};
pub use pacer::{Lateness, Pace, Pacer};
pub use server::{ServeError, Server, Summary};
