//! The NVM subsystem behind the connections: one controller, and its association with one host.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::BorrowedFd;

use assay_io::clock::Clock;
use assay_nvme_ctrl::{Controller, ControllerOptions, FabricsOptions};
use assay_nvme_spec::fabrics::FatalError;
use assay_nvme_spec::register::{CC, Configuration, cq_doorbell, sq_doorbell};
use assay_nvme_spec::{CompletionEntry, StatusCode};
use assay_ssd::{Drive, StateDigest};
use assay_units::{Nanos, limited_event};

use super::memory::FabricMemory;
use super::session::{Received, TcpSession};
use super::{COMMAND_LIMIT, IN_CAPSULE_BYTES, MAX_ENTRIES, MAX_QUEUES};
use crate::front::{ConnectionId, Finished, Front, Step};
use crate::paced_controller::PacedController;
use crate::pacer::{Lateness, Pace, Wait};
use crate::server::{ServeError, Server};
pub use connection::HostConnection;
use connection::{Queue, Role};

mod commands;
mod connect;
mod connection;
mod properties;

/// How often commands are looked at for [`COMMAND_LIMIT`].
const SCAN_INTERVAL: Nanos = Nanos::from_millis(1000);
/// Granularity of Keep Alive (KAS).
const KEEP_ALIVE_UNIT_MS: u64 = 1000;

pub type NvmeTcpServer = Server<Subsystem>;

/// The host that is connected.
#[derive(Clone, Debug)]
struct Host {
    id: [u8; 16],
    nqn: String,
    heard_at: Nanos,
}

pub struct Subsystem {
    paced: PacedController<FabricMemory>,
    nqn: String,
    host: Option<Host>,
    queues: Vec<Option<Queue>>,
    last_controller_id: u16,
    /// Completions without the controller.
    answered: VecDeque<CompletionEntry>,
    to_close: VecDeque<ConnectionId>,
    /// The drive was removed from the bus.
    removed: bool,
    /// The host sent something since the last tick.
    heard: bool,
    /// A register was written since the controller advanced, or is to be.
    changed: bool,
    /// Queues with doorbells to write.
    to_ring: Vec<u16>,
    clock: Clock,
    scan_at: Nanos,
    command_limit: Nanos,
    /// Commands in the controller, without Asynchronous Event Requests.
    in_flight: usize,
}

impl NvmeTcpServer {
    /// Powers the drive on; the name is that of the subsystem, by default one made of the drive's
    /// serial number. The namespace has other identifiers at each start, because its data do not
    /// survive the server: a host that reconnects must not take it for the one of before. Fails
    /// when epoll is not available.
    pub fn new(drive: Drive, pace: Pace, nqn: Option<String>) -> Result<NvmeTcpServer, ServeError> {
        let options = ControllerOptions {
            // 0 would be no nonce.
            identity_nonce: RandomState::new().hash_one(drive.identity().serial.as_str()) | 1,
            fabrics: Some(FabricsOptions {
                nqn,
                max_entries: MAX_ENTRIES,
                max_queues: MAX_QUEUES,
                in_capsule_bytes: IN_CAPSULE_BYTES as u32,
            }),
            ..ControllerOptions::default()
        };
        let controller = Controller::new(drive, options);
        Server::with_front(Subsystem {
            nqn: controller.nqn(),
            queues: (0..=MAX_QUEUES).map(|_| None).collect(),
            paced: PacedController::new(controller, FabricMemory::default(), pace),
            host: None,
            last_controller_id: 0,
            answered: VecDeque::new(),
            to_close: VecDeque::new(),
            removed: false,
            heard: false,
            changed: false,
            to_ring: Vec::new(),
            clock: Clock::monotonic(),
            scan_at: Nanos::ZERO,
            command_limit: COMMAND_LIMIT,
            in_flight: 0,
        })
    }

    pub fn nqn(&self) -> &str {
        &self.front.nqn
    }

    /// Instead of [`COMMAND_LIMIT`].
    pub fn limit_commands(&mut self, limit: Nanos) {
        self.front.command_limit = limit;
    }

