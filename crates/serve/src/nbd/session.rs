//! One connection's side of the protocol, as a state machine: what has come in goes in, requests come out.
//!
//! # Bounds
//! The session keeps nothing but flags and numbers. It asks for at most one message in one piece ([`Step::Wait`]), whose length is limited
//! ([`MAX_OPTION_BYTES`], [`MAX_PAYLOAD_BYTES`]); what is longer is skipped as it comes and then refused. What it appends to `out` in one
//! step is at most a few kilobytes.

use super::protocol::{
    IHAVEOPT, INIT_PASSWD, MAX_OPTION_BYTES, MAX_PAYLOAD_BYTES, OPTION_BYTES, REQUEST_BYTES,
    REQUEST_MAGIC, command, command_flag, handshake, transmission,
};
use super::reply::Failure;

/// What is served: one block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Its name; the empty name means it, too (proto, "Option types", `NBD_OPT_EXPORT_NAME`).
    pub name: String,
    /// What it is, for people.
    pub description: String,
    /// Its size.
    pub size_bytes: u64,
    /// Smallest and alignment of all requests.
    pub min_block_bytes: u32,
    /// What works best.
    pub preferred_block_bytes: u32,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Bytes. Not to be split into several chunks where `whole` says so.
    Read {
        /// `NBD_CMD_FLAG_DF`.
        whole: bool,
    },
    /// Store the payload.
    Write,
    /// Make everything that was answered durable.
    Flush,
    /// Forget a range.
    Trim,
    /// Zero a range.
    WriteZeroes {
        /// Keep it allocated (`NBD_CMD_FLAG_NO_HOLE`).
        keep: bool,
        /// Refuse where it takes as long as writing (`NBD_CMD_FLAG_FAST_ZERO`).
        fast: bool,
    },
    /// Have a range near.
    Cache,
    /// What of a range is allocated (`base:allocation`).
    Status {
        /// Only of its beginning (`NBD_CMD_FLAG_REQ_ONE`).
        one: bool,
    },
}

/// A request that passed all checks of form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The client's name for it.
    pub cookie: u64,
    /// What for.
    pub asked: Asked,
    /// First byte.
    pub offset_bytes: u64,
    /// How many; `offset_bytes` and this lie within the export.
    pub len_bytes: u32,
    /// Answer only when what it changed is durable (`NBD_CMD_FLAG_FUA`).
    pub durable: bool,
    /// What to write; empty for all others.
    pub payload: &'a [u8],
}

/// What the next of the bytes that came in were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// Not enough: come again with this many or more, beginning with the same.
    Wait {
        /// How many in all.
        bytes: usize,
    },
    /// So many were dealt with; an answer may have been appended.
    Took {
        /// How many.
        bytes: usize,
    },
    /// So many were a request.
    Request {
        /// How many.
        bytes: usize,
        /// The request.
        request: Request<'a>,
    },
    /// The connection is at its end: send what was appended, answer what is under way, close. Later input is of no interest.
    Close,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    ClientFlags,
    Options,
    Transmission,
    Closed,
}

/// What is said when a message that was too long has been skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    Option(u32),
    Request(u64, Failure),
}

/// One connection's side of the protocol.
#[derive(Clone, Debug)]
pub struct Session {
    pub(super) export: Export,
    phase: Phase,
    pub(super) fixed: bool,
    pub(super) no_zeroes: bool,
    pub(super) structured: bool,
    /// Was `base:allocation` chosen?
    pub(super) allocation: bool,
    /// Bytes of a message too long to look at that are still to come, and what is said then.
    skipping: Option<(u64, After)>,
}

/// The `N` bytes at a place, which must be there.
fn bytes_at<const N: usize>(input: &[u8], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    if let Some(there) = input.get(at..at + N) {
        bytes.copy_from_slice(there);
    }
    bytes
}

pub(super) fn u16_at(input: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(bytes_at(input, at))
}

pub(super) fn u32_at(input: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes_at(input, at))
}

pub(super) fn u64_at(input: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes_at(input, at))
}

