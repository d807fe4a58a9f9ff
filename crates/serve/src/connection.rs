//! One connection: socket, receive and send buffers, protocol session.

use std::os::fd::OwnedFd;

use assay_units::Nanos;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use crate::front::ConnectionId;

/// Larger only while a longer message is received.
const RECEIVE_BUFFER_BYTES: usize = 256 << 10;
/// An empty send buffer is freed above this capacity.
const KEPT_SEND_BUFFER_BYTES: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    Bytes,
    WouldBlock,
    /// End of the stream, or an error.
    End,
}

/// `buffer[start..end]` are not consumed.
#[derive(Clone, Debug, Default)]
pub struct ReceiveBuffer {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Length of the message that is received.
    wanted: usize,
}

impl ReceiveBuffer {
    pub fn new() -> ReceiveBuffer {
        ReceiveBuffer { buffer: vec![0; RECEIVE_BUFFER_BYTES], start: 0, end: 0, wanted: 0 }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    pub fn consume(&mut self, bytes: usize) {
        self.start += bytes;
        assert!(self.start <= self.end, "consumed more than was received");
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() > RECEIVE_BUFFER_BYTES {
                self.buffer = vec![0; RECEIVE_BUFFER_BYTES];
            }
        }
    }

    /// Makes room for a contiguous message of `bytes` bytes as it arrives: a client that announces
    /// a message and does not send it takes no memory.
    pub fn reserve(&mut self, bytes: usize) {
        self.wanted = bytes;
        if self.start > 0 && self.start + bytes > self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
    }

    /// Room for received bytes, not empty while the message is not complete.
    pub fn space(&mut self) -> &mut [u8] {
        if self.end == self.buffer.len() {
            self.reserve(self.wanted.max(self.end - self.start + 1));
            if self.end == self.buffer.len() {
                let bytes = self.wanted.min(2 * self.buffer.len());
                self.buffer.resize(bytes, 0);
            }
        }
        &mut self.buffer[self.end..]
    }

    /// So many bytes were put into [`ReceiveBuffer::space`].
    pub fn add(&mut self, bytes: usize) {
        self.end += bytes;
        assert!(self.end <= self.buffer.len(), "received more than there was room");
    }

    pub fn fill(&mut self, stream: &OwnedFd) -> ReadOutcome {
        loop {
            return match rustix::io::read(stream, self.space()) {
                Ok(0) => ReadOutcome::End,
                Ok(bytes) => {
                    self.add(bytes);
                    ReadOutcome::Bytes
                }
                Err(Errno::WOULDBLOCK) => ReadOutcome::WouldBlock,
                Err(Errno::INTR) => continue,
                Err(_) => ReadOutcome::End,
            };
        }
    }
}

/// `bytes[sent..]` are not sent.
#[derive(Debug, Default)]
pub struct SendBuffer {
    pub bytes: Vec<u8>,
    sent: usize,
}

impl SendBuffer {
    pub fn unsent(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Sends as much as the socket accepts; `false` when the connection is broken.
    pub fn send(&mut self, stream: &OwnedFd) -> bool {
        while self.sent < self.bytes.len() {
            match send(stream, &self.bytes[self.sent..], SendFlags::NOSIGNAL) {
                Ok(0) => return false,
                Ok(bytes) => self.sent += bytes,
                Err(Errno::WOULDBLOCK) => {
                    if self.sent > self.bytes.len() / 2 {
                        self.bytes.drain(..self.sent);
                        self.sent = 0;
                    }
                    return true;
                }
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
        self.sent = 0;
        self.bytes.clear();
        if self.bytes.capacity() > KEPT_SEND_BUFFER_BYTES {
            self.bytes = Vec::new();
        }
        true
    }
}

#[derive(Debug)]
pub struct Connection<S> {
    pub stream: OwnedFd,
    pub session: S,
    pub received: ReceiveBuffer,
    pub replies: SendBuffer,
    pub id: ConnectionId,
    /// The connection is closed then; `None` after the handshake.
    pub handshake_until: Option<Nanos>,
    pub in_flight: u32,
    /// Cost of the requests in flight, see [`crate::front::Step::Started`].
    pub in_flight_bytes: u64,
    /// Held bytes as last added to the server's sum.
    pub counted_bytes: u64,
    /// A received request waits for the limit of bytes in flight.
    pub stalled: bool,
    /// Received requests wait for the limit, but more is received.
    pub waiting: bool,
    /// Nothing more is read from the connection.
    pub closing: bool,
    /// The connection is on the list of those to flush.
    pub listed: bool,
    /// Registered with epoll.
    pub interest: EventFlags,
}

impl<S> Connection<S> {
    /// `first` is sent before anything else.
    pub fn new(
        stream: OwnedFd,
        session: S,
        first: Vec<u8>,
        id: ConnectionId,
        handshake_until: Nanos,
    ) -> Connection<S> {
        Connection {
            stream,
            session,
            received: ReceiveBuffer::new(),
            replies: SendBuffer { bytes: first, sent: 0 },
            id,
            handshake_until: Some(handshake_until),
            in_flight: 0,
            in_flight_bytes: 0,
            counted_bytes: 0,
            stalled: false,
            waiting: false,
            closing: false,
            listed: false,
            interest: EventFlags::IN,
        }
    }

    /// Beyond the buffers' normal size.
    pub fn held_bytes(&self) -> u64 {
        self.in_flight_bytes + self.replies.unsent() as u64
    }

    pub fn wanted_events(&self) -> EventFlags {
        let mut wanted = EventFlags::empty();
        wanted.set(EventFlags::IN, !self.closing && !self.stalled);
        wanted.set(EventFlags::OUT, self.replies.unsent() > 0);
        wanted
    }

    /// Requests in flight are waited for unless the connection `ends_at_once`.
    pub fn is_finished(&self, ends_at_once: bool) -> bool {
        let waits = self.in_flight > 0 && !ends_at_once;
        self.closing && !waits && self.replies.unsent() == 0
    }
}