    pub fn digest(&mut self) -> StateDigest {
        self.front.paced.controller.drive_mut().digest()
    }
}

/// A completion of the subsystem itself. `is_final` sets Do Not Retry.
fn completion(cid: u16, status: StatusCode, is_final: bool) -> CompletionEntry {
    let mut entry = CompletionEntry::default();
    entry.set_cid(cid).set_status(status).set_do_not_retry(is_final && !status.is_success());
    entry
}

impl Subsystem {
    /// The queue of a connection, unless another connection has it by now.
    fn queue_of(&mut self, session: &HostConnection) -> Option<(u16, &mut Queue)> {
        let Role::Queue(qid) = session.role else {
            return None;
        };
        let queue = self.queues.get_mut(usize::from(qid))?.as_mut()?;
        (queue.connection == session.id).then_some((qid, queue))
    }

    /// Completes a command without the controller.
    fn answer(&mut self, number: u16, status: StatusCode, is_final: bool) {
        if let Some(buffer) = self.paced.memory.get_mut(number) {
            let counted = buffer.since.take().is_some() && !buffer.is_event_request();
            self.in_flight -= usize::from(counted);
            let mut entry = completion(buffer.entry.cid(), status, is_final);
            entry.set_sqid(buffer.qid);
            self.answered.push_back(entry);
        }
    }

    /// Numbers of the outstanding commands of the queues that `matches` selects.
    fn outstanding(&self, matches: impl Fn(u16) -> bool) -> Vec<u16> {
        let used = self.paced.memory.used();
        let used = used.filter(|(_, buffer)| matches(buffer.qid));
        used.map(|(number, _)| number).collect()
    }

    /// Forgets a queue and its commands.
    fn drop_queue(&mut self, qid: u16) {
        let Some(queue) = self.queues[usize::from(qid)].take() else {
            return;
        };
        self.to_close.push_back(queue.connection);
        for number in self.outstanding(|other| other == qid) {
            self.release(number);
        }
        self.paced.memory.completed.retain(|e| e.sqid() != qid);
        self.answered.retain(|entry| entry.sqid() != qid);
        self.paced.controller.detach_queue(qid);
        self.changed = true;
    }

    fn release(&mut self, number: u16) {
        if let Some(buffer) = self.paced.memory.get(number) {
            let counted = buffer.since.is_some() && !buffer.is_event_request();
            self.in_flight -= usize::from(counted);
            self.paced.memory.release(number);
        }
    }

    /// Resets the controller, and closes the host's connections.
    fn end_association(&mut self) {
        for qid in 0..=MAX_QUEUES {
            self.drop_queue(qid);
        }
        let mut configuration = self.configuration();
        if configuration.enable() {
            configuration.set_enable(false);
            self.paced.write_register(CC, 4, configuration.raw().into());
        }
        self.host = None;
        self.changed = true;
    }

    fn configuration(&self) -> Configuration {
        Configuration::from_raw(self.paced.controller.read_register(CC, 4) as u32)
    }

    /// After surprise removal: the commands are answered, then the connections closed.
    fn on_removal(&mut self) {
        self.removed = true;
        for number in self.outstanding(|_| true) {
            self.answer(number, StatusCode::INTERNAL_ERROR, true);
        }
        self.paced.memory.completed.clear();
        let connections = self.queues.iter().flatten().map(|queue| queue.connection);
        self.to_close.extend(connections);
    }

    /// Time at which the host is taken for gone.
    fn host_until(&self) -> Option<Nanos> {
        let timeout_ms = u64::from(self.paced.controller.association().keep_alive_ms);
        let timeout_ms = timeout_ms.next_multiple_of(KEEP_ALIVE_UNIT_MS);
        let host = self.host.as_ref().filter(|_| timeout_ms > 0)?;
        Some(host.heard_at + Nanos::from_millis(timeout_ms))
    }

