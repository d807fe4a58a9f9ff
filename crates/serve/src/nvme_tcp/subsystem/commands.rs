//! Commands of the host, and the data of its writes.

use assay_nvme_spec::data_pointer::{SglDescriptor, SglType};
use assay_nvme_spec::fabrics::{self, DataPdu, FatalError, pdu_flag};
use assay_nvme_spec::opcode::AdminOpcode;
use assay_nvme_spec::{CompletionEntry, StatusCode, SubmissionEntry};

use super::{HostConnection, Queue, Role, Subsystem, completion};
use crate::front::Step;
use crate::nvme_tcp::memory::buffer_address;
use crate::server::{MAX_IN_FLIGHT_BYTES, REQUEST_COST_BYTES};

/// Part of the limit of bytes in flight that commands leave for replies without them.
const RESERVED_BYTES: u64 = MAX_IN_FLIGHT_BYTES / 4;
/// Transport specific (Base 4.1.2.1).
const SUB_TYPE_TRANSPORT: u8 = 0xa;
const SUB_TYPE_OFFSET: u8 = 1;
/// SQHD without flow control (Base 6.3).
const NO_HEAD: u16 = 0xffff;
const TO_CONTROLLER: u8 = 1;
const TO_HOST: u8 = 2;

/// Data of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Transfer {
    /// Length of data to the host, or 0.
    ToHost(usize),
    InCapsule(std::ops::Range<usize>),
    /// Data that the host is to be asked for.
    Requested(usize),
}

impl Transfer {
    fn len(&self) -> usize {
        match self {
            Transfer::ToHost(len) | Transfer::Requested(len) => *len,
            Transfer::InCapsule(range) => range.len(),
        }
    }
}

/// From the one SGL descriptor that a capsule has.
fn transfer(
    entry: &SubmissionEntry,
    capsule_bytes: usize,
    limit_bytes: u64,
) -> Result<Transfer, StatusCode> {
    StatusCode::INVALID_FIELD.fail_if(entry.psdt() != 1)?;
    let sgl = entry.sgl1();
    let (len, direction) = (sgl.length() as usize, entry.opcode() & 3);
    StatusCode::INVALID_FIELD.fail_if(len as u64 > limit_bytes)?;
    match (sgl.sgl_type(), sgl.sub_type()) {
        (SglType::DATA_BLOCK, SUB_TYPE_OFFSET) => {
            StatusCode::INVALID_FIELD.fail_if(len > 0 && direction != TO_CONTROLLER)?;
            let offset = usize::try_from(sgl.address()).ok();
            let offset = offset.filter(|&offset| offset <= capsule_bytes);
            let offset = offset.ok_or(StatusCode::INVALID_SGL_OFFSET)?;
            StatusCode::INVALID_SGL_DATA_LENGTH.fail_if(len > capsule_bytes - offset)?;
            Ok(Transfer::InCapsule(offset..offset + len))
        }
        (SglType::TRANSPORT_DATA_BLOCK, SUB_TYPE_TRANSPORT) => Ok(match direction {
            TO_CONTROLLER if len > 0 => Transfer::Requested(len),
            TO_HOST => Transfer::ToHost(len),
            _ => Transfer::ToHost(0),
        }),
        _ => Err(StatusCode::INVALID_SGL_TYPE),
    }
}

impl Queue {
    /// Each completion frees one entry of the host's queue.
    pub(super) fn advance_head(&mut self, entry: &mut CompletionEntry) {
        if let Some(head) = &mut self.head {
            *head = (*head + 1) % self.entries;
        }
        entry.set_sq_head(self.head.map_or(NO_HEAD, |head| head as u16));
        entry.set_phase(false);
    }
}

