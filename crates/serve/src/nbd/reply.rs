//! Replies of the transmission phase: simple replies, or structured ones where they were
//! negotiated.

use super::NbdCommand;
use super::protocol::{
    BASE_ALLOCATION_ID, SIMPLE_REPLY_MAGIC, STRUCTURED_REPLY_MAGIC, chunk, state,
};
use super::session::{NbdSession, Request};

/// Data chunk of a read reply, unless the client asked for a single chunk.
pub const CHUNK_BYTES: u32 = 1 << 20;

/// Failures with error values of the protocol (proto, "Error values").
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NbdError {
    /// Or its metadata context was not negotiated.
    #[error("unknown command")]
    UnknownCommand,
    #[error("a flag that this command does not have")]
    UnknownFlag,
    #[error("offset and length of a flush must be 0")]
    FlushRange,
    #[error("longer than the advertised maximum block size")]
    TooLong,
    #[error("offset and length must be multiples of the advertised minimum block size")]
    Unaligned,
    /// Only of a write.
    #[error("beyond the end of the drive")]
    NoSpace,
    /// Any other command than a write.
    #[error("beyond the end of the drive")]
    BeyondEnd,
    /// `NBD_CMD_FLAG_FAST_ZERO`.
    #[error("zeroing without a hole is no faster than writing")]
    NotFast,
    #[error("unrecovered read error (simulated)")]
    ReadError,
    #[error("write fault (simulated)")]
    WriteError,
    /// Loss of power, or surprise removal.
    #[error("the drive lost power or was removed from the bus (simulated)")]
    DriveLost,
    #[error("the drive rejected the command")]
    Rejected,
}

impl NbdError {
    pub fn errno(self) -> u32 {
        match self {
            NbdError::ReadError | NbdError::WriteError | NbdError::DriveLost => 5, // EIO
            NbdError::NoSpace => 28,                                               // ENOSPC
            NbdError::NotFast => 95,                                               // EOPNOTSUPP
            _ => 22,                                                               // EINVAL
        }
    }
}

impl NbdSession {
    pub fn error_reply(&self, cookie: u64, error: NbdError, out: &mut Vec<u8>) {
        if !self.structured {
            return simple(out, error.errno(), cookie);
        }
        let message = error.to_string();
        let len = 6 + message.len() as u32;
        structured(out, chunk::DONE, chunk::ERROR, cookie, len);
        out.extend_from_slice(&error.errno().to_be_bytes());
        out.extend_from_slice(&(message.len() as u16).to_be_bytes());
        out.extend_from_slice(message.as_bytes());
    }

    pub fn success_reply(&self, cookie: u64, out: &mut Vec<u8>) {
        // Simple replies are allowed where structured ones were negotiated, and are shorter (proto,
        // "Simple reply message").
        simple(out, 0, cookie);
    }

    /// `fill` writes the bytes at an offset into the buffer.
    pub fn read_reply(
        &self,
        request: &Request,
        out: &mut Vec<u8>,
        mut fill: impl FnMut(u64, &mut [u8]),
    ) {
        let (cookie, len_bytes) = (request.cookie, request.len_bytes);
        let mut append = |out: &mut Vec<u8>, from: u64, len: u32| {
            let at = out.len();
            out.resize(at + len as usize, 0);
            fill(from, &mut out[at..]);
        };
        if !self.structured {
            simple(out, 0, cookie);
            return append(out, request.offset_bytes, len_bytes);
        }
        if len_bytes == 0 {
            return structured(out, chunk::DONE, chunk::NONE, cookie, 0);
        }
        let chunk_bytes = match request.command {
            NbdCommand::Read { unfragmented: true } => len_bytes,
            _ => CHUNK_BYTES,
        };
        let mut done = 0;
        while done < len_bytes {
            let len = chunk_bytes.min(len_bytes - done);
            let from = request.offset_bytes + u64::from(done);
            done += len;
            let flags = if done == len_bytes { chunk::DONE } else { 0 };
            structured(out, flags, chunk::OFFSET_DATA, cookie, 8 + len);
            out.extend_from_slice(&from.to_be_bytes());
            append(out, from, len);
        }
    }

    /// Extents in order: each has its length and whether it is a hole.
    pub fn block_status_reply(&self, cookie: u64, extents: &[(u32, bool)], out: &mut Vec<u8>) {
        let len = 4 + 8 * extents.len() as u32;
        structured(out, chunk::DONE, chunk::BLOCK_STATUS, cookie, len);
        out.extend_from_slice(&BASE_ALLOCATION_ID.to_be_bytes());
        for &(len, hole) in extents {
            let flags = if hole { state::HOLE | state::ZERO } else { 0 };
            out.extend_from_slice(&len.to_be_bytes());
            out.extend_from_slice(&flags.to_be_bytes());
        }
    }
}

impl Request {
    pub fn reply_data_bytes(&self) -> u32 {
        match self.command {
            NbdCommand::Read { .. } => self.len_bytes,
            _ => 0,
        }
    }
}

fn simple(out: &mut Vec<u8>, error: u32, cookie: u64) {
    let mut head = [0; 16];
    head[..4].copy_from_slice(&SIMPLE_REPLY_MAGIC.to_be_bytes());
    head[4..8].copy_from_slice(&error.to_be_bytes());
    head[8..].copy_from_slice(&cookie.to_be_bytes());
    out.extend_from_slice(&head);
}

fn structured(out: &mut Vec<u8>, flags: u16, kind: u16, cookie: u64, len: u32) {
    let mut head = [0; 20];
    head[..4].copy_from_slice(&STRUCTURED_REPLY_MAGIC.to_be_bytes());
    head[4..6].copy_from_slice(&flags.to_be_bytes());
    head[6..8].copy_from_slice(&kind.to_be_bytes());
    head[8..16].copy_from_slice(&cookie.to_be_bytes());
    head[16..].copy_from_slice(&len.to_be_bytes());
    out.extend_from_slice(&head);
}
