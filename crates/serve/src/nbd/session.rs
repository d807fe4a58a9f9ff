//! Server side of one NBD connection as a state machine: received bytes in, requests out. The
//! session stores only flags and numbers. The caller buffers at most one message
//! ([`Decoded::NeedMore`]) of limited length ([`MAX_OPTION_BYTES`], [`MAX_PAYLOAD_BYTES`]); a
//! longer one is skipped as it arrives and then rejected. One call appends at most a few kilobytes
//! to `out`.

use std::fmt::Display;

use assay_io::clock::Clock;
use assay_units::limited_event;

use super::protocol::{
    IHAVEOPT, INIT_PASSWD, MAX_OPTION_BYTES, MAX_PAYLOAD_BYTES, OPTION_BYTES, REQUEST_BYTES,
    REQUEST_MAGIC, command, command_flag, handshake, transmission,
};
use super::reply::NbdError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The empty name selects the export as well (proto, "Option types", `NBD_OPT_EXPORT_NAME`).
    pub name: String,
    pub description: String,
    pub size_bytes: u64,
    /// Granularity and alignment of all requests.
    pub min_block_bytes: u32,
    pub preferred_block_bytes: u32,
}

/// Command with its flags but FUA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NbdCommand {
    Read {
        /// Reply with a single data chunk (`NBD_CMD_FLAG_DF`).
        unfragmented: bool,
    },
    Write,
    Flush,
    Trim,
    WriteZeroes {
        /// Keep the range allocated (`NBD_CMD_FLAG_NO_HOLE`).
        no_hole: bool,
        /// Fail if zeroing takes as long as writing (`NBD_CMD_FLAG_FAST_ZERO`).
        fast: bool,
    },
    Cache,
    /// Context `base:allocation`.
    BlockStatus {
        /// Only the first extent (`NBD_CMD_FLAG_REQ_ONE`).
        one_extent: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The client's identifier of the request.
    pub cookie: u64,
    pub command: NbdCommand,
    pub offset_bytes: u64,
    /// The range lies within the export.
    pub len_bytes: u32,
    /// Reply only once the change is on the medium (`NBD_CMD_FLAG_FUA`).
    pub fua: bool,
}

/// Result for the beginning of the received bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded<'a> {
    NeedMore {
        /// Input length required, from the same first byte.
        bytes: usize,
    },
    Consumed {
        bytes: usize,
    },
    Request {
        bytes: usize,
        request: Request,
        /// Data of a write, else empty.
        payload: &'a [u8],
    },
    /// Send what was appended, complete requests in flight, close; ignore later input.
    Close,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionPhase {
    ClientFlags,
    Options,
    Transmission,
    Closed,
}

/// A message that is skipped and then rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RejectedMessage {
    Option(u32),
    Request(u64, NbdError),
}

#[derive(Clone, Debug)]
pub struct NbdSession {
    pub(super) export: Export,
    /// Number of the connection, for events.
    pub(crate) connection: u64,
    pub(super) phase: SessionPhase,
    pub(super) fixed: bool,
    pub(super) no_zeroes: bool,
    pub(super) structured: bool,
    /// `base:allocation` was negotiated.
    pub(super) allocation: bool,
    /// Remaining bytes of a message that is skipped.
    skipping: Option<(u64, RejectedMessage)>,
}

