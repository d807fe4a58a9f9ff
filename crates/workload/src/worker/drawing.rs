//! The next I/O of a worker, by assay's own order or by fio's.

use assay_integrity::checker::JobChecker;
use assay_io::{Io, Target};
use assay_units::{Nanos, Op};

use super::{NextIssue, Pending, Worker, WorkerPhase};
use crate::access::fio::{FioAddresses, FioStep};
use crate::access::{AccessError, AddressGenerator};
use crate::plan::Workload;

#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one per worker, and its own order is in the hot loop"
)]
pub(super) enum Addresses {
    Own(AddressGenerator),
    Fio(Box<FioAddresses>),
}

impl Addresses {
    pub(super) fn new(workload: &Workload, index: u32) -> Result<Addresses, AccessError> {
        let Some((access, area)) = &workload.fio else {
            return Ok(Addresses::Own(workload.addresses(index)?));
        };
        let part = area.part(index).unwrap_or_default();
        let addresses = FioAddresses::new(access, part, index);
        Ok(Addresses::Fio(Box::new(addresses)))
    }

    pub(super) fn drops_cache(&self) -> bool {
        matches!(self, Addresses::Fio(fio) if fio.drops_cache())
    }

    /// Where the file begins that a flush between the I/Os is of.
    fn flush_place(&mut self) -> Option<u64> {
        match self {
            Addresses::Own(_) => Some(0),
            Addresses::Fio(fio) => fio.flush_place(),
        }
    }

    /// Where the files begin that are flushed at the end, counted from the last.
    pub(super) fn file_start(&self, from_last: usize) -> u64 {
        match self {
            Addresses::Own(_) => 0,
            Addresses::Fio(fio) => fio.start_of((fio.files() - 1).saturating_sub(from_last)),
        }
    }

    /// Files that are flushed at the end.
    pub(super) fn files(&self) -> usize {
        match self {
            Addresses::Own(_) => 1,
            Addresses::Fio(fio) => fio.files(),
        }
    }

    pub(super) fn begin_pass(&mut self) {
        if let Addresses::Fio(fio) = self {
            fio.begin_pass();
        }
    }

    /// The next write that is read back, of a pass of fio's order where it has one.
    pub(super) fn next_written(
        &mut self,
        own: impl FnOnce() -> Option<(u64, u32)>,
    ) -> Option<(u64, u32)> {
        match self {
            Addresses::Fio(fio) if fio.knows_written() => fio.next_written(),
            _ => own(),
        }
    }

    /// Writes that do not overlap are read back in their order, as by fio.
    pub(super) fn has_order_of_writes(&self) -> bool {
        matches!(self, Addresses::Fio(fio) if fio.knows_written())
    }

    /// Those of a pass are counted at its end already.
    pub(super) fn reads_back(&mut self, len_bytes: u32) {
        if let Addresses::Fio(fio) = self
            && !fio.is_between_passes()
        {
            fio.reads_back(len_bytes);
        }
    }

    /// Of the I/O that is submitted next; 0: that of the thread.
    #[inline]
    pub(super) fn priority(&mut self, op: Op, len_bytes: u32) -> u16 {
        match self {
            Addresses::Own(_) => 0,
            Addresses::Fio(fio) => fio.priority(op, len_bytes),
        }
    }

    #[inline]
    pub(super) fn completed(&mut self, io: &Pending) {
        if let Addresses::Fio(fio) = self
            && io.op != Op::Flush
        {
            fio.completed(io.op, io.offset_bytes, io.len_bytes);
        }
    }

    /// An order of assay's own has no passes that begin by themselves.
    #[inline]
    pub(super) fn is_between_passes(&self) -> bool {
        matches!(self, Addresses::Fio(fio) if fio.is_between_passes())
    }
}

/// So often a thread asks for a zone in which another one has I/Os in flight.
const ZONE_POLL: Nanos = Nanos::from_micros(20);

pub(super) enum Draw {
    Io((u64, u32, Op)),
    Due(Nanos),
    PassEnd,
    End,
}

impl Worker {
    /// What the next I/O waits for, or the end.
    #[cold]
    pub(super) fn wait_for(&mut self, drawn: Draw) -> NextIssue {
        match drawn {
            Draw::Due(due) => return self.wait_until(due),
            Draw::PassEnd => {
                (self.phase, self.pass_flush) = (WorkerPhase::DrainPass, self.end_flush);
            }
            Draw::Io(_) | Draw::End => self.end_main(),
        }
        NextIssue::Completion
    }

    /// Between two passes, when nothing is in flight; returns whether a flush comes first.
    pub(super) fn ends_pass<T: Target>(
        &mut self,
        now: Nanos,
        target: &mut T,
        batch: &mut Vec<Io>,
    ) -> bool {
        if self.pass_flush > 0 {
            self.pass_flush -= 1;
            let place = self.access.file_start(self.pass_flush);
            self.push_flush(now, place, batch);
            return true;
        }
        if self.checker.as_ref().is_some_and(JobChecker::reads_back) {
            self.begin_read_back(target);
            self.phase = WorkerPhase::ReadPass;
        } else {
            self.begin_pass(target);
        }
        false
    }

    /// What the pass has written is read back; returns whether the next one has begun.
    pub(super) fn reads_pass<T: Target>(
        &mut self,
        now: Nanos,
        target: &mut T,
        batch: &mut Vec<Io>,
    ) -> bool {
        let is_read = self.issue_read_back(now, batch) && self.is_idle();
        if is_read {
            self.begin_pass(target);
        }
        is_read
    }

    fn begin_pass<T: Target>(&mut self, target: &mut T) {
        if self.access.drops_cache() {
            self.drop_cached(target);
        }
        if let Some(flush) = &mut self.flush {
            flush.begin_pass();
        }
        self.access.begin_pass();
        self.phase = WorkerPhase::Main;
    }

    /// Flushes where that is due.
    #[inline]
    pub(super) fn flushes(&mut self, now: Nanos, batch: &mut Vec<Io>) -> bool {
        let Some(flush) = &mut self.flush else {
            return false;
        };
        if !flush.is_due() || self.access.is_between_passes() {
            return false;
        }
        let Some(place) = self.access.flush_place() else {
            return false;
        };
        flush.flushed();
        self.push_flush(now, place, batch);
        true
    }

    /// The I/O that was held, or the next one.
    #[inline]
    pub(super) fn draw<T: Target>(&mut self, now: Nanos, target: &mut T) -> Draw {
        if let Some(held) = self.held.take() {
            return Draw::Io(held);
        }
        match &mut self.access {
            Addresses::Own(access) => {
                let write = match self.read_percent {
                    100 => false,
                    0 => true,
                    percent => self.choice.below(100) >= u64::from(percent),
                };
                let (offset_bytes, len_bytes) = access.next(write);
                let op = if write { self.write_op } else { Op::Read };
                Draw::Io((offset_bytes, len_bytes, op))
            }
            Addresses::Fio(fio) => match fio.next(now - self.start) {
                FioStep::Io(io) => {
                    self.begins_zone = io.resets_zone;
                    if io.drops_cache {
                        self.drop_cached(target);
                    }
                    Draw::Io((io.offset_bytes, io.len_bytes, io.op))
                }
                FioStep::Due(due) => Draw::Due(self.start + due),
                FioStep::Busy => Draw::Due(now + ZONE_POLL),
                FioStep::PassEnd => Draw::PassEnd,
                FioStep::End => Draw::End,
            },
        }
    }
}
