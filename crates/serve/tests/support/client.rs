//! A blocking NBD client.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use assay_serve::nbd::protocol::{
    BASE_ALLOCATION, IHAVEOPT, INIT_PASSWD, OPTION_REPLY_MAGIC, REQUEST_MAGIC, SIMPLE_REPLY_MAGIC,
    STRUCTURED_REPLY_MAGIC, chunk, command, command_flag, option, option_reply,
};

use super::trace::DriveAccess;

pub struct Client {
    pub stream: UnixStream,
    pub size_bytes: u64,
    pub flags: u16,
    cookie: u64,
}

/// Reply of a request: error (0: none), data of a read, extents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    pub cookie: u64,
    pub error: u32,
    pub message: String,
    pub bytes: Vec<u8>,
    pub extents: Vec<(u32, u32)>,
    pub chunks: usize,
}

fn read<const N: usize>(stream: &mut UnixStream) -> [u8; N] {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}

fn u16_of(stream: &mut UnixStream) -> u16 {
    u16::from_be_bytes(read(stream))
}

pub fn u32_of(stream: &mut UnixStream) -> u32 {
    u32::from_be_bytes(read(stream))
}

pub fn u64_of(stream: &mut UnixStream) -> u64 {
    u64::from_be_bytes(read(stream))
}

fn bytes_of(stream: &mut UnixStream, len: u32) -> Vec<u8> {
    let mut bytes = vec![0; len as usize];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}

/// An option as it is sent.
pub fn option_bytes(number: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = IHAVEOPT.to_be_bytes().to_vec();
    bytes.extend_from_slice(&number.to_be_bytes());
    bytes.extend_from_slice(&(data.len() as u32).to_be_bytes());
    bytes.extend_from_slice(data);
    bytes
}

/// A request as it is sent, without its payload.
pub fn request_bytes(flags: u16, kind: u16, cookie: u64, offset: u64, len: u32) -> Vec<u8> {
    let mut bytes = REQUEST_MAGIC.to_be_bytes().to_vec();
    bytes.extend_from_slice(&flags.to_be_bytes());
    bytes.extend_from_slice(&kind.to_be_bytes());
    bytes.extend_from_slice(&cookie.to_be_bytes());
    bytes.extend_from_slice(&offset.to_be_bytes());
    bytes.extend_from_slice(&len.to_be_bytes());
    bytes
}

/// Greeting and client flags.
pub fn greet(stream: &mut UnixStream, client_flags: u32) {
    assert_eq!(u64_of(stream), INIT_PASSWD);
    assert_eq!(u64_of(stream), IHAVEOPT);
    assert_eq!(u16_of(stream), 3);
    stream.write_all(&client_flags.to_be_bytes()).unwrap();
}

/// One option reply: type and data.
pub fn option_reply_of(stream: &mut UnixStream, number: u32) -> (u32, Vec<u8>) {
    assert_eq!(u64_of(stream), OPTION_REPLY_MAGIC);
    assert_eq!(u32_of(stream), number);
    let (kind, len) = (u32_of(stream), u32_of(stream));
    (kind, bytes_of(stream, len))
}

/// `NBD_OPT_GO` or `NBD_OPT_INFO` without requests for information.
pub fn go_data(name: &str) -> Vec<u8> {
    let mut data = (name.len() as u32).to_be_bytes().to_vec();
    data.extend_from_slice(name.as_bytes());
    data.extend_from_slice(&[0, 0]);
    data
}

impl Client {
    /// Negotiates, with or without structured replies and `base:allocation`, and enters the
    /// transmission phase.
    pub fn enter(mut stream: UnixStream, structured: bool) -> Client {
        greet(&mut stream, 3);
        if structured {
            let number = option::STRUCTURED_REPLY;
            stream.write_all(&option_bytes(number, &[])).unwrap();
            assert_eq!(option_reply_of(&mut stream, number).0, option_reply::ACK);
            let number = option::SET_META_CONTEXT;
            let mut data = vec![0, 0, 0, 0, 0, 0, 0, 1];
            data.extend_from_slice(&(BASE_ALLOCATION.len() as u32).to_be_bytes());
            data.extend_from_slice(BASE_ALLOCATION.as_bytes());
            stream.write_all(&option_bytes(number, &data)).unwrap();
            let reply = option_reply_of(&mut stream, number);
            assert_eq!(reply.0, option_reply::META_CONTEXT);
            assert_eq!(option_reply_of(&mut stream, number).0, option_reply::ACK);
        }
        let go = option_bytes(option::GO, &go_data(""));
        stream.write_all(&go).unwrap();
        let (mut size_bytes, mut flags) = (0, 0);
        loop {
            match option_reply_of(&mut stream, option::GO) {
                (option_reply::ACK, _) => break,
                (option_reply::INFO, data) if data[..2] == [0, 0] => {
                    size_bytes = u64::from_be_bytes(data[2..10].try_into().unwrap());
                    flags = u16::from_be_bytes(data[10..].try_into().unwrap());
                }
                (option_reply::INFO, _) => {}
                other => panic!("{other:?}"),
            }
        }
        Client { stream, size_bytes, flags, cookie: 0 }
    }

