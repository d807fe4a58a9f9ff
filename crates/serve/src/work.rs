//! Requests become commands of the drive, and completions answers.
//!
//! Most requests are one command. A durable one (FUA) is followed by a flush, which is what a drive with a volatile write cache has to do
//! before it answers (NVM Express NVM Command Set Specification 1.0, section 3.2.5, Force Unit Access). Zeroes that must stay allocated are written, in pieces.

use assay_ssd::{Command, Completion, Status};
use assay_units::{DataClass, Nanos, Op};

use crate::nbd::{Asked, Failure, Request};
use crate::pacer::Pacer;

/// Zeroes are written in pieces of this many bytes.
const ZEROES_BYTES: u32 = 1 << 20;
static ZEROES: [u8; ZEROES_BYTES as usize] = [0; ZEROES_BYTES as usize];
/// Extents told at once; the client asks again for the rest (proto, "Structured reply types", `NBD_REPLY_TYPE_BLOCK_STATUS`).
const MOST_EXTENTS: usize = 128;

/// Who asked: a connection's place, and which of the connections that had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Its place; also which submission queue of the drive it uses.
    pub place: u32,
    /// Counts up with every connection that had the place.
    pub generation: u32,
}

/// A request without its payload, on its way through the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Who asked.
    pub origin: Origin,
    /// The client's name for it.
    pub cookie: u64,
    /// What for.
    pub asked: Asked,
    /// First byte.
    pub offset_bytes: u64,
    /// How many.
    pub len_bytes: u32,
    /// What it counts towards what may be under way, in bytes.
    pub cost_bytes: u64,
    durable: bool,
    /// Bytes of zeroes that were submitted.
    zeroed_bytes: u32,
    flushing: bool,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It worked.
    Done,
    /// It worked, and the answer carries the bytes of this completion's read.
    Data(Completion),
    /// It is this allocated: extents, and whether each is a hole.
    Extents(Vec<(u32, bool)>),
    /// It failed.
    Failed(Failure),
}

/// The drive and what is under way.
#[derive(Debug)]
pub struct Work {
    pacer: Pacer,
    jobs: Vec<Job>,
    free: Vec<u32>,
    completed: Vec<Completion>,
    logical_block_bytes: u64,
}

/// Is a write one of zeroes alone? Real data says no within its first bytes.
fn class_of(payload: &[u8]) -> DataClass {
    if payload.iter().all(|&byte| byte == 0) {
        DataClass::Zero
    } else {
        DataClass::Incompressible
    }
}

fn failure_of(status: Status) -> Option<Failure> {
    Some(match status {
        Status::Ok => return None,
        Status::InvalidField => Failure::Refused,
        Status::LbaOutOfRange => Failure::BeyondEnd,
        Status::WriteFault => Failure::WriteError,
        Status::UnrecoveredReadError => Failure::ReadError,
        Status::PowerLoss | Status::Removed => Failure::Gone,
    })
}

impl Work {
    /// Nothing under way.
    pub fn new(pacer: Pacer) -> Work {
        Work {
            logical_block_bytes: pacer.drive().identity().logical_block_bytes.max(1),
            pacer,
            jobs: Vec::new(),
            free: Vec::new(),
            completed: Vec::new(),
        }
    }

    /// The pacer.
    pub fn pacer(&self) -> &Pacer {
        &self.pacer
    }

    /// Give the pacer back.
    pub fn into_pacer(self) -> Pacer {
        self.pacer
    }

    /// Begin a request that arrived at the model's time `now`: `None` when it is under way, or what is to be answered at once.
    pub fn begin(
        &mut self,
        now: Nanos,
        origin: Origin,
        request: &Request<'_>,
        cost_bytes: u64,
    ) -> Option<Answer> {
        let job = Job {
            origin,
            cookie: request.cookie,
            asked: request.asked,
            offset_bytes: request.offset_bytes,
            len_bytes: request.len_bytes,
            cost_bytes,
            durable: request.durable,
            zeroed_bytes: 0,
            flushing: false,
        };
        if let Asked::Status { one } = request.asked {
            return Some(match request.len_bytes {
                0 => Answer::Failed(Failure::Refused),
                len => Answer::Extents(self.extents(request.offset_bytes, len, one)),
            });
        }
        if request.asked != Asked::Flush && request.len_bytes == 0 {
            return Some(Answer::Done);
        }
        let keeps = match request.asked {
            Asked::WriteZeroes { keep, fast } => {
                if keep && fast {
                    return Some(Answer::Failed(Failure::NotFast));
                }
                keep
            }
            _ => false,
        };
        let tag = self.add(job);
        if keeps {
            self.write_zeroes(now, tag);
            return None;
        }
        let (op, data) = match request.asked {
            Asked::Read { .. } | Asked::Cache | Asked::Status { .. } => {
                (Op::Read, DataClass::Incompressible)
            }
            Asked::Write => (Op::Write, class_of(request.payload)),
            Asked::Flush => (Op::Flush, DataClass::Zero),
            Asked::Trim => (Op::Discard, DataClass::Zero),
            Asked::WriteZeroes { .. } => (Op::WriteZeroes, DataClass::Zero),
        };
        let command = Command {
            tag,
            queue: origin.place as u16,
            op,
            offset_bytes: request.offset_bytes,
            len_bytes: request.len_bytes,
            data,
        };
        self.pacer.submit_at(now, command, request.payload);
        None
    }

