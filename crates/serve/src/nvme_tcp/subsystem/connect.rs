//! Connect (Base 6.3).

use assay_nvme_ctrl::Association;
use assay_nvme_spec::fabrics::{
    self, ANY_CONTROLLER, Connect, ConnectData, ConnectError, DISCOVERY_NQN, FabricsType,
    connect_status, name,
};
use assay_nvme_spec::{CompletionEntry, StatusCode, SubmissionEntry};
use assay_units::limited_event;

use super::{Host, HostConnection, Queue, Role, Subsystem, completion};
use crate::nvme_tcp::discovery::Discovery;
use crate::nvme_tcp::memory::{completion_ring, submission_ring};
use crate::nvme_tcp::{MAX_ENTRIES, MAX_QUEUES};

/// Offsets of parameters in the command (Base 6.3).
const QID: u16 = 42;
const SIZE: u16 = 44;
/// Offsets of parameters in the data.
const CONTROLLER_ID: u16 = 16;
const SUBSYSTEM_NQN: u16 = 256;
/// Largest dynamic controller identifier (Base 3.1.2).
const MAX_CONTROLLER_ID: u16 = 0xffef;
const FLOW_CONTROL_DISABLED: u8 = 1 << 2;

/// Status and dword 0.
type Refusal = (StatusCode, u32);

fn status(status: StatusCode) -> Refusal {
    (status, 0)
}

impl Subsystem {
    /// The completion of the first command of a connection.
    pub(super) fn connect(
        &mut self,
        session: &mut HostConnection,
        entry: &SubmissionEntry,
        data: &[u8],
    ) -> CompletionEntry {
        let connect = Connect::from_bytes(*entry.as_bytes());
        let is_connect = connect.opcode() == fabrics::OPCODE
            && FabricsType(connect.kind()) == FabricsType::CONNECT;
        let connected = match ConnectData::read_from(data) {
            _ if !is_connect => Err(status(StatusCode::COMMAND_SEQUENCE_ERROR)),
            None => Err(status(StatusCode::INVALID_SGL_DATA_LENGTH)),
            Some(data) => self.connect_to(session, &connect, &data),
        };
        match connected {
            Ok(controller_id) => {
                let mut entry = completion(connect.cid(), StatusCode::SUCCESS, false);
                entry.set_dw0(controller_id.into());
                entry
            }
            Err((status, dw0)) => {
                let (now, number) = (self.clock.now(), session.id.number);
                let code = status.0;
                limited_event!(now, WARN, connection = number, code, "Connect refused");
                // A host may try again when another one has left.
                let is_final = status != connect_status::CONTROLLER_BUSY;
                let mut entry = completion(connect.cid(), status, is_final);
                entry.set_dw0(dw0);
                entry
            }
        }
    }

    fn connect_to(
        &mut self,
        session: &mut HostConnection,
        connect: &Connect,
        data: &ConnectData,
    ) -> Result<u16, Refusal> {
        let is_known = connect.format() == 0;
        connect_status::INCOMPATIBLE_FORMAT.fail_if(!is_known).map_err(status)?;
        let nqn = data.subsystem_nqn();
        if name(&nqn) == DISCOVERY_NQN {
            if connect.qid() != 0 {
                return Err(ConnectError::at(QID, false));
            }
            self.last_controller_id = self.last_controller_id % MAX_CONTROLLER_ID + 1;
            let id = self.last_controller_id;
            let discovery = Discovery::new(self.nqn.clone(), session.address, id);
            session.role = Role::Discovery(Box::new(discovery));
            return Ok(id);
        }
        if name(&nqn) != self.nqn {
            return Err(ConnectError::at(SUBSYSTEM_NQN, true));
        }
        StatusCode::INTERNAL_ERROR.fail_if(self.removed).map_err(status)?;
        if !(1..MAX_ENTRIES).contains(&connect.size()) {
            return Err(ConnectError::at(SIZE, false));
        }
        if connect.qid() == 0 {
            self.associate(session, connect, data)
        } else {
            self.attach(session, connect, data)
        }
    }

    fn associate(
        &mut self,
        session: &mut HostConnection,
        connect: &Connect,
        data: &ConnectData,
    ) -> Result<u16, Refusal> {
        if data.controller_id() != ANY_CONTROLLER {
            return Err(ConnectError::at(CONTROLLER_ID, true));
        }
        let is_other = |host: &Host| host.id != data.host_id();
        connect_status::CONTROLLER_BUSY
            .fail_if(self.host.as_ref().is_some_and(is_other))
            .map_err(status)?;
        // A host that lost its connections does not wait for their timeout.
        self.end_association();
        self.last_controller_id = self.last_controller_id % MAX_CONTROLLER_ID + 1;
        let controller_id = self.last_controller_id;
        self.paced.controller.associate(Association {
            controller_id,
            host_id: data.host_id(),
            keep_alive_ms: connect.keep_alive_ms(),
        });
        self.host = Some(Host {
            id: data.host_id(),
            nqn: name(&data.host_nqn()).to_owned(),
            heard_at: self.clock.now(),
        });
        self.add_queue(session, connect);
        Ok(controller_id)
    }

    fn attach(
        &mut self,
        session: &mut HostConnection,
        connect: &Connect,
        data: &ConnectData,
    ) -> Result<u16, Refusal> {
        let controller_id = self.paced.controller.association().controller_id;
        let is_host = |host: &Host| host.id == data.host_id() && host.nqn == name(&data.host_nqn());
        if !self.host.as_ref().is_some_and(is_host) || data.controller_id() != controller_id {
            return Err(ConnectError::at(CONTROLLER_ID, true));
        }
        let qid = connect.qid();
        if qid > MAX_QUEUES {
            return Err(ConnectError::at(QID, false));
        }
        let ring = u32::from(connect.size()) + 2;
        let (sq, cq) = (submission_ring(qid), completion_ring(qid));
        let attached = self.paced.controller.attach_queue(qid, sq, cq, ring);
        attached.map_err(|error| match error {
            StatusCode::INVALID_QUEUE_ID => ConnectError::at(QID, false),
            error => status(error),
        })?;
        self.add_queue(session, connect);
        Ok(controller_id)
    }

    fn add_queue(&mut self, session: &mut HostConnection, connect: &Connect) {
        let qid = connect.qid();
        let entries = u32::from(connect.size()) + 1;
        let has_flow_control = connect.attributes() & FLOW_CONTROL_DISABLED == 0;
        // Linux has as many commands outstanding as a queue has entries.
        let ring = entries + 1;
        self.paced.memory.set_ring(qid, ring);
        self.queues[usize::from(qid)] = Some(Queue {
            connection: session.id,
            entries,
            ring,
            tail: 0,
            completion_head: 0,
            rung: (0, 0),
            outstanding: 0,
            buffers: vec![0; usize::from(u16::MAX) + 1],
            head: has_flow_control.then_some(0),
        });
        session.role = Role::Queue(qid);
    }
}