    /// Sends a request; returns its cookie.
    pub fn send(&mut self, flags: u16, kind: u16, offset: u64, len: u32, payload: &[u8]) -> u64 {
        self.cookie += 1;
        let mut bytes = request_bytes(flags, kind, self.cookie, offset, len);
        bytes.extend_from_slice(payload);
        self.stream.write_all(&bytes).unwrap();
        self.cookie
    }

    /// Receives one complete reply; `read_bytes` is the length of the read, for simple replies.
    pub fn receive(&mut self, read_bytes: u32) -> Reply {
        let stream = &mut self.stream;
        let mut reply = Reply::default();
        let mut first = None;
        loop {
            match u32_of(stream) {
                SIMPLE_REPLY_MAGIC => {
                    reply.error = u32_of(stream);
                    reply.cookie = u64_of(stream);
                    if reply.error == 0 {
                        reply.bytes = bytes_of(stream, read_bytes);
                    }
                    return reply;
                }
                STRUCTURED_REPLY_MAGIC => {}
                other => panic!("magic {other:x}"),
            }
            let (flags, kind) = (u16_of(stream), u16_of(stream));
            reply.cookie = u64_of(stream);
            let len = u32_of(stream);
            let payload = bytes_of(stream, len);
            reply.chunks += 1;
            match kind {
                chunk::NONE => assert!(payload.is_empty()),
                chunk::OFFSET_DATA => {
                    let offset = u64::from_be_bytes(payload[..8].try_into().unwrap());
                    let start = *first.get_or_insert(offset);
                    assert_eq!(start + reply.bytes.len() as u64, offset, "chunks in order");
                    reply.bytes.extend_from_slice(&payload[8..]);
                }
                chunk::BLOCK_STATUS => {
                    let word =
                        |at: usize| u32::from_be_bytes(payload[at..at + 4].try_into().unwrap());
                    let pairs = (4..payload.len()).step_by(8);
                    reply.extents = pairs.map(|at| (word(at), word(at + 4))).collect();
                }
                chunk::ERROR => {
                    reply.error = u32::from_be_bytes(payload[..4].try_into().unwrap());
                    reply.message = String::from_utf8(payload[6..].to_vec()).unwrap();
                }
                other => panic!("chunk type {other}"),
            }
            if flags & chunk::DONE != 0 {
                return reply;
            }
        }
    }

    /// A request and its reply.
    pub fn ask(&mut self, flags: u16, kind: u16, offset: u64, len: u32, payload: &[u8]) -> Reply {
        let cookie = self.send(flags, kind, offset, len, payload);
        let reply = self.receive(if kind == 0 { len } else { 0 });
        assert_eq!(reply.cookie, cookie);
        reply
    }
}

impl DriveAccess for Client {
    fn read(&mut self, offset: u64, len: u32) -> Vec<u8> {
        let reply = self.ask(0, command::READ, offset, len, &[]);
        assert_eq!(reply.error, 0);
        reply.bytes
    }

    fn write(&mut self, offset: u64, bytes: &[u8], durable: bool) {
        let flags = if durable { command_flag::FUA } else { 0 };
        let reply = self.ask(flags, command::WRITE, offset, bytes.len() as u32, bytes);
        assert_eq!(reply.error, 0);
    }

    fn trim(&mut self, offset: u64, len: u32) {
        assert_eq!(self.ask(0, command::TRIM, offset, len, &[]).error, 0);
    }

    fn zero(&mut self, offset: u64, len: u32) {
        let reply = self.ask(0, command::WRITE_ZEROES, offset, len, &[]);
        assert_eq!(reply.error, 0);
    }

    fn flush(&mut self) {
        assert_eq!(self.ask(0, command::FLUSH, 0, 0, &[]).error, 0);
    }
}
