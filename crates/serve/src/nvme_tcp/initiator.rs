//! The host side of NVMe/TCP: [`Initiator`] is one queue, sans-IO; [`TcpQueue`] has it on a socket
//! that blocks.

use std::collections::HashMap;
use std::io::{self, Read, Write};

use assay_nvme_spec::data_pointer::{SglDescriptor, SglType};
use assay_nvme_spec::fabrics::{
    self, ADMIN_IN_CAPSULE_BYTES, Connect, ConnectData, DataPdu, FabricsType, InitializePdu,
    PduHeader, PduType, Property, TerminatePdu, named, pdu_flag,
};
use assay_nvme_spec::register::{CC, CSTS, Configuration, ControllerStatus};
use assay_nvme_spec::wire::Wire;
use assay_nvme_spec::{CompletionEntry, SubmissionEntry};

use super::pdu::{self, Agreement, HEADER_BYTES};
use crate::connection::ReceiveBuffer;

/// Most reads of CSTS until the controller is ready.
const MAX_POLLS: u32 = 100_000;
/// Of one read: at a queue depth of 32, commands that follow its completions are sent while others
/// are not complete.
const MAX_READ_BYTES: usize = 64 << 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostEvent {
    /// The connection is initialized.
    Ready,
    /// A command is complete; with the data that the controller sent.
    Completed(CompletionEntry, Vec<u8>),
    /// Terminate Connection Request: the Fatal Error Status.
    Terminated(u16),
    /// Bytes that are not of the protocol.
    Invalid,
}

/// Data of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    None,
    InCapsule(Vec<u8>),
    /// The controller asks for it by R2T.
    Requested(Vec<u8>),
    /// Length of the data that the controller sends.
    FromController(usize),
}

#[derive(Clone, Debug)]
pub struct Initiator {
    /// Bytes to send.
    pub out: Vec<u8>,
    /// Most data of one H2CData PDU.
    pub split_bytes: usize,
    received: ReceiveBuffer,
    agreement: Agreement,
    is_ready: bool,
    next_cid: u16,
    /// Data to send or received, by command identifier.
    data: HashMap<u16, Vec<u8>>,
}

impl Initiator {
    /// Begins with ICReq; `digests` as in [`fabrics::digest`].
    pub fn new(digests: u8) -> Initiator {
        let mut request = InitializePdu::default();
        request.set_header(header(PduType::IC_REQUEST)).set_digests(digests);
        let mut out = Vec::new();
        pdu::append(&mut out, Agreement::default(), request.as_bytes(), &[]);
        Initiator {
            out,
            split_bytes: usize::MAX,
            received: ReceiveBuffer::new(),
            agreement: Agreement::default(),
            is_ready: false,
            next_cid: 0,
            data: HashMap::new(),
        }
    }

    /// Appends the capsule of a command, and returns its identifier.
    pub fn submit(&mut self, mut entry: SubmissionEntry, payload: Payload) -> u16 {
        let cid = self.next_cid;
        self.next_cid = self.next_cid.wrapping_add(1);
        let len = match &payload {
            Payload::None => 0,
            Payload::InCapsule(data) | Payload::Requested(data) => data.len(),
            Payload::FromController(len) => *len,
        };
        let mut sgl = SglDescriptor::new(SglType::TRANSPORT_DATA_BLOCK, 0, len as u32);
        sgl.set_sub_type(0xa);
        if matches!(payload, Payload::InCapsule(_)) {
            sgl = SglDescriptor::new(SglType::DATA_BLOCK, 0, len as u32);
            sgl.set_sub_type(1);
        }
        entry.set_cid(cid).set_sgl1(sgl);
        let mut capsule = [0; HEADER_BYTES + SubmissionEntry::SIZE];
        capsule[..HEADER_BYTES].copy_from_slice(header(PduType::COMMAND).as_bytes());
        capsule[HEADER_BYTES..].copy_from_slice(entry.as_bytes());
        let in_capsule = match payload {
            Payload::InCapsule(data) => data,
            Payload::Requested(data) => {
                self.data.insert(cid, data);
                Vec::new()
            }
            _ => Vec::new(),
        };
        pdu::append(&mut self.out, self.agreement, &capsule, &in_capsule);
        cid
    }

