//! Simulated drives as block devices, PCIe functions and NVMe namespaces for other programs, with
//! the model's latencies on the wall clock and its faults.
//!
//! # Architecture
//! [`pacer`] maps the model's time to the wall clock, for all protocols. [`nbd`] is the NBD
//! protocol, sans-IO; [`executor`] turns its requests into drive commands and completions into
//! replies; [`server`] is the event loop on the sockets of [`listen`], for any protocol that is a
//! [`front`]. [`paced_controller`] is an NVMe controller with the wall clock. [`vfio`] is the drive
//! as a PCIe function of a virtual machine, [`nvme_tcp`] as a namespace behind NVMe over TCP.
//! [`round_trip`] measures the overhead of the server on this machine.
//!
//! # Bounds
//! Clients are untrusted. Limits: [`server::MAX_CONNECTIONS`] connections; one received message per
//! connection; requests in flight and unsent replies of [`server::MAX_IN_FLIGHT_BYTES`] in all (a
//! connection with nothing in flight may always have one request). A client that does not read its
//! replies is not read from; one whose handshake takes longer than [`server::HANDSHAKE_TIMEOUT`] is
//! disconnected. The drive takes 8 bytes per 4 KiB of its flash and the data written to it, 4 bytes
//! for a page of one repeated byte.
//!
//! # Non-goals
//! No TLS, no authentication (Unix sockets and loopback unless permitted otherwise), one drive per
//! server, no backing file. The controller model itself is crate `assay_nvme_ctrl`.
//!
//! # Key constants
//! [`nbd::protocol::MAX_PAYLOAD_BYTES`] (32 MiB), [`server::MAX_CONNECTIONS`],
//! [`server::MAX_IN_FLIGHT_BYTES`], [`server::HANDSHAKE_TIMEOUT`], [`server::SPIN`].
#![forbid(unsafe_code)]

mod connection;
mod crowd;
pub mod executor;
pub mod front;
pub mod listen;
pub mod nbd;
pub mod nvme_tcp;
pub mod paced_controller;
pub mod pacer;
pub mod round_trip;
pub mod server;
pub mod vfio;

pub use crowd::Crowd;
pub use listen::{Address, ListenError, Listener};
pub use nbd::NbdServer;
pub use nvme_tcp::NvmeTcpServer;
pub use pacer::{Lateness, Pace, Pacer};
pub use server::{ServeError, ServeSummary, Server};
