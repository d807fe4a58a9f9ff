//! A connection of a host, and its queue.

use std::collections::VecDeque;

use assay_nvme_spec::SubmissionEntry;

use super::super::discovery::Discovery;
use super::super::session::TcpSession;
use crate::front::ConnectionId;

/// What a connection was connected to.
#[derive(Clone, Debug)]
pub(super) enum Role {
    /// No Connect was received.
    New,
    Discovery(Box<Discovery>),
    Queue(u16),
}

/// State of one connection.
#[derive(Debug)]
pub struct HostConnection {
    pub(super) id: ConnectionId,
    pub(super) tcp: TcpSession,
    /// Where the host reached this server.
    pub(super) address: Option<std::net::SocketAddr>,
    pub(super) role: Role,
    /// Commands that wait for room, with their in-capsule data.
    pub(super) deferred: VecDeque<(SubmissionEntry, Vec<u8>)>,
}

/// A connected queue.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) connection: ConnectionId,
    /// Most commands of the host.
    pub(super) entries: u32,
    /// Entries of the controller's rings: one is never used.
    pub(super) ring: u32,
    pub(super) tail: u32,
    pub(super) completion_head: u32,
    /// Tail and head that the controller knows.
    pub(super) rung: (u32, u32),
    pub(super) outstanding: u32,
    /// Buffer by command identifier, plus 1; 0 for none.
    pub(super) buffers: Vec<u16>,
    /// SQHD; `None` where the host disabled flow control.
    pub(super) head: Option<u32>,
}