    /// Takes bytes of the controller.
    pub fn receive(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let space = self.received.space();
            let (now, later) = bytes.split_at(bytes.len().min(space.len()));
            space[..now.len()].copy_from_slice(now);
            self.received.add(now.len());
            bytes = later;
        }
    }

    /// The next event of the bytes received; R2T is answered with data.
    pub fn next_event(&mut self) -> Option<HostEvent> {
        // Taken, so that a PDU is processed where it lies.
        let mut received = std::mem::take(&mut self.received);
        let event = self.event_of(&mut received);
        self.received = received;
        event
    }

    fn event_of(&mut self, received: &mut ReceiveBuffer) -> Option<HostEvent> {
        loop {
            let rest = received.bytes();
            if rest.len() < HEADER_BYTES {
                received.reserve(HEADER_BYTES);
                return None;
            }
            let len = PduHeader::load(rest).bytes() as usize;
            if len < HEADER_BYTES {
                return Some(HostEvent::Invalid);
            }
            let Some(pdu) = rest.get(..len) else {
                received.reserve(len);
                return None;
            };
            let processed = self.process(pdu);
            received.consume(len);
            match processed {
                None => return Some(HostEvent::Invalid),
                Some(Some(event)) => return Some(event),
                Some(None) => {}
            }
        }
    }

    /// `None` for an invalid PDU.
    fn process(&mut self, pdu: &[u8]) -> Option<Option<HostEvent>> {
        let kind = PduType(pdu[0]);
        let header_bytes = match kind {
            PduType::IC_RESPONSE => InitializePdu::SIZE,
            _ => DataPdu::SIZE,
        };
        let agreement = match kind {
            PduType::CONTROLLER_TERMINATE => Agreement::default(),
            _ => self.agreement,
        };
        let header = pdu::head(pdu, agreement, header_bytes).ok()?.ok()?;
        match kind {
            PduType::IC_RESPONSE if !self.is_ready => {
                let response = InitializePdu::load(pdu);
                self.agreement.digests = response.digests();
                self.split_bytes = self.split_bytes.min(response.limit() as usize);
                self.is_ready = true;
                Some(Some(HostEvent::Ready))
            }
            PduType::CONTROLLER_TERMINATE => {
                Some(Some(HostEvent::Terminated(TerminatePdu::load(pdu).status())))
            }
            PduType::RESPONSE => {
                let entry = CompletionEntry::load(&pdu[HEADER_BYTES..]);
                let data = self.data.remove(&entry.cid()).unwrap_or_default();
                Some(Some(HostEvent::Completed(entry, data)))
            }
            PduType::CONTROLLER_DATA => {
                let digested = header_bytes + agreement.header_digest_bytes();
                let (offset, len) = pdu::data_range(header, agreement, digested).ok()?;
                let (head, data) = (DataPdu::load(pdu), pdu.get(offset..offset + len)?);
                let is_whole = agreement.data_digest_bytes() == 0
                    || pdu::is_digest_of(&pdu[offset + len..], crc32c::crc32c(data));
                let received = self.data.entry(head.cid()).or_default();
                if !is_whole || received.len() != head.offset() as usize {
                    return None;
                }
                received.extend_from_slice(data);
                Some(None)
            }
            PduType::READY_TO_TRANSFER => {
                self.send_data(&DataPdu::load(pdu))?;
                Some(None)
            }
            _ => None,
        }
    }

    fn send_data(&mut self, request: &DataPdu) -> Option<()> {
        let data = self.data.get(&request.cid())?;
        let from = request.offset() as usize;
        let end = from.checked_add(request.length() as usize)?;
        let mut offset = from;
        for part in data.get(from..end)?.chunks(self.split_bytes) {
            let mut head = header(PduType::HOST_DATA);
            let is_last = offset + part.len() == end;
            head.set_flags(if is_last { pdu_flag::LAST } else { 0 });
            let mut pdu = DataPdu::default();
            pdu.set_header(head)
                .set_cid(request.cid())
                .set_tag(request.tag())
                .set_offset(offset as u32)
                .set_length(part.len() as u32);
            pdu::append(&mut self.out, self.agreement, pdu.as_bytes(), part);
            offset += part.len();
        }
        if end == data.len() {
            self.data.remove(&request.cid());
        }
        Some(())
    }
}

fn header(kind: PduType) -> PduHeader {
    let mut header = PduHeader::default();
    header.set_kind(kind.0);
    header
}

/// Who connects to what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub nqn: String,
    pub host_nqn: String,
    pub host_id: [u8; 16],
    pub keep_alive_ms: u32,
    pub digests: u8,
}

/// One queue on a socket.
#[derive(Debug)]
pub struct TcpQueue<S> {
    pub stream: S,
    pub initiator: Initiator,
    /// Completions that were not waited for.
    pub others: Vec<(CompletionEntry, Vec<u8>)>,
}

fn broken(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.to_owned())
}

impl<S: Read + Write> TcpQueue<S> {
    /// Initializes the connection. An error is that of the socket, or a controller that breaks the
    /// protocol, as for all that follows.
    pub fn new(stream: S, digests: u8) -> io::Result<TcpQueue<S>> {
        let mut queue = TcpQueue { stream, initiator: Initiator::new(digests), others: Vec::new() };
        match queue.event()? {
            HostEvent::Ready => Ok(queue),
            _ => Err(broken("no ICResp")),
        }
    }

    /// The admin queue of a new association, with the controller enabled, and its identifier.
    pub fn admin(stream: S, identity: &Identity, entries: u16) -> io::Result<(TcpQueue<S>, u16)> {
        let mut queue = TcpQueue::new(stream, identity.digests)?;
        let controller_id = queue.connected(identity, 0, entries, fabrics::ANY_CONTROLLER)?;
        queue.enable()?;
        Ok((queue, controller_id))
    }

