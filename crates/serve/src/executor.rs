//! Execution of NBD requests as drive commands. Most requests are one command; zeroes that must
//! stay allocated are written in pieces.

use assay_ssd::{Command, Completion, Status};
use assay_units::{DataClass, Nanos, Op};

use crate::front::ConnectionId;
use crate::nbd::{NbdCommand, NbdError, Request};
use crate::pacer::Pacer;

const ZEROES_BYTES: u32 = 1 << 20;
static ZEROES: [u8; ZEROES_BYTES as usize] = [0; ZEROES_BYTES as usize];
/// Of one block status reply; the client requests the rest again (proto, "Structured reply types",
/// `NBD_REPLY_TYPE_BLOCK_STATUS`).
const MAX_EXTENTS: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveRequest {
    pub connection: ConnectionId,
    pub request: Request,
    /// Share of the limit of bytes in flight.
    pub cost_bytes: u64,
    zeroed_bytes: u32,
}

impl ActiveRequest {
    fn drive_command(&self, tag: u32, op: Op, data: DataClass) -> Command {
        Command {
            tag,
            queue: self.connection.slot as u16,
            op,
            offset_bytes: self.request.offset_bytes,
            len_bytes: self.request.len_bytes,
            data,
            fua: self.request.fua,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Done,
    Data(Completion),
    /// Lengths of extents, and whether each is a hole.
    Extents(Vec<(u32, bool)>),
    Failed(NbdError),
}

#[derive(Debug)]
pub struct CommandExecutor {
    pub pacer: Pacer,
    requests: Vec<ActiveRequest>,
    free: Vec<u32>,
    /// Not processed yet, the latest first.
    completed: Vec<Completion>,
    logical_block_bytes: u64,
}

fn data_class(payload: &[u8]) -> DataClass {
    if payload.iter().all(|&byte| byte == 0) { DataClass::Zero } else { DataClass::Incompressible }
}

fn error_of(status: Status) -> Option<NbdError> {
    Some(match status {
        Status::Ok => return None,
        Status::InvalidField => NbdError::Rejected,
        Status::LbaOutOfRange => NbdError::BeyondEnd,
        Status::WriteFault => NbdError::WriteError,
        Status::UnrecoveredReadError => NbdError::ReadError,
        Status::PowerLoss | Status::Removed => NbdError::DriveLost,
    })
}

impl CommandExecutor {
    pub fn new(pacer: Pacer) -> CommandExecutor {
        CommandExecutor {
            logical_block_bytes: pacer.drive().identity().logical_block_bytes,
            pacer,
            requests: Vec::new(),
            free: Vec::new(),
            completed: Vec::new(),
        }
    }

    /// `now` is model time. Returns the reply if the request needs no command of the drive.
    pub fn start(
        &mut self,
        now: Nanos,
        connection: ConnectionId,
        request: Request,
        payload: &[u8],
        cost_bytes: u64,
    ) -> Option<Reply> {
        let is_empty = request.len_bytes == 0;
        let (op, data) = match request.command {
            NbdCommand::BlockStatus { .. } if is_empty => {
                return Some(Reply::Failed(NbdError::Rejected));
            }
            NbdCommand::BlockStatus { one_extent } => {
                let extents = self.extents(request.offset_bytes, request.len_bytes, one_extent);
                return Some(Reply::Extents(extents));
            }
            NbdCommand::Flush => (Op::Flush, DataClass::Zero),
            _ if is_empty => return Some(Reply::Done),
            NbdCommand::Read { .. } | NbdCommand::Cache => (Op::Read, DataClass::Incompressible),
            NbdCommand::Write => (Op::Write, data_class(payload)),
            NbdCommand::Trim => (Op::Discard, DataClass::Zero),
            NbdCommand::WriteZeroes { no_hole: true, fast: true } => {
                return Some(Reply::Failed(NbdError::NotFast));
            }
            NbdCommand::WriteZeroes { no_hole: true, .. } => (Op::Write, DataClass::Zero),
            NbdCommand::WriteZeroes { .. } => (Op::WriteZeroes, DataClass::Zero),
        };
        let active = ActiveRequest { connection, request, cost_bytes, zeroed_bytes: 0 };
        let tag = self.add(active);
        if op == Op::Write && request.command != NbdCommand::Write {
            self.write_zeroes(now, tag);
        } else {
            let command = active.drive_command(tag, op, data);
            self.pacer.submit(now, command, payload);
        }
        None
    }

    /// Takes the completions due by now, for [`CommandExecutor::next_finished`].
    pub fn collect(&mut self) {
        self.completed.clear();
        self.pacer.take(&mut self.completed);
        self.completed.reverse();
    }

    /// A request finished by the completions that [`CommandExecutor::collect`] took.
    pub fn next_finished(&mut self) -> Option<(ActiveRequest, Reply)> {
        loop {
            let completion = self.completed.pop()?;
            if let Some(finished) = self.finish(completion) {
                return Some(finished);
            }
        }
    }

    /// Data of a read that was replied to with [`Reply::Data`]. A drive without stored data leaves
    /// the zeroes in `bytes`.
    pub fn read(&self, completion: &Completion, offset_bytes: u64, bytes: &mut [u8]) {
        let drive = self.pacer.drive();
        drive.read_data(completion, offset_bytes, bytes);
    }

    fn finish(&mut self, completion: Completion) -> Option<(ActiveRequest, Reply)> {
        let tag = completion.tag;
        let active = &mut self.requests[tag as usize];
        let request = &active.request;
        let reply = if let Some(error) = error_of(completion.status) {
            Reply::Failed(error)
        } else if active.zeroed_bytes > 0 && active.zeroed_bytes < request.len_bytes {
            self.write_zeroes(self.pacer.now(), tag);
            return None;
        } else if matches!(request.command, NbdCommand::Read { .. }) {
            Reply::Data(completion)
        } else {
            Reply::Done
        };
        self.free.push(tag);
        Some((self.requests[tag as usize], reply))
    }

    fn write_zeroes(&mut self, now: Nanos, tag: u32) {
        let active = &mut self.requests[tag as usize];
        let len_bytes = ZEROES_BYTES.min(active.request.len_bytes - active.zeroed_bytes);
        let command = Command {
            offset_bytes: active.request.offset_bytes + u64::from(active.zeroed_bytes),
            len_bytes,
            ..active.drive_command(tag, Op::Write, DataClass::Zero)
        };
        active.zeroed_bytes += len_bytes;
        self.pacer.submit(now, command, &ZEROES);
    }

    /// The range is not empty.
    fn extents(&self, offset_bytes: u64, len_bytes: u32, one_extent: bool) -> Vec<(u32, bool)> {
        let drive = self.pacer.drive();
        let end = offset_bytes + u64::from(len_bytes);
        let most = if one_extent { 1 } else { MAX_EXTENTS };
        let mut extents: Vec<(u32, bool)> = Vec::new();
        let mut at = offset_bytes;
        // Bounds the work of one request: each query of the drive advances by at least one block.
        for _ in 0..2 * MAX_EXTENTS {
            if at >= end {
                break;
            }
            let (until, hole) = drive.extent(at, end);
            let until = until.clamp(at + self.logical_block_bytes, end);
            let len = (until - at) as u32;
            let is_full = extents.len() == most;
            match extents.last_mut() {
                Some(last) if last.1 == hole => last.0 += len,
                _ if is_full => break,
                _ => extents.push((len, hole)),
            }
            at = until;
        }
        extents
    }

    fn add(&mut self, active: ActiveRequest) -> u32 {
        if let Some(tag) = self.free.pop() {
            self.requests[tag as usize] = active;
            return tag;
        }
        self.requests.push(active);
        (self.requests.len() - 1) as u32
    }
}