    /// Aborts the I/O commands that the model has held for too long.
    fn abort_overdue(&mut self, now: Nanos) {
        let limit = self.command_limit;
        let is_overdue = |since: Option<Nanos>| since.is_some_and(|at| now - at >= limit);
        let used = self.paced.memory.used();
        let overdue = used.filter(|(_, buffer)| buffer.qid > 0 && is_overdue(buffer.since));
        let overdue: Vec<(u16, u16)> =
            overdue.map(|(_, buffer)| (buffer.qid, buffer.entry.cid())).collect();
        for (qid, cid) in overdue {
            limited_event!(now, WARN, qid, cid, "a command took too long and is aborted");
            let model = self.paced.clock.now();
            let (controller, memory) = (&mut self.paced.controller, &mut self.paced.memory);
            controller.abandon(model, qid, cid, StatusCode::ABORT_REQUESTED, memory);
        }
    }

    /// The next completion, of the controller or the subsystem itself.
    fn next_completion(&mut self) -> Option<CompletionEntry> {
        let Some(entry) = self.paced.memory.completed.pop_front() else {
            return self.answered.pop_front();
        };
        let qid = entry.sqid();
        if let Some(Some(queue)) = self.queues.get_mut(usize::from(qid)) {
            queue.completion_head = (queue.completion_head + 1) % queue.ring;
            self.mark(qid);
        }
        Some(entry)
    }

    /// Doorbells of the queue are to be written.
    fn mark(&mut self, qid: u16) {
        if self.to_ring.last() != Some(&qid) {
            self.to_ring.push(qid);
        }
    }

    /// Writes doorbells once for all commands and completions since the last time. The completions
    /// in between have room, because a queue has no more entries than its ring.
    fn ring(&mut self) {
        while let Some(qid) = self.to_ring.pop() {
            let Some(Some(queue)) = self.queues.get_mut(usize::from(qid)) else {
                continue;
            };
            let (tail, head) = (queue.tail, queue.completion_head);
            let (known_tail, known_head) = std::mem::replace(&mut queue.rung, (tail, head));
            if head != known_head {
                let doorbell = cq_doorbell(qid, 0);
                self.paced.write_register(doorbell, 4, head.into());
            }
            if tail != known_tail {
                let doorbell = sq_doorbell(qid, 0);
                self.paced.write_register(doorbell, 4, tail.into());
            }
        }
    }
}

impl Front for Subsystem {
    type Session = HostConnection;
    /// Buffer, and completion.
    type Reply = (u16, CompletionEntry);

    const ENDS_AT_ONCE: bool = true;

    fn open(
        &mut self,
        id: ConnectionId,
        stream: BorrowedFd<'_>,
        _out: &mut Vec<u8>,
    ) -> HostConnection {
        let address = rustix::net::getsockname(stream).ok();
        HostConnection {
            id,
            tcp: TcpSession::new(id.number),
            address: address.and_then(|address| address.try_into().ok()),
            role: Role::New,
            deferred: VecDeque::new(),
        }
    }

    fn receive(
        &mut self,
        _now: Nanos,
        _id: ConnectionId,
        session: &mut HostConnection,
        input: &[u8],
        room_bytes: u64,
        out: &mut Vec<u8>,
    ) -> Step {
        if let Some((entry, data)) = session.deferred.pop_front() {
            match self.begin(session, &entry, &data, room_bytes, out) {
                Some(cost_bytes) if cost_bytes > 0 => {
                    return Step::Started { bytes: 0, cost_bytes };
                }
                Some(_) => return Step::Consumed { bytes: 0 },
                None => session.deferred.push_front((entry, data)),
            }
        }
        match session.tcp.decode(input, out) {
            Received::NeedMore { bytes } => Step::NeedMore { bytes },
            Received::Consumed { bytes } => Step::Consumed { bytes },
            Received::Close => Step::Close,
            Received::Command { bytes, entry, data, is_damaged } => {
                match self.command(session, &entry, data, is_damaged, room_bytes, out) {
                    Ok(0) => Step::Consumed { bytes },
                    Ok(cost_bytes) => Step::Started { bytes, cost_bytes },
                    Err(error) => self.terminate(session, error, input, out),
                }
            }
            Received::Data { bytes, pdu, offset, data } => {
                match self.receive_data(session, &pdu, offset, data) {
                    true => Step::Consumed { bytes },
                    false => self.terminate(session, FatalError::OUT_OF_RANGE, &[], out),
                }
            }
            Received::EndOfData { bytes, pdu, is_damaged } => {
                match self.end_of_data(&pdu, is_damaged) {
                    true => Step::Consumed { bytes },
                    false => self.terminate(session, FatalError::OUT_OF_RANGE, &[], out),
                }
            }
        }
    }

