//! The simulated drive as a namespace behind NVMe over TCP, for the initiator of any Linux host.
//! [`pdu`] and [`session`] are the server side of one connection, sans-IO; [`memory`] has the rings
//! and data of the controller; [`subsystem`] is the association of one host with the controller, as
//! a [`crate::front`] of the event loop; [`discovery`] answers on the same port; [`initiator`] is
//! the host side, with which [`round_trip`] measures and tests test.
//!
//! One connection is one queue. The subsystem writes the registers that the host sets as
//! properties, creates a queue where a connection sends Connect, and puts the command of each
//! capsule into the ring of the queue with the host's command identifier and a data pointer to a
//! buffer of its own. One thread serves all connections, so that no socket is written while the
//! controller is used, and a host that does not read stops no other connection.
//!
//! # Bounds
//! One host at a time; the same host, by its identifier, takes over from its earlier connections.
//! In-capsule data of [`IN_CAPSULE_BYTES`]; everything larger is requested by R2T, one per command,
//! when its bytes fit into [`crate::server::MAX_IN_FLIGHT_BYTES`]; commands that do not fit wait.
//! At most [`MAX_ENTRIES`] commands per queue, and [`MAX_QUEUES`] I/O queues, so that one host fits
//! into [`crate::server::MAX_CONNECTIONS`]. An I/O command that the model holds back for
//! [`COMMAND_LIMIT`] is aborted, because Linux 6.1 does not recover from a command without a
//! completion. The Keep Alive timer runs on the wall clock.

pub mod discovery;
pub mod initiator;
pub mod memory;
pub mod pdu;
pub mod round_trip;
pub mod session;
pub mod subsystem;

use assay_nvme_spec::fabrics::{DISCOVERY_NQN, MAX_NQN_BYTES};
use assay_units::Nanos;

pub use subsystem::{NvmeTcpServer, Subsystem};

/// Assigned to NVMe/TCP I/O controllers by IANA.
pub const NVME_TCP_PORT: u16 = 4420;
/// In-capsule data of all queues: that of admin queues is fixed
/// ([`assay_nvme_spec::fabrics::ADMIN_IN_CAPSULE_BYTES`]).
pub const IN_CAPSULE_BYTES: usize = 8192;
/// MAXH2CDATA: most data of one H2CData PDU.
pub const MAX_DATA_PDU_BYTES: u32 = 4 << 20;
/// MAXCMD, and entries of a queue: Linux asks for 128.
pub const MAX_ENTRIES: u16 = 128;
/// I/O queues of the host. Two further connections are left for discovery and another host.
pub const MAX_QUEUES: u16 = 61;
/// Below the default timeout of I/O in Linux, 30 s (`nvme_core.io_timeout`).
pub const COMMAND_LIMIT: Nanos = Nanos::from_millis(20_000);

/// Whether a subsystem other than that of discovery can have the name (Base 4.5).
pub fn is_subsystem_nqn(nqn: &str) -> bool {
    let is_text = nqn.chars().all(|c| !c.is_whitespace() && !c.is_control());
    nqn.starts_with("nqn.") && nqn.len() <= MAX_NQN_BYTES && is_text && nqn != DISCOVERY_NQN
}