impl Subsystem {
    pub(super) fn terminate(
        &mut self,
        session: &mut HostConnection,
        error: FatalError,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Step {
        session.tcp.terminate(error, 0, input, out);
        Step::Close
    }

    /// Sends a completion that needs no buffer.
    pub(super) fn respond(
        &mut self,
        session: &HostConnection,
        mut entry: CompletionEntry,
        data: &[u8],
        out: &mut Vec<u8>,
    ) {
        if let Some((qid, queue)) = self.queue_of(session) {
            entry.set_sqid(qid);
            queue.advance_head(&mut entry);
        }
        session.tcp.response(&entry, data, out);
    }

    /// Cost of a command that is in flight now; 0 for one that is answered or waits.
    pub(super) fn command(
        &mut self,
        session: &mut HostConnection,
        entry: &SubmissionEntry,
        data: &[u8],
        is_damaged: bool,
        room_bytes: u64,
        out: &mut Vec<u8>,
    ) -> Result<u64, FatalError> {
        let cid = entry.cid();
        if is_damaged {
            // A retry may succeed.
            let entry = completion(cid, StatusCode::TRANSIENT_TRANSPORT, false);
            self.respond(session, entry, &[], out);
            return Ok(0);
        }
        if let Role::Discovery(discovery) = &mut session.role {
            let (entry, data) = match discovery.answer(entry) {
                None => return Ok(0),
                Some(Err(status)) => (completion(cid, status, true), Vec::new()),
                Some(Ok((value, data))) => {
                    let mut entry = completion(cid, StatusCode::SUCCESS, false);
                    entry.set_dw0(value as u32).set_dw1((value >> 32) as u32);
                    (entry, data)
                }
            };
            session.tcp.response(&entry, &data, out);
            return Ok(0);
        }
        if matches!(session.role, Role::New) {
            let entry = self.connect(session, entry, data);
            self.respond(session, entry, &[], out);
            return Ok(0);
        }
        let waiting = session.deferred.len() as u32;
        let Some((_, queue)) = self.queue_of(session) else {
            return Err(FatalError::SEQUENCE);
        };
        let is_full = queue.outstanding + waiting >= queue.entries;
        self.heard = true;
        if entry.opcode() == fabrics::OPCODE {
            let entry = self.property(session, entry);
            self.respond(session, entry, &[], out);
            return Ok(0);
        }
        if is_full {
            return Err(FatalError::SEQUENCE);
        }
        if session.deferred.is_empty()
            && let Some(cost_bytes) = self.begin(session, entry, data, room_bytes, out)
        {
            return Ok(cost_bytes);
        }
        session.deferred.push_back((*entry, data.to_vec()));
        Ok(0)
    }

    /// Begins a command; returns its cost, 0 if it is answered already. `None` if there is no room.
    pub(super) fn begin(
        &mut self,
        session: &HostConnection,
        entry: &SubmissionEntry,
        data: &[u8],
        room_bytes: u64,
        out: &mut Vec<u8>,
    ) -> Option<u64> {
        let checked = self.check(session, entry, data.len());
        let (qid, transfer) = match checked {
            Ok(checked) => checked,
            Err(status) => {
                let entry = completion(entry.cid(), status, true);
                self.respond(session, entry, &[], out);
                return Some(0);
            }
        };
        let is_event = qid == 0 && AdminOpcode(entry.opcode()) == AdminOpcode::ASYNC_EVENT_REQUEST;
        let cost_bytes = match is_event {
            true => 0,
            false => REQUEST_COST_BYTES + transfer.len() as u64,
        };
        // With nothing in flight, one command has room in any case.
        if room_bytes < u64::MAX && cost_bytes > room_bytes.saturating_sub(RESERVED_BYTES) {
            return None;
        }
        let memory = &mut self.paced.memory;
        let number = memory.add(qid, *entry, transfer.len(), cost_bytes);
        if let Some(Some(queue)) = self.queues.get_mut(usize::from(qid)) {
            queue.buffers[usize::from(entry.cid())] = number + 1;
            queue.outstanding += 1;
        }
        match transfer {
            Transfer::Requested(len) => {
                session.tcp.ready_to_transfer(entry.cid(), number, len, out);
            }
            Transfer::InCapsule(range) => {
                if let Some(buffer) = memory.get_mut(number) {
                    buffer.receive(0, &data[range]);
                }
                self.submit(number);
            }
            Transfer::ToHost(_) => self.submit(number),
        }
        Some(cost_bytes)
    }

    fn check(
        &mut self,
        session: &HostConnection,
        entry: &SubmissionEntry,
        capsule_bytes: usize,
    ) -> Result<(u16, Transfer), StatusCode> {
        StatusCode::INTERNAL_ERROR.fail_if(self.removed)?;
        let ready = self.paced.controller.accepts_commands();
        let limit_bytes = self.paced.controller.max_transfer_bytes();
        let (qid, queue) = self.queue_of(session).ok_or(StatusCode::COMMAND_SEQUENCE_ERROR)?;
        let is_used = queue.buffers[usize::from(entry.cid())] != 0;
        StatusCode::CID_CONFLICT.fail_if(is_used)?;
        StatusCode::COMMAND_SEQUENCE_ERROR.fail_if(!ready)?;
        Ok((qid, transfer(entry, capsule_bytes, limit_bytes)?))
    }

    /// Puts a command, whose data is complete, into the ring of its queue.
    fn submit(&mut self, number: u16) {
        let now = self.clock.now();
        let Some(buffer) = self.paced.memory.get_mut(number) else {
            return;
        };
        buffer.since = Some(now);
        let (qid, counted) = (buffer.qid, !buffer.is_event_request());
        let mut entry = buffer.entry;
        let address = buffer_address(number);
        let len = buffer.len as u32;
        entry.set_sgl1(SglDescriptor::new(SglType::DATA_BLOCK, address, len));
        let Some(Some(queue)) = self.queues.get_mut(usize::from(qid)) else {
            return;
        };
        self.paced.memory.put_entry(qid, queue.tail, &entry);
        queue.tail = (queue.tail + 1) % queue.ring;
        self.mark(qid);
        self.changed = true;
        self.in_flight += usize::from(counted);
    }

    /// `false` for data that was not asked for.
    pub(super) fn receive_data(
        &mut self,
        session: &HostConnection,
        pdu: &DataPdu,
        offset: u32,
        data: &[u8],
    ) -> bool {
        self.heard = true;
        let Some((qid, _)) = self.queue_of(session) else {
            return false;
        };
        let Some(buffer) = self.paced.memory.get_mut(pdu.tag()) else {
            return false;
        };
        let is_of_command = buffer.qid == qid && buffer.entry.cid() == pdu.cid();
        is_of_command && buffer.since.is_none() && buffer.receive(offset as usize, data)
    }

    /// `false` if the last PDU does not complete the data.
    pub(super) fn end_of_data(&mut self, pdu: &DataPdu, is_damaged: bool) -> bool {
        let number = pdu.tag();
        let Some(buffer) = self.paced.memory.get_mut(number) else {
            return false;
        };
        buffer.is_damaged |= is_damaged;
        if buffer.filled < buffer.len {
            return pdu.header().flags() & pdu_flag::LAST == 0;
        }
        if buffer.is_damaged {
            self.answer(number, StatusCode::TRANSIENT_TRANSPORT, false);
        } else {
            self.submit(number);
        }
        true
    }
}
