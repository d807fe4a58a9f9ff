//! Server side of one NVMe/TCP connection as a state machine: received bytes in, commands and data
//! out. It stores only numbers; the caller buffers at most one capsule
//! ([`MAX_CAPSULE_BYTES`]), and data of writes is handed on as it arrives.

use assay_io::clock::Clock;
use assay_nvme_spec::fabrics::{
    DataPdu, FatalError, InitializePdu, PduHeader, PduType, TerminatePdu, digest, pdu_flag,
};
use assay_nvme_spec::wire::Wire;
use assay_nvme_spec::{CompletionEntry, SubmissionEntry};
use assay_units::limited_event;

use super::pdu::{self, Agreement, HEADER_BYTES};
use super::{IN_CAPSULE_BYTES, MAX_DATA_PDU_BYTES};

const COMMAND_BYTES: usize = HEADER_BYTES + SubmissionEntry::SIZE;
/// Longest command capsule: header and digest, padding up to the largest data offset, data, digest.
pub const MAX_CAPSULE_BYTES: usize = 256 + IN_CAPSULE_BYTES + 4;

/// Result for the beginning of the received bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received<'a> {
    NeedMore {
        /// Input length required, from the same first byte.
        bytes: usize,
    },
    Consumed {
        bytes: usize,
    },
    Command {
        bytes: usize,
        entry: SubmissionEntry,
        /// In-capsule data.
        data: &'a [u8],
        /// The data does not match its digest.
        is_damaged: bool,
    },
    /// Part of the data of a write.
    Data {
        bytes: usize,
        pdu: DataPdu,
        /// Offset in the data of the command.
        offset: u32,
        data: &'a [u8],
    },
    /// All data of a PDU has been returned.
    EndOfData {
        bytes: usize,
        pdu: DataPdu,
        /// It does not match its digest.
        is_damaged: bool,
    },
    /// Send what was appended, and close.
    Close,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Initialize,
    Pdus,
    /// Within the data of a PDU.
    Data {
        pdu: DataPdu,
        offset: u32,
        left: u32,
        digest: u32,
    },
    Closed,
}

#[derive(Clone, Debug)]
pub struct TcpSession {
    /// Number of the connection, for events.
    pub connection: u64,
    phase: Phase,
    agreement: Agreement,
}

impl TcpSession {
    pub fn new(connection: u64) -> TcpSession {
        TcpSession { connection, phase: Phase::Initialize, agreement: Agreement::default() }
    }

