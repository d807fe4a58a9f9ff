//! Answers in the transmission phase: simple replies, or structured ones where they were agreed on.

use super::Asked;
use super::protocol::{
    BASE_ALLOCATION_ID, SIMPLE_REPLY_MAGIC, STRUCTURED_REPLY_MAGIC, chunk, state,
};
use super::session::{Request, Session};

/// A read is answered in chunks of this many bytes, unless it is to come whole.
pub const CHUNK_BYTES: u32 = 1 << 20;

/// Why a request failed. The numbers are the protocol's (proto, "Error values").
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// No such command, or one whose context was not chosen.
    #[error("unknown command")]
    UnknownCommand,
    /// A flag that this command does not have.
    #[error("a flag that this command does not have")]
    UnknownFlag,
    /// A flush of something.
    #[error("offset and length of a flush must be 0")]
    NotZero,
    /// More than is moved at once.
    #[error("longer than the largest block size that was told")]
    TooLong,
    /// Not on block boundaries.
    #[error("offset and length must be multiples of the smallest block size that was told")]
    Unaligned,
    /// A write beyond the end.
    #[error("beyond the end of the drive")]
    NoSpace,
    /// Anything else beyond the end.
    #[error("beyond the end of the drive")]
    BeyondEnd,
    /// Zeroes that are to stay allocated take as long as writing.
    #[error("zeroing without a hole is no faster than writing")]
    NotFast,
    /// The drive did not give the data back.
    #[error("unrecovered read error (simulated)")]
    ReadError,
    /// The drive did not take the data.
    #[error("write fault (simulated)")]
    WriteError,
    /// The drive lost power, or is gone.
    #[error("the drive lost power or is gone from the bus (simulated)")]
    Gone,
    /// The drive refused the command's fields.
    #[error("the drive refused the command")]
    Refused,
}

impl Failure {
    /// The protocol's number.
    pub fn number(self) -> u32 {
        match self {
            Failure::ReadError | Failure::WriteError | Failure::Gone => 5,
            Failure::NoSpace => 28,
            Failure::NotFast => 95,
            _ => 22,
        }
    }
}

impl Session {
    /// The request failed.
    pub fn fail(&self, cookie: u64, failure: Failure, out: &mut Vec<u8>) {
        if !self.structured {
            return simple(out, failure.number(), cookie);
        }
        let message = failure.to_string();
        let len = 6 + message.len() as u32;
        structured(out, chunk::DONE, chunk::ERROR, cookie, len);
        out.extend_from_slice(&failure.number().to_be_bytes());
        out.extend_from_slice(&(message.len() as u16).to_be_bytes());
        out.extend_from_slice(message.as_bytes());
    }

    /// A request without data in its answer succeeded.
    pub fn succeed(&self, cookie: u64, out: &mut Vec<u8>) {
        // Allowed beside structured replies, too, and shorter (proto, "Simple reply message").
        simple(out, 0, cookie);
    }

    /// A read succeeded: `fill` puts the bytes from a place on where they are wanted.
    pub fn give(
        &self,
        cookie: u64,
        offset_bytes: u64,
        len_bytes: u32,
        whole: bool,
        out: &mut Vec<u8>,
        mut fill: impl FnMut(u64, &mut [u8]),
    ) {
        let mut append = |out: &mut Vec<u8>, from: u64, len: u32| {
            let at = out.len();
            out.resize(at + len as usize, 0);
            fill(from, &mut out[at..]);
        };
        if !self.structured {
            simple(out, 0, cookie);
            return append(out, offset_bytes, len_bytes);
        }
        if len_bytes == 0 {
            return structured(out, chunk::DONE, chunk::NONE, cookie, 0);
        }
        let most = if whole { len_bytes } else { CHUNK_BYTES };
        let mut done = 0;
        while done < len_bytes {
            let len = most.min(len_bytes - done);
            let from = offset_bytes + u64::from(done);
            done += len;
            let flags = if done == len_bytes { chunk::DONE } else { 0 };
            structured(out, flags, chunk::OFFSET_DATA, cookie, 8 + len);
            out.extend_from_slice(&from.to_be_bytes());
            append(out, from, len);
        }
    }

    /// What of a range is allocated: its extents in order, each with its length and whether it is a hole.
    pub fn tell_status(&self, cookie: u64, extents: &[(u32, bool)], out: &mut Vec<u8>) {
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

impl Request<'_> {
    /// How many bytes its answer carries.
    pub fn answer_bytes(&self) -> u32 {
        match self.asked {
            Asked::Read { .. } => self.len_bytes,
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