impl Session {
    /// A client has connected: append the server's greeting (proto, "Newstyle negotiation").
    pub fn new(export: Export, out: &mut Vec<u8>) -> Session {
        out.extend_from_slice(&INIT_PASSWD.to_be_bytes());
        out.extend_from_slice(&IHAVEOPT.to_be_bytes());
        let flags = handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES;
        out.extend_from_slice(&flags.to_be_bytes());
        Session {
            export,
            phase: Phase::ClientFlags,
            fixed: false,
            no_zeroes: false,
            structured: false,
            allocation: false,
            skipping: None,
        }
    }

    /// Is the handshake over?
    pub fn is_transmitting(&self) -> bool {
        self.phase == Phase::Transmission
    }

    /// Understand the beginning of `input`, all that came and was not dealt with.
    pub fn step<'a>(&mut self, input: &'a [u8], out: &mut Vec<u8>) -> Step<'a> {
        if let Some(skipping) = self.skipping {
            return self.skip(input, skipping, out);
        }
        match self.phase {
            Phase::ClientFlags => self.client_flags(input),
            Phase::Options => self.option(input, out),
            Phase::Transmission => self.request(input, out),
            Phase::Closed => Step::Close,
        }
    }

    fn close<'a>(&mut self) -> Step<'a> {
        self.phase = Phase::Closed;
        Step::Close
    }

    /// Go on to the transmission phase.
    pub(super) fn transmit(&mut self) {
        self.phase = Phase::Transmission;
    }

    fn skip<'a>(&mut self, input: &[u8], skipping: (u64, After), out: &mut Vec<u8>) -> Step<'a> {
        let (left, after) = skipping;
        let bytes = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
        if bytes == 0 && left > 0 {
            return Step::Wait { bytes: 1 };
        }
        let left = left - bytes as u64;
        if left > 0 {
            self.skipping = Some((left, after));
            return Step::Took { bytes };
        }
        self.skipping = None;
        match after {
            After::Option(option) => self.refuse_long_option(option, out),
            After::Request(cookie, failure) => self.fail(cookie, failure, out),
        }
        Step::Took { bytes }
    }

    /// Proto, "Client flags": unknown ones end the connection.
    fn client_flags<'a>(&mut self, input: &[u8]) -> Step<'a> {
        if input.len() < 4 {
            return Step::Wait { bytes: 4 };
        }
        let flags = u32_at(input, 0);
        let known = u32::from(handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES);
        if flags & !known != 0 {
            return self.close();
        }
        self.fixed = flags & u32::from(handshake::FIXED_NEWSTYLE) != 0;
        self.no_zeroes = flags & u32::from(handshake::NO_ZEROES) != 0;
        self.phase = Phase::Options;
        Step::Took { bytes: 4 }
    }

    /// Proto, "Newstyle negotiation": an option and its data.
    fn option<'a>(&mut self, input: &[u8], out: &mut Vec<u8>) -> Step<'a> {
        if input.len() < OPTION_BYTES {
            // What is no option will not become one by waiting for the rest of it.
            let magic = IHAVEOPT.to_be_bytes();
            let known = input.len().min(magic.len());
            return if input[..known] == magic[..known] {
                Step::Wait {
                    bytes: OPTION_BYTES,
                }
            } else {
                self.close()
            };
        }
        if u64_at(input, 0) != IHAVEOPT {
            return self.close();
        }
        let (option, len) = (u32_at(input, 8), u32_at(input, 12));
        if len > MAX_OPTION_BYTES {
            if !self.may_refuse(option) {
                return self.close();
            }
            self.skipping = Some((u64::from(len), After::Option(option)));
            return Step::Took {
                bytes: OPTION_BYTES,
            };
        }
        let bytes = OPTION_BYTES + len as usize;
        let Some(data) = input.get(OPTION_BYTES..bytes) else {
            return Step::Wait { bytes };
        };
        if self.answer_option(option, data, out) {
            Step::Took { bytes }
        } else {
            self.close()
        }
    }

    /// Transmission flags of the export (proto, "Transmission flags"). One drive with one cache is behind all connections, so that a
    /// flush on one of them covers all.
    pub(super) fn transmission_flags(&self) -> u16 {
        use transmission as flag;
        let fragments = if self.structured { flag::SEND_DF } else { 0 };
        fragments
            | flag::HAS_FLAGS
            | flag::SEND_FLUSH
            | flag::SEND_FUA
            | flag::SEND_TRIM
            | flag::SEND_WRITE_ZEROES
            | flag::CAN_MULTI_CONN
            | flag::SEND_CACHE
            | flag::SEND_FAST_ZERO
    }

    /// Proto, "Request message".
    fn request<'a>(&mut self, input: &'a [u8], out: &mut Vec<u8>) -> Step<'a> {
        if input.len() < REQUEST_BYTES {
            let magic = REQUEST_MAGIC.to_be_bytes();
            let known = input.len().min(magic.len());
            return if input[..known] == magic[..known] {
                Step::Wait {
                    bytes: REQUEST_BYTES,
                }
            } else {
                self.close()
            };
        }
        if u32_at(input, 0) != REQUEST_MAGIC {
            return self.close();
        }
        let (flags, kind, cookie) = (u16_at(input, 4), u16_at(input, 6), u64_at(input, 8));
        let (offset_bytes, len_bytes) = (u64_at(input, 16), u32_at(input, 24));
        if kind == command::DISC {
            return self.close();
        }
        let checked = self.check(flags, kind, offset_bytes, len_bytes);
        let payload_bytes = if kind == command::WRITE { len_bytes } else { 0 };
        let asked = match checked {
            Ok(asked) => asked,
            Err(failure) if payload_bytes == 0 => {
                self.fail(cookie, failure, out);
                return Step::Took {
                    bytes: REQUEST_BYTES,
                };
            }
            Err(failure) => {
                let after = After::Request(cookie, failure);
                self.skipping = Some((u64::from(payload_bytes), after));
                return Step::Took {
                    bytes: REQUEST_BYTES,
                };
            }
        };
        let bytes = REQUEST_BYTES + payload_bytes as usize;
        let Some(payload) = input.get(REQUEST_BYTES..bytes) else {
            return Step::Wait { bytes };
        };
        let request = Request {
            cookie,
            asked,
            offset_bytes,
            len_bytes,
            durable: flags & command_flag::FUA != 0,
            payload,
        };
        Step::Request { bytes, request }
    }

    /// Is it a request that may be carried out? Proto, "Request types", "Command flags" and "Error values".
    fn check(&self, flags: u16, kind: u16, offset: u64, len: u32) -> Result<Asked, Failure> {
        use command_flag as flag;
        let has = |one: u16| flags & one != 0;
        let (asked, allowed) = match kind {
            command::READ => {
                let fragments = if self.structured { flag::DF } else { 0 };
                let whole = has(flag::DF);
                (Asked::Read { whole }, fragments)
            }
            command::WRITE => (Asked::Write, 0),
            command::FLUSH => (Asked::Flush, 0),
            command::TRIM => (Asked::Trim, 0),
            command::CACHE => (Asked::Cache, 0),
            command::WRITE_ZEROES => {
                let (keep, fast) = (has(flag::NO_HOLE), has(flag::FAST_ZERO));
                let asked = Asked::WriteZeroes { keep, fast };
                (asked, flag::NO_HOLE | flag::FAST_ZERO)
            }
            command::BLOCK_STATUS if self.allocation => {
                let one = has(flag::REQ_ONE);
                (Asked::Status { one }, flag::REQ_ONE)
            }
            _ => return Err(Failure::UnknownCommand),
        };
        // Known clients set FUA where nothing is written, and it must be accepted everywhere.
        if flags & !(allowed | flag::FUA) != 0 {
            return Err(Failure::UnknownFlag);
        }
        if asked == Asked::Flush {
            return match (offset, len) {
                (0, 0) => Ok(asked),
                _ => Err(Failure::NotZero),
            };
        }
        let moves = matches!(asked, Asked::Read { .. } | Asked::Write);
        if moves && len > MAX_PAYLOAD_BYTES {
            return Err(Failure::TooLong);
        }
        let block = u64::from(self.export.min_block_bytes);
        if !offset.is_multiple_of(block) || !u64::from(len).is_multiple_of(block) {
            return Err(Failure::Unaligned);
        }
        let writes = matches!(asked, Asked::Write | Asked::WriteZeroes { .. });
        match offset.checked_add(u64::from(len)) {
            Some(end) if end <= self.export.size_bytes => Ok(asked),
            _ if writes => Err(Failure::NoSpace),
            _ => Err(Failure::BeyondEnd),
        }
    }
}
