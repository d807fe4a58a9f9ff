//! NBD sessions and the executor of their requests, for the event loop.

use std::os::fd::BorrowedFd;

use assay_ssd::Drive;
use assay_units::Nanos;

use super::{Decoded, Export, NbdCommand, NbdSession, Request};
use crate::executor::{ActiveRequest, CommandExecutor, Reply};
use crate::front::{ConnectionId, Finished, Front, Step};
use crate::pacer::{Lateness, Pace, Pacer, Wait};
use crate::server::{REQUEST_COST_BYTES, ServeError, Server};

pub struct NbdFront {
    executor: CommandExecutor,
    export: Export,
}

pub type NbdServer = Server<NbdFront>;

impl NbdServer {
    /// Powers the drive on; `name` is that of the export. Fails when epoll is not available.
    pub fn new(drive: Drive, pace: Pace, name: &str) -> Result<NbdServer, ServeError> {
        let identity = drive.identity();
        let export = Export {
            name: name.to_owned(),
            description: format!("{}, serial {}", identity.model, identity.serial),
            size_bytes: identity.capacity_bytes,
            min_block_bytes: identity.logical_block_bytes as u32,
            preferred_block_bytes: 4096.max(identity.logical_block_bytes as u32),
        };
        let executor = CommandExecutor::new(Pacer::new(drive, pace));
        Server::with_front(NbdFront { executor, export })
    }

    pub fn into_drive(self) -> Drive {
        self.front.executor.pacer.into_drive()
    }
}

impl NbdFront {
    fn append(&self, session: &NbdSession, request: &Request, reply: &Reply, out: &mut Vec<u8>) {
        match reply {
            Reply::Extents(extents) => session.block_status_reply(request.cookie, extents, out),
            Reply::Failed(error) => session.error_reply(request.cookie, *error, out),
            Reply::Data(completion) => session.read_reply(request, out, |at, bytes| {
                self.executor.read(completion, at, bytes);
            }),
            Reply::Done if matches!(request.command, NbdCommand::Read { .. }) => {
                session.read_reply(request, out, |_, _| {});
            }
            Reply::Done => session.success_reply(request.cookie, out),
        }
    }
}

impl Front for NbdFront {
    type Session = NbdSession;
    type Reply = (ActiveRequest, Reply);

    fn open(&mut self, id: ConnectionId, _stream: BorrowedFd<'_>, out: &mut Vec<u8>) -> NbdSession {
        let mut session = NbdSession::new(self.export.clone(), out);
        session.connection = id.number;
        session
    }

    fn receive(
        &mut self,
        now: Nanos,
        id: ConnectionId,
        session: &mut NbdSession,
        input: &[u8],
        room_bytes: u64,
        out: &mut Vec<u8>,
    ) -> Step {
        let (bytes, request, payload) = match session.decode(input, out) {
            Decoded::NeedMore { bytes } => return Step::NeedMore { bytes },
            Decoded::Consumed { bytes } => return Step::Consumed { bytes },
            Decoded::Close => return Step::Close,
            Decoded::Request { bytes, request, payload } => (bytes, request, payload),
        };
        let cost_bytes = REQUEST_COST_BYTES + u64::from(request.reply_data_bytes());
        if cost_bytes > room_bytes {
            return Step::Full;
        }
        match self.executor.start(now, id, request, payload, cost_bytes) {
            None => Step::Started { bytes, cost_bytes },
            Some(reply) => {
                self.append(session, &request, &reply, out);
                Step::Consumed { bytes }
            }
        }
    }

    fn is_established(&self, session: &NbdSession) -> bool {
        session.is_transmitting()
    }

    fn collect(&mut self) {
        self.executor.collect();
    }

    fn next_finished(&mut self) -> Option<Finished<(ActiveRequest, Reply)>> {
        let (active, reply) = self.executor.next_finished()?;
        Some(Finished {
            connection: active.connection,
            cost_bytes: active.cost_bytes,
            failed: matches!(reply, Reply::Failed(_)),
            reply: (active, reply),
        })
    }

    fn reply(
        &mut self,
        session: &mut NbdSession,
        finished: &Finished<(ActiveRequest, Reply)>,
        out: &mut Vec<u8>,
    ) {
        let (active, reply) = &finished.reply;
        self.append(session, &active.request, reply, out);
    }

    fn wait(&self) -> Wait {
        self.executor.pacer.wait()
    }

    fn in_flight(&self) -> usize {
        self.executor.pacer.in_flight
    }

    fn now(&self) -> Nanos {
        self.executor.pacer.now()
    }

    fn drive(&self) -> &Drive {
        self.executor.pacer.drive()
    }

    fn lateness(&self) -> Lateness {
        self.executor.pacer.lateness
    }
}