/// Callers check the length of the input first.
fn bytes_at<const N: usize>(input: &[u8], at: usize) -> [u8; N] {
    let bytes = input[at..].first_chunk();
    *bytes.expect("the caller checked the length of the input")
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

impl NbdSession {
    /// Appends the server's greeting (proto, "Newstyle negotiation").
    pub fn new(export: Export, out: &mut Vec<u8>) -> NbdSession {
        out.extend_from_slice(&INIT_PASSWD.to_be_bytes());
        out.extend_from_slice(&IHAVEOPT.to_be_bytes());
        let flags = handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES;
        out.extend_from_slice(&flags.to_be_bytes());
        NbdSession {
            export,
            connection: 0,
            phase: SessionPhase::ClientFlags,
            fixed: false,
            no_zeroes: false,
            structured: false,
            allocation: false,
            skipping: None,
        }
    }

    pub fn is_transmitting(&self) -> bool {
        self.phase == SessionPhase::Transmission
    }

    /// `input` has all bytes received and not consumed.
    pub fn decode<'a>(&mut self, input: &'a [u8], out: &mut Vec<u8>) -> Decoded<'a> {
        if let Some((left, message)) = self.skipping {
            return self.skip(input, left, message, out);
        }
        match self.phase {
            SessionPhase::ClientFlags => self.client_flags(input),
            SessionPhase::Options => self.option(input, out),
            SessionPhase::Transmission => self.request(input, out),
            SessionPhase::Closed => Decoded::Close,
        }
    }

    /// The client broke the protocol, or is refused something.
    #[cold]
    pub(super) fn refused(&self, why: impl Display) {
        let (connection, now) = (self.connection, || Clock::monotonic().now());
        limited_event!(now(), WARN, connection, why = why.to_string(), "NBD client refused");
    }

    fn close<'a>(&mut self) -> Decoded<'a> {
        self.phase = SessionPhase::Closed;
        Decoded::Close
    }

    /// The head is incomplete, or does not begin with its magic word.
    fn bad_head<'a>(&mut self, input: &[u8], magic: &[u8], bytes: usize) -> Option<Decoded<'a>> {
        let known = input.len().min(magic.len());
        if input[..known] != magic[..known] {
            self.refused("a message does not begin with its magic word");
            return Some(self.close());
        }
        (input.len() < bytes).then_some(Decoded::NeedMore { bytes })
    }

    fn skip<'a>(
        &mut self,
        input: &[u8],
        left: u64,
        message: RejectedMessage,
        out: &mut Vec<u8>,
    ) -> Decoded<'a> {
        let bytes = left.min(input.len() as u64) as usize;
        if bytes == 0 && left > 0 {
            return Decoded::NeedMore { bytes: 1 };
        }
        let left = left - bytes as u64;
        self.skipping = (left > 0).then_some((left, message));
        match message {
            _ if left > 0 => {}
            RejectedMessage::Option(option) => self.reject_long_option(option, out),
            RejectedMessage::Request(cookie, error) => self.error_reply(cookie, error, out),
        }
        Decoded::Consumed { bytes }
    }

    /// Unknown flags end the connection (proto, "Client flags").
    fn client_flags<'a>(&mut self, input: &[u8]) -> Decoded<'a> {
        if input.len() < 4 {
            return Decoded::NeedMore { bytes: 4 };
        }
        let flags = u32_at(input, 0);
        let known = u32::from(handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES);
        if flags & !known != 0 {
            self.refused("unknown client flags");
            return self.close();
        }
        self.fixed = flags & u32::from(handshake::FIXED_NEWSTYLE) != 0;
        self.no_zeroes = flags & u32::from(handshake::NO_ZEROES) != 0;
        self.phase = SessionPhase::Options;
        Decoded::Consumed { bytes: 4 }
    }

    /// An option and its data (proto, "Newstyle negotiation").
    fn option<'a>(&mut self, input: &[u8], out: &mut Vec<u8>) -> Decoded<'a> {
        if let Some(bad) = self.bad_head(input, &IHAVEOPT.to_be_bytes(), OPTION_BYTES) {
            return bad;
        }
        let (option, len) = (u32_at(input, 8), u32_at(input, 12));
        if len > MAX_OPTION_BYTES {
            self.refused("the data of an option is too long");
            if !self.may_reject(option) {
                return self.close();
            }
            self.skipping = Some((len.into(), RejectedMessage::Option(option)));
            let bytes = OPTION_BYTES;
            return Decoded::Consumed { bytes };
        }
        let bytes = OPTION_BYTES + len as usize;
        let Some(data) = input.get(OPTION_BYTES..bytes) else {
            return Decoded::NeedMore { bytes };
        };
        if self.handle_option(option, data, out) {
            Decoded::Consumed { bytes }
        } else {
            self.close()
        }
    }

    /// Proto, "Transmission flags". All connections share one drive with one cache, so a flush on
    /// one of them covers all (`CAN_MULTI_CONN`).
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
    fn request<'a>(&mut self, input: &'a [u8], out: &mut Vec<u8>) -> Decoded<'a> {
        if let Some(bad) = self.bad_head(input, &REQUEST_MAGIC.to_be_bytes(), REQUEST_BYTES) {
            return bad;
        }
        let (flags, kind, cookie) = (u16_at(input, 4), u16_at(input, 6), u64_at(input, 8));
        let (offset_bytes, len_bytes) = (u64_at(input, 16), u32_at(input, 24));
        if kind == command::DISC {
            return self.close();
        }
        let payload_bytes = if kind == command::WRITE { len_bytes } else { 0 };
        let command = match self.check(flags, kind, offset_bytes, len_bytes) {
            Ok(command) => command,
            Err(error) => {
                self.refused(format_args!(
                    "request {kind}, flags {flags:#x}, {len_bytes} bytes at {offset_bytes}: {error}"
                ));
                if payload_bytes == 0 {
                    self.error_reply(cookie, error, out);
                } else {
                    let message = RejectedMessage::Request(cookie, error);
                    self.skipping = Some((payload_bytes.into(), message));
                }
                let bytes = REQUEST_BYTES;
                return Decoded::Consumed { bytes };
            }
        };
        let bytes = REQUEST_BYTES + payload_bytes as usize;
        let Some(payload) = input.get(REQUEST_BYTES..bytes) else {
            return Decoded::NeedMore { bytes };
        };
        let request = Request {
            cookie,
            command,
            offset_bytes,
            len_bytes,
            fua: flags & command_flag::FUA != 0,
        };
        Decoded::Request { bytes, request, payload }
    }

    /// Proto, "Request types", "Command flags", "Error values".
    fn check(&self, flags: u16, kind: u16, offset: u64, len: u32) -> Result<NbdCommand, NbdError> {
        use command_flag as flag;
        let has = |flag: u16| flags & flag != 0;
        let (command, allowed) = match kind {
            command::READ => {
                let unfragmented = has(flag::DF);
                let fragments = if self.structured { flag::DF } else { 0 };
                (NbdCommand::Read { unfragmented }, fragments)
            }
            command::WRITE => (NbdCommand::Write, 0),
            command::FLUSH => (NbdCommand::Flush, 0),
            command::TRIM => (NbdCommand::Trim, 0),
            command::CACHE => (NbdCommand::Cache, 0),
            command::WRITE_ZEROES => {
                let (no_hole, fast) = (has(flag::NO_HOLE), has(flag::FAST_ZERO));
                let zeroes = NbdCommand::WriteZeroes { no_hole, fast };
                (zeroes, flag::NO_HOLE | flag::FAST_ZERO)
            }
            command::BLOCK_STATUS if self.allocation => {
                let one_extent = has(flag::REQ_ONE);
                (NbdCommand::BlockStatus { one_extent }, flag::REQ_ONE)
            }
            _ => return Err(NbdError::UnknownCommand),
        };
        // Clients set FUA on requests that write nothing; it must be accepted on all (proto,
        // "Command flags").
        if flags & !(allowed | flag::FUA) != 0 {
            return Err(NbdError::UnknownFlag);
        }
        if command == NbdCommand::Flush {
            return match (offset, len) {
                (0, 0) => Ok(command),
                _ => Err(NbdError::FlushRange),
            };
        }
        let transfers_data = matches!(command, NbdCommand::Read { .. } | NbdCommand::Write);
        if transfers_data && len > MAX_PAYLOAD_BYTES {
            return Err(NbdError::TooLong);
        }
        let block = u64::from(self.export.min_block_bytes);
        if !offset.is_multiple_of(block) || !u64::from(len).is_multiple_of(block) {
            return Err(NbdError::Unaligned);
        }
        let writes = matches!(command, NbdCommand::Write | NbdCommand::WriteZeroes { .. });
        match offset.checked_add(u64::from(len)) {
            Some(end) if end <= self.export.size_bytes => Ok(command),
            _ if writes => Err(NbdError::NoSpace),
            _ => Err(NbdError::BeyondEnd),
        }
    }
}