    /// Collect what has completed by now; [`Work::next_finished`] hands it out.
    pub fn collect(&mut self) {
        self.completed.clear();
        self.pacer.take(&mut self.completed);
        // The earliest is taken first, from the end.
        self.completed.reverse();
    }

    /// The next request that was finished by what [`Work::collect`] found, with its answer.
    pub fn next_finished(&mut self) -> Option<(Job, Answer)> {
        while let Some(completion) = self.completed.pop() {
            if let Some(finished) = self.finish(completion) {
                return Some(finished);
            }
        }
        None
    }

    /// The bytes of a read that was answered with [`Answer::Data`].
    pub fn read(&self, completion: &Completion, offset_bytes: u64, bytes: &mut [u8]) {
        // A drive that keeps no data leaves the zeroes that are there.
        self.pacer
            .drive()
            .read_data(completion, offset_bytes, bytes);
    }

    fn finish(&mut self, completion: Completion) -> Option<(Job, Answer)> {
        let tag = completion.tag;
        let job = *self.jobs.get(tag as usize)?;
        if let Some(failure) = failure_of(completion.status) {
            return Some(self.end(tag, Answer::Failed(failure)));
        }
        let now = self.pacer.now();
        if job.zeroed_bytes > 0 && job.zeroed_bytes < job.len_bytes {
            self.write_zeroes(now, tag);
            return None;
        }
        if job.durable && !job.flushing && changes(job.asked) {
            if let Some(job) = self.jobs.get_mut(tag as usize) {
                job.flushing = true;
            }
            let flush = Command {
                tag,
                queue: job.origin.place as u16,
                op: Op::Flush,
                offset_bytes: 0,
                len_bytes: 0,
                data: DataClass::Zero,
            };
            self.pacer.submit_at(now, flush, &[]);
            return None;
        }
        let answer = match job.asked {
            Asked::Read { .. } => Answer::Data(completion),
            _ => Answer::Done,
        };
        Some(self.end(tag, answer))
    }

    /// Submit the next piece of zeroes.
    fn write_zeroes(&mut self, now: Nanos, tag: u32) {
        let Some(job) = self.jobs.get_mut(tag as usize) else {
            return;
        };
        let len_bytes = ZEROES_BYTES.min(job.len_bytes - job.zeroed_bytes);
        let command = Command {
            tag,
            queue: job.origin.place as u16,
            op: Op::Write,
            offset_bytes: job.offset_bytes + u64::from(job.zeroed_bytes),
            len_bytes,
            data: DataClass::Zero,
        };
        job.zeroed_bytes += len_bytes;
        self.pacer.submit_at(now, command, &ZEROES);
    }

    /// Extents of a range that is not empty.
    fn extents(&self, offset_bytes: u64, len_bytes: u32, one: bool) -> Vec<(u32, bool)> {
        let drive = self.pacer.drive();
        let end = offset_bytes + u64::from(len_bytes);
        let most = if one { 1 } else { MOST_EXTENTS };
        let mut found: Vec<(u32, bool)> = Vec::new();
        let mut at = offset_bytes;
        // Each look goes on by a block at least, and no more of them are taken than extents may be told, twice over.
        for _ in 0..2 * MOST_EXTENTS {
            if at >= end {
                break;
            }
            let (until, hole) = drive.extent(at, end);
            let until = until.clamp(at + self.logical_block_bytes, end);
            let len = (until - at) as u32;
            let is_full = found.len() == most;
            match found.last_mut() {
                Some(last) if last.1 == hole => last.0 += len,
                _ if is_full => break,
                _ => found.push((len, hole)),
            }
            at = until;
        }
        found
    }

    fn add(&mut self, job: Job) -> u32 {
        match self.free.pop() {
            Some(tag) => {
                self.jobs[tag as usize] = job;
                tag
            }
            None => {
                self.jobs.push(job);
                (self.jobs.len() - 1) as u32
            }
        }
    }

    fn end(&mut self, tag: u32, answer: Answer) -> (Job, Answer) {
        self.free.push(tag);
        (self.jobs[tag as usize], answer)
    }
}

/// Does it change what is on the drive, so that a flush after it makes a difference?
fn changes(asked: Asked) -> bool {
    matches!(
        asked,
        Asked::Write | Asked::Trim | Asked::WriteZeroes { .. }
    )
}