    /// `input` has all bytes received and not consumed.
    pub fn decode<'a>(&mut self, input: &'a [u8], out: &mut Vec<u8>) -> Received<'a> {
        match self.phase {
            Phase::Closed => return Received::Close,
            Phase::Data { pdu, offset, left, digest } => {
                return self.data(input, pdu, offset, left, digest);
            }
            Phase::Initialize | Phase::Pdus => {}
        }
        if input.len() < HEADER_BYTES {
            return Received::NeedMore { bytes: HEADER_BYTES };
        }
        let kind = PduType(input[0]);
        let decoded = match (self.phase, kind) {
            (Phase::Initialize, PduType::IC_REQUEST) => self.initialize(input, out),
            (Phase::Pdus, PduType::COMMAND) => self.command(input),
            (Phase::Pdus, PduType::HOST_DATA) => self.begin_data(input),
            (_, PduType::HOST_TERMINATE) => {
                self.phase = Phase::Closed;
                Ok(Received::Close)
            }
            (Phase::Initialize, PduType::COMMAND | PduType::HOST_DATA)
            | (Phase::Pdus, PduType::IC_REQUEST) => Err((FatalError::SEQUENCE, 0)),
            _ => Err((FatalError::INVALID_FIELD, 0)),
        };
        decoded.unwrap_or_else(|(error, at)| self.terminate(error, at, input, out))
    }

    /// Ends the connection, with the common header of the PDU in error.
    pub fn terminate<'a>(
        &mut self,
        error: FatalError,
        at: u32,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Received<'a> {
        let (connection, now) = (self.connection, || Clock::monotonic().now());
        let why = error.to_string();
        limited_event!(now(), WARN, connection, why, at, "NVMe/TCP host refused");
        let mut pdu = TerminatePdu::default();
        let mut header = PduHeader::default();
        header.set_kind(PduType::CONTROLLER_TERMINATE.0);
        pdu.set_header(header).set_status(error.0).set_information(at);
        let copied = &input[..input.len().min(HEADER_BYTES)];
        pdu::append(out, Agreement::default(), pdu.as_bytes(), copied);
        self.phase = Phase::Closed;
        Received::Close
    }

    /// ICReq and ICResp (TCP 3.6.2.2, 3.6.2.3).
    fn initialize<'a>(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Received<'a>, (FatalError, u32)> {
        let bytes = InitializePdu::SIZE;
        if let Err(bytes) = pdu::head(input, Agreement::default(), bytes)? {
            return Ok(Received::NeedMore { bytes });
        }
        let request = InitializePdu::load(input);
        if request.header().bytes() as usize != bytes {
            return Err((FatalError::INVALID_FIELD, 4));
        }
        if request.version() != 0 {
            return Err((FatalError::UNSUPPORTED, 8));
        }
        // HPDA is 31 at most.
        if request.alignment() > 31 {
            return Err((FatalError::INVALID_FIELD, 10));
        }
        let digests = request.digests() & (digest::HEADER | digest::DATA);
        let mut response = InitializePdu::default();
        let mut header = PduHeader::default();
        header.set_kind(PduType::IC_RESPONSE.0);
        response.set_header(header).set_digests(digests).set_limit(MAX_DATA_PDU_BYTES);
        pdu::append(out, Agreement::default(), response.as_bytes(), &[]);
        self.agreement =
            Agreement { digests, alignment: (usize::from(request.alignment()) + 1) * 4 };
        self.phase = Phase::Pdus;
        Ok(Received::Consumed { bytes })
    }

    fn command<'a>(&self, input: &'a [u8]) -> Result<Received<'a>, (FatalError, u32)> {
        let header = match pdu::head(input, self.agreement, COMMAND_BYTES)? {
            Ok(header) => header,
            Err(bytes) => return Ok(Received::NeedMore { bytes }),
        };
        let digested = COMMAND_BYTES + self.agreement.header_digest_bytes();
        let (offset, len) = pdu::data_range(header, self.agreement, digested)?;
        if len > IN_CAPSULE_BYTES {
            return Err((FatalError::LIMIT_EXCEEDED, 4));
        }
        let bytes = header.bytes() as usize;
        let Some(pdu) = input.get(..bytes) else {
            return Ok(Received::NeedMore { bytes });
        };
        let data = &pdu[offset..offset + len];
        let has_digest = len > 0 && self.agreement.data_digest_bytes() > 0;
        Ok(Received::Command {
            bytes,
            entry: SubmissionEntry::load(&pdu[HEADER_BYTES..]),
            data,
            is_damaged: has_digest
                && !pdu::is_digest_of(&pdu[offset + len..], crc32c::crc32c(data)),
        })
    }

    fn begin_data<'a>(&mut self, input: &[u8]) -> Result<Received<'a>, (FatalError, u32)> {
        let header = match pdu::head(input, self.agreement, DataPdu::SIZE)? {
            Ok(header) => header,
            Err(bytes) => return Ok(Received::NeedMore { bytes }),
        };
        let digested = DataPdu::SIZE + self.agreement.header_digest_bytes();
        let (bytes, len) = pdu::data_range(header, self.agreement, digested)?;
        let pdu = DataPdu::load(input);
        if len != pdu.length() as usize || len == 0 {
            return Err((FatalError::INVALID_FIELD, 16));
        }
        if pdu.length() > MAX_DATA_PDU_BYTES {
            return Err((FatalError::LIMIT_EXCEEDED, 16));
        }
        if input.len() < bytes {
            return Ok(Received::NeedMore { bytes });
        }
        self.phase = Phase::Data { pdu, offset: pdu.offset(), left: pdu.length(), digest: 0 };
        Ok(Received::Consumed { bytes })
    }

    fn data<'a>(
        &mut self,
        input: &'a [u8],
        pdu: DataPdu,
        offset: u32,
        left: u32,
        digest: u32,
    ) -> Received<'a> {
        let digest_bytes = self.agreement.data_digest_bytes();
        if left == 0 {
            if input.len() < digest_bytes {
                return Received::NeedMore { bytes: digest_bytes };
            }
            self.phase = Phase::Pdus;
            return Received::EndOfData {
                bytes: digest_bytes,
                pdu,
                is_damaged: digest_bytes > 0 && !pdu::is_digest_of(input, digest),
            };
        }
        let bytes = input.len().min(left as usize);
        if bytes == 0 {
            return Received::NeedMore { bytes: 1 };
        }
        let data = &input[..bytes];
        self.phase = Phase::Data {
            pdu,
            // Beyond 4 GiB the caller has refused the PDU.
            offset: offset.saturating_add(bytes as u32),
            left: left - bytes as u32,
            digest: match digest_bytes {
                0 => 0,
                _ => crc32c::crc32c_append(digest, data),
            },
        };
        Received::Data { bytes, pdu, offset, data }
    }

    /// The data of a command, then its completion.
    pub fn response(&self, entry: &CompletionEntry, data: &[u8], out: &mut Vec<u8>) {
        if !data.is_empty() {
            let mut pdu = data_pdu(PduType::CONTROLLER_DATA, entry.cid(), 0, data.len());
            let mut header = pdu.header();
            header.set_flags(pdu_flag::LAST);
            pdu.set_header(header);
            pdu::append(out, self.agreement, pdu.as_bytes(), data);
        }
        let mut head = [0; HEADER_BYTES + CompletionEntry::SIZE];
        head[0] = PduType::RESPONSE.0;
        head[HEADER_BYTES..].copy_from_slice(entry.as_bytes());
        pdu::append(out, self.agreement, &head, &[]);
    }

    /// Asks for all data of a command.
    pub fn ready_to_transfer(&self, cid: u16, tag: u16, len: usize, out: &mut Vec<u8>) {
        let pdu = data_pdu(PduType::READY_TO_TRANSFER, cid, tag, len);
        pdu::append(out, self.agreement, pdu.as_bytes(), &[]);
    }
}

/// A PDU about all data of a command.
fn data_pdu(kind: PduType, cid: u16, tag: u16, len: usize) -> DataPdu {
    let (mut pdu, mut header) = (DataPdu::default(), PduHeader::default());
    header.set_kind(kind.0);
    pdu.set_header(header).set_cid(cid).set_tag(tag).set_length(len as u32);
    pdu
}