    fn is_established(&self, session: &HostConnection) -> bool {
        !matches!(session.role, Role::New)
    }

    fn is_waiting(&self, session: &HostConnection) -> bool {
        !session.deferred.is_empty()
    }

    fn collect(&mut self) {
        self.ring();
        if self.changed || self.paced.due <= self.paced.clock.now() || self.wait() == Wait::Now {
            self.changed = false;
            self.paced.advance(|_| {});
        }
        if !self.removed && !self.paced.controller.drive().is_present() {
            self.on_removal();
        }
    }

    fn next_finished(&mut self) -> Option<Finished<(u16, CompletionEntry)>> {
        loop {
            let mut entry = self.next_completion()?;
            let (qid, cid) = (usize::from(entry.sqid()), usize::from(entry.cid()));
            let Some(Some(queue)) = self.queues.get_mut(qid) else {
                continue;
            };
            let Some(number) = std::mem::take(&mut queue.buffers[cid]).checked_sub(1) else {
                continue;
            };
            queue.outstanding -= 1;
            queue.advance_head(&mut entry);
            let connection = queue.connection;
            let buffer = self.paced.memory.get(number);
            let cost_bytes = buffer.map_or(0, |buffer| buffer.cost_bytes);
            return Some(Finished {
                connection,
                cost_bytes,
                failed: !entry.status().is_success(),
                reply: (number, entry),
            });
        }
    }

    fn reply(
        &mut self,
        session: &mut HostConnection,
        finished: &Finished<(u16, CompletionEntry)>,
        out: &mut Vec<u8>,
    ) {
        let (number, entry) = &finished.reply;
        let buffer = self.paced.memory.get(*number);
        let to_host =
            buffer.filter(|buffer| entry.status().is_success() && buffer.entry.opcode() & 3 == 2);
        let data = to_host.map_or(&[][..], |buffer| buffer.filled());
        session.tcp.response(entry, data, out);
        self.release(*number);
    }

    fn wait(&self) -> Wait {
        let paced = &self.paced;
        if self.changed || paced.clock.pace == Pace::Free && paced.controller.is_busy() {
            return Wait::Now;
        }
        match paced.due {
            Nanos::MAX => Wait::Idle,
            due => match paced.clock.left(due) {
                Nanos::ZERO => Wait::Now,
                left => Wait::For(left),
            },
        }
    }

    fn in_flight(&self) -> usize {
        self.in_flight
    }

    fn now(&self) -> Nanos {
        self.paced.clock.now()
    }

    fn drive(&self) -> &Drive {
        self.paced.controller.drive()
    }

    fn lateness(&self) -> Lateness {
        self.paced.lateness
    }

    fn deadline(&self) -> Option<Nanos> {
        let scan = (self.in_flight > 0).then_some(self.scan_at);
        scan.into_iter().chain(self.host_until()).min()
    }

    fn tick(&mut self, clock: &Clock) {
        let now = clock.now();
        if std::mem::take(&mut self.heard)
            && let Some(host) = &mut self.host
        {
            host.heard_at = now;
        }
        if self.in_flight > 0 && self.scan_at <= now {
            self.abort_overdue(now);
            self.scan_at = now + SCAN_INTERVAL;
        }
        if self.host_until().is_some_and(|until| until <= now) {
            limited_event!(now, WARN, "the host sent no Keep Alive in time");
            self.end_association();
        }
    }

    fn closed(&mut self, session: &HostConnection) {
        match self.queue_of(session) {
            Some((0, _)) => self.end_association(),
            Some((qid, _)) => self.drop_queue(qid),
            None => {}
        }
    }

    fn next_to_close(&mut self) -> Option<ConnectionId> {
        self.to_close.pop_front()
    }
}