    /// An I/O queue of an association.
    pub fn io(
        stream: S,
        identity: &Identity,
        qid: u16,
        entries: u16,
        controller_id: u16,
    ) -> io::Result<TcpQueue<S>> {
        let mut queue = TcpQueue::new(stream, identity.digests)?;
        queue.connected(identity, qid, entries, controller_id)?;
        Ok(queue)
    }

    /// Connect that must succeed; the identifier of the controller.
    fn connected(
        &mut self,
        identity: &Identity,
        qid: u16,
        entries: u16,
        controller_id: u16,
    ) -> io::Result<u16> {
        let done = self.connect(identity, qid, entries, controller_id)?;
        match done.status().is_success() {
            true => Ok(done.dw0() as u16),
            false => Err(io::ErrorKind::ConnectionRefused.into()),
        }
    }

    /// Waits for an event. What is to be sent is sent when no event is left in what was received.
    pub fn event(&mut self) -> io::Result<HostEvent> {
        loop {
            if let Some(event) = self.initiator.next_event() {
                return Ok(event);
            }
            self.stream.write_all(&self.initiator.out)?;
            self.initiator.out.clear();
            let space = self.initiator.received.space();
            let most = space.len().min(MAX_READ_BYTES);
            let bytes = self.stream.read(&mut space[..most])?;
            if bytes == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.initiator.received.add(bytes);
        }
    }

    /// Waits for the completion of a command.
    pub fn completion(&mut self, cid: u16) -> io::Result<(CompletionEntry, Vec<u8>)> {
        let known = self.others.iter().position(|(entry, _)| entry.cid() == cid);
        if let Some(at) = known {
            return Ok(self.others.remove(at));
        }
        loop {
            match self.event()? {
                HostEvent::Completed(entry, data) if entry.cid() == cid => {
                    return Ok((entry, data));
                }
                HostEvent::Completed(entry, data) => self.others.push((entry, data)),
                HostEvent::Terminated(_) => return Err(broken("the controller terminated")),
                _ => return Err(broken("an invalid PDU")),
            }
        }
    }

    /// Executes a command.
    pub fn run(
        &mut self,
        entry: SubmissionEntry,
        payload: Payload,
    ) -> io::Result<(CompletionEntry, Vec<u8>)> {
        let cid = self.initiator.submit(entry, payload);
        self.completion(cid)
    }

    /// Connect; `entries` is the size of the queue.
    pub fn connect(
        &mut self,
        identity: &Identity,
        qid: u16,
        entries: u16,
        controller_id: u16,
    ) -> io::Result<CompletionEntry> {
        let mut connect = Connect::default();
        connect
            .set_opcode(fabrics::OPCODE)
            .set_kind(FabricsType::CONNECT.0)
            .set_qid(qid)
            .set_size(entries.saturating_sub(1))
            .set_keep_alive_ms(identity.keep_alive_ms);
        let mut data = ConnectData::default();
        data.set_host_id(identity.host_id)
            .set_controller_id(controller_id)
            .set_subsystem_nqn(named(&identity.nqn))
            .set_host_nqn(named(&identity.host_nqn));
        let entry = SubmissionEntry::from_bytes(*connect.as_bytes());
        const { assert!(ConnectData::SIZE <= ADMIN_IN_CAPSULE_BYTES) };
        let data = Payload::InCapsule(data.as_bytes().to_vec());
        Ok(self.run(entry, data)?.0)
    }

    /// Property Get, or Property Set of `value`; the completion has the value.
    pub fn property(
        &mut self,
        offset: u64,
        is_wide: bool,
        value: Option<u64>,
    ) -> io::Result<CompletionEntry> {
        let kind = match value {
            None => FabricsType::PROPERTY_GET,
            Some(_) => FabricsType::PROPERTY_SET,
        };
        let mut property = Property::default();
        property
            .set_opcode(fabrics::OPCODE)
            .set_kind(kind.0)
            .set_is_wide(is_wide)
            .set_offset(offset as u32)
            .set_value(value.unwrap_or(0));
        let entry = SubmissionEntry::from_bytes(*property.as_bytes());
        Ok(self.run(entry, Payload::None)?.0)
    }

    /// Enables the controller, and waits until it is ready.
    pub fn enable(&mut self) -> io::Result<()> {
        let mut on = Configuration::default();
        on.set_enable(true).set_io_sq_entry_size(6).set_io_cq_entry_size(4);
        self.property(CC, false, Some(on.raw().into()))?;
        for _ in 0..MAX_POLLS {
            let status = self.property(CSTS, false, None)?;
            if ControllerStatus::from_raw(status.dw0()).ready() {
                return Ok(());
            }
        }
        Err(broken("the controller does not become ready"))
    }
}
