//! A socket with its buffers and its session.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use rustix::event::epoll::EventFlags;

use crate::nbd::{Export, Session};

/// Room for what comes in, in bytes; more only while a longer message comes.
const INBOX_BYTES: usize = 256 << 10;
/// A buffer of answers longer than this is given back when it is empty, in bytes.
const KEPT_OUTBOX_BYTES: usize = 1 << 20;

/// A connected socket.
#[derive(Debug)]
pub enum Stream {
    /// A Unix socket.
    Unix(UnixStream),
    /// A TCP socket.
    Tcp(TcpStream),
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tcp(stream) => stream.as_fd(),
        }
    }
}

impl Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.read(bytes),
            Stream::Tcp(stream) => stream.read(bytes),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.write(bytes),
            Stream::Tcp(stream) => stream.write(bytes),
        }
    }
}

/// What reading from a connection gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// Something.
    Bytes,
    /// Nothing now.
    Nothing,
    /// No more, ever.
    End,
}

/// What came in: `buffer[start..end]` is not dealt with.
#[derive(Debug)]
pub struct Inbox {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Inbox {
    /// What came and was not dealt with.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// So many bytes were dealt with.
    pub fn took(&mut self, bytes: usize) {
        self.start = (self.start + bytes).min(self.end);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() > INBOX_BYTES {
                self.buffer = vec![0; INBOX_BYTES];
            }
        }
    }

    /// Have room for a message of so many bytes in one piece.
    pub fn make_room(&mut self, bytes: usize) {
        if self.start + bytes > self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if bytes > self.buffer.len() {
                self.buffer.resize(bytes, 0);
            }
        }
    }

    /// Read once.
    pub fn fill(&mut self, stream: &mut Stream) -> Came {
        if self.end == self.buffer.len() {
            self.make_room(self.end - self.start + 1);
        }
        loop {
            return match stream.read(&mut self.buffer[self.end..]) {
                Ok(0) => Came::End,
                Ok(bytes) => {
                    self.end += bytes;
                    Came::Bytes
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => Came::Nothing,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => Came::End,
            };
        }
    }
}

/// Answers: `bytes[sent..]` are not sent.
#[derive(Debug, Default)]
pub struct Outbox {
    /// To be appended to.
    pub bytes: Vec<u8>,
    sent: usize,
}

impl Outbox {
    /// Bytes not sent yet.
    pub fn unsent(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Send what the socket takes; `false` when nobody will ever take it.
    pub fn send(&mut self, stream: &mut Stream) -> bool {
        while self.sent < self.bytes.len() {
            match stream.write(&self.bytes[self.sent..]) {
                Ok(0) => return false,
                Ok(bytes) => self.sent += bytes,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    // What was sent need not be kept where it is most of the buffer.
                    if self.sent > self.bytes.len() / 2 {
                        self.bytes.drain(..self.sent);
                        self.sent = 0;
                    }
                    return true;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        self.sent = 0;
        self.bytes.clear();
        if self.bytes.capacity() > KEPT_OUTBOX_BYTES {
            self.bytes = Vec::new();
        }
        true
    }
}

/// One client.
#[derive(Debug)]
pub struct Connection {
    pub stream: Stream,
    pub session: Session,
    pub inbox: Inbox,
    pub outbox: Outbox,
    /// Which of the connections that had this place it is.
    pub generation: u32,
    /// Requests under way.
    pub jobs: u32,
    /// What they count, in bytes.
    pub jobs_bytes: u64,
    /// What the server has counted for this connection, in bytes.
    pub counted_bytes: u64,
    /// Does a request that came wait until others are done?
    pub stalled: bool,
    /// Is nothing more to be read from it?
    pub closing: bool,
    /// Is it on the list of those to be looked after?
    pub listed: bool,
    /// What the poll looks for.
    pub interest: EventFlags,
}

impl Connection {
    pub fn new(stream: Stream, export: Export, generation: u32) -> Connection {
        let mut outbox = Outbox::default();
        let session = Session::new(export, &mut outbox.bytes);
        Connection {
            stream,
            session,
            inbox: Inbox {
                buffer: vec![0; INBOX_BYTES],
                start: 0,
                end: 0,
            },
            outbox,
            generation,
            jobs: 0,
            jobs_bytes: 0,
            counted_bytes: 0,
            stalled: false,
            closing: false,
            listed: false,
            interest: EventFlags::IN,
        }
    }

    /// What it holds in memory beyond its buffers' usual size, in bytes.
    pub fn held_bytes(&self) -> u64 {
        self.jobs_bytes + self.outbox.unsent() as u64
    }

    /// What the poll should look for.
    pub fn wanted(&self) -> EventFlags {
        let mut wanted = EventFlags::empty();
        wanted.set(EventFlags::IN, !self.closing && !self.stalled);
        wanted.set(EventFlags::OUT, self.outbox.unsent() > 0);
        wanted
    }

    /// Can it be closed?
    pub fn is_over(&self) -> bool {
        self.closing && self.jobs == 0 && self.outbox.unsent() == 0
    }
}
